"""The moves of a puzzle, of three kinds behind one interface: swaps, transforms, and functions of a user's own."""
