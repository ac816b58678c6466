"""The inner loops: expand a frontier, settle what it reached, both on bitmaps.

A layer is ``(rows, words)`` uint64: column ``c`` of a row is bit ``c % 64`` of word ``c // 64``.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from antipodes.compile import kernel

WORD = 64
Bitmap = NDArray[np.uint64]
Depths = NDArray[np.uint8] | NDArray[np.uint16]


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """How many zero bits lie below the lowest one bit of a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def ones(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def words(width: int) -> int:
    """How many words a row of so many columns takes."""
    return -(-width // WORD)


@kernel
def expand(
    incoming: Bitmap,
    first_target: int,
    frontier: Bitmap,
    target: NDArray[np.int32],
    shuffle: NDArray[np.int16],
    shuffles: NDArray[np.int32],
) -> None:
    """Set in ``incoming`` all successors of ``frontier`` that lie in its rows.

    ``incoming`` covers the rows from ``first_target`` on; ``target`` and ``shuffle`` are those of the frontier's rows.
    """
    one = np.uint64(1)
    for row in range(frontier.shape[0]):
        occupied = False
        for word in range(frontier.shape[1]):
            occupied |= frontier[row, word] != 0
        if not occupied:
            continue
        for move in range(target.shape[1]):
            to_row = target[row, move] - first_target
            if target[row, move] < 0:
                break
            if to_row < 0 or to_row >= incoming.shape[0]:
                continue
            number = shuffle[row, move]
            if number == 0:
                for word in range(frontier.shape[1]):
                    incoming[to_row, word] |= frontier[row, word]
                continue
            for word in range(frontier.shape[1]):
                rest = frontier[row, word]
                while rest != 0:
                    column = shuffles[number, word * 64 + trailing_zeros(rest)]
                    incoming[to_row, column >> 6] |= one << np.uint64(column & 63)
                    rest &= rest - one


@kernel
def settle(incoming: Bitmap, visited: Bitmap, depths: Depths, depth: int) -> int:
    """Take what was visited before out of ``incoming``, add the rest to ``visited`` and ``depths``; its count."""
    one = np.uint64(1)
    count = 0
    for row in range(incoming.shape[0]):
        for word in range(incoming.shape[1]):
            new = incoming[row, word] & ~visited[row, word]
            incoming[row, word] = new
            if new == 0:
                continue
            visited[row, word] |= new
            count += ones(new)
            while new != 0:
                depths[row, word * 64 + trailing_zeros(new)] = depth
                new &= new - one
    return count
