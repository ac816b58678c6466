"""Moves that a user wrote in Python. Each move is a function that is applied to many positions in one call."""

import hashlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError, PositionError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.custom_function import CustomFunction, guard
from antipodes_tasks.rules.function_checks import in_symbols
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import (
    MIN_POSITIONS_TO_COMPILE,
    Part,
    first_wrong,
    moduli_of,
    random_positions,
    ranges_of,
)

Function = Callable[[NDArray[np.int64]], Any]
"""A user's move. It receives its own copy of positions ``(n, places)`` and returns the positions after the move, or a
pair of these positions and a mask ``(n,)`` of the positions that allow the move."""
SAMPLE = 64
"""Number of random positions whose successors are part of a fingerprint."""
WALKED = 1000
"""Number of positions near the starts whose successors are part of a fingerprint, too, since moves may be illegal on
most random positions."""


class Functions(Moves):
    """Named moves, each a function of positions ``(n, places)``.

    A function may change and return the array that it receives. It is called with any position, including unreachable
    positions. Every result is checked, so an invalid position never becomes an index.
    """

    are_functions = True

    def __init__(
        self,
        functions: Mapping[str, Function],
        parts: Sequence[Part],
        inverses: Mapping[str, str | Function | None] | None = None,
        source: str = "",
        plain: bool = False,
        symmetries: Mapping[str, Function] | None = None,
    ) -> None:
        """Copy the functions.

        Parameters
        ----------
        functions
            The function of each move, by name.
        parts
            The parts of the puzzle, which define the valid positions.
        inverses
            For each move, the name of the move that undoes it, or a function that does so. If A is named as the inverse
            of B, then B is also the inverse of A, unless ``inverses`` has an item for A. If the item is None or
            missing, the inverse is unknown.
        source
            The SHA-256 of the file with the functions, or another string that changes with them.
        plain
            Whether move tables list each position separately, even if the moves seem to depend on only a few places.
        symmetries
            Named maps of positions that map starts to starts and moves to moves, and therefore preserve distances.

        Raises InputError if there is no move, a move is not a function, or an inverse does not name a move.
        """
        if not functions:
            raise InputError("moves: the list of moves is empty")
        self._names = tuple(arguments.text(name, "the name of a move") for name in functions)
        self._parts = tuple(parts)
        self._moduli = np.array(moduli_of(parts), dtype=np.int64)
        self._source = source
        # Functions cannot be compared, so their moves are recognised by random bytes, which copies keep.
        self._identity = uuid4().bytes
        self.plain = plain
        self._functions = tuple(
            CustomFunction(_function(one, name), f"move {name!r}") for name, one in functions.items()
        )
        self._inverses = self._resolved(dict(inverses or {}))
        self.symmetries: Mapping[str, CustomFunction] = {
            name: CustomFunction(_map(one, name), f"symmetry {name!r}") for name, one in (symmetries or {}).items()
        }
        """The named symmetries."""

    def _resolved(self, inverses: dict[str, str | Function | None]) -> tuple[int | CustomFunction | None, ...]:
        for name, inverse in list(inverses.items()):
            if name not in self._names:
                raise InputError(f"inverses: {quote(name)} is not the name of a move")
            if isinstance(inverse, str):
                if inverse not in self._names:
                    raise InputError(f"inverse of {name!r}: {quote(inverse)} is not the name of a move")
                inverses.setdefault(inverse, name)
        return tuple(self._inverse(name, inverses.get(name)) for name in self._names)

    def _inverse(self, name: str, inverse: str | Function | None) -> int | CustomFunction | None:
        if isinstance(inverse, str):
            return self._names.index(inverse)
        return None if inverse is None else CustomFunction(_function(inverse, name), f"inverse of {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all functions together, so that arrays that several functions use are sent only once."""
        import cloudpickle

        state = self.__dict__.copy()
        given = (*self._functions, *self._inverses, *self.symmetries.values())
        own = [one for one in given if isinstance(one, CustomFunction)]
        with guard("moves, for other processes"):
            state["_functions"] = cloudpickle.dumps([(one.function, one.role) for one in own])
        state["_inverses"] = tuple(own.index(one) if isinstance(one, CustomFunction) else one for one in self._inverses)
        state["symmetries"] = {name: own.index(one) for name, one in self.symmetries.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        with guard("moves"):
            own = [CustomFunction(*one) for one in pickle.loads(state["_functions"])]
        moves = own[: len(state["_names"])]
        inverses = tuple(own[one] if one is not None and one >= len(moves) else one for one in state["_inverses"])
        symmetries = {name: own[one] for name, one in state["symmetries"].items()}
        self.__dict__.update({**state, "_functions": tuple(moves), "_inverses": inverses, "symmetries": symmetries})

    def signed(self, source: str) -> "Functions":
        """Return the same moves with ``source``, the SHA-256 of the file that defines them."""
        same = object.__new__(Functions)
        same.__dict__.update(self.__dict__, _source=source)
        same.__dict__.pop("table_key", None)
        return same

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each move."""
        return self._names

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Functions) and self.table_key == other.table_key

    def __hash__(self) -> int:
        return hash(self.table_key)

    @cached_property
    def table_key(self) -> bytes:
        """Digest of the source, the names, the inverses, and the results on some random positions.

        A change that affects only imported modules and other positions does not change the digest.
        """
        known = [None if one is None else one if isinstance(one, int) else "own" for one in self._inverses]
        digest = hashlib.sha256(repr((self._source, self._names, known)).encode())
        self._results(random_positions(self._parts, SAMPLE, "fingerprint"), digest.update)
        return b"functions" + digest.digest()

    def table_key_from(self, starts: Labels) -> bytes:
        """Return a digest of `table_key` and of the results on the first positions of a search from the starts."""
        digest = hashlib.sha256(self.table_key)
        seen = set[bytes]()
        frontier = np.unique(starts, axis=0)
        while len(frontier) and len(seen) < WALKED:
            frontier = frontier[: WALKED - len(seen)]
            seen.update(map(bytes, frontier))
            reached = np.unique(np.concatenate(self._results(frontier, digest.update)), axis=0)
            frontier = reached[[bytes(position) not in seen for position in reached]]
        return digest.digest()

    @property
    def identity(self) -> bytes:
        """Random bytes that identify these moves; all copies, in any process, have the same bytes."""
        return self._identity

    def _results(self, labels: Labels, digest: Callable[[bytes], None]) -> list[Labels]:
        """Return the successors ``(k, places)`` by each move, after adding them and their legality to a digest."""
        results = []
        for number in range(len(self)):
            after, legal = self.move(number, labels)
            digest(legal.tobytes() + after[legal].tobytes())
            results.append(after[legal])
        return results

    @property
    def reversible(self) -> bool:
        """Whether the user declared another move as the inverse of each move; building the move tables checks this."""
        return all(isinstance(one, int) for one in self._inverses)

    @property
    def invertible(self) -> bool:
        """Whether the inverse of every move is known."""
        return all(one is not None for one in self._inverses)

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the positions ``(n, places)`` after a move and a mask ``(n,)`` of the positions that allow it.

        Positions that do not allow it are returned unchanged.

        Raises InputError, naming the move, if the function fails or its result is invalid.
        """
        return self._applied(self._functions[number], labels)

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the predecessors ``(n, places)`` by a move and a mask ``(n,)`` of the positions that have one.

        Each predecessor is verified by applying the move to it.

        Raises InputError, naming the move, if the inverse is unknown or fails.
        """
        before, found = self.undone(number, labels)
        after, legal = self.move(number, before)
        return before, found & legal & (after == labels).all(axis=1)

    def undone(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Apply the inverse of a move to positions ``(n, places)``, as `move` does, without verifying the result."""
        inverse = self._inverses[number]
        if inverse is None:
            raise InputError(f"move {self.names[number]!r} has no inverse; add it to `inverses`")
        return self._applied(self._functions[inverse] if isinstance(inverse, int) else inverse, labels)

    def check_undone(self, number: int, labels: Labels, after: Labels, legal: Mask) -> None:
        """Raise InputError if the declared inverse of a move does not lead back; see `Moves.check_undone`."""
        if not self.reversible:
            return
        labels = legal_positions(labels, legal)
        before, found = self.undone(number, legal_positions(after, legal))
        if not (found.all() and np.array_equal(before, labels)):
            wrong = np.flatnonzero(~found | (before != labels).any(axis=1))
            raise InputError(
                f"move {self.names[number]!r}: its inverse does not undo it: "
                f"it does not lead back to {in_symbols(self._parts, labels[wrong[0]])}"
            )

    def has_inverse(self, number: int) -> bool:
        """Return whether the inverse of a move is known."""
        return self._inverses[number] is not None

    def symmetric(self, name: str, labels: Labels) -> Labels:
        """Return the images of positions ``(n, places)`` under a named symmetry.

        Raises InputError if the function fails, its result is invalid, or the images of some positions are missing.
        """
        images, everywhere = self._applied(self.symmetries[name], labels)
        if not everywhere.all():
            raise InputError(f"symmetry {name!r}: it must map all positions, but the images of some are missing")
        return images

    def _applied(self, function: CustomFunction, labels: Labels) -> tuple[Labels, Mask]:
        if not len(labels):
            return labels.copy(), np.ones(0, dtype=np.bool_)
        result = function(labels.astype(np.int64, order="F"))  # column-major: numpy works place by place
        after, legal = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        after, legal = _positions(after, labels.shape, function.role), _mask(legal, len(labels), function.role)
        moved, within = self._moved(labels, after, legal)
        if not within or any(part.counts is not None for part in self._parts):
            self._check(function.role, labels, after, legal)
        return moved, legal

    def _moved(self, labels: Labels, after: NDArray[np.integer[Any]], legal: Mask) -> tuple[Labels, bool]:
        """Return the positions after a move, unchanged if it is illegal, and whether all values are in range."""
        if len(after) >= MIN_POSITIONS_TO_COMPILE:
            moved = labels.copy(order="K")
            return moved, _take(after, legal, self._moduli, moved)
        outside = (after < 0) | (after >= self._moduli)
        return np.where(legal[:, np.newaxis], after, labels).astype(np.uint8), not outside[legal].any()

    def _check(self, role: str, labels: Labels, after: NDArray[np.integer[Any]], legal: Mask) -> None:
        found = np.flatnonzero(legal)

        def check(some: slice) -> None:
            for part, here in zip(self._parts, ranges_of(self._parts), strict=True):
                part.check(after[found[some], here])

        try:
            check(slice(None))
        except PositionError:
            first = first_wrong(len(found), check)
        else:
            return
        at = found[first]
        try:
            check(slice(first, first + 1))
        except PositionError as error:
            result, position = (in_symbols(self._parts, one[at]) for one in (after, labels))
            raise InputError(f"{role}: {error}, in {result} from {position}") from None


def legal_positions(labels: Labels, legal: Mask) -> Labels:
    """Return the positions ``(n, places)`` that allow a move, in the same memory order.

    Returns the input itself if all positions allow the move.
    """
    if legal.all():
        return labels
    return np.asfortranarray(labels[legal]) if labels.flags.f_contiguous else labels[legal]


@kernel
def _take(positions: NDArray[np.integer[Any]], legal: Mask, moduli: NDArray[np.int64], moved: Labels) -> bool:
    """Write the legal positions ``(n, places)`` to ``moved``; return whether their values are in range.

    A value is in range if it is at least 0 and below the modulus of its place. The loop runs place by place and without
    branches, which is fastest if the labels of each place are contiguous in memory.
    """
    wrong = False
    for place in range(len(moduli)):
        modulus = moduli[place]
        for i in range(len(positions)):
            value = np.int64(positions[i, place])
            wrong |= legal[i] & ((value < 0) | (value >= modulus))
            moved[i, place] = value if legal[i] else moved[i, place]
    return not wrong


def _function(value: Function, name: str) -> Function:
    return arguments.function(value, f"a function for the move {quote(name)}")


def _map(value: Function, name: str) -> Function:
    return arguments.function(value, f"a function for the symmetry {quote(name)}")


def _positions(result: object, shape: tuple[int, ...], role: str) -> NDArray[np.integer[Any]]:
    if not isinstance(result, np.ndarray) or result.shape != shape:
        raise InputError(f"{role}: expected an array of positions {shape}, found {arguments.found(result)}")
    if result.dtype.kind not in "iu":
        raise InputError(f"{role}: expected an array of integers, found {result.dtype}")
    return result


def _mask(legal: object, count: int, role: str) -> Mask:
    if legal is None:
        return np.ones(count, dtype=np.bool_)
    if not isinstance(legal, np.ndarray) or legal.shape != (count,) or legal.dtype != np.bool_:
        found = arguments.found(legal)
        raise InputError(f"{role}: its mask of legal positions must be a boolean array ({count},), found {found}")
    return legal
