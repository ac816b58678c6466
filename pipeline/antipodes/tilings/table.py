"""The tilings of a board, open for queries.

>>> with open_tilings("outputs/6x10.zarr") as tilings:  # doctest: +SKIP
...     print(len(tilings))
...     print(tilings[5])
...     corner = tilings.containing("X", [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)])
2339
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from antipodes.drawing.image_files import svg
from antipodes.drawing.picture import Picture
from antipodes.system.addresses import Address
from antipodes.system.records import schema_name
from antipodes.tilings.display import TILINGS_DRAWN, show_tilings
from antipodes.tilings.drawing import BOTH, STYLES, draw, draw_tiling
from antipodes.tilings.drawing import steps as placed_one_by_one
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import ArgumentTypeError, ClosedError, InputError, NumberError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.exact_cover.fitting_copies import (
    Requirement,
    count_classes,
    count_fitting_copies,
    fitting,
    requirement_of,
    smallest_fitting_copies,
)
from antipodes_tasks.exact_cover.placements import TilingArray, distinct, placements_of, symmetry_of
from antipodes_tasks.exact_cover.tiling_problem import COVERS, Condition, TilingProblem, parse_condition

Place = tuple[int, ...]
"""A cell: (row, column), or (layer, row, column) in a box."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """One way to fill the board."""

    problem: TilingProblem
    placements: NDArray[np.int32]
    """The number of the placement of each copy of each piece, ``(copies,)``."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tiling):
            return NotImplemented
        return self.problem == other.problem and np.array_equal(self.placements, other.placements)

    def __hash__(self) -> int:
        return hash(self.placements.tobytes())

    def __str__(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        return f"<tiling of {shorten(self.problem.name, 30)}: {quote(self.draw('letters'))}>"

    def _repr_svg_(self) -> str:
        return svg(self.picture())

    @property
    def cells(self) -> Mapping[str, list[Place]]:
        """The cells of each piece by its name, as (row, column), or (layer, row, column) in a box.

        If a piece has several copies, they are named "D.1", "D.2" and so on.
        """
        placed, where = placements_of(self.problem).cells, places(self.problem)
        return {
            label: sorted(where[cell] for cell in placed[number].tolist() if cell >= 0)
            for label, number in zip(self.problem.labels, self.placements.tolist(), strict=True)
        }

    def draw(self, style: str = BOTH) -> str:
        """Return the tiling as text in the style "letters", "lines" or "both"; raise InputError for other styles."""
        return draw(self.problem, self.placements, arguments.choice(style, "a style", STYLES))

    def picture(self) -> Picture:
        """Return a coloured picture of the tiling."""
        return draw_tiling(self.problem, self.placements)

    def steps(self, style: str = BOTH) -> Iterator[str]:
        """Return drawings of the tiling as it grows, each with one more piece; raise as `draw` does."""
        arguments.choice(style, "a style", STYLES)
        return (draw(self.problem, placed, style) for placed in placed_one_by_one(self.problem, self.placements))


def open_tilings(address: Address, raw: bool = False) -> Tilings:
    """Open the tilings in a store: one per symmetry class of the board, or all of them if ``raw`` is True.

    An unfinished store contains the tilings found so far.

    Raises
    ------
    InputError
        The address or ``raw`` has the wrong type.
    NotAStoreError, StoreDamagedError
        There are no tilings at the address, or the manifest is corrupt.
    """
    raw = arguments.flag(raw, "raw")
    store = TilingStore(arguments.address(address, "the address of tilings"))
    return Tilings(store, store.read(), raw)


class Tilings(AbstractContextManager["Tilings"], Sequence[Tiling]):
    """The tilings of a board in the order of the store; the first access reads all of them.

    Threads can share this object. After `close`, attributes stay readable, and access to tilings raises ClosedError.
    """

    def __init__(self, store: TilingStore, manifest: TilingManifest, raw: bool) -> None:
        self.problem: TilingProblem = manifest.problem
        """The board and the pieces."""
        self.complete = manifest.complete
        """Whether all partitions are searched."""
        self._store = store
        self._manifest = manifest
        self._raw = raw
        self._closed = False
        self._latest: tuple[tuple[str, ...], MatchingTilings] | None = None
        """The last conditions and their matches, of which the explorer requests one page after another."""

    def __len__(self) -> int:
        """Return the number of tilings."""
        return len(self.array) if self._raw else self._manifest.tilings

    @overload
    def __getitem__(self, index: int) -> Tiling: ...

    @overload
    def __getitem__(self, index: slice) -> list[Tiling]: ...

    def __getitem__(self, index: int | slice) -> Tiling | list[Tiling]:
        """Return the tiling with this number, or the list of tilings of a slice; -1 is the last tiling.

        Raises
        ------
        NumberError
            There is no tiling with this number; the error is also an IndexError.
        ArgumentTypeError
            The index is not an integer or a slice of integers.
        """
        if isinstance(index, slice):
            return [Tiling(self.problem, tiling) for tiling in self.array[_checked_slice(index)]]
        number = arguments.integer(index, "a number")
        if not -len(self) <= number < len(self):
            arguments.integer(number, "a number", 0, len(self) - 1, NumberError)
        return Tiling(self.problem, self.array[number])

    def __iter__(self) -> Iterator[Tiling]:
        return (Tiling(self.problem, tiling) for tiling in self.array)

    def __contains__(self, tiling: object) -> bool:
        if not isinstance(tiling, Tiling) or tiling.problem.fingerprint != self.problem.fingerprint:
            return False
        return bool((self.array == tiling.placements).all(axis=1).any())

    def __repr__(self) -> str:
        return f"open_tilings({self._store.address!r}{', raw=True' if self._raw else ''})"

    def _repr_html_(self) -> str:
        drawn = [] if self._closed or self._raw or not self.complete else list(self.spread(TILINGS_DRAWN).values())
        return show_tilings(self._manifest, self._store.address, [one.placements for one in drawn], raw=self._raw)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the tilings in memory."""
        self._closed, self._latest = True, None
        self.__dict__.pop("_array", None)

    @property
    def array(self) -> TilingArray:
        """The number of each copy's placement, ``(tilings, copies)``, with rows in lexicographic order.

        Raises
        ------
        ClosedError
            The tilings were closed.
        StoreDamagedError
            A chunk of the store is corrupt.
        """
        if self._closed:
            raise ClosedError(f"the tilings {self._store.address} were closed; open them again")
        return self._array

    @cached_property
    def _array(self) -> TilingArray:
        tilings = distinct(self._store.tilings(self._manifest))
        return symmetry_of(self.problem).expand(tilings) if self._raw else tilings

    def spread(self, limit: int) -> dict[int, Tiling]:
        """Return at most ``limit`` tilings by their numbers from 0: the first, the last, and others evenly in between.

        In a finished store, only the chunks with these tilings are read. Raises like `array`.
        """
        limit = arguments.integer(limit, "a number of tilings", 0)
        last, steps = len(self) - 1, max(1, min(limit, len(self)) - 1)
        numbers = [step * last // steps for step in range(min(limit, len(self)))]
        if self._raw or not self.complete or self._closed:
            return {number: self[number] for number in numbers}
        chosen = self._store.tilings_at(self._manifest, numbers)
        return {number: Tiling(self.problem, tiling) for number, tiling in zip(numbers, chosen, strict=True)}

    def find(self, *placements: int) -> NDArray[np.int64]:
        """Return the numbers of the tilings of which a symmetric copy contains all of these placements, ``(found,)``.

        Raises
        ------
        InputError
            There is no placement with this number, or it is not an integer.
        """
        every = np.arange(len(placements_of(self.problem)))
        numbers = [arguments.integer(placement, "a placement", 0, len(every) - 1) for placement in placements]
        return self._matches([Requirement(every == number, True) for number in numbers]).numbers

    def containing(self, piece: str, cells: Iterable[Place]) -> NDArray[np.int64]:
        """Return the numbers of the tilings of which a symmetric copy has a piece on all of these cells, ``(found,)``.

        Parameters
        ----------
        piece
            Name of the piece; one copy of it has to cover all the cells.
        cells
            Some or all of the cells that the piece covers, as (row, column), or (layer, row, column) in a box; see
            `Tiling.cells`.

        Raises
        ------
        InputError
            The piece or a cell does not exist.
        """
        number, numbers = _piece_number(self.problem, piece), set(_cell_numbers(self.problem, cells))
        return self._matches([self._requirement(Condition(piece, number, COVERS, tuple(sorted(numbers))))]).numbers

    def where(self, *conditions: str) -> NDArray[np.int64]:
        """Return the numbers of the tilings of which a symmetric copy satisfies all conditions, ``(found,)``.

        It is `matching(*conditions).numbers`; see there.
        """
        return self.matching(*conditions).numbers

    def matching(self, *conditions: str) -> MatchingTilings:
        """Return the tilings of which at least one symmetric copy satisfies all conditions, and the number of copies.

        Conditions name cells, so they are tested on every symmetric copy. With ``raw=True`` every copy is a tiling of
        its own.

        Parameters
        ----------
        conditions
            Conditions such as "X covers 23" or "I avoids 0 9", as in the key ``where`` of a board.

        Raises
        ------
        InputError
            A condition is invalid, or names a piece or cell that does not exist.
        """
        latest = self._latest
        if latest is None or latest[0] != conditions:
            names = [piece.name for piece in self.problem.pieces]
            for text in conditions:
                arguments.text(text, "a condition")
            parsed = [parse_condition(text, self.problem.board, names, "where") for text in conditions]
            latest = self._latest = conditions, self._matches([self._requirement(one) for one in parsed])
        return latest[1]

    def _requirement(self, condition: Condition) -> Requirement:
        return requirement_of(condition, placements_of(self.problem))

    def _matches(self, requirements: Sequence[Requirement]) -> MatchingTilings:
        if not requirements:
            numbers = np.arange(len(self))
            return MatchingTilings(self, (), numbers, self._manifest.tilings, self._manifest.raw_tilings)
        if self._raw:
            numbers = np.flatnonzero(fitting(self.array, requirements))
            classes = count_classes(self.array[numbers], symmetry_of(self.problem))
            return MatchingTilings(self, (), numbers, classes, len(numbers))
        copies = count_fitting_copies(self.array, symmetry_of(self.problem), requirements)
        numbers = np.flatnonzero(copies)
        return MatchingTilings(self, tuple(requirements), numbers, len(numbers), int(copies.sum()))

    @property
    def classes(self) -> int:
        """Number of tilings up to symmetry."""
        return self._manifest.tilings

    @property
    def copies(self) -> int:
        """Number of all tilings: the symmetric copies of every tiling."""
        return self._manifest.raw_tilings


@dataclass(frozen=True, eq=False, repr=False)
class MatchingTilings:
    """The tilings of which at least one symmetric copy satisfies conditions."""

    tilings: Tilings
    requirements: tuple[Requirement, ...]
    """The conditions that a copy has to meet; empty if the tilings themselves meet them."""
    numbers: NDArray[np.int64]
    """``(found,)``: the numbers of the tilings, from 0, ascending."""
    classes: int
    """Number of tilings up to symmetry."""
    copies: int
    """Number of all symmetric copies that satisfy the conditions."""

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"<MatchingTilings: {counted(self.classes, 'tiling')} up to symmetry, {self.copies:,} in all>"

    def __getitem__(self, place: int) -> Tiling:
        """Return the tiling at a place in `numbers`: its first copy that satisfies the conditions."""
        return self.placed([int(self.numbers[arguments.integer(place, "a place")])])[0]

    def placed(self, numbers: Sequence[int]) -> list[Tiling]:
        """Return the tilings with these numbers, which must be among `numbers`, as copies that satisfy the conditions.

        The copy is the stored one, or, if that does not satisfy the conditions, the one with the smallest placements.
        """
        problem, chosen = self.tilings.problem, self.tilings.array[np.array(numbers, dtype=np.int64)]
        copies = (
            smallest_fitting_copies(chosen, symmetry_of(problem), self.requirements) if self.requirements else chosen
        )
        return [Tiling(problem, copy) for copy in copies]


def _piece_number(problem: TilingProblem, name: str) -> int:
    arguments.text(name, "the name of a piece")
    names = [piece.name for piece in problem.pieces]
    if name not in names:
        raise InputError(f"expected a piece among {shorten(', '.join(names))}, found {quote(name)}")
    return names.index(name)


def _cell_numbers(problem: TilingProblem, cells: Iterable[Place]) -> Iterator[int]:
    numbers = {place: number for number, place in enumerate(places(problem))}
    if not isinstance(cells, Iterable):
        raise ArgumentTypeError(f"expected cells, found {arguments.found(cells)}")
    rows = cells if isinstance(cells, np.ndarray) else list(cells) or np.empty((0, 2))
    for place in arguments.integers(rows, "cells (n, 2), in a box (n, 3)", 2).tolist():
        if tuple(place) not in numbers:
            raise InputError(f"expected cells of the board, such as {next(iter(numbers))}, found {tuple(place)}")
        yield numbers[tuple(place)]


def _checked_slice(numbers: slice) -> slice:
    start, stop, step = (
        arguments.optional(end, arguments.integer, "the ends and the step of a slice")
        for end in (numbers.start, numbers.stop, numbers.step)
    )
    if step == 0:
        raise NumberError("the step of a slice must not be 0")
    return slice(start, stop, step)


def places(problem: TilingProblem) -> list[Place]:
    """Return the place of each cell of the board: (row, column), or (layer, row, column) if it has several layers."""
    coordinates = problem.board.cells if problem.board.layers > 1 else problem.board.cells[:, 1:]
    return [tuple(place) for place in coordinates.tolist()]


@schema_name("Tiling")
@dataclass(frozen=True, slots=True)
class ListedTiling:
    """The cells of each piece as (row, column), or (layer, row, column) in a box."""

    number: int
    """The number of the tiling, from 1."""
    pieces: Mapping[str, list[Place]]


@dataclass(frozen=True, slots=True)
class ListedTilings:
    """Some of the tilings of which a symmetric copy satisfies conditions."""

    board: str
    complete: bool
    count: int
    """Number of tilings: up to symmetry, or of all copies if the store was opened with raw=True."""
    matching: int
    """Number of these tilings that satisfy the conditions, at least as one of their symmetric copies."""
    classes: int
    """Number of tilings up to symmetry."""
    matching_classes: int
    """Number of tilings up to symmetry with at least one copy that satisfies the conditions."""
    copies: int
    """Number of tilings, with all symmetric copies."""
    matching_copies: int
    """Number of symmetric copies that satisfy the conditions."""
    tilings: list[ListedTiling]


def listed_tilings(matches: MatchingTilings, chosen: Sequence[int]) -> ListedTilings:
    """Return the chosen tilings, which are counted from 0, as copies that satisfy the conditions."""
    listed = [ListedTiling(number + 1, one.cells) for number, one in zip(chosen, matches.placed(chosen), strict=True)]
    tilings = matches.tilings
    return ListedTilings(
        board=tilings.problem.name,
        complete=tilings.complete,
        count=len(tilings),
        matching=len(matches),
        classes=tilings.classes,
        matching_classes=matches.classes,
        copies=tilings.copies,
        matching_copies=matches.copies,
        tilings=listed,
    )
