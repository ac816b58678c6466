"""How the layers of a search are committed: in a journal of all positions, or in checkpoints of the last layers.

The plan chooses one of them. It can be sent to other processes.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar, NamedTuple, Protocol

from antipodes.system.machine import KIB
from antipodes.system.options import RunOptions
from antipodes.tables.journal import Checkpoint, Damaged, Journal, JournalDamagedError
from antipodes.tables.journal_file import StoredSegments
from antipodes.tables.layers.commits import Commits, TableCommits
from antipodes.tables.layers.division import Division
from antipodes.tables.layers.shard import Shard, all_held
from antipodes.tables.layers.shard_segments import flush, make_durable
from antipodes.tables.store.search_stores import CountsStore, SearchStore, TableStore
from antipodes_tasks.base.errors import InputError, StoreDamagedError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.bfs.bitmaps import bitmap_bytes

MAX_JOURNAL_BYTES = 1.25
"""Upper bound, in practice, on the size of the journal in bytes per position. A run of 29 billion positions took
0.91."""
CHUNK_BYTES = 4 * KIB + 2 * 11
"""Disk space in bytes for each chunk in addition to its depths: the unused part of its last disk block, and 11 bytes in
each of two manifests, since the old one exists until it is replaced."""
CHECKPOINT_COUNT, CHECKPOINT_BITS = 2, 2
"""Maximum number of checkpoints that exist at a time, and bits per position of a checkpoint: one for the layers before
its depth, and one for the layer at its depth."""
LAYERS_KEPT = 3
"""Maximum number of layers of a search on disk: two from which it continues, and the one being found."""
FILE_BYTES = 8 * KIB
"""Disk space in bytes for a file of a checkpoint in addition to its bits: the unused part of its last disk block, and
its index."""


class OnGroups(Protocol):
    """A function that applies a function to groups of shards, each on its worker, and waits for all of them."""

    def __call__(self, function: Any, *arguments: Any, together: bool = False) -> Any:
        """Call ``function(shards, *arguments)`` for each group; if ``together``, threads are one group."""


class DiskSpace(NamedTuple):
    """Upper bounds on the disk space of a run in bytes, without the manifest."""

    journal: int
    stored: int
    """Bytes of the other files: the table, or the checkpoints."""
    rare: int = 0
    """Bytes of these that few runs need. A run that needs them when the disk is full stops, and can be resumed."""


@dataclass(frozen=True)
class Commitment(ABC):
    """The layers that a search keeps in files, and how they are written, restored and counted."""

    store: ClassVar[type[SearchStore[Any]]]
    """The kind of the store."""
    commits: ClassVar[type[Commits]]
    """The class that commits the store and finishes it."""
    makes_table: ClassVar[bool]
    """Whether a table is assembled after the search."""
    goes_back: ClassVar[bool]
    """Whether shards can return to the depth of the last commit. If not, all shards are created again after a loss."""
    stored: ClassVar[str]
    """The files of a run besides its journal, for messages."""

    unique: bool = field(default=False, kw_only=True)
    """Whether the search also counts symmetry classes. If there is a table, they can be counted later."""

    @property
    def max_gaps(self) -> float | None:
        """Maximum length of a list of gaps on disk, as a fraction of the length of a bitmap; see `SegmentLog`.

        None if shards do not log the positions that they find.
        """
        return 1.0

    def shards_to_restore(self, lost: Sequence[int], shards: int) -> Sequence[int]:
        """Return the numbers of the shards that are restored if some of all ``shards`` are ``lost``."""
        return lost if self.goes_back or not lost else range(shards)

    @abstractmethod
    def disk_space(self, division: Division) -> DiskSpace:
        """Return the disk space of a run whose table has an entry for each index, at one byte per depth."""

    @abstractmethod
    def sources(self, journal: Journal, depth: int, chunks: Sequence[range], damaged: Damaged) -> Sequence[Any]:
        """Return for each shard, given its range of chunks, the files from which it can be restored at ``depth``.

        A message for each corrupt file is added to ``damaged``.
        """

    @abstractmethod
    def restore(self, shard: Shard, depth: int, source: Any) -> None:
        """Restore a new shard from its source, at ``depth`` or, if files are missing or corrupt, an earlier depth.

        Without any layer, this depth is -1. Raises JournalDamagedError if a segment of the journal is corrupt.
        """

    @abstractmethod
    def layers(self, shard: Shard) -> list[int]:
        """Return the number of positions at each depth up to the shard's depth, as counted in the last commit."""

    @abstractmethod
    def flush(self, on_groups: OnGroups, depth: int, token: str) -> None:
        """Make the files durable from which the shards can be restored at ``depth``, which they all have reached."""

    def forget(self, on_groups: OnGroups, depth: int, token: str) -> None:  # noqa: B027  (most commitments keep all layers or none)
        """Delete the layers that are no longer needed, once the store is committed at ``depth``."""


