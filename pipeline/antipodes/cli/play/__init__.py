"""Playing on a table: what a person presses or types, and what the screen shows."""
