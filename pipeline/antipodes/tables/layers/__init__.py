"""The search for a table, layer by layer: shards of partitions on the scheduler, commits, and recovery from losses."""
