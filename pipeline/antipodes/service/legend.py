"""Meanings of the names of a puzzle's moves, and the moves that turn each sticker of a net."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.net import Net
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.symmetry_names import cycle_notation
from antipodes.service.limits import MAX_SHOWN
from antipodes_tasks.rules.transforms import Effect, Transforms

Turned = NDArray[np.bool_]
SQUARES = "Columns are lettered from the left and rows are numbered from the bottom."
MAX_CYCLED = 60
"""Maximum number of places of a puzzle whose moves are shown as cycles, which must fit on a line."""
MAX_TURNED = 1 << 18
"""Maximum product of the numbers of stickers and moves; beyond it, the answer would be too long."""
MAX_MULTIPLE = 3
"""Maximum multiple of a move that explains the name of another move."""


@dataclass(frozen=True, slots=True)
class MoveName:
    """The name of a move, and its meaning if known."""

    name: str
    meaning: str | None


@dataclass(frozen=True, slots=True)
class Legend:
    """The meanings of the first names of moves, and, for each sticker of a net, the moves that turn its piece."""

    text: str | None
    count: int
    moves: list[MoveName]
    stickers: list[list[str]] | None


def legend_view(puzzle: Puzzle) -> Legend:
    """Return the first MAX_SHOWN names of moves, their meanings if known, and the moves for each sticker of a net."""
    names = list(dict.fromkeys(puzzle.moves.names))
    meanings = _meanings(puzzle)
    shown = [MoveName(name, meanings.get(name)) for name in names[:MAX_SHOWN]]
    return Legend(_text(puzzle, names), len(names), shown, _stickers(puzzle))


def _text(puzzle: Puzzle, names: Sequence[str]) -> str | None:
    """Return an explanation of the moves' names; None if moves have no names, or the puzzle is written in Python."""
    text = FAMILIES.get(puzzle.family) if names else None
    return text(puzzle, names) if callable(text) else text


def _sliding(puzzle: Puzzle, names: Sequence[str]) -> str:
    if any("-" in name for name in names):
        return f"{names[0]}: the square of the tile and its direction. {SQUARES}"
    text = "The letter is the direction in which a tile moves: L left, R right, U up, D down."
    numbered = any(name[-1:].isdecimal() for name in names)
    return f"{text} The number after it is how many tiles move together." if numbered else text


def _blocks(puzzle: Puzzle, names: Sequence[str]) -> str:
    slides = (puzzle.settings or {}).get("moves") == "slides"
    end = "the square to which its first square moves" if slides else "the direction in which it moves by one square"
    return f"{names[0]}: the block, named by its letter or by its first square in reading order, and {end}. {SQUARES}"


def _jump(puzzle: Puzzle, names: Sequence[str]) -> str:
    return f"{names[0]}: the square of the piece, and the empty square to which it moves. {SQUARES}"


def _topspin(puzzle: Puzzle, names: Sequence[str]) -> str:
    size = (puzzle.settings or {}).get("k", 4)
    return f"L and R rotate the ring by one place to the left or right; X reverses the {size} pieces on the turntable."


def _hanoi(puzzle: Puzzle, names: Sequence[str]) -> str:
    first, last = names[0].split("-")
    return f"{names[0]} moves the topmost disc of peg {first} to peg {last}."


PANCAKES = "The number is how many pancakes are turned over, from the top."
FAMILIES: Mapping[str, str | Callable[[Puzzle, Sequence[str]], str]] = {
    "sliding": _sliding,
    "blocks": _blocks,
    "jump": _jump,
    "pancake": PANCAKES,
    "burnt-pancake": PANCAKES,
    "topspin": _topspin,
    "hanoi": _hanoi,
    "lights-out": "The number is the light that is pressed, counted from 0 in reading order.",
    "generators": "In a cycle, the piece on each place moves to the place named next. Places are counted from 0.",
    "square-1": "(a,b) turns the upper layer by a cells and the lower layer by b cells, clockwise as seen from "
    "outside; / exchanges the right halves of the layers and flips the middle layer.",
    "twisty": "A letter turns a face or another part of the puzzle; its meaning states how many pieces it moves.",
}
"""For each family, the explanation of its moves' names, or the function that returns it."""


