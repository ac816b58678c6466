"""Patterns of a puzzle, as settings: simpler puzzles with more identical pieces, fewer orientations or fewer parts.

Each position of the puzzle maps to a position of the pattern, and each move maps to a move or to no change. Therefore
a distance in the pattern never exceeds the distance in the puzzle, and the pattern's table is an admissible heuristic
(J. C. Culberson and J. Schaeffer, Pattern Databases, 1998).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from antipodes.puzzles.board import HOLE, Board
from antipodes.puzzles.formats.definition import is_rotation
from antipodes.puzzles.notation import SEPARATORS, symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.values import NAME, natural
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.transforms import Transforms

OTHERS = ("x", "y", "z", "others")
"""Symbols for the pieces that are not kept; a pattern uses the first one that is not a symbol of the puzzle."""
UNNAMED = "pieces"
"""Name that messages and definitions give to a part without a name."""
N, START, GOAL, FREE = "n", "start", "goal", "free"
BY_PIECES = ("starts", "conditions")
"""Keys that refer to individual pieces. If pieces become identical, a legal move may become illegal in the pattern."""
SYMBOL_FAMILIES = ("sliding", "jump", "pancake", "topspin", "generators")
"""Families whose ``start`` lists the symbols of the pieces in a row."""
Symbols = Mapping[str, str]
"""The symbol of each piece of a part in the pattern; identical pieces share one symbol."""


@dataclass(frozen=True)
class Abstraction:
    """The information that a pattern omits from a puzzle.

    Pieces are written ``1,2,3``, or ``PART:1,2,3`` if the puzzle has several parts. ``PART`` selects all pieces of a
    part.
    """

    keep: Sequence[str] = ()
    """Pieces that stay distinct; the other pieces of their part become identical."""
    equal: Sequence[str] = ()
    """Pieces that become identical; all of them get the symbol of the first."""
    drop_orientation: Sequence[str] = ()
    """Pieces whose orientation does not matter."""
    omit: Sequence[str] = ()
    """Parts that are left out."""
    free: bool = False
    """Whether moves of pieces that are not kept cost nothing (sliding puzzles only)."""
    name: str | None = None
    """Name of the pattern; None derives it from the pieces that are kept."""


def pattern_settings(puzzle: Puzzle, abstraction: Abstraction) -> dict[str, Any]:
    """Return the settings of a pattern of the puzzle.

    Puzzles whose ``start`` lists pieces keep their family. For any other puzzle whose moves permute pieces, the pattern
    is a definition in the format of cubing.js: it keeps the names of parts and moves, but numbers the pieces anew.

    Raises
    ------
    InputError
        The puzzle does not have the given parts or pieces, its moves do not permute pieces, or the pattern would not
        differ from the puzzle.
    """
    if puzzle.moves.free_moves:
        raise InputError(f"{puzzle.name} cannot have patterns, because it has free moves")
    chosen = _Chosen(puzzle, abstraction)
    settings = dict(puzzle.settings or {})
    for key in BY_PIECES:
        if key in settings:
            raise InputError(f"{puzzle.name} cannot have patterns, because its key {key} refers to individual pieces")
    if abstraction.free and (settings.get("family") != "sliding" or not abstraction.keep):
        raise InputError("--free needs a sliding puzzle and --keep; it makes moves of the other tiles cost nothing")
    if not chosen.changes:
        everything = "; ".join(map(chosen.listed, chosen.parts))
        raise InputError(
            f"the pattern would be the puzzle itself; choose pieces to merge or something to leave out ({everything})"
        )
    own = {"name": chosen.name, "description": f"A pattern of {puzzle.name}"}
    if settings.get("family") in SYMBOL_FAMILIES:
        return {**settings, **own, **_with_start(puzzle, settings, chosen)}
    definition = {"format": "kpuzzle", "turns": "single", "definition": _definition(puzzle, chosen)}
    return {"name": own["name"], "family": "twisty", "description": own["description"], **definition}


class _Chosen:
    """An abstraction resolved to part numbers and pieces of the puzzle."""

    def __init__(self, puzzle: Puzzle, abstraction: Abstraction) -> None:
        self.puzzle = puzzle
        self.abstraction = abstraction
        self.parts = [number for number, part in enumerate(puzzle.parts) if part.holds_pieces]
        if not self.parts:
            raise InputError(_unfit(puzzle))
        free = (puzzle.settings or {}).get(FREE, [])
        self.free: str | None = free[0] if free else None
        """The symbol of the tiles whose moves cost nothing in the puzzle."""
        self.other = next(symbol for symbol in OTHERS if symbol not in puzzle.symbols)
        kept = self._selected("--keep", abstraction.keep)
        self.kept = {part: [piece for own, pieces in kept if own == part for piece in pieces] for part, _ in kept}
        """The pieces to keep, for each part that --keep names."""
        self.equal = self._selected("--equal", abstraction.equal)
        self.dropped = {part: set[str]() for part in self.parts}
        """The pieces of each part whose orientation does not matter."""
        for part, pieces in self._selected("--drop-orientation", abstraction.drop_orientation):
            self.dropped[part].update(pieces)
        self.omitted = {self._part("--omit", text) for text in abstraction.omit}
        self._check()

    @property
    def changes(self) -> bool:
        """Whether the pattern differs from the puzzle."""
        merged = any(len(set(self.pattern_symbols(part).values())) < len(self.pieces(part)) for part in self.parts)
        others = any(len(pieces) < len(self.pieces(part)) for part, pieces in self.kept.items())
        dropped = any(pieces and self.has_orientation(part) for part, pieces in self.dropped.items())
        return merged or dropped or bool(self.omitted) or (self.abstraction.free and others)

    @property
    def name(self) -> str:
        """Name of the pattern, derived from the pieces that it keeps unless that name is too long."""
        if self.abstraction.name is not None:
            return str(NAME.check(self.abstraction.name, "--name", InputError))
        said = [*(self.abstraction.keep or ["".join(pieces) for _, pieces in self.equal]), *self._forgotten]
        end = [FREE] if self.abstraction.free else []
        name = "-".join([self.puzzle.name, *re.findall(r"\w+", " ".join(said)), *end])
        return name if NAME.fits(name) and said else "-".join([self.puzzle.name[:40], "pattern", *end])

    @property
    def _forgotten(self) -> list[str]:
        """The words of the pattern's name for ignored orientations and omitted parts."""
        dropped = [
            part if set(pieces) == set(self.pieces(number)) else f"{part} {' '.join(sorted(pieces, key=natural))}"
            for number, pieces in self.dropped.items()
            if pieces
            for part in [self.named(number)]
        ]
        unoriented = [f"{' '.join(dropped)} unoriented"] if dropped else []
        return [*unoriented, *(f"without {self.named(part)}" for part in sorted(self.omitted))]

    def pattern_symbols(self, part: int) -> dict[str, str]:
        """Return the symbol that each piece of a part gets in the pattern."""
        pieces, kept = self.pieces(part), self.kept.get(part)
        becomes = {piece: piece if kept is None or piece in kept else self.other for piece in pieces}
        for own, equal in self.equal:
            if own == part:
                becomes.update(dict.fromkeys(equal, equal[0]))
        return becomes

    def pieces(self, part: int) -> list[str]:
        """Return the pieces of a part, without empty places and tiles whose moves already cost nothing."""
        notation = self.puzzle.notation
        none = {HOLE, *notation.empty_symbols} if isinstance(notation, Board) else set[str]()
        found = self.puzzle.parts[part]
        used = [symbol for symbol, count in zip(found.symbols, found.counts or (), strict=True) if count]
        return [symbol for symbol in used if symbol not in none and symbol != self.free]

    def has_orientation(self, part: int) -> bool:
        """Return whether the pieces of a part have orientations."""
        return part + 1 < len(self.puzzle.parts) and self.puzzle.parts[part + 1].twists

    def named(self, part: int) -> str:
        """Return the name of a part."""
        return self.puzzle.parts[part].name or UNNAMED

    def listed(self, part: int) -> str:
        """Return a part and its pieces as text for messages."""
        return f"{self.named(part)}: {shorten(' '.join(self.pieces(part)), 60)}"

    def _selected(self, option: str, texts: Sequence[str]) -> list[tuple[int, list[str]]]:
        return [self._selection(option, text) for text in texts]

    def _selection(self, option: str, text: str) -> tuple[int, list[str]]:
        """Return the part and the pieces that a text names."""
        name, _, rest = (word.strip() for word in text.partition(":"))
        numbers = {self.named(part): part for part in self.parts}
        if name not in numbers:
            if len(self.parts) > 1:
                raise InputError(
                    f"{option}: expected PART or PART:PIECES, {self._pattern_of_all()}; found {quote(text)}"
                )
            name, rest = self.named(self.parts[0]), text
        part = numbers[name]
        pieces = [piece for piece in SEPARATORS.split(rest) if piece] if rest else self.pieces(part)
        if not pieces:
            raise InputError(f"{option}: no pieces given; name them, for example 1,2,3")
        for piece in pieces:
            if piece not in self.pieces(part):
                of = self.puzzle.name if len(self.parts) == 1 else name
                pieces_of = shorten(" ".join(self.pieces(part)))
                raise InputError(f"{option}: expected pieces of {of}: {pieces_of}; found {quote(piece)}")
        return part, list(dict.fromkeys(pieces))

    def _part(self, option: str, text: str) -> int:
        """Return the index of the part with a name."""
        numbers = {self.named(part): part for part in self.parts}
        if text.strip() not in numbers:
            raise InputError(f"{option}: expected one of the parts {', '.join(numbers)}; found {quote(text)}")
        return numbers[text.strip()]

    def _pattern_of_all(self) -> str:
        return "such as " + ", ".join(f"{self.named(part)}:{','.join(self.pieces(part)[:2])}" for part in self.parts)

    def _check(self) -> None:
        """Raise InputError if options do not apply to the puzzle or contradict each other."""
        for part in self.parts:
            if self.dropped[part] and not self.has_orientation(part):
                raise InputError(f"--drop-orientation: these pieces have no orientations: {self.listed(part)}")
        if self.omitted == set(self.parts):
            raise InputError(
                f"--omit: at least one set must remain; the sets are {', '.join(map(self.named, self.parts))}"
            )
        given = [(part, piece) for part, pieces in self.equal for piece in pieces]
        if twice := [piece for part, piece in given if given.count((part, piece)) > 1]:
            raise InputError(f"--equal: {quote(twice[0])} is listed twice; list each piece once")


