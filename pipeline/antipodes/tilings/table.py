"""The tilings of a board, open for browsing.

>>> with open_tilings("outputs/6x10.zarr") as tilings:  # doctest: +SKIP
...     print(len(tilings))
...     print(tilings[5])
...     corner = tilings.containing("X", [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)])
2339
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import overload

import numpy as np
from numpy.typing import NDArray

from antipodes import arguments
from antipodes.errors import ArgumentTypeError, ClosedError, InputError, NumberError
from antipodes.exact_cover.placements import placements_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.symmetry import Tilings as TilingArray
from antipodes.exact_cover.symmetry import distinct, symmetry_of
from antipodes.quoting import quote, shorten
from antipodes.storage.address import Address
from antipodes.tilings.drawing import BOTH, STYLES, draw
from antipodes.tilings.drawing import steps as laid_one_by_one
from antipodes.tilings.store import TilingManifest, TilingStore

Place = tuple[int, ...]
"""Row and column; in a box layer, row and column."""


def open_tilings(address: Address, raw: bool = False) -> "Tilings":
    """The tilings in a store, one for each class under the board's symmetries; ``raw``: all of them.

    Those of an unfinished store are the ones found so far.

    Raises
    ------
    InputError
        The address or ``raw`` is of another type.
    NotAStoreError, StoreDamagedError
        There are no tilings at the address, or the manifest is damaged.
    """
    raw = arguments.flag(raw, "raw")
    store = TilingStore(arguments.address(address, "the address of tilings"))
    return Tilings(store, store.read(), raw)


@dataclass(frozen=True, eq=False)
class Tiling:
    """One way to fill the board."""

    problem: TilingProblem
    placements: NDArray[np.int32]
    """The number of the placement of each piece, ``(pieces,)``."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tiling):
            return NotImplemented
        return self.problem == other.problem and np.array_equal(self.placements, other.placements)

    def __hash__(self) -> int:
        return hash(self.placements.tobytes())

    def __str__(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        return f"<tiling of {self.problem.name}: {self.draw('letters')!r}>"

    @property
    def cells(self) -> Mapping[str, list[Place]]:
        """Where each piece lies, by its name: (row, column) of its cells, in a box (layer, row, column)."""
        placed, where = placements_of(self.problem).cells, places(self.problem)
        return {
            piece.name: sorted(where[cell] for cell in placed[number].tolist() if cell >= 0)
            for piece, number in zip(self.problem.pieces, self.placements.tolist(), strict=True)
        }

    def draw(self, style: str = BOTH) -> str:
        """The tiling as text: "letters", "lines", or "both"; InputError where the style is none of them."""
        return draw(self.problem, self.placements, arguments.choice(style, "a style", STYLES))

    def steps(self, style: str = BOTH) -> Iterator[str]:
        """The tiling piece by piece, as many drawings as pieces; raises as `draw`."""
        arguments.choice(style, "a style", STYLES)
        return (draw(self.problem, laid, style) for laid in laid_one_by_one(self.problem, self.placements))


class Tilings(Sequence[Tiling]):
    """The tilings of a board in the order of the store; they are read from it when the first is asked for.

    Threads may share it. After `close` it still says what it says of itself, and ClosedError is raised for tilings.
    """

    def __init__(self, store: TilingStore, manifest: TilingManifest, raw: bool) -> None:
        self.problem: TilingProblem = manifest.problem
        """The board and the pieces."""
        self._store = store
        self._manifest = manifest
        self._raw = raw
        self._closed = False

    def __enter__(self) -> "Tilings":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.array) if self._raw else self._manifest.tilings

    @overload
    def __getitem__(self, index: int) -> Tiling: ...

    @overload
    def __getitem__(self, index: slice) -> list[Tiling]: ...

    def __getitem__(self, index: int | slice) -> Tiling | list[Tiling]:
        """The tiling of a number from 0, or from -1 backwards, or a list of those of a slice.

        Raises
        ------
        NumberError
            There is none; an IndexError, too.
        ArgumentTypeError
            It is no integer and no slice of integers.
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

    def close(self) -> None:
        """Let go of the tilings in memory."""
        self._closed = True
        self.__dict__.pop("_array", None)

    @property
    def complete(self) -> bool:
        """Whether all the partitions are searched."""
        return self._manifest.complete

    @property
    def array(self) -> TilingArray:
        """The number of the placement of each piece, ``(tilings, pieces)``, the rows in lexicographic order.

        Raises
        ------
        ClosedError
            The tilings were closed.
        StoreDamagedError
            A chunk of the store is damaged.
        """
        if self._closed:
            raise ClosedError(f"the tilings {self._store.address} were closed: open them again")
        return self._array

    @cached_property
    def _array(self) -> TilingArray:
        tilings = distinct(self._store.tilings(self._manifest))
        return symmetry_of(self.problem).expand(tilings) if self._raw else tilings

    def find(self, *placements: int) -> NDArray[np.int64]:
        """The numbers of the tilings that contain all of these placements, ``(found,)``.

        Raises
        ------
        InputError
            There is no placement of such a number, or it is no integer.
        """
        known = placements_of(self.problem)
        contained = np.ones(len(self), dtype=np.bool_)
        for placement in placements:
            placement = arguments.integer(placement, "a placement", 0, len(known) - 1)
            contained &= self.array[:, known.piece[placement]] == placement
        return np.flatnonzero(contained)

    def containing(self, piece: str, cells: Iterable[Place]) -> NDArray[np.int64]:
        """The numbers of the tilings in which a piece covers all of these cells, ``(found,)``.

        Parameters
        ----------
        piece
            Its name.
        cells
            (row, column) each, in a box (layer, row, column), as in `Tiling.cells`: all that the piece covers, or
            some of them.

        Raises
        ------
        InputError
            There is no such piece, or no such cell.
        """
        number = self._piece(piece)
        covering = np.ones(len(placements_of(self.problem)), dtype=np.bool_)
        for cell in self._cells(cells):
            covering &= placements_of(self.problem).covers(cell)
        return np.flatnonzero(covering[self.array[:, number]])

    def _piece(self, name: str) -> int:
        arguments.text(name, "the name of a piece")
        names = [piece.name for piece in self.problem.pieces]
        if name not in names:
            raise InputError(f"expected a piece among {shorten(', '.join(names))}, found {quote(name)}")
        return names.index(name)

    def _cells(self, cells: Iterable[Place]) -> Iterator[int]:
        numbers = {place: number for number, place in enumerate(places(self.problem))}
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
        raise NumberError("expected a step other than 0, found 0")
    return slice(start, stop, step)


def places(problem: TilingProblem) -> list[Place]:
    """Where each cell of the board lies: (row, column), or (layer, row, column) where there are several layers."""
    coordinates = problem.board.cells if problem.board.layers > 1 else problem.board.cells[:, 1:]
    return [tuple(place) for place in coordinates.tolist()]
