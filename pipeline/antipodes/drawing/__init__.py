"""Pictures of shapes, image files, and HTML elements, boards and charts for reports and notebooks."""
