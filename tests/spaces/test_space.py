"""The contract of a space, for every kind: numbers, cuts, moves, records and bounds of memory, against the rules."""

import pickle
import random
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations, product
from typing import Any

import bandaged
import group_puzzles
import numpy as np
import pytest
from brute_force import layers_of, positions_of
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES
from own_puzzles import divided, jugs, lights, random_puzzle, towers
from search_problems import turns
from strategies import additive_settings, any_contents, puzzle_settings
from table_search import layers_by_engine, layers_by_tables
from transform_puzzles import transform_puzzles

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import FieldError, InputError
from antipodes_tasks.move_tables import ILLEGAL, MoveTables, index_type
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.mixed_radix import MixedRadix, deciding_order, fields_of
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.regions import Regions
from antipodes_tasks.spaces.selection import best_space, every_cut, index_size, numbering_of, stored_space
from antipodes_tasks.spaces.shapes import Shapes
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering, Space

SAMPLES, CONTENTS = 200, 5000
KERNELS = 1 << 16
"""Bytes that objects of Python may take while tables are built, besides what is planned for arrays."""


@dataclass(frozen=True)
class Case:
    """A kind of numbering, and random puzzles for it."""

    kind: type[Numbering]
    puzzles: st.SearchStrategy[Puzzle]

    def __repr__(self) -> str:
        return self.kind.KIND


def family(name: str, **settings: Any) -> Puzzle:
    return puzzle_from({"name": name, "family": name, **settings})


FAMILIES_OF_ORBITS = [
    family("pancake", n=5),
    family("pancake", start="1 1 2 2 3 3"),
    family("burnt-pancake", n=3),
    family("topspin", n=6),
    family("topspin", n=7, k=5),
    family("topspin", start="1 2 2 3 3"),
    family("hanoi", pegs=3, discs=4),
    family("hanoi", pegs=4, discs=3),
    family("sliding", metric="slides", rows=2, columns=3, start="1 1 2 3 3 0"),
    family("lights-out", rows=2, columns=4),
    family("lights-out", lights=6, edges=[[0, 1], [2, 3], [4, 5]]),
]
CASES = [
    Case(Arrangements, puzzle_settings().map(puzzle_from)),
    Case(Orbits, transform_puzzles() | st.sampled_from(FAMILIES_OF_ORBITS)),
    Case(Group, group_puzzles.puzzles()),
    Case(MixedRadix, st.integers(0, 10**6).map(random_puzzle)),
    Case(Regions, additive_settings().map(puzzle_from)),
    Case(Shapes, st.integers(0, 10**6).map(lambda seed: bandaged.random_puzzle(seed)[1])),
]
every_kind = pytest.mark.parametrize("case", CASES, ids=repr)


def spaces_of(kind: type[Numbering], rules: Rules) -> list[Space]:
    """The spaces of all cuts; of fields with the best order and with another one, for they are all cut anew."""
    if kind is not MixedRadix:
        return every_cut(rules, kind.of(rules))
    fields, (best, _) = fields_of(rules.parts), deciding_order(rules.parts, rules.moves)
    orders = (best, np.random.default_rng(len(fields)).permutation(len(fields)).tolist())
    cuts = [divided(rules, order, leading) for order in orders for leading in range(1, len(fields) + 1)]
    return [cut for cut in cuts if cut is not None]


def contents(puzzle: Puzzle) -> np.ndarray[Any, Any]:
    """Positions with the pieces of the puzzle in any order and any values, which moves may not reach."""
    every = [
        set(islice(permutations([label for label, count in enumerate(part.counts) for _ in range(count)]), CONTENTS))
        if part.counts is not None
        else product(range(len(part.symbols)), repeat=part.places)
        for part in puzzle.parts
    ]
    return np.array([sum(one, ()) for one in islice(product(*every), CONTENTS)], dtype=np.uint8)


def as_labels(positions: Sequence[bytes]) -> np.ndarray[Any, Any]:
    return np.array([list(one) for one in positions], dtype=np.uint8)


