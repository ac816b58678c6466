"""The rules of a puzzle, as workers need them: parts, starts and moves, without names, prose and drawings."""