@dataclass(frozen=True)
class JournalCommitment(Commitment):
    """All positions are kept in segments, which a commit writes to the journal unless they are already there."""

    store: ClassVar[type[SearchStore[Any]]] = TableStore
    commits: ClassVar[type[Commits]] = TableCommits
    makes_table = True
    goes_back = True
    stored = "table"

    def disk_space(self, division: Division) -> DiskSpace:
        """Return the disk space of journal and table, which both exist at the end."""
        space, chunks = division.space, ceil(division.space.rows / division.chunk_rows)
        return DiskSpace(ceil(MAX_JOURNAL_BYTES * space.size), space.size + CHUNK_BYTES * chunks)

    def sources(
        self, journal: Journal, depth: int, chunks: Sequence[range], damaged: Damaged
    ) -> Sequence[StoredSegments]:
        """Return the stored segments of each shard, at all depths."""
        stored = journal.load(0, chunks[-1].stop, damaged)
        return [stored.part(one.start, one.stop) for one in chunks]

    def restore(self, shard: Shard, depth: int, source: StoredSegments) -> None:
        """Restore all layers that are in the journal, up to ``depth``."""
        shard.segments.restore(depth, source)
        shard.depth = reached = min(depth, shard.segments.searched)
        if reached >= 0:
            between = shard.segments.segments_between
            shard.fill(reached, lambda state: between(state.chunks, state.restored_from(reached), reached))

    def layers(self, shard: Shard) -> list[int]:
        """Return the number of positions at each depth in the files of the journal."""
        counts: list[int] = shard.segments.stored.counts(shard.depth + 1).sum(axis=0).tolist()
        return counts

    def flush(self, on_groups: OnGroups, depth: int, token: str) -> None:
        """Write the segments that are not in the journal yet. Threads write a single file."""
        on_groups(flush_shards, depth, token, together=True)


@dataclass(frozen=True)
class CheckpointCommitment(Commitment):
    """Only the layers are counted. A commit writes the positions that the search needs to continue from its depth."""

    store = CountsStore
    commits = Commits
    makes_table = False
    goes_back = False
    stored = "two checkpoints"

    def disk_space(self, division: Division) -> DiskSpace:
        """Return the disk space of two checkpoints, since the new one is written before the old one is deleted."""
        bits = bitmap_bytes(division.space.rows, division.space.width)
        return DiskSpace(0, CHECKPOINT_COUNT * (CHECKPOINT_BITS * bits + FILE_BYTES * division.partition_count))

    @property
    def max_gaps(self) -> None:
        """None: found positions are not logged."""

    def sources(
        self, journal: Journal, depth: int, chunks: Sequence[range], damaged: Damaged
    ) -> Sequence[Mapping[str, int]]:
        """Return the files of the checkpoint at ``depth`` for each shard, and their sizes in bytes."""
        return Checkpoint(journal, depth).sizes(chunks)

    def restore(self, shard: Shard, depth: int, source: Mapping[str, int]) -> None:
        """Restore the checkpoint at ``depth``. If any file is corrupt, restore nothing."""
        checkpoint = Checkpoint(shard.segments.journal, depth)
        try:
            shard.fill(depth, lambda state: checkpoint.segments(state.chunks, source))
        except StoreDamagedError as error:
            shard.damaged.append(str(error))
            depth = -1
        shard.depth = shard.segments.searched = depth

    def layers(self, shard: Shard) -> list[int]:
        """Return the number of positions at each depth in the checkpoint.

        A checkpoint does not distinguish depths before the last: all of these positions count at the previous depth.
        For keys it contains only some of them, and only these count.
        """
        if shard.depth <= 0:  # anything that was restored before corruption was found is meaningless
            return [shard.count(0)] if shard.depth == 0 else []
        before = sum(state.positions_before(shard.depth) for state in shard.states)
        return [*[0] * (shard.depth - 1), before, shard.count(shard.depth)]

    def flush(self, on_groups: OnGroups, depth: int, token: str) -> None:
        """Write a checkpoint, in two steps, since syncing the first files would delay writing the others."""
        on_groups(write_checkpoints, depth, token)
        on_groups(make_checkpoints_durable)


