"""Random small puzzles with symmetries, and all symmetries of small puzzles, found by trying every map."""

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from project import ROOT

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

Turn = tuple[tuple[int, ...], tuple[int, ...]]
"""For each place, the place from which a move brings a piece, and the twist that the move adds."""


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
    """Draw a puzzle with a symmetry: pieces on 2 to 5 places that move along the arcs of a symmetric graph."""
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
def twist_puzzles(draw: st.DrawFn, with_conditions: bool = False) -> Puzzle:
    """Draw a puzzle of two or three pieces with two to four twists, whose moves are closed under a map of the twists.

    If there are two starts, the map takes the first one to the second one. Conditions of moves are random.
    """
    places, twists = draw(st.integers(2, 3)), draw(st.integers(2, 4))
    symmetry = draw(st.permutations(range(places)))
    sign = draw(st.sampled_from([1, -1]))
    twist = st.integers(0, twists - 1)
    added = draw(st.lists(twist, min_size=places, max_size=places))
    turn = st.tuples(st.permutations(range(places)), st.tuples(*[twist] * places))
    turns = {(tuple(origin), tuple(turned)) for origin, turned in draw(st.lists(turn, min_size=1, max_size=2))}
    while (more := {image(one, symmetry, [sign] * places, added, twists) for one in turns}) - turns:
        turns |= more
    labels = draw(st.one_of(st.permutations(range(places)), st.sampled_from([[0] * places, [0, *[1] * (places - 1)]])))
    began = draw(st.lists(twist, min_size=places, max_size=places))
    starts = [(*labels, *began)]
    if draw(st.booleans()):
        minus = draw(st.lists(twist, min_size=places, max_size=places))
        other = [0] * (2 * places)
        for place, to in enumerate(symmetry):
            other[to] = labels[place]
            other[places + to] = (sign * began[place] + added[place] - minus[labels[place]]) % twists
        starts.append(tuple(other))
    masks = st.lists(st.integers(1, 7), min_size=places, max_size=places)
    allowed = [[*draw(masks), *[15] * places] for _ in turns] if with_conditions else None
    return twist_puzzle(sorted(turns), list(dict.fromkeys(starts)), twists, allowed)


def twist_puzzle(
    turns: list[Turn], starts: list[tuple[int, ...]], twists: int, allowed: list[list[int]] | None = None
) -> Puzzle:
    """Return the puzzle of pieces with twists that has these moves."""
    places = len(starts[0]) // 2
    symbols = tuple("abcd"[: max(starts[0][:places]) + 1])
    parts = (pieces(starts[0][:places], symbols), values(places, twists, twists=True))
    origin = [[*one, *(places + place for place in one)] for one, _ in turns]
    added = [[0] * places + list(turned) for _, turned in turns]
    moduli = [len(symbols)] * places + [twists] * places
    moves = Transforms(map(str, range(len(turns))), origin, moduli, added, allowed)
    return Puzzle.of("random", "random", "", Lists((places, places)), parts, starts, moves)


def image(turn: Turn, symmetry: list[int], signs: list[int], added: list[int], twists: int) -> Turn | None:
    """Return the image of a move under the map of twists ``t'[s(i)] = sign[i] * t[i] + added[i]``.

    The result is None if the image is not a move, because the move connects places with different signs.
    """
    origin, turned = turn
    places = range(len(origin))
    if twists > 2 and any(signs[i] != signs[origin[i]] for i in places):
        return None
    become = {symmetry[i]: symmetry[origin[i]] for i in places}
    adds = {symmetry[i]: (signs[i] * turned[i] + added[i] - added[origin[i]]) % twists for i in places}
    return tuple(become[i] for i in places), tuple(adds[i] for i in places)


def swap_symmetries(rules: Rules) -> set[tuple[tuple[int, ...], ...]]:
    """Return the images of the moves' places and of each start under all permutations of places that keep the moves."""
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
    """Yield the images of the starts under all renamings of the pieces that permute the starts."""
    for renamed in permutations(range(1, len(rules.symbols))):
        labels = (0, *renamed)
        images = [tuple(labels[start[places.index(place)]] for place in range(rules.places)) for start in rules.starts]
        if set(images) == set(rules.starts):
            yield tuple(images)


def twist_symmetries(rules: Rules) -> set[tuple[tuple[int, ...], ...]]:
    """Return the images of the moves and the starts under all maps of the twists that permute both."""
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
                    become = tuple(turns.index(one) for one in images if one)
                    found |= {(become, starts) for starts in _twisted_starts(rules, symmetry, signs, adds)}
    return found


def _twisted_starts(
    rules: Rules, symmetry: tuple[int, ...], signs: tuple[int, ...], adds: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Yield the permutations of the starts that the map allows if pieces are renamed and their twists shifted.

    In all starts, a piece must get the same new name, shift and sign.
    """
    places, twists = len(symmetry), len(rules.parts[1].symbols)
    for images in permutations(range(len(rules.starts))):
        known: dict[int, tuple[int, ...]] = {}
        for start, image_of in zip(rules.starts, images, strict=True):
            other = rules.starts[image_of]
            for place, to in enumerate(symmetry):
                less = (signs[place] * start[places + place] + adds[place] - other[places + to]) % twists
                sign = signs[place] if twists > 2 else 1
                if known.setdefault(start[place], found := (other[to], less, sign)) != found:
                    break
            else:
                continue
            break
        else:
            if len({label for label, *_ in known.values()}) == len(known):
                yield images


def reached(rules: Rules, most: int = 200) -> np.ndarray:
    """Return positions near the starts, ``(n, places)``."""
    found = dict.fromkeys(rules.starts)
    waiting = list(found)
    while waiting and len(found) < most:
        new = {tuple(one) for one in rules.moves.successors(np.array(waiting.pop(0), dtype=np.uint8)).tolist()}
        waiting += [one for one in new if one not in found]
        found |= dict.fromkeys(new)
    return np.array(list(found), dtype=np.uint8)
