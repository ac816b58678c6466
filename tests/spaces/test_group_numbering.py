"""The numbers of group elements: a bijection, the same by numpy and by kernels, and -1 outside the group."""

import pickle

import numpy as np
import permutation_groups as groups
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.base.errors import FieldError, ResourceLimitError
from antipodes_tasks.permutations.chain import StabiliserChain, checked_chain, stabiliser_chain
from antipodes_tasks.spaces import group
from antipodes_tasks.spaces.group import Elements

some_groups = st.integers(1, 6).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3))


@pytest.fixture(params=["numpy", "kernels"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many elements are looked up by numpy: all or none."""
    monkeypatch.setattr(group, "MAX_NUMPY_IMAGES", 1 << 40 if request.param == "numpy" else -1)


@given(generators=some_groups, compiled=st.booleans())
def test_the_numbers_are_a_bijection(generators: groups.Group, compiled: bool) -> None:
    chain = stabiliser_chain(generators)
    numbering = Elements(chain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "MAX_NUMPY_IMAGES", -1 if compiled and chain.base else 1 << 40)
        elements = numbering.unrank(np.arange(numbering.size))
        assert {tuple(each) for each in elements.tolist()} == groups.elements(generators)
        assert numbering.rank(elements).tolist() == list(range(numbering.size))


@pytest.mark.usefixtures("few")
def test_numbers_of_a_large_group() -> None:
    numbering = Elements(stabiliser_chain(groups.M24))
    numbers = np.random.default_rng(1).integers(0, numbering.size, 300)
    elements = numbering.unrank(numbers)
    assert (numbering.rank(elements) == numbers).all()
    assert numbering.rank(np.arange(24, dtype=np.int16)[np.newaxis]).tolist() == [0]
    swapped = elements[:, [1, 0, *range(2, 24)]]  # M24 has no transposition
    assert (numbering.rank(swapped) == -1).all()


@pytest.mark.usefixtures("few")
def test_what_is_no_permutation_has_no_number() -> None:
    numbering = Elements(stabiliser_chain(groups.M11))
    arrays = np.random.default_rng(1).integers(0, 11, (2000, 11)).astype(np.int16)
    permuted = (np.sort(arrays, axis=1) == np.arange(11)).all(axis=1)
    assert (numbering.rank(arrays[~permuted]) == -1).all()


def test_groups_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ResourceLimitError, match=r"expected a group of at most 2\^63 - 1 elements, found 51,090,942"):
        Elements(stabiliser_chain([[*range(1, 21), 0], [1, 0, *range(2, 21)]]))


def test_a_record_gives_the_same_numbers_without_search() -> None:
    chain = stabiliser_chain(groups.M12)
    again = checked_chain(12, list(chain.base), [list(each) for each in chain.generators])
    numbers = np.arange(0, 95040, 97)
    assert (Elements(again).unrank(numbers) == Elements(chain).unrank(numbers)).all()
    assert pickle.loads(pickle.dumps(chain)) == chain


M11 = stabiliser_chain(groups.M11)
STRONG = [list(each) for each in M11.generators]


@pytest.mark.parametrize(
    ("base", "generators", "message"),
    [
        (None, STRONG, "base: expected lists of integers, found None"),
        ([0, 0], STRONG, "base: expected different points from 0 to 10"),
        ([0, 11], STRONG, "base: expected different points from 0 to 10"),
        ([0, True], STRONG, "base: expected lists of integers"),
        ([0, 1, 2, 3], None, "generators: expected a list, found None"),
        ([0, 1, 2, 3], "abc", "generators: expected a list"),
        ([0, 1, 2, 3], [5], "generators: expected lists of integers, found 5"),
        ([0, 1, 2, 3], [[0, 1, 2]], "generators: expected permutations of 11 points"),
        ([0, 1, 2, 3], [[0, *range(10)]], "generators: expected permutations of 11 points"),
        ([0, 1, 2, 3], [[float(point) for point in range(11)]], "generators: expected lists of integers"),
        ([0, 1, 2], STRONG, "generators: they are not strong generators for the base"),
        ([], STRONG, "generators: they are not strong generators for the base"),
    ],
)
def test_records_of_no_chain_are_refused(base: object, generators: object, message: str) -> None:
    with pytest.raises(FieldError, match=message):
        checked_chain(11, base, generators)


def test_generators_that_are_not_strong_are_refused() -> None:
    refused = 0
    for left_out in range(len(STRONG)):
        fewer = tuple(map(tuple, STRONG[:left_out] + STRONG[left_out + 1 :]))
        complete = len(groups.elements(list(map(list, fewer)))) == StabiliserChain(11, M11.base, fewer).order
        if not complete:
            refused += 1
            with pytest.raises(FieldError, match="generators: they are not strong generators for the base"):
                checked_chain(11, list(M11.base), list(fewer))
    assert refused