def checked(puzzle: Puzzle, labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Check labels, except for torn pieces of several places, which shapes number, too."""
    return labels if puzzle.rules.larger is not None else puzzle.checked(labels)


@every_kind
@given(data=st.data())
def test_indices_are_those_of_positions_by_every_cut(case: Case, data: st.DataObject) -> None:
    puzzle = data.draw(case.puzzles)
    all_contents, layers = checked(puzzle, contents(puzzle)), [set(map(bytes, layer)) for layer in positions_of(puzzle)]
    for space in spaces_of(case.kind, puzzle.rules):
        every = np.arange(space.size)
        labels = checked(puzzle, space.unrank(every))
        assert space.size == space.rows * space.width == case.kind.size_for(puzzle.rules)
        assert np.array_equal(space.rank(labels), every)
        numbered = {bytes(one) for one in labels}
        ranks = space.rank(all_contents)
        assert [rank != NOT_NUMBERED for rank in ranks] == [bytes(one) in numbered for one in all_contents]
        assert [space.numbering.rank_one(one) for one in all_contents[:SAMPLES].tolist()] == ranks[:SAMPLES].tolist()
        assert numbered.issuperset(chain.from_iterable(layers))
        if case.kind is Group:
            assert space.size == sum(map(len, layers))
        assert space.numbering.reachable(space.rules) in (None, sum(map(len, layers)))
        for outside in (-1, space.size):
            with pytest.raises(InputError, match=f"expected an index from 0 to {space.size - 1}, found {outside}"):
                space.unrank(np.array([0, outside]))
    if case.kind is not MixedRadix:  # which has one cut
        assert len({space.rank(all_contents).tobytes() for space in spaces_of(case.kind, puzzle.rules)}) == 1


@every_kind
@given(data=st.data())
def test_move_tables_are_the_moves_of_the_puzzle(case: Case, data: st.DataObject) -> None:
    puzzle = data.draw(case.puzzles)
    spaces = spaces_of(case.kind, puzzle.rules)
    sample = np.unique(np.random.default_rng(0).integers(0, spaces[0].size, SAMPLES))
    layers = layers_of(puzzle)
    for space in spaces:
        tables = space.filler.filled()
        by_rules = space.successors(sample)
        assert not len(by_rules.differing(tables.successors(sample)))
        positions = {
            n: labels for n, labels in enumerate(space.unrank(sample[:20])) if puzzle.rules.holds(labels.tolist())
        }
        expected = {n: np.sort(space.rank(puzzle.successors(labels))).tolist() for n, labels in positions.items()}
        assert {n: np.sort(by_rules.indices[by_rules.of == n]).tolist() for n in positions} == expected
        assert tables.undirected == puzzle.moves.reversible or case.kind is Group
        check_form(space, tables)
        assert layers_by_tables(tables, space.rank(puzzle.start_labels)) == layers
        assert layers_by_engine(tables, space.rank(puzzle.start_labels)) == layers


def check_form(space: Space, tables: MoveTables) -> None:
    """Legal moves come first, map 0 is the identity, each map takes no two columns to one, and the bounds hold."""
    legal = tables.target != ILLEGAL
    assert (legal[:, 1:] <= legal[:, :-1]).all()
    assert tables.column_maps[0].tolist() == list(range(space.width))
    assert tables.target.shape == (space.rows, tables.target.shape[1])
    assert tables.target.shape[1] <= space.filler.max_moves
    assert len(tables.column_maps) <= space.filler.most_column_maps
    assert sum(array.nbytes for array in tables[:3]) <= space.filler.table_bytes
    assert tables.column_maps.dtype == index_type(space.width)
    if tables.undirected:
        every = np.arange(min(space.size, SAMPLES))
        there = tables.successors(every)
        back = tables.successors(there.indices)
        assert set(zip(every[there.of], there.indices, strict=True)) <= set(
            zip(back.indices, there.indices[back.of], strict=True)
        )


@every_kind
@given(data=st.data())
def test_predecessors_are_successors_reversed(case: Case, data: st.DataObject) -> None:
    puzzle = data.draw(case.puzzles)
    (space, *_) = spaces_of(case.kind, puzzle.rules)
    every = np.arange(space.size)
    try:
        before = space.predecessors(every)
    except InputError:  # a function of which no inverse is known
        assert case.kind is MixedRadix
        return
    after = space.successors(every)
    edges = set(zip(before.indices.tolist(), before.of.tolist(), strict=True)) - {(NOT_NUMBERED, n) for n in every}
    assert edges == set(zip(after.of.tolist(), after.indices.tolist(), strict=True))


@every_kind
@given(data=st.data())
def test_a_record_and_a_message_make_the_same_space(case: Case, data: st.DataObject) -> None:
    puzzle = data.draw(case.puzzles)
    for space in spaces_of(case.kind, puzzle.rules):
        every = np.arange(space.size)
        assert space.record.kind == case.kind.KIND
        for again in (stored_space(puzzle.rules, space.record), pickle.loads(pickle.dumps(space))):
            assert again.record == space.record
            assert np.array_equal(again.unrank(every), space.unrank(every))
        with pytest.raises(FieldError, match=r"rows: .*match no row/column split"):
            stored_space(puzzle.rules, replace(space.record, rows=space.rows + 1, width=space.width + 1))
        with pytest.raises(FieldError):
            stored_space(puzzle.rules, replace(space.record, details={"other": space.record.details}))
        with pytest.raises(FieldError, match="space: expected one of arrangements, orbits, group, fields, "):
            stored_space(puzzle.rules, replace(space.record, kind="other"))


@pytest.mark.parametrize("case", [case for case in CASES if case.kind is not MixedRadix], ids=repr)
@given(data=st.data())
def test_a_record_of_another_kind_of_moves_is_refused(case: Case, data: st.DataObject) -> None:
    """Such a space would rank the positions, and fail when its move tables are built."""
    record = spaces_of(case.kind, data.draw(case.puzzles).rules)[0].record
    with pytest.raises(FieldError, match=r"space: the .* does not match"):
        stored_space(jugs().rules, record)
    fields = best_space(jugs().rules).record
    with pytest.raises(FieldError, match=r"space: the kind .* does not match the puzzle"):
        stored_space(data.draw(case.puzzles).rules, fields)


LARGER: dict[str, tuple[type[Numbering], Puzzle]] = {
    "sliding": (Arrangements, load_config("eight-puzzle").puzzle),
    "pancake": (Orbits, family("pancake", n=9)),
    "ivy": (Group, load_config("ivy").puzzle),
    "own towers": (MixedRadix, towers(4, 7)),
    "blocks": (Keyed, family("blocks", start="BAAC/BAAC/D..E")),
    "additive": (Regions, family("sliding", rows=4, columns=4, start="0 1 2 3 4 5" + 10 * " x", free=["x"])),
}


@pytest.mark.parametrize("name", LARGER)
def test_blocks_of_tables_are_filled_in_any_order_by_threads_in_the_memory_planned(name: str) -> None:
    kind, puzzle = LARGER[name]
    spaces = [space for space in every_cut(puzzle.rules, kind.of(puzzle.rules)) if space.filler.table_bytes < 1 << 23]
    for space in random.Random(1).sample(spaces, 1):
        whole = space.filler.filled()  # loads the kernels
        tracemalloc.start()
        again = space.filler.filled()
        peak = tracemalloc.get_traced_memory()[1] - sum(array.nbytes for array in again[:3])
        tracemalloc.stop()
        assert peak <= space.filler.building_bytes(1) + KERNELS
        tables, fills = space.filler.begin()
        random.Random(0).shuffle(fills)
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(lambda fill: fill(), fills))
        sample = np.random.default_rng(0).integers(0, space.size, 2000)
        for labels in (space.unrank(sample[:SAMPLES]), any_contents(puzzle, SAMPLES)):
            assert [space.numbering.rank_one(one) for one in labels.tolist()] == space.rank(labels).tolist()
        assert not len(tables.successors(sample).differing(whole.successors(sample)))
        assert not len(space.successors(sample[:100]).differing(tables.successors(sample[:100])))
        if kind is not MixedRadix:  # whose column maps are numbered as they are found
            assert all(map(np.array_equal, tables[:3], whole[:3]))


FAMILIES = ORACLES["permutation-families"]
PUBLISHED: dict[str, tuple[Puzzle, list[int]]] = {
    "eight-puzzle": (LARGER["sliding"][1], ORACLES["sliding/eight-puzzle"]["layers"]),
    "pancake 7": (family("pancake", n=7), FAMILIES["pancake-7"]),
    "burnt pancake 5": (family("burnt-pancake", n=5), FAMILIES["burnt_pancake-5"]),
    "topspin 8": (family("topspin", n=8), FAMILIES["top_spin-8"]),
    "additive": (LARGER["additive"][1], ORACLES["additive"]["4x4 goal 0 1 2 3 4 5 x..."]["entries"]),
    "own lights": (lights(3, 3), [1, 9, 36, 84, 126, 126, 84, 36, 9, 1]),
    "own jugs": (jugs(), [1, 2, 3, 2, 2, 2, 2, 2]),
    **{
        name: (group_puzzles.twisty(name), ORACLES["twisty"][name.partition(".")[0]])
        for name in ("pyramorphix.tws", "pyramorphix.gap", "master_pyramorphix.tws", "master_pyramorphix.gap")
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_layers(name: str) -> None:
    puzzle, layers = PUBLISHED[name]
    spaces = [best_space(puzzle.rules)]
    if Group.can_number(puzzle.rules):
        spaces.append(group_puzzles.group_space(puzzle))
    for space in spaces:
        assert layers_by_engine(space.filler.filled(), space.rank(puzzle.start_labels)) == layers
        assert space.numbering.reachable(space.rules) in (None, sum(layers))


@every_kind
@given(data=st.data())
def test_the_best_space_is_one_of_the_cuts(case: Case, data: st.DataObject) -> None:
    rules = data.draw(case.puzzles).rules
    space = best_space(rules)
    assert space in every_cut(rules, numbering_of(rules))
    assert space.numbering.KIND == "keys" or space.size == index_size(rules)
    assert repr(space).startswith(f"<{space.numbering.KIND} of {rules.name}: {space.rows:,} row")


def test_one_way_moves_reach_what_a_group_numbers() -> None:
    space = group_puzzles.group_space(turns((0, 1, 2, 3, 4)))
    assert (space.size, space.filler.filled().undirected) == (60, False)
