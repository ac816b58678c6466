"""Properties that follow from the rules: symmetries, solvability, and lower bounds of distances."""
