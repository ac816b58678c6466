"""The store of counts: a manifest with the layers, and while they are searched a checkpoint of the bits."""

from dataclasses import replace

from antipodes.storage.manifest import StoreKind
from antipodes.tables.journal.checkpoint import FOLDER, folder_of
from antipodes.tables.journal.journal import Journal
from antipodes.tables.store.counts_manifest import CountsManifest
from antipodes.tables.store.search_store import SearchStore


class CountsStore(SearchStore[CountsManifest]):
    """A store of the layers and the first antipodes of a puzzle, without distances."""

    KIND = StoreKind(
        format="antipodes-counts",
        holds="the layers of a counts-only run",
        made_by="antipodes run PUZZLE --counts-only",
        version=2,
        replaces={"antipodes-table": "a table of distances, which has the layers, too: antipodes layers shows them"},
    )
    MANIFEST_TYPE = CountsManifest

    def journal(self, manifest: CountsManifest) -> Journal:
        """The checkpoints, in whose place a table has its journal."""
        return replace(super().journal(manifest), folder=FOLDER)

    def commit(self, manifest: CountsManifest) -> None:
        """Replace the manifest, and delete all checkpoints but that of its depth, which must be durable already."""
        kept = self._kept(manifest)
        if kept:
            with self.storage.writing():
                self.storage.sync(folder_of(manifest.committed_depth))
        super().commit(manifest)
        self._delete_others(kept)

    def remove_leftovers(self, manifest: CountsManifest) -> CountsManifest:
        """Delete what a crashed run was writing; the manifest from now on."""
        super().remove_leftovers(manifest)
        self._delete_others(self._kept(manifest))
        return manifest

    def _kept(self, manifest: CountsManifest) -> list[str]:
        """The checkpoints that are needed."""
        return [] if manifest.complete or not manifest.layers else [str(manifest.committed_depth)]

    def _delete_others(self, kept: list[str]) -> None:
        if not kept:
            self.storage.delete(FOLDER)
            return
        for name in self.storage.folders(FOLDER):
            if name not in kept:
                self.storage.delete(f"{FOLDER}/{name}")
