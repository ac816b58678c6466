"""The space of puzzles whose moves are functions: mixed radix numbers, tables by evaluation."""
