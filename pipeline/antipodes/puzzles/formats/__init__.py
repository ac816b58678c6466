"""Puzzle files of other programs: text in, a `TwistyDefinition` out; reading the file itself is the caller's work."""
