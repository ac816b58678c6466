"""The store of a table: a chunked zarr array of depths, and the manifest that says how far it can be trusted."""

from typing import TYPE_CHECKING

from antipodes.bfs.arrays import Depths
from antipodes.config import Config
from antipodes.errors import StoreMismatchError
from antipodes.storage.manifest import StoreKind
from antipodes.storage.store import Store
from antipodes.tables.store.depth_array import DepthArray
from antipodes.tables.store.manifest import DEPTH, NOTHING_COMMITTED, WIDER, TableManifest
from antipodes.tables.store.summaries import Summaries
from antipodes.tables.store.widening import commit_array, finish_widening, widen

if TYPE_CHECKING:
    from antipodes.tables.planning.plan import Plan


class TableStore(Store[TableManifest]):
    """A store of a table."""

    KIND = StoreKind(format="antipodes-table", holds="a table of distances", made_by="antipodes run PUZZLE", version=3)
    MANIFEST_TYPE = TableManifest

    def create(self, config: Config, plan: "Plan", overwrite: bool = False) -> TableManifest:
        """Create an empty store, atomically, perhaps in place of an old one; raises as `creating`."""
        record = plan.space.record
        manifest = TableManifest(
            puzzle=dict(config.settings),
            fingerprint=config.puzzle.fingerprint,
            symbols=config.puzzle.symbols,
            counts=config.puzzle.counts,
            space=record.kind,
            details=record.details,
            rows=record.rows,
            width=record.width,
            chunk_rows=plan.chunk_rows,
            dtype="uint8",
            array=DEPTH,
            complete=False,
            committed_depth=NOTHING_COMMITTED,
            layers=(),
            chunks=Summaries.empty(0, -(-record.rows // plan.chunk_rows)),
            metadata={},
        )
        with self.creating(overwrite) as new:
            new.arrays.create(DEPTH, manifest.layout)
            return commit_array(new, manifest)

    def commit(self, manifest: TableManifest) -> None:
        """Replace the manifest; all chunks that it names must be durable already."""
        with self.storage.writing():
            self.storage.sync(manifest.array)
        super().commit(manifest)

    def remove_leftovers(self, manifest: TableManifest) -> TableManifest:
        """Delete what a crashed run was writing, and finish a widening that it began; the manifest from now on."""
        super().remove_leftovers(manifest)
        if manifest.array == WIDER:
            return finish_widening(self, manifest)
        self.storage.delete(WIDER)
        return manifest

    def widen(self, manifest: TableManifest) -> TableManifest:
        """Store the same depths in an array of 16 bits each; the manifest from now on."""
        return widen(self, manifest)

    def write_rows(
        self, manifest: TableManifest, first_row: int, depths: Depths, depth: int, token: str | None = None
    ) -> Summaries:
        """Store the depths of whole chunks up to ``depth``; see `DepthArray.write`."""
        return DepthArray(self, manifest).write(first_row, depths, depth, token)

    def read_rows(self, manifest: TableManifest, first_row: int, end_row: int) -> Depths:
        """The committed depths of a range of rows; see `DepthArray.read`."""
        return DepthArray(self, manifest).read(first_row, end_row)


def check_same_puzzle(manifest: TableManifest, config: Config, address: str) -> None:
    """Raise StoreMismatchError unless the store holds the table of this puzzle."""
    if manifest.fingerprint != config.puzzle.fingerprint:
        raise StoreMismatchError(
            f"{address} holds the table of another puzzle ({manifest.puzzle.get('name')!r}); "
            "expected the same start and moves: choose another --store, or --overwrite it"
        )
