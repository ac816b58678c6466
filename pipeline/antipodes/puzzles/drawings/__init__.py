"""Drawings that a person recognises, one kind of puzzle a module: each is a `Notation`."""
