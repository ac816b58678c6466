"""A store of a search, of a table or of counts: it is created, committed and resumed alike."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from antipodes.config import Config, PuzzleLike, give
from antipodes.storage.backend import GROUP
from antipodes.storage.store import Store
from antipodes.tables.journal.journal import Journal
from antipodes.tables.store.search_manifest import SearchManifest
from antipodes_tasks.errors import StoreMismatchError

if TYPE_CHECKING:
    from antipodes.tables.planning.plan import Plan

M = TypeVar("M", bound=SearchManifest)


class SearchStore(Store[M]):
    """A store that a search fills layer by layer."""

    def create(self, config: Config, plan: "Plan", overwrite: bool = False) -> M:
        """Create an empty store, atomically, perhaps in place of an old one; raises as `creating`."""
        with self.creating(overwrite) as new:
            return new.commit_arrays(self.MANIFEST_TYPE.empty(config, plan))

    def commit_arrays(self, manifest: M) -> M:
        """Commit a manifest with the digests of the metadata of its arrays, some of which are new; the manifest."""
        with self.storage.writing():
            metadata = self.arrays.digests(f"{array}/{GROUP}" for array in manifest.layouts)
            manifest = replace(manifest, metadata=metadata)
            if manifest.complete:
                self.arrays.write_group(self.KIND.attributes, manifest.layouts)
        self.commit(manifest)
        return manifest

    def journal(self, manifest: M) -> Journal:
        """The files from which an unfinished search resumes."""
        return Journal(self.storage, manifest.journal_identity, manifest.chunk_count, manifest.most_segment_bytes)


def check_same_puzzle(manifest: SearchManifest, config: Config, address: str) -> None:
    """Raise StoreMismatchError unless the store is that of this puzzle; SourceError if it may be another version."""
    if manifest.fingerprint != config.puzzle.fingerprint:
        if manifest.source_error is not None and manifest.puzzle.get("source") == config.settings.get("source"):
            raise manifest.source_error
        holds = "layers" if manifest.COUNTS_ONLY else "table"
        raise StoreMismatchError(
            f"{address} holds the {holds} of another puzzle ({manifest.puzzle.get('name')!r}); "
            "expected the same start, goal and moves: choose another --store, or --overwrite it"
        )


def read_given(store: SearchStore[M], puzzle: PuzzleLike | None) -> M:
    """The manifest of the store of a puzzle that the caller gives, if its code may not be known here.

    Raises as `Store.read`, `as_config` and `check_same_puzzle`.
    """
    config = None if puzzle is None else give(puzzle)
    manifest = store.read()
    if config is not None:
        check_same_puzzle(manifest, config, store.address)
    return manifest