def _unfit(puzzle: Puzzle) -> str:
    return f"patterns need moves that permute pieces; {puzzle.name} is of the family {shorten(puzzle.family)}"


def _with_start(puzzle: Puzzle, settings: dict[str, Any], chosen: _Chosen) -> dict[str, Any]:
    """Return the settings that differ: the start and the goal in the pattern's symbols, and the free tiles."""
    becomes = chosen.pattern_symbols(0)
    if chosen.abstraction.free and chosen.free is not None:
        becomes[chosen.free] = chosen.other
    free = [chosen.other] if chosen.abstraction.free else settings.get(FREE)
    settings.pop(N, None)  # the start determines the number of pieces
    new: dict[str, Any] = {} if free is None else {FREE: free}
    for key in (START, GOAL):
        if key in settings or (key == START and GOAL not in settings):
            texts = settings.get(key, puzzle.format(puzzle.start_labels[0]))
            rewritten = [_rewritten(text, puzzle, becomes) for text in ([texts] if isinstance(texts, str) else texts)]
            new[key] = rewritten[0] if isinstance(texts, str) else rewritten
    return new


def _rewritten(start: str, puzzle: Puzzle, becomes: Symbols) -> str:
    """Return a start with the new symbols, split into the rows of a board."""
    board = puzzle.notation if isinstance(puzzle.notation, Board) else None
    row = board.columns if board else puzzle.places
    symbols = symbols_in(start, puzzle.places, row * (board.rows if board else 1))
    new = [becomes.get(symbol, symbol) for symbol in symbols]
    return "\n".join(" ".join(new[first : first + row]) for first in range(0, len(new), row))