def _meanings(puzzle: Puzzle) -> Mapping[str, str]:
    """Return the meaning of each move of a permutation puzzle: a multiple of an earlier move, or its effect."""
    moves = Transforms.of(puzzle.moves)
    if puzzle.family not in ("generators", "twisty") or moves is None:
        return {}
    by_effect: dict[bytes, str] = {}
    meanings: dict[str, str] = {}
    for number, name in enumerate(moves.names):
        if name in meanings:
            continue
        if len(meanings) == MAX_SHOWN:
            break
        effect = moves.effect(number)
        meanings[name] = by_effect.get(effect.key) or _effect(puzzle, moves, number)
        for written, multiple in _multiples(name, effect, moves.moduli):
            by_effect.setdefault(multiple.key, written)
    return meanings


def _multiples(name: str, effect: Effect, moduli: NDArray[np.int16]) -> Iterator[tuple[str, Effect]]:
    """Yield the inverse and the first multiples of a move, each with its description."""
    yield f"undoes {name}", effect.inverse(moduli)
    multiple = effect
    for times in range(2, MAX_MULTIPLE + 1):
        multiple = multiple.then(effect, moduli)
        yield f"{name} {'twice' if times == 2 else f'{times} times'}", multiple


def _effect(puzzle: Puzzle, moves: Transforms, number: int) -> str:
    """Return the cycles of a move, or the number of pieces that it moves in each part."""
    if puzzle.family == "generators" and moves.places <= MAX_CYCLED:
        return cycle_notation(np.argsort(moves.origin[number])) or "changes nothing"
    turned = _turned_places(moves, number)
    counts = defaultdict[str, int](int)
    for part, places in zip(puzzle.parts, puzzle.rules.ranges, strict=True):
        counts[part.name] = max(counts[part.name], int(turned[places].sum()))
    pieces = [f"{count} of {name}" for name, count in counts.items() if count]
    return f"moves {' and '.join(pieces)}" if pieces else "changes nothing"


def _turned_places(moves: Transforms, number: int) -> Turned:
    """Return whether a move changes the label on each place, ``(places,)``."""
    turned: Turned = (moves.origin[number] != np.arange(moves.places)) | (moves.added[number] != 0)
    return turned


def _stickers(puzzle: Puzzle) -> list[list[str]] | None:
    """Return, for each sticker of a net in reading order, the moves that turn its piece.

    The moves that turn most of the sticker's face come first. A fixed sticker gets the moves that turn its whole face.
    The result is None if there is no net, or if there are too many stickers and moves.
    """
    net, moves = puzzle.notation, Transforms.of(puzzle.moves)
    if not isinstance(net, Net) or moves is None:
        return None
    letters = np.array([letter for _, _, letter in net.letters])
    if len(letters) * len(moves) > MAX_TURNED:
        return None
    turned, movable = _turned_stickers(net, moves)
    faces = {letter: movable & (letters == letter) for letter in letters.tolist()}
    shares = {letter: turned[:, face].sum(axis=1) for letter, face in faces.items()}
    names: list[list[str]] = []
    for number, letter in enumerate(letters.tolist()):
        face, share = faces[letter], shares[letter]
        mine = turned[:, number] if movable[number] else (share == face.sum()) & (share > 0)
        order = sorted(np.flatnonzero(mine).tolist(), key=lambda move: -int(share[move]))
        names.append(list(dict.fromkeys(moves.names[move] for move in order)))
    return names


def _turned_stickers(net: Net, moves: Transforms) -> tuple[Turned, Turned]:
    """Return whether each move turns each sticker's piece, ``(moves, stickers)``, and which stickers have a piece."""
    places = np.array([_turned_places(moves, number) for number in range(len(moves))])
    numbers = {(line, column): number for number, (line, column, _) in enumerate(net.letters)}
    turned = np.zeros((len(moves), len(numbers)), dtype=np.bool_)
    movable = np.zeros(len(numbers), dtype=np.bool_)
    for one in net.facelets:
        number, orbit = numbers[one.line, one.column], net.orbits[one.orbit]
        movable[number] = True
        turned[:, number] = places[:, orbit.first_piece + one.place]
        if orbit.first_twist is not None:
            turned[:, number] |= places[:, orbit.first_twist + one.place]
    return turned, movable
