"""Plans: how a table is divided among tasks, and the memory, disk and time of a run, before anything runs."""
