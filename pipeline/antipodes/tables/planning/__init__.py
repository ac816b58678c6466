"""Plans: how a table is divided among tasks, and the memory and disk of a run, known before anything runs."""
