"""Tables: the distance of every position of a puzzle, computed, stored, queried and verified."""
