"""The automaton of a group and the move tables made from it, against products of permutations."""

import tracemalloc
from functools import partial

import numpy as np
import permutation_groups as groups
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks import move_tables
from antipodes_tasks.base.errors import FieldError, ResourceLimitError
from antipodes_tasks.move_tables import MoveTables
from antipodes_tasks.permutations.chain import compose, stabiliser_chain
from antipodes_tasks.spaces import group_tables
from antipodes_tasks.spaces.group import Elements
from antipodes_tasks.spaces.group_tables import Automaton, GroupTables

some_groups = st.integers(1, 6).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3))


def automaton(generators: groups.Group) -> Automaton:
    return Automaton(stabiliser_chain(generators).levels, np.array(generators, dtype=np.int16))


def filled(tables: GroupTables) -> MoveTables:
    begun, fills = tables.begin()
    for fill in fills[::-1]:
        fill()
    return begun


def check(generators: groups.Group, leading: int, sample: np.ndarray) -> None:
    """Compare successors by tables with products, for the positions of a sample."""
    chain = stabiliser_chain(generators)
    numbering = Elements(chain)
    tables = GroupTables(automaton(generators), leading)
    built = filled(tables)
    assert (tables.rows, tables.width) == (len(built.target), built.column_maps.shape[1])
    assert len(built.column_maps) == tables.most_column_maps
    rows, columns = np.divmod(sample, tables.width)
    elements = numbering.unrank(sample)
    for move, generator in enumerate(np.array(generators, dtype=np.int16)):
        products = compose(np.broadcast_to(generator, elements.shape), elements)
        numbers = built.column_map[rows, move] if tables.width > 1 else 0
        successors = built.target[rows, move].astype(np.int64) * tables.width + built.column_maps[numbers, columns]
        assert (successors == numbering.rank(products)).all()


@given(some_groups)
def test_successors_are_products_at_every_cut(generators: groups.Group) -> None:
    chain = stabiliser_chain(generators)
    for leading in range(len(chain.base) + 1):
        check(generators, leading, np.arange(chain.order))


@pytest.mark.parametrize(("generators", "leading"), [(groups.M12, 2), (groups.M12, 5), (groups.M24, 4)])
def test_successors_in_large_groups(generators: groups.Group, leading: int) -> None:
    size = stabiliser_chain(generators).order
    check(generators, leading, np.random.default_rng(1).integers(0, size, 1000))


@given(some_groups)
def test_column_maps_are_all_used_and_counted_exactly(generators: groups.Group) -> None:
    chain = stabiliser_chain(generators)
    for leading in range(1, len(chain.base)):
        built = filled(GroupTables(automaton(generators), leading))
        assert (built.column_maps[0] == np.arange(built.column_maps.shape[1])).all()
        assert len(np.unique(built.column_maps, axis=0)) == len(built.column_maps)
        assert set(range(1, len(built.column_maps))) <= set(built.column_map.ravel().tolist())


def test_representatives_that_keep_the_order_need_few_column_maps() -> None:
    n = 9
    flips = [[*range(k)[::-1], *range(k, n)] for k in range(2, n + 1)]
    tables = GroupTables(automaton(flips), 4)
    assert (tables.rows, tables.width, tables.most_column_maps) == (9 * 8 * 7 * 6, 120, 5)  # a flip of 2, 3, 4 or 5


def test_a_product_of_groups_has_one_column_map_a_move() -> None:
    first, second = [1, 2, 3, 4, 0], [1, 2, 0]
    generators = [[*first, 5, 6, 7], [1, 0, 2, 3, 4, 5, 6, 7], [*range(5), *(5 + image for image in second)]]
    tables = GroupTables(automaton(generators), 4)
    assert (tables.rows, tables.width, tables.most_column_maps) == (120, 3, 2)


@pytest.mark.parametrize(("generators", "undirected"), [(groups.M11, False), ([[1, 0, 2], [1, 2, 0], [2, 0, 1]], True)])
def test_moves_that_can_be_undone_by_moves(generators: groups.Group, undirected: bool) -> None:
    tables = GroupTables(automaton(generators), 1)
    assert tables.undirected == undirected == filled(tables).undirected


def test_the_calls_fill_blocks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = filled(GroupTables(automaton(groups.M12), 2))
    monkeypatch.setattr(group_tables, "blocks", partial(move_tables.blocks, steps=100))
    tables = GroupTables(automaton(groups.M12), 2)
    begun, fills = tables.begin()
    assert len(fills) > 10
    for fill in [*fills[::2], *fills[1::2]]:
        fill()
    assert all((one == other).all() for one, other in zip(begun[:3], whole[:3], strict=True))


def test_a_group_without_moves_has_one_position() -> None:
    tables = GroupTables(Automaton(stabiliser_chain([[0, 1, 2]]).levels, np.empty((0, 3), dtype=np.int16)), 0)
    built = filled(tables)
    assert (tables.rows, tables.width, built.target.shape, built.column_maps.tolist()) == (1, 1, (1, 0), [[0]])


def test_too_many_transitions_are_bounded_and_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = automaton(groups.M24).state_counts
    monkeypatch.setattr(group_tables, "MAX_TRANSITIONS", 1000)
    bounded = automaton(groups.M24)
    assert len(bounded.state_counts) == len(exact)
    assert all(count <= bound for count, bound in zip(exact, bounded.state_counts, strict=True))
    with pytest.raises(
        ResourceLimitError, match="the group of the moves is too large: its tables need over 1,000 transitions"
    ):
        GroupTables(bounded, 4).begin()


@pytest.mark.parametrize(("generators", "leading"), [(groups.M12, 3), (groups.M24, 4)])
def test_memory_while_tables_are_built_is_bounded(generators: groups.Group, leading: int) -> None:
    filled(GroupTables(automaton(groups.M11), 2))  # loads the kernels
    bound = GroupTables(automaton(generators), leading).building_bytes(1)
    tables = GroupTables(automaton(generators), leading)
    assert tables.automaton.levels
    tracemalloc.start()
    built, fills = tables.begin()
    most = tracemalloc.get_traced_memory()[1] - sum(array.nbytes for array in built[:3])
    tracemalloc.stop()
    assert fills
    assert most <= bound < 10 * most + 1e6


def test_moves_outside_the_group_are_refused() -> None:
    chain = stabiliser_chain(groups.M11)
    with pytest.raises(FieldError, match="the group does not contain all moves"):
        GroupTables(Automaton(chain.levels, np.array([[1, 0, *range(2, 11)]], dtype=np.int16)), 2).begin()


def test_numbers_of_many_levels_do_not_run_out_of_bits() -> None:
    pairs = 40  # 40 levels of 80 points need 7 bits each
    swaps = []
    for pair in range(pairs):
        images = list(range(2 * pairs))
        images[2 * pair], images[2 * pair + 1] = 2 * pair + 1, 2 * pair
        swaps.append(images)
    assert automaton(swaps).state_counts == (41, *range(40, 0, -1))
