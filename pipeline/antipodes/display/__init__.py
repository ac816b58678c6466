"""HTML elements, boards and charts, used by reports and notebooks."""
