"""The program with shards of as many entries as the environment says, so that a small puzzle has several of them."""

import os

from antipodes.cli.program import main
from antipodes.tables.layers import division

if __name__ == "__main__":
    division.CHUNK_STATES = (1 << 12, 1 << 13)
    division.PARTITION_STATES = 1 << 12
    division.SHARD_STATES = (1, int(os.environ["SHARD_ENTRIES"]))
    main()
