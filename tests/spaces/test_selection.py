"""The state space of a store is built again from its record; all spaces of a puzzle number its positions alike."""

import subprocess
import sys
import time
from typing import Any

import pytest

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.selection import best_space, index_size
from antipodes_tasks.spaces.space import Space


def chosen(**settings: Any) -> Space:
    return best_space(puzzle_from({"name": "p", **settings}).rules)


SKEWED = {"A": "(0 1 2 3 4 5)", "B": "(0 1)(2 3)(4 5)"}
KINDS_OF_PUZZLES: list[tuple[dict[str, Any], type[Space], int]] = [
    ({"family": "sliding", "rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}, Arrangements, 181440),
    ({"family": "pancake", "n": 9}, Orbits, 362880),
    ({"family": "pancake", "start": "1 1 2 2 3 3"}, Orbits, 90),
    ({"family": "burnt-pancake", "n": 5}, Orbits, 3840),
    ({"family": "topspin", "n": 9}, Orbits, 181440),
    ({"family": "hanoi", "pegs": 4, "discs": 5}, Orbits, 1024),
    ({"family": "lights-out", "rows": 4, "columns": 4}, Group, 4096),
    ({"family": "generators", "start": "0 1 2 3 4 5", "moves": SKEWED}, Group, 18),
    ({"family": "generators", "start": "0 0 1 1 2 2", "moves": SKEWED}, Orbits, 90),
]


@pytest.mark.parametrize(("table", "kind", "size"), KINDS_OF_PUZZLES)
def test_each_kind_of_puzzle_has_its_space(table: dict[str, Any], kind: type[Space], size: int) -> None:
    space = chosen(**table)
    assert (type(space.numbering), space.size) == (kind, size)
    assert index_size(space.rules) == size


def test_the_cut_has_few_rows_and_maps_that_fit_a_cache() -> None:
    space = chosen(family="pancake", n=12)
    assert (space.rows, space.width) == (95040, 5040)
    assert space.filler.most_column_maps == 7


@pytest.mark.parametrize(("columns", "rows", "width"), [(6, 95040, 2520), (7, 2162160, 20160)])
def test_the_cut_of_a_large_space_has_wider_rows_if_narrow_ones_need_large_tables(
    columns: int, rows: int, width: int
) -> None:
    space = chosen(family="sliding", rows=2, columns=columns, start=" ".join(map(str, [*range(1, 2 * columns), 0])))
    assert (space.rows, space.width) == (rows, width)
    assert space.filler.table_bytes < 1 << 27


@pytest.mark.parametrize("family", ["pancake", "burnt-pancake", "topspin"])
def test_a_puzzle_too_large_for_any_space_is_refused_in_a_moment(family: str) -> None:
    begin = time.process_time()
    with pytest.raises(ConfigError, match=r"expected at most 2\^63 - 1 positions, found about 10\^"):
        chosen(family=family, n=60)
    assert time.process_time() - begin < 30, "the order of the group would take minutes"


PROGRAM = """
import sys
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.spaces.selection import best_space
space = best_space(puzzle_from({"name": "p", "family": "burnt-pancake", "n": 9}).rules)
index = space.rank(space.rules.start_labels)
assert (space.unrank(index) == space.rules.start_labels).all()
assert space.filler.table_bytes and space.filler.building_bytes(2)
print(*{"numba", "sympy", "numpy.ma"} & set(sys.modules))
"""


@pytest.mark.slow
def test_to_plan_or_to_rank_a_position_loads_no_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
