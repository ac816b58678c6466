"""How a run searches: the strategy, which decides how shards keep layers, and the commitment of layers."""
