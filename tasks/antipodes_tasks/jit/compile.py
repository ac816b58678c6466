"""Kernels are compiled once, to machine code that releases the GIL."""

import pickle
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import FunctionCache

from antipodes_tasks.jit import compiling

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, compiled at its first call and cached on disk.

    Numba's cache is beside the source if that is writable, else in the user's cache folder; ``NUMBA_CACHE_DIR`` names
    another folder. Kernels take arrays and scalars only: a function as an argument would be compiled in every process.
    """
    compiled: Any = numba.njit(nogil=True, cache=True)(function)
    compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return cast(Callable[P, R], compiled)


class _Cache(FunctionCache):
    """Numba's cache, which is emptied where it cannot be read: the modules that it names may have moved since."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The cached code for the types of arguments, or None, and then it is compiled."""
        try:
            return super().load_overload(signature, target_context)  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            self.flush()  # type: ignore[no-untyped-call]
            return None


class _Listener(event.Listener):
    """Told of each compilation, not of code loaded from the cache."""

    def on_start(self, event: event.Event) -> None:
        compiling.watch.begin()

    def on_end(self, event: event.Event) -> None:
        compiling.watch.end()


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
