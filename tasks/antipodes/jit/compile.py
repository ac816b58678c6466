"""How kernels are compiled: to machine code that releases the GIL, once and for all."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
from numba.core import event

from antipodes.jit import compiling

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, compiled at its first call and kept on disk.

    It is kept where numba keeps such code: beside the source if that can be written, else in the user's cache folder;
    ``NUMBA_CACHE_DIR`` names another place. Kernels take arrays and scalars only: a function passed as an argument
    would be compiled anew in every process.
    """
    return cast(Callable[P, R], numba.njit(nogil=True, cache=True)(function))


class _Listener(event.Listener):
    """Hears of what is compiled, not of what is loaded from disk."""

    def on_start(self, event: event.Event) -> None:
        compiling.watch.begin()

    def on_end(self, event: event.Event) -> None:
        compiling.watch.end()


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
