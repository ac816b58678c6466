"""All depths in a store."""

import numpy as np

from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.bfs.bitmaps import Depths


def depths_in(store: TableStore, manifest: TableManifest) -> Depths:
    """Return the committed depths of all rows, ``(rows, width)``."""
    return np.concatenate([store.read_chunk(manifest, chunk) for chunk in range(manifest.chunk_count)])
