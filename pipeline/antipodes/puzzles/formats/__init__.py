"""Puzzle files of other programs: text in, a `Definition` out; reading the file itself is the caller's work."""
