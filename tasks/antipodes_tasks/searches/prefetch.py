"""The prefetch instruction, which loads memory that a kernel will read soon into the cache."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import Lazy

READ, KEEP, DATA = 0, 3, 1
"""Arguments of LLVM's prefetch: prefetch for reading, keep in all caches, data cache."""


def _intrinsic(_: Any) -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def typed(typing_context: Any, array: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            call: Any = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
            flags = [ir.Constant(number, flag) for flag in (READ, KEEP, DATA)]
            builder.call(call, [builder.bitcast(builder.gep(data, [arguments[1]]), byte), *flags])
            return context.get_dummy_value()

        return types.void(array, types.uint64), generate

    return intrinsic(typed)


def _prefetch(array: NDArray[Any], place: np.uint64) -> None:
    """Start to load an entry of an array into the cache, without waiting."""


prefetch = Lazy(_prefetch, lambda function: function, _intrinsic)
