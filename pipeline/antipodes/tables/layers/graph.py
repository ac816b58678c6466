"""The task graph of layers: which task advances which group of partitions, and what that takes of other groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from antipodes.bfs import group
from antipodes.executors.api import Call, Handle, Key, is_result, result_of


@dataclass
class LayerGraph:
    """The tasks of layers that are submitted together, and handles of the groups after the last of these layers."""

    run: str
    """Part of every key."""
    links: Handle
    """The move tables, and the partitions that they connect."""
    predecessors: Sequence[Sequence[int]]
    """For each group the groups whose moves lead to it, perhaps itself among them."""
    shares_memory: bool
    """Whether tasks see each other's groups; else they are sent the boundaries of these."""
    groups: list[Handle]
    boundaries: list[Handle]
    """What other groups need of each group: the group itself where memory is shared."""
    active: set[int]
    """The groups that may have positions at the last depth."""
    changed: set[int] = field(default_factory=set)
    """The groups that tasks advance."""
    calls: dict[Key, Call] = field(default_factory=dict)

    def add_layers(self, depth: int, layers: int) -> None:
        """Add the tasks of the layers after ``depth``; a single group is advanced by all of them in one task."""
        if len(self.groups) == 1:
            self._add(depth, layers)
        else:
            for at in range(depth, depth + layers):
                self._add(at, 1)

    @property
    def group_keys(self) -> list[Key]:
        """The keys of the results that are groups after the last layer."""
        return _keys(self.groups)

    @property
    def wanted(self) -> list[Key]:
        """The keys of the results that are needed after the last layer."""
        return list(dict.fromkeys([*self.group_keys, *_keys(self.boundaries)]))

    def resolve(self, handles: Mapping[Key, Handle]) -> None:
        """Replace the results that stand for groups and boundaries with their handles."""
        self.groups = [handles[one.key] if is_result(one) else one for one in self.groups]
        self.boundaries = [handles[one.key] if is_result(one) else one for one in self.boundaries]

    def _add(self, depth: int, layers: int) -> None:
        groups, boundaries = list(self.groups), list(self.boundaries)
        reached = [number for number, others in enumerate(self.predecessors) if self.active.intersection(others)]
        for number in reached:
            others = [boundaries[one] for one in self.predecessors[number] if one in self.active and one != number]
            advanced = group.advance, groups[number], others, self.links, depth, layers
            self.groups[number] = self.boundaries[number] = self._result(f"advance-{depth}", number, advanced)
        if not self.shares_memory:
            for number in reached:
                boundary = group.boundary, self.groups[number], self.links, depth + layers
                self.boundaries[number] = self._result(f"boundary-{depth}", number, boundary)
        self.active = set(reached)
        self.changed |= self.active

    def _result(self, name: str, number: int, call: Call) -> Handle:
        """Add a call; what stands for its result."""
        key = f"{name}-{self.run}", number
        self.calls[key] = call
        return result_of(key)


def _keys(handles: Sequence[Handle]) -> list[Key]:
    return [one.key for one in handles if is_result(one)]
