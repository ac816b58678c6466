"""Classes of positions under the symmetries of a puzzle, found by trying all images."""

from collections.abc import Mapping

import numpy as np
from brute_force import positions_by

from antipodes.tables.table import Table
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.rules.rules import Rules

Orbit = frozenset[tuple[int, ...]]


def orbits(rules: Rules, positions: np.ndarray) -> list[Orbit]:
    """Return the class of each position ``(n, places)``: all images of it, of their images, and so on."""
    generators, found = symmetries_of(rules).generators, dict[tuple[int, ...], Orbit]()

    def images(some: np.ndarray) -> np.ndarray:
        return np.concatenate([some[:0], *(one.image(some) for one in generators)])

    for position in positions:
        if tuple(position) not in found:
            orbit = frozenset(map(tuple, np.concatenate(positions_by(position[np.newaxis], images)).tolist()))
            found |= dict.fromkeys(orbit, orbit)
    return [found[tuple(position)] for position in positions]


def check_layers_up_to_symmetry(table: Table, depths: Mapping[tuple[int, ...], int]) -> None:
    """Compare classes and symmetric positions at each depth with the depths of all positions."""
    rules = table.puzzle.rules
    by_orbit = dict(zip(orbits(rules, np.array(list(depths), dtype=np.uint8)), depths.values(), strict=True))
    assert table.unique_layers() == np.bincount(list(by_orbit.values())).tolist()
    farthest = {orbit for orbit, depth in by_orbit.items() if depth == table.radius}
    shown = table.unique_antipodes()
    found = orbits(rules, shown)
    assert (set(found), len(found)) == (farthest, len(farthest))
    order = symmetries_of(rules).order
    assert [order // len(orbit) for orbit in found] == table.symmetries_at(shown)
    assert (table.unique_antipodes(1) == shown[:1]).all()
    check_symmetric_layers(table, depths)


def check_symmetric_layers(table: Table, depths: Mapping[tuple[int, ...], int]) -> None:
    """Compare the positions that each of some symmetries keeps with the depths of all positions."""
    positions, by_depth = np.array(list(depths), dtype=np.uint8), np.array(list(depths.values()))
    for one in symmetries_of(table.puzzle.rules).elements()[:10]:
        same = (one.image(positions) == positions).all(axis=1)
        found = table.symmetric_layers(one)
        assert found == np.bincount(by_depth[same], minlength=len(found)).tolist()
