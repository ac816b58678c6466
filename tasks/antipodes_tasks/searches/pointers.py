"""An instruction that reads the byte at an address. Kernels use it to read tables that are in separate arrays."""

from ctypes import c_uint8
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import Lazy


def address_of(values: NDArray[np.uint8]) -> int:
    """Return the address of the first byte of a contiguous array, which must stay alive while the address is used."""
    assert values.flags.c_contiguous
    return int(values.ctypes.data)


def _intrinsic(_: Any) -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def typed(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))

        return types.uint8(types.uint64), generate

    return intrinsic(typed)


def _byte_at(address: np.uint64) -> np.uint8:
    """Return the byte at an address, in Python."""
    return np.uint8(c_uint8.from_address(int(address)).value)


byte_at = Lazy(_byte_at, lambda function: function, _intrinsic)
"""Function that returns the byte at an address: in kernels by a single instruction."""
