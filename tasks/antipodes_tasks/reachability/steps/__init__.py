"""The moves of a puzzle on many positions: one interface, in machine code and as numpy on batches."""
