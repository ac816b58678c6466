"""Kernels are compiled once, to machine code that releases the GIL."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
from numba.core import event

from antipodes.jit import compiling

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, compiled at its first call and cached on disk.

    Numba's cache is beside the source if that is writable, else in the user's cache folder; ``NUMBA_CACHE_DIR`` names
    another folder. Kernels take arrays and scalars only: a function as an argument would be compiled in every process.
    """
    return cast(Callable[P, R], numba.njit(nogil=True, cache=True)(function))


class _Listener(event.Listener):
    """Told of each compilation, not of code loaded from the cache."""

    def on_start(self, event: event.Event) -> None:
        compiling.watch.begin()

    def on_end(self, event: event.Event) -> None:
        compiling.watch.end()


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