@dataclass(frozen=True)
class _Orbit:
    """Places among which moves exchange pieces, and the places of the pieces' orientations."""

    part: int
    name: str
    pieces: slice
    twists: slice | None
    orientations: int

    @property
    def size(self) -> int:
        """Number of pieces."""
        return int(self.pieces.stop - self.pieces.start)

    def keeps(self, moves: Transforms) -> bool:
        """Return whether every move permutes the pieces within the orbit and carries their orientations along."""
        origin = moves.origin[:, self.pieces] - self.pieces.start
        if (origin < 0).any() or (origin >= self.size).any() or moves.added[:, self.pieces].any():
            return False
        return self.twists is None or np.array_equal(moves.origin[:, self.twists] - self.twists.start, origin)

    def effect(self, moves: Transforms, number: int) -> dict[str, list[int]]:
        """Return the effect of a move on the orbit; empty if the move leaves the orbit unchanged."""
        permutation = (moves.origin[number, self.pieces] - self.pieces.start).tolist()
        delta = [0] * self.size if self.twists is None else moves.added[number, self.twists].tolist()
        still = permutation == list(range(self.size)) and not any(delta)
        return {} if still else {"permutation": permutation, "orientationDelta": delta}


def _orbits(puzzle: Puzzle) -> Iterator[_Orbit]:
    """Yield the parts of a puzzle as orbits; raise InputError if the moves do not permute pieces."""
    moves, parts = Transforms.of(puzzle.moves), puzzle.parts
    if moves is None:
        raise InputError(_unfit(puzzle))
    if moves.allowed is not None:
        raise InputError(f"patterns need moves that are legal in every position; {puzzle.name} has others")
    for number, part in enumerate(parts):
        if not part.twists:
            twists = number + 1 < len(parts) and parts[number + 1].twists
            orbit = _Orbit(
                number,
                part.name or UNNAMED,
                puzzle.rules.ranges[number],
                puzzle.rules.ranges[number + 1] if twists else None,
                len(parts[number + 1].symbols) if twists else 1,
            )
            if not (part.holds_pieces and orbit.keeps(moves)):
                raise InputError(_unfit(puzzle))
            yield orbit


