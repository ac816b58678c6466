"""Plans: the division, strategy and commitment of a run, and its memory and disk space, before anything runs."""
