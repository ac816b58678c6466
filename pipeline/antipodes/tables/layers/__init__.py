"""The search for a table, layer by layer: groups of partitions on the scheduler, commits, and recovery from losses."""