@dataclass(frozen=True)
class LastLayersCommitment(JournalCommitment):
    """Only the layers are counted, and a journal contains the last ones, from which the search on disk continues.

    If moves are ``one_way``, it contains all layers.
    """

    one_way: bool
    store = CountsStore
    commits = Commits
    makes_table = False
    goes_back = False
    stored = "last layers"

    @property
    def max_gaps(self) -> float | None:
        """Half of a bitmap if there are only the last layers. Each is read several times, and a bitmap faster."""
        return super().max_gaps if self.one_way else 0.5

    def disk_space(self, division: Division) -> DiskSpace:
        """Return the disk space of three layers: two from which the search continues, and the one being found.

        A layer takes one bit per entry only if it has a sixteenth of all entries, so three layers rarely do.
        """
        space = division.space
        if self.one_way:
            return DiskSpace(0, ceil(MAX_JOURNAL_BYTES * space.size))
        layer = bitmap_bytes(space.rows, space.width)
        return DiskSpace(0, LAYERS_KEPT * layer, layer)

    def sources(
        self, journal: Journal, depth: int, chunks: Sequence[range], damaged: Damaged
    ) -> Sequence[StoredSegments]:
        """Return the stored segments of each shard, at the depths that the search needs."""
        before = -1 if self.one_way else max(-1, depth - 2)
        stored = journal.load(0, chunks[-1].stop, damaged, known=before)
        try:
            journal.check_known(stored, depth)
        except JournalDamagedError as error:
            damaged.append(str(error))
        return [stored.part(one.start, one.stop) for one in chunks]

    def restore(self, shard: Shard, depth: int, source: StoredSegments) -> None:
        """Restore the layer at ``depth``. If a file is missing or corrupt, restore nothing."""
        shard.segments.restore(depth, source)
        if shard.segments.searched >= depth:
            shard.segments.forget_before(shard.states[0].kept_from(depth))
            shard.depth = depth

    def layers(self, shard: Shard) -> list[int]:
        """Return the number of positions at each depth in the journal."""
        return super().layers(shard) if shard.depth >= 0 else []

    def forget(self, on_groups: OnGroups, depth: int, token: str) -> None:
        """Delete the layers from which the search does not continue."""
        on_groups(forget_layers, depth, token, together=True)


JOURNAL, CHECKPOINTS = JournalCommitment(), CheckpointCommitment()


def commitment_of(options: RunOptions) -> Commitment:
    """Return the commitment of a run with these options: a journal for a table, checkpoints if layers are counted.

    Raises InputError if the options contradict each other.
    """
    if options.counts_only:
        return replace(CHECKPOINTS, unique=options.unique)
    if options.unique:
        raise InputError(
            f"{option('unique')} needs {option('counts_only')}; of a table, antipodes layers counts symmetry classes"
        )
    return JOURNAL


def flush_shards(shards: Sequence[Shard], depth: int, token: str) -> None:
    """Make all segments durable that some shards found up to ``depth``; see `flush`."""
    with all_held(shards, token):
        flush([one.segments for one in shards], depth, token)


def forget_layers(shards: Sequence[Shard], depth: int, token: str) -> None:
    """Delete the layers that are not needed to continue from ``depth``."""
    with all_held(shards, token):
        first = shards[0].states[0].kept_from(depth)
        for one in shards:
            one.segments.forget_before(first)
        shards[0].segments.journal.delete_before(first)


def write_checkpoints(shards: Sequence[Shard], depth: int, token: str) -> None:
    """Write the positions at ``depth``, one file per partition, so that memory holds the segments of only one."""
    for shard in shards:
        checkpoint = Checkpoint(shard.segments.journal, depth)
        with shard.held_by(token):
            for state in shard.states:
                shard.segments.not_durable.append(checkpoint.put(state.chunks, state.checkpoint(depth), token))


def make_checkpoints_durable(shards: Sequence[Shard]) -> None:
    """Make the files durable that these shards have written."""
    make_durable([one.segments for one in shards])
