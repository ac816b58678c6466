"""The space of puzzles whose positions are listed by a search: no index is wasted on what cannot be reached."""
