"""The check of a table of keys: the puzzle is searched again, and each layer is compared with the table.

A layer is a set of keys. Two sets are compared by the number of their keys and by the sum of hashes of the keys, modulo
2^64. The hash depends on a random seed, so different sets have the same 64-bit sum only once in about 10^19 cases. So
the keys of the search and of the table need not be in the same process or in the same order.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from antipodes.executors.api import Capacity, never_stop
from antipodes.runs.verification import BlockCache, BlockReader, OneBlock, Verification
from antipodes.tables.check_bytes import CheckedTable, count_depths
from antipodes.tables.check_sample import INFINITE, SAMPLE, contradicted, unsupported
from antipodes.tables.planning.plan import Plan, check_memory, plan_run
from antipodes.tables.search.shards import Shards
from antipodes.tables.store.chunks import TableChunks
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes.tables.strategies.commitment import CHECKPOINTS
from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.bfs.proof import MAX_EXAMPLES
from antipodes_tasks.keys.encoded_runs import integers
from antipodes_tasks.keys.packing import Keys
from antipodes_tasks.keys.sums import hash_sum, is_ascending
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.spaces.space import Space

TOKEN = "verify"
"""The fencing token of a search that writes nothing."""


class ChunkFacts(NamedTuple):
    """Facts about a chunk of the table, or about a range of an unfinished table."""

    layers: Numbers
    """The number of positions at each depth. The last entry, for unreached positions, is always 0."""
    sums: Words
    """The sum of the hashes of the keys at each depth."""
    ends: Keys
    """The first and the last key. Empty for an empty range."""
    ascending: bool


def check_keys(store: TableStore, manifest: TableManifest, verification: Verification) -> CheckedTable:
    """Check all committed layers; raise ResourceLimitError if the search takes more memory than the limit.

    The sample is checked by moving the positions themselves instead of their keys.
    """
    progress = verification.start(str(manifest.puzzle["name"]), manifest.states, manifest.states)
    jobs = [OneBlock(number) for number in range(manifest.chunk_count)]
    reader = BlockReader(verification.scheduler, partial(read_list, store, manifest), jobs)
    facts = reader.run(facts_of, manifest.committed_depth, verification.seed)
    sums = np.sum([one.sums for one in facts], axis=0, dtype=np.uint64)
    layers = np.array([one.layers for one in facts])
    keys, chunks = StoredKeys(store, manifest, 0), TableChunks(store, manifest, 0)
    space = manifest.opened_space(manifest.config.puzzle, keys)
    shards = _shards(store, manifest, verification)
    search = _Search(shards, space, chunks, verification.seed)
    counts = [int(count) for count in layers.sum(axis=0)]
    known = [*zip(counts[:-1], integers(np.asarray(sums)), strict=True)]
    for depth, expected in enumerate(known):
        if depth:
            shards.advance(depth - 1, 1, lambda done, of: None)
        search.compare(depth, expected)
        progress.add(sum(shards.counts))
    if manifest.searched and any(shards.advance(len(known) - 1, 1, lambda done, of: None)):
        search.note("deeper than the last layer of the table", search.keys(len(known)))
    sample = _sample(manifest, layers, verification.seed)
    search.note("a depth that the rules of the puzzle contradict", _contradicted(space, chunks, manifest, sample))
    problems = [*search.differing[:MAX_EXAMPLES], *_disorder(store, manifest, facts)]
    return CheckedTable(layers, search.wrong, problems, len(sample))


class _Search:
    """The search with which a table is compared, and the problems found."""

    def __init__(self, shards: Shards, space: Space, chunks: TableChunks, seed: int) -> None:
        self.wrong: dict[str, tuple[int, Labels]] = {}
        self.differing: list[str] = []
        """A line for each layer that differs."""
        self._shards = shards
        self._space = space
        self._chunks = chunks
        self._seed = seed

    def compare(self, depth: int, expected: tuple[int, int]) -> None:
        """Compare the layer that the search found with the number of keys and the sum of hashes in the table."""
        here = sum(self._shards.counts)
        total = int(np.array(self._shards.hash_sums(depth, self._seed), dtype=np.uint64).sum())
        if (here, total) == expected:
            return
        labels = self.keys(depth)
        found = self._chunks.distances(self._space.rank(labels))
        self.note("a depth that differs from the number of moves", labels[found != depth])
        self.note("not reachable in the number of moves in the table", self._missing_positions(depth, labels))
        self.differing.append(
            f"depth {depth}: the table has {counted(expected[0], 'position')}, a search finds {here:,}"
        )

    def _missing_positions(self, depth: int, labels: Labels) -> Labels:
        """Return the positions that the table contains at a depth, but that the search has not found."""
        found = set(map(bytes, labels))
        batches = (self._space.unrank(indices) for indices in self._chunks.all_at(depth))
        others = [one for batch in batches for one in batch if bytes(one) not in found]
        return np.array(others, dtype=np.uint8).reshape(-1, labels.shape[1])

    def keys(self, depth: int) -> Labels:
        """Return the positions at ``depth``, which must be the last depth searched."""
        numbering = self._space.numbering
        keys = self._shards.positions(depth, sum(self._shards.counts))
        return numbering.packing.unpack(keys)  # type: ignore[attr-defined, no-any-return]

    def note(self, kind: str, labels: Labels) -> None:
        """Count positions with a problem of some kind, and keep the first of them."""
        if len(labels):
            count, first = self.wrong.get(kind, (0, labels[:0]))
            self.wrong[kind] = count + len(labels), np.concatenate((first, labels))[:MAX_EXAMPLES]


def read_list(store: TableStore, manifest: TableManifest, number: int) -> tuple[Keys, Depths]:
    """Return the keys and depths of a chunk; raise as `TableStore.read_keys` does."""
    return store.read_keys(manifest, number), store.read_chunk(manifest, number).ravel()


def facts_of(blocks: BlockCache[tuple[Keys, Depths]], job: OneBlock, deepest: int, seed: int) -> ChunkFacts:
    """Return the facts about a chunk."""
    keys, depths = blocks.get(job.number)
    sums = [hash_sum(keys[depths == depth], seed) for depth in range(deepest + 1)]
    ends = keys[[0, -1]] if len(keys) else keys
    return ChunkFacts(count_depths(depths, deepest), np.array(sums, dtype=np.uint64), ends, is_ascending(keys))


def _shards(store: TableStore, manifest: TableManifest, verification: Verification) -> Shards:
    """Return shards at depth 0 for a search that keeps only the last layers."""
    given = verification.memory_limit

    def plan_on(workers: Capacity) -> tuple[Plan, int | None]:
        limit = given or workers.memory
        puzzle, cut = manifest.config.puzzle, manifest.cut
        return plan_run(puzzle, workers.workers, limit, cut, workers.processes, commitment=CHECKPOINTS), limit

    plan, limit = verification.choose_workers(plan_on, lambda one: one[1] is None or one[0].min_bytes <= one[1])
    if limit is not None:
        check_memory(plan, limit)
    scheduler, listener = verification.scheduler, verification.listener
    shards = Shards(scheduler, plan, store.journal(manifest), never_stop, listener)
    shards.begin(plan.starts, TOKEN)
    return shards


def _disorder(store: TableStore, manifest: TableManifest, facts: Sequence[ChunkFacts]) -> list[str]:
    """Return a line if keys are not where a query would look for them."""
    ends = np.concatenate([one.ends for one in facts])
    _, *numbers = integers(ends)
    apart = all(last < first for last, first in zip(numbers[:-1:2], numbers[1::2], strict=True))
    if not apart or not all(one.ascending for one in facts):
        return ["the keys are not in ascending order, so some positions cannot be found"]
    if manifest.complete and not np.array_equal(store.first_keys(manifest), ends[::2]):
        return ["the list of the chunks' first keys is wrong, so some positions cannot be found"]
    return []


def _sample(manifest: TableManifest, layers: Numbers, seed: int) -> Indices:
    """Return the indices of a sample of all positions."""
    sizes = layers.sum(axis=1)
    drawn = np.random.default_rng(seed).choice(int(sizes.sum()), min(int(sizes.sum()), SAMPLE[1]), replace=False)
    ends = np.cumsum(sizes)
    chunks = np.searchsorted(ends, drawn, side="right")
    places: Indices = drawn - (ends - sizes)[chunks] + chunks * manifest.chunk_rows
    return np.sort(places)


def _contradicted(space: Space, chunks: TableChunks, manifest: TableManifest, sample: Indices) -> Labels:
    """Return the positions of the sample whose depths contradict the rules, without using the moves of keys."""
    expanded = manifest.committed_depth - (not manifest.searched)
    depths_of = partial(_depths, chunks)
    depths, after = depths_of(sample), space.successors(sample)
    wrong = contradicted(depths, after, depths_of(after.indices), expanded)
    if space.rules.moves.invertible:
        before = space.predecessors(sample)
        wrong |= unsupported(depths, before, depths_of(before.indices), expanded)
    return space.unrank(sample[wrong])


def _depths(chunks: TableChunks, indices: Indices) -> Indices:
    """Return the depth at each index, INFINITE for unreached positions."""
    found = chunks.distances(indices).astype(np.int64)
    return np.where(found < 0, INFINITE, found)
