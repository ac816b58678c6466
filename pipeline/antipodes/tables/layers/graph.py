"""The task graph of layers: which task advances which group of partitions, and what that takes of other groups."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from antipodes.executors.api import Call, Handle, Key, result_of
from antipodes.tables.layers.group import Boundary, Group
from antipodes_tasks.bfs.partition import Links


@dataclass
class LayerGraph:
    """The tasks of layers that are submitted together; each changes its group in place, where the group is."""

    run: str
    """Part of every key."""
    links: Handle
    """The move tables, and the partitions that they connect."""
    predecessors: Sequence[Sequence[int]]
    """For each group the groups whose moves lead to it, perhaps itself among them."""
    shares_memory: bool
    """Whether tasks see each other's groups; else they are sent the boundaries of these."""
    groups: Sequence[Handle]
    active: set[int]
    """The groups that may have positions at the last depth."""
    token: str
    """The fencing token of the tasks."""
    calls: dict[Key, Call] = field(default_factory=dict)
    advances: dict[Key, tuple[int, int]] = field(default_factory=dict)
    """By the key of each task that advances a group, the number of the group and the depth before."""
    places: dict[Key, Handle] = field(default_factory=dict)
    """For each call the group beside which it runs."""
    _last: dict[int, Key] = field(default_factory=dict)
    """The last task of a group: its next one waits for that, since a group forgets the frontiers of earlier depths."""

    def add_layers(self, depth: int, layers: int) -> None:
        """Add the tasks of the layers after ``depth``; a single group is advanced by all of them in one task."""
        if len(self.groups) == 1:
            self._add(depth, layers)
        else:
            for at in range(depth, depth + layers):
                self._add(at, 1)

    def _add(self, depth: int, layers: int) -> None:
        reached = [number for number, others in enumerate(self.predecessors) if self.active.intersection(others)]
        needed = {one for number in reached for one in self.predecessors[number] if one != number} & self.active
        sources = {number: self._source(number, depth) for number in sorted(needed)}
        for number in reached:
            others = [sources[one] for one in self.predecessors[number] if one in sources and one != number]
            call = advance, self.groups[number], others, self.links, depth, layers, self.token, self._after(number)
            self.advances[self._call(f"advance-{depth}", number, call)] = number, depth
        self.active = set(reached)

    def _source(self, number: int, depth: int) -> Handle:
        """What other groups need of a group at a depth."""
        if self.shares_memory:
            return self.groups[number]
        call = boundary, self.groups[number], self.links, depth, self.token, self._after(number)
        return result_of(self._call(f"boundary-{depth}", number, call))

    def _after(self, number: int) -> list[Handle]:
        return [result_of(self._last[number])] if number in self._last else []

    def _call(self, name: str, number: int, call: Call) -> Key:
        key = f"{name}-{self.run}", number
        self.calls[key] = call
        self.places[key] = self.groups[number]
        self._last[number] = key
        return key


def advance(
    group: Group, others: list[Group | Boundary], links: Links, depth: int, layers: int, token: str, after: list[Any]
) -> list[int]:
    """Advance a group, after the tasks whose results are in ``after``; see `Group.advance`."""
    return group.advance(others, links, depth, layers, token)


def boundary(group: Group, links: Links, depth: int, token: str, after: list[Any]) -> Boundary:
    """What other groups need of a group, after the tasks whose results are in ``after``."""
    return group.boundary(links, depth, token)
