"""Processor instructions on the bits of a word, for kernels."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

BitFunction = Callable[[np.uint64], np.uint64]


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def _leading_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def _ones(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


trailing_zeros = cast(BitFunction, intrinsic(_trailing_zeros))
"""The number of zero bits below the lowest one bit of a word, which must not be 0."""
leading_zeros = cast(BitFunction, intrinsic(_leading_zeros))
"""The number of zero bits above the highest one bit of a word, which must not be 0."""
ones = cast(BitFunction, intrinsic(_ones))
"""The number of one bits of a word."""