def _definition(puzzle: Puzzle, chosen: _Chosen) -> str:
    """Return the pattern as a definition in the format of cubing.js, with one line per move."""
    orbits = [orbit for orbit in _orbits(puzzle) if orbit.part not in chosen.omitted]
    if len(puzzle.starts) > 1:
        raise InputError(f"patterns need a puzzle with one start; {puzzle.name} has {len(puzzle.starts)}")
    start = {orbit.name: _start(puzzle, orbit, chosen) for orbit in orbits}
    sizes = [
        {"orbitName": orbit.name, "numPieces": orbit.size, "numOrientations": orbit.orientations} for orbit in orbits
    ]
    moves = dict(_effects(orbits, puzzle.moves, puzzle.moves.names))
    if puzzle.sequence_moves is not None:
        rotations = [name for name in puzzle.sequence_moves.names if is_rotation(name)]
        moves |= _effects(orbits, puzzle.sequence_moves, rotations)
    listed = ",\n".join(f"  {json.dumps(name)}: {json.dumps(effect)}" for name, effect in moves.items())
    first = f'"orbits": {json.dumps(sizes)},\n "defaultPattern": {json.dumps(start)}'
    return f'{{\n {first},\n "moves": {{\n{listed}\n }}\n}}\n'


def _start(puzzle: Puzzle, orbit: _Orbit, chosen: _Chosen) -> dict[str, list[int]]:
    """Return the pieces of an orbit at the start and their orientations; identical pieces have the same number."""
    labels, becomes, dropped = puzzle.starts[0], chosen.pattern_symbols(orbit.part), chosen.dropped[orbit.part]
    symbols = [puzzle.parts[orbit.part].symbols[label] for label in labels[orbit.pieces]]
    numbers = {symbol: number for number, symbol in enumerate(dict.fromkeys(becomes.values()))}
    start = {"pieces": [numbers[becomes[symbol]] for symbol in symbols]}
    if orbit.twists is not None:
        start["orientation"] = list(labels[orbit.twists])
        start["orientationMod"] = [1 if symbol in dropped else 0 for symbol in symbols]
    return start


def _effects(
    orbits: Sequence[_Orbit], moves: Moves, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, dict[str, list[int]]]]]:
    """Yield each of the named moves and its effect on each orbit; unchanged orbits are left out."""
    transforms = Transforms.of(moves)
    assert transforms is not None
    for number, name in enumerate(moves.names):
        if name in names:
            effects = {orbit.name: orbit.effect(transforms, number) for orbit in orbits}
            yield name, {orbit: effect for orbit, effect in effects.items() if effect}
