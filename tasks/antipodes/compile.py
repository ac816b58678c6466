"""How kernels are compiled: to machine code that releases the GIL, once per machine and user."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, compiled at its first call and kept on disk.

    Kernels take arrays and scalars only: a function passed as an argument would be compiled anew in every process.
    """
    return cast(Callable[P, R], numba.njit(nogil=True, cache=True)(function))
