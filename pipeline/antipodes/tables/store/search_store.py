"""A store of a search, of a table or of counts: it is created, committed and resumed alike."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from antipodes.config import Config
from antipodes.errors import StoreMismatchError
from antipodes.storage.backend import GROUP
from antipodes.storage.store import Store
from antipodes.tables.journal.journal import Journal
from antipodes.tables.store.search_manifest import SearchManifest

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
        return Journal(self.storage, manifest.journal_identity)


def check_same_puzzle(manifest: SearchManifest, config: Config, address: str) -> None:
    """Raise StoreMismatchError unless the store is that of this puzzle."""
    if manifest.fingerprint != config.puzzle.fingerprint:
        holds = "layers" if manifest.COUNTS_ONLY else "table"
        raise StoreMismatchError(
            f"{address} holds the {holds} of another puzzle ({manifest.puzzle.get('name')!r}); "
            "expected the same start and moves: choose another --store, or --overwrite it"
        )
