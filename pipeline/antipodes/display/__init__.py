"""Results in HTML: elements, boards and charts, which reports and notebooks are made of."""
