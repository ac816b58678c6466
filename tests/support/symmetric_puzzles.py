"""Random small puzzles that have symmetries, and all symmetries of small puzzles by trying every map."""

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from project import ROOT

from antipodes.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

Turn = tuple[tuple[int, ...], tuple[int, ...]]
"""From which place each gets its piece, and what it adds to the twists."""


def of_family(family: str, **more: Any) -> Puzzle:
    return puzzle_from({"name": "p", "family": family, **more})


def board(start: str, **more: Any) -> Puzzle:
    rows = start.split("/")
    return of_family("sliding", rows=len(rows), columns=len(rows[0].split()), start=start, **more)


@cache
def bundled(name: str) -> Puzzle:
    return load_config(str(ROOT / "configs" / f"{name}.toml")).puzzle


@st.composite
def swap_puzzles(draw: st.DrawFn) -> Puzzle:
    """Pieces on 2 to 5 places, perhaps equal, which move along arcs that some permutation of the places permutes."""
    places = draw(st.integers(2, 5))
    symmetry = draw(st.permutations(range(places)))
    arcs = set(draw(st.lists(st.tuples(*[st.integers(0, places - 1)] * 2), min_size=1, max_size=4)))
    while (more := {(symmetry[a], symmetry[b]) for a, b in arcs}) - arcs:
        arcs |= more
    start = [0, *draw(st.lists(st.integers(0, 2), min_size=places - 1, max_size=places - 1))]
    starts = {tuple(draw(st.permutations(start))) for _ in range(draw(st.integers(1, 2)))}
    part = pieces(tuple(start), ("-", "a", "b"))
    return Puzzle.of("random", "random", "", Lists((places,)), (part,), sorted(starts), Swaps(sorted(arcs)))


@st.composite
def twist_puzzles(draw: st.DrawFn) -> Puzzle:
    """Two or three different pieces with two to four twists, and moves that some map of the twists permutes."""
    places, twists = draw(st.integers(2, 3)), draw(st.integers(2, 4))
    symmetry = draw(st.permutations(range(places)))
    signs = [draw(st.sampled_from([1, -1]))] * places
    added = draw(st.lists(st.integers(0, twists - 1), min_size=places, max_size=places))
    turn = st.tuples(st.permutations(range(places)), st.tuples(*[st.integers(0, twists - 1)] * places))
    turns = {(tuple(origin), tuple(turned)) for origin, turned in draw(st.lists(turn, min_size=1, max_size=2))}
    while (more := {image(one, symmetry, signs, added, twists) for one in turns}) - turns:
        turns |= more
    start = draw(st.permutations(range(places)))
    began = draw(st.tuples(*[st.integers(0, twists - 1)] * places))
    return twist_puzzle(sorted(turns), tuple(start), tuple(began), twists)


def twist_puzzle(turns: list[Turn], start: tuple[int, ...], began: tuple[int, ...], twists: int) -> Puzzle:
    """The puzzle of pieces with twists that has these moves."""
    places = len(start)
    parts = (pieces(start, tuple("abcd"[:places])), values(places, twists, twists=True))
    origin = [[*one, *(places + place for place in one)] for one, _ in turns]
    added = [[0] * places + list(turned) for _, turned in turns]
    moves = Transforms(map(str, range(len(turns))), origin, [places] * places + [twists] * places, added)
    return Puzzle.of("random", "random", "", Lists((places, places)), parts, [(*start, *began)], moves)


def image(turn: Turn, symmetry: list[int], signs: list[int], added: list[int], twists: int) -> Turn | None:
    """The move that a map of the twists makes of a move: ``t'[s(i)] = sign[i] * t[i] + added[i]``, before and after.

    None where that is none: a move takes a twist to a place where the sign is another.
    """
    origin, turned = turn
    places = range(len(origin))
    if twists > 2 and any(signs[i] != signs[origin[i]] for i in places):
        return None
    become = {symmetry[i]: symmetry[origin[i]] for i in places}
    adds = {symmetry[i]: (signs[i] * turned[i] + added[i] - added[origin[i]]) % twists for i in places}
    return tuple(become[i] for i in places), tuple(adds[i] for i in places)


def swap_symmetries(rules: Rules) -> set[tuple[tuple[int, ...], ...]]:
    """What becomes of the places of moves and of each start, for all permutations of places that permute the moves."""
    assert isinstance(rules.moves, Swaps)
    arcs = {(a, b) for a, b in rules.moves.pairs.tolist() if a != b}
    touched = sorted({place for arc in arcs for place in arc})
    found = set()
    for places in permutations(range(rules.places)):
        if {(places[a], places[b]) for a, b in arcs} == arcs:
            kept = tuple(places[place] for place in touched)
            found |= {(kept, *starts) for starts in _start_images(rules, places)}
    return found


def _start_images(rules: Rules, places: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The images of the starts under all renamings of the pieces that permute the starts."""
    for renamed in permutations(range(1, len(rules.symbols))):
        labels = (0, *renamed)
        images = [tuple(labels[start[places.index(place)]] for place in range(rules.places)) for start in rules.starts]
        if set(images) == set(rules.starts):
            yield tuple(images)


def twist_symmetries(rules: Rules) -> set[tuple[int, ...]]:
    """The number of the move that each move becomes, for all maps of the twists that permute the moves."""
    assert isinstance(rules.moves, Transforms)
    places, twists = rules.places // 2, int(rules.moves.moduli[-1])
    origin, added = rules.moves.origin[:, :places].tolist(), rules.moves.added[:, places:].tolist()
    turns = [(tuple(one), tuple(turned)) for one, turned in zip(origin, added, strict=True)]
    found = set()
    for symmetry in permutations(range(places)):
        for signs in product((1, -1), repeat=places):
            for adds in product(range(twists), repeat=places):
                images = [image(one, list(symmetry), list(signs), list(adds), twists) for one in turns]
                if set(images) == set(turns):
                    found.add(tuple(turns.index(one) for one in images if one))
    return found


def reached(rules: Rules, most: int = 200) -> np.ndarray:
    """Positions near the starts, ``(n, places)``."""
    found = dict.fromkeys(rules.starts)
    waiting = list(found)
    while waiting and len(found) < most:
        new = {tuple(one) for one in rules.moves.successors(np.array(waiting.pop(0), dtype=np.uint8)).tolist()}
        waiting += [one for one in new if one not in found]
        found |= dict.fromkeys(new)
    return np.array(list(found), dtype=np.uint8)
