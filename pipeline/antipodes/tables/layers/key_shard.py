"""Shards whose partitions hold keys, which are moved to temporary files if they do not fit into memory."""

from collections.abc import Sequence
from functools import cached_property

from antipodes.tables.layers.shard import Shard
from antipodes.tables.layers.temporary_files import Folder
from antipodes_tasks.bfs.key_partition import KeyLinks, KeySuccessors, SuccessorBuffer
from antipodes_tasks.keys.sums import hash_sum


class KeyShard(Shard):
    """A shard of partitions of sorted keys."""

    @property
    def memory_limit(self) -> int:
        """Half of the shard's memory, for its keys and segments. The other half is for successors."""
        return self.buffer_bytes // 2

    @cached_property
    def folder(self) -> Folder:
        """The folder of temporary files."""
        return Folder.for_store(self.segments.journal.storage)

    def release_memory(self) -> None:
        """Move the keys of the last layers, and the visited keys if there are any, to disk if they do not fit."""
        if sum(state.nbytes for state in self.states) > self.memory_limit:
            disk = self.folder.file()
            for state in self.states:
                state.to_disk(disk)

    def search(self, offers: Sequence[KeySuccessors], links: KeyLinks, depth: int) -> int:
        """Find the positions at ``depth`` among the successors in ``offers``, by default the shard's own successors."""
        offers = offers or [successors_of([self], links, depth - 1)]
        arrived = [one for offer in offers for one in offer.found]
        return sum(state.advance(depth, arrived, self.log) for state in self.states)

    def hash_sum(self, depth: int, seed: int) -> int:
        """Return the sum of the hashes of the keys at ``depth``, one of the last two, modulo 2^64."""
        total = sum(hash_sum(keys, seed) for frontier in self.frontiers(depth) for keys in frontier.batches())
        return total % (1 << 64)


def successors_of(shards: Sequence[KeyShard], links: KeyLinks, depth: int) -> KeySuccessors:
    """Return the successors of the keys at ``depth`` of some shards, which the caller has locked."""
    room = SuccessorBuffer(sum(one.memory_limit for one in shards), shards[0].folder.file)
    return links.successors(depth, (frontier for one in shards for frontier in one.frontiers(depth)), room)
