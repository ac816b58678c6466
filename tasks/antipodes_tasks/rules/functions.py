"""Functions: moves that a user wrote in Python, each applied to many positions in one call."""

import hashlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError, PositionError
from antipodes_tasks.jit import kernel
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.custom_function import CustomFunction, guard
from antipodes_tasks.rules.moves import Labels, Mask, Moves
from antipodes_tasks.rules.parts import (
    MIN_POSITIONS_TO_COMPILE,
    Part,
    first_wrong,
    moduli_of,
    random_positions,
    ranges_of,
)

Function = Callable[[NDArray[np.int64]], Any]
"""Takes positions ``(n, places)``, an array of its own; returns those after the move, or a pair of them and of where
the move is legal, ``(n,)``."""
SAMPLE = 64
"""Random positions on which a fingerprint has the results of each move."""
WALKED = 1000
"""Positions near the starts on which it has them, too: moves may be illegal on almost all others."""


class Functions(Moves):
    """Moves by name, each a function of positions ``(n, places)``.

    A function may change the array that it is given, and return it. It is called with any contents of the parts, also
    with such that no moves lead to. Each result is checked, so that a wrong one never becomes an index.
    """

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
            The moves by name.
        parts
            The parts of the puzzle: what a position holds.
        inverses
            For a move the name of the move that undoes it, or a function that does. A move that is the inverse of
            another has that for its own inverse, if it is not said otherwise. None, or nothing: not known.
        source
            The SHA-256 of the file with the functions, or another text that changes with them.
        plain
            Whether move tables list each position apart, whatever the functions seem to have in common.
        symmetries
            By name maps of positions that take starts to starts, and moves to moves, and keep distances so.

        InputError where there is no move, a move is no function, or an inverse is no move.
        """
        if not functions:
            raise InputError("expected at least one move, found none")
        self._names = tuple(arguments.text(name, "the name of a move") for name in functions)
        self._parts = tuple(parts)
        self._moduli = np.array(moduli_of(parts), dtype=np.int64)
        self._source = source
        self._identity = uuid4().bytes
        self.plain = plain
        self._functions = tuple(
            CustomFunction(_function(one, name), f"move {name!r}") for name, one in functions.items()
        )
        self._inverses = self._resolved(dict(inverses or {}))
        self.symmetries: Mapping[str, CustomFunction] = {
            name: CustomFunction(_map(one, name), f"symmetry {name!r}") for name, one in (symmetries or {}).items()
        }
        """The symmetries that are named, by name."""

    def _resolved(self, inverses: dict[str, str | Function | None]) -> tuple[int | CustomFunction | None, ...]:
        for name, inverse in list(inverses.items()):
            if name not in self._names:
                raise InputError(f"inverses: expected the name of a move, found {quote(name)}")
            if isinstance(inverse, str):
                if inverse not in self._names:
                    raise InputError(f"inverse of {name!r}: expected the name of a move, found {quote(inverse)}")
                inverses.setdefault(inverse, name)
        return tuple(self._inverse(name, inverses.get(name)) for name in self._names)

    def _inverse(self, name: str, inverse: str | Function | None) -> int | CustomFunction | None:
        if isinstance(inverse, str):
            return self._names.index(inverse)
        return None if inverse is None else CustomFunction(_function(inverse, name), f"inverse of {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """All functions in one pickle, so that arrays that several of them use travel once."""
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
        """The same moves, with the SHA-256 of the file that has them."""
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
        """The source, names and inverses, and the results on some random positions.

        The source alone says nothing of modules that it imports, the results nothing of other positions.
        """
        known = [None if one is None else one if isinstance(one, int) else "own" for one in self._inverses]
        digest = hashlib.sha256(repr((self._source, self._names, known)).encode())
        self._results(random_positions(self._parts, SAMPLE, "fingerprint"), digest.update)
        return b"functions" + digest.digest()

    def table_key_from(self, starts: Labels) -> bytes:
        """The `table_key`, and the results on the first positions that a search from the starts finds."""
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
        """One for all copies of these moves, in any process, and for no others."""
        return self._identity

    def _results(self, labels: Labels, digest: Callable[[bytes], None]) -> list[Labels]:
        """The positions ``(k, places)`` after each move, where it is legal; they are digested, too."""
        results = []
        for number in range(len(self)):
            after, legal = self.move(number, labels)
            digest(legal.tobytes() + after[legal].tobytes())
            results.append(after[legal])
        return results

    @property
    def reversible(self) -> bool:
        """Whether each move is undone by a move; the user says so, and the move tables are checked for it."""
        return all(isinstance(one, int) for one in self._inverses)

    @property
    def invertible(self) -> bool:
        """Whether the inverse of each move is known."""
        return all(one is not None for one in self._inverses)

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` after a move, and where it is legal, ``(n,)``; elsewhere they are unchanged.

        InputError where the function fails, or its result is not one; the message names the move.
        """
        return self._applied(self._functions[number], labels)

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` before a move, and where there is one, ``(n,)``.

        The move leads from each of them to its position: that is tried, whatever the inverse says.

        InputError where the inverse is not known, or fails; the message names the move.
        """
        before, found = self.undone(number, labels)
        after, legal = self.move(number, before)
        return before, found & legal & (after == labels).all(axis=1)

    def undone(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """What the inverse of a move makes of positions ``(n, places)``, and where it is legal; raises as `before`."""
        inverse = self._inverses[number]
        if inverse is None:
            raise InputError(f"move {self.names[number]!r}: expected an inverse, found none: give it in `inverses`")
        return self._applied(self._functions[inverse] if isinstance(inverse, int) else inverse, labels)

    def check_undone(self, number: int, labels: Labels, after: Labels, legal: Mask) -> None:
        """Raise InputError unless the inverse of a move leads back from where it led, wherever it is legal."""
        labels = legal_positions(labels, legal)
        before, found = self.undone(number, legal_positions(after, legal))
        if not (found.all() and np.array_equal(before, labels)):
            wrong = np.flatnonzero(~found | (before != labels).any(axis=1))
            raise InputError(
                f"move {self.names[number]!r}: expected an inverse that undoes it, "
                f"found one that does not lead back to {_listed(labels[wrong[0]])}"
            )

    def has_inverse(self, number: int) -> bool:
        """Whether the inverse of a move is known."""
        return self._inverses[number] is not None

    def symmetric(self, name: str, labels: Labels) -> Labels:
        """The images of positions ``(n, places)`` under a symmetry that is named; InputError where the function fails,
        or its result is no such, or lacks some.
        """
        images, everywhere = self._applied(self.symmetries[name], labels)
        if not everywhere.all():
            raise InputError(f"symmetry {name!r}: expected the images of all positions, found some missing")
        return images

    def _applied(self, function: CustomFunction, labels: Labels) -> tuple[Labels, Mask]:
        if not len(labels):
            return labels.copy(), np.ones(0, dtype=np.bool_)
        result = function(labels.astype(np.int64, order="F"))  # a place of all positions is contiguous, so code is fast
        after, legal = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        after, legal = _positions(after, labels.shape, function.role), _mask(legal, len(labels), function.role)
        moved, within = self._moved(labels, after, legal)
        if not within or any(part.counts is not None for part in self._parts):
            self._check(function.role, labels, after, legal)
        return moved, legal

    def _moved(self, labels: Labels, after: NDArray[np.integer[Any]], legal: Mask) -> tuple[Labels, bool]:
        """The positions after a move, unchanged where it is illegal, and whether all values are in range."""
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
            raise InputError(f"{role}: {error}, in {_listed(after[at])} from {_listed(labels[at])}") from None


def legal_positions(labels: Labels, legal: Mask) -> Labels:
    """The positions ``(n, places)`` at which a move is legal, stored in the same order; themselves if all are."""
    if legal.all():
        return labels
    return np.asfortranarray(labels[legal]) if labels.flags.f_contiguous else labels[legal]


@kernel
def _take(positions: NDArray[np.integer[Any]], legal: Mask, moduli: NDArray[np.int64], moved: Labels) -> bool:
    """Write the legal positions ``(n, places)``; whether they have values from 0 to below the moduli.

    Places one after another and without branches: that is fastest where places are contiguous.
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
        raise InputError(f"{role}: expected positions, an array {shape}, found {arguments.found(result)}")
    if result.dtype.kind not in "iu":
        raise InputError(f"{role}: expected positions of integers, found {result.dtype}")
    return result


def _mask(legal: object, count: int, role: str) -> Mask:
    if legal is None:
        return np.ones(count, dtype=np.bool_)
    if not isinstance(legal, np.ndarray) or legal.shape != (count,) or legal.dtype != np.bool_:
        found = arguments.found(legal)
        raise InputError(f"{role}: expected where it is legal, truth values ({count},), found {found}")
    return legal


def _listed(labels: NDArray[np.integer[Any]]) -> str:
    return shorten(" ".join(map(str, labels.tolist())))
