"""The interface of the state of a partition, whatever it contains: bits in memory, or keys."""

from collections.abc import Iterable
from typing import Any, Protocol

from numpy.typing import NDArray

from antipodes_tasks.bfs.partition import Partition
from antipodes_tasks.bfs.segments import Segment


class PartitionState(Protocol):
    """The positions of a partition: those visited, and those of the last one or two depths.

    A state also has a method ``advance``, which finds the next layer and adds it to a log. Its arguments depend on the
    data from which the layer is found, so only the shards of this kind of state call it.
    A state in memory also has the methods ``checkpoint`` and ``positions_before``; see `partition.State`.
    """

    @property
    def part(self) -> Partition:
        """The rows of the partition."""

    @property
    def chunks(self) -> range:
        """Numbers of the chunks of the partition."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""

    def begin(self, starts: NDArray[Any], log: Any) -> int:
        """Add the ``starts``, indices or keys ``(n,)``, that lie in the partition; return their number.

        ``log`` is a log like `SegmentLog`, or None if positions in memory are not logged.
        """

    def replay(self, depth: int, segments: Iterable[Segment]) -> int:
        """Read the positions at ``depth`` from segments instead of searching; return their number."""

    def forget_before(self, depth: int) -> None:
        """Release memory that is not needed once all partitions have found the layer at ``depth``."""

    def frontier(self, depth: int) -> Any:
        """Return the positions at ``depth``, one of the last two depths, or None if there are none.

        They have a ``count``, the ``number`` of the partition, and the methods that the contents use.
        """

    def positions(self, depth: int, limit: int) -> NDArray[Any]:
        """Return the first indices or keys at one of the last two depths, ``(n,)``, ascending."""

    def restored_from(self, depth: int) -> int:
        """Return the depth from which segments are needed to restore the state at ``depth``."""

    def restore(self, depth: int, segments: Iterable[Segment]) -> None:
        """Restore the state at ``depth`` from all segments from `restored_from` up to this depth.

        Raises StoreDamagedError if the segments do not belong to the partition.
        """

    def kept_from(self, depth: int) -> int:
        """Return the depth from which segments are needed to return to ``depth``."""

    def go_back(self, depth: int, segments: Iterable[Segment]) -> None:
        """Return to ``depth``, using all segments from `kept_from` on; raises the errors of `restore`."""
