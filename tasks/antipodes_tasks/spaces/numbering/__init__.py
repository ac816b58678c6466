"""Numbers of combinations and arrangements, and their parity, which several spaces share."""
