"""The graph of all positions of a puzzle: export for other programs, components, and hardest starts."""
