"""The search of a plan: all shards together, layer by layer, from commit to commit; and a trial of it."""
