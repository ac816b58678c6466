"""Orders of groups from the literature; random groups against brute force and against sympy."""

from collections.abc import Sequence
from math import factorial

import numpy as np
import permutation_groups as groups
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.base.errors import PermutationError, ResourceLimitError
from antipodes_tasks.permutations.chain import StabiliserChain, sifted, stabiliser_chain

ORDERS = {
    "M11": (groups.M11, 7920),
    "M12": (groups.M12, 95040),
    "M24": (groups.M24, 244823040),
    "S20": ([[*range(1, 20), 0], [1, 0, *range(2, 20)]], factorial(20)),
    "A25": ([[1, 2, 0, *range(3, 25)], [*range(1, 25), 0]], factorial(25) // 2),
    "trivial": ([[0, 1, 2]], 1),
}

some_groups = st.integers(1, 6).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3))


def chain_in_order(generators: groups.Group, preferred: Sequence[int]) -> StabiliserChain:
    """The chain whose base points come in the preferred order, found with the points renumbered."""
    order, place = np.array(preferred), np.argsort(preferred)
    found = stabiliser_chain(place[np.array(generators)[:, order]])
    strong = order[np.array(found.generators, dtype=np.int64).reshape(-1, len(order))[:, place]]
    return StabiliserChain(len(order), tuple(order[list(found.base)].tolist()), tuple(map(tuple, strong.tolist())))


@pytest.mark.parametrize("name", ORDERS)
def test_known_orders(name: str) -> None:
    generators, order = ORDERS[name]
    chain = stabiliser_chain(generators)
    assert chain.order == order
    assert chain.is_complete
    assert (sifted(chain.levels, np.array(generators, dtype=np.int16)) == np.arange(chain.points)).all()


@given(some_groups, st.randoms(use_true_random=False))
def test_exactly_the_elements_are_products_of_representatives(generators: groups.Group, random: object) -> None:
    preferred = list(range(len(generators[0])))
    random.shuffle(preferred)  # type: ignore[attr-defined]
    chain = chain_in_order(generators, preferred)
    every = np.array(sorted(groups.elements([list(range(len(preferred)))[::-1], *generators])), dtype=np.int16)
    inside = (sifted(chain.levels, every) == np.arange(chain.points)).all(axis=1)
    assert {tuple(each) for each in every[inside].tolist()} == groups.elements(generators)
    assert chain.order == inside.sum()
    assert list(chain.base) == sorted(chain.base, key=preferred.index)


@pytest.mark.slow
@given(st.integers(7, 12).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3)))
def test_orders_and_base_are_those_of_sympy(generators: groups.Group) -> None:
    combinatorics = pytest.importorskip("sympy.combinatorics")
    group = combinatorics.PermutationGroup([combinatorics.Permutation(each) for each in generators])
    assert stabiliser_chain(generators).order == group.order()


@pytest.mark.parametrize("name", ["M12", "M24", "S20"])
def test_renumbering_the_points_changes_no_order(name: str) -> None:
    generators, order = ORDERS[name]
    backwards = range(len(generators[0]))[::-1]
    chain = chain_in_order(generators, backwards)
    assert (chain.order, chain.base[0]) == (order, backwards[0])
    assert list(chain.base) == sorted(chain.base, reverse=True)


@given(some_groups, st.data())
def test_levels_depend_on_the_group_alone(generators: groups.Group, data: st.DataObject) -> None:
    every = [list(each) for each in sorted(groups.elements(generators))]
    others = data.draw(st.permutations([*generators, *data.draw(st.lists(st.sampled_from(every), max_size=3))]))
    one, other = stabiliser_chain(generators), stabiliser_chain(others)
    assert one.base == other.base
    for level, same in zip(one.levels, other.levels, strict=True):
        assert (level.numbers == same.numbers).all()
        assert (level.transversal == same.transversal).all()


def test_the_chain_does_not_depend_on_earlier_calls() -> None:
    assert stabiliser_chain(groups.M24) == stabiliser_chain(np.array(groups.M24, dtype=np.uint8))


def test_a_limit_ends_the_search() -> None:
    with pytest.raises(ResourceLimitError, match="expected a group of at most 1,000 elements, found at least"):
        stabiliser_chain(groups.M24, max_order=1000)
    assert stabiliser_chain(groups.M24, max_order=244823040).order == 244823040


@pytest.mark.parametrize(
    ("generators", "message"),
    [
        ([[0, 1, 1]], "expected each of 0 to 2 once, found 0 1 1"),
        ([[0, 1, 3]], "found 0 1 3"),
        ([[0.0, 1.0]], r"expected permutations \(n, points\)"),
        ([0, 1], r"expected permutations \(n, points\)"),
        (np.empty((1, 0), dtype=np.int64), r"found \(1, 0\)"),
    ],
)
def test_what_is_no_permutation_is_refused(generators: object, message: str) -> None:
    with pytest.raises(PermutationError, match=message):
        stabiliser_chain(generators)  # type: ignore[arg-type]
