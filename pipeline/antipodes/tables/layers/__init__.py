"""The parts of a search: the division into shards, which find layers, graphs of their tasks, commits, and assembly."""
