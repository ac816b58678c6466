"""Compilation with numba, which is imported when a kernel is first called; and bit operations on 64-bit words."""

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
BitFunction = Callable[[np.uint64], np.uint64]

integer = cast(Callable[[Any], int], np.int64)
"""int() for kernels. Numba would compile the builtin as a function, once for each type."""

REPORT_AFTER_SECONDS = 2.0
"""Number of seconds after which a compilation is reported."""
_making = threading.RLock()


class Stopwatch:
    """A clock that runs while a kind of work is under way in any thread."""

    def __init__(self) -> None:
        self._under_way = 0
        self._lock = threading.Lock()
        self._ended = 0.0
        """Total seconds of the periods that have ended."""
        self._since = 0.0
        """Start time of the current period."""

    @property
    def seconds(self) -> float:
        """Seconds during which work was under way."""
        with self._lock:
            return self._ended + (time.monotonic() - self._since if self._under_way else 0.0)

    def begin(self) -> None:
        """Record that work begins, perhaps within other work of the same kind."""
        with self._lock:
            if not self._under_way:
                self._since = time.monotonic()
            self._under_way += 1

    def end(self) -> None:
        """Record that work has ended."""
        with self._lock:
            self._under_way -= 1
            if not self._under_way:
                self._ended += time.monotonic() - self._since

    @contextmanager
    def running(self) -> Iterator[None]:
        """Return a context for such work."""
        self.begin()
        try:
            yield
        finally:
            self.end()


class Watch(Stopwatch):
    """A clock for the time spent on compilation. It calls ``tell`` once if compilation takes long."""

    def __init__(self, tell: Callable[[], None]) -> None:
        super().__init__()
        self.tell = tell
        self.reason_uncached: str | None = None
        """Reason why compiled functions are not cached on disk, or None."""
        self._begin: float | None = None
        self._told = False

    def begin(self) -> None:
        """Record that the compilation of a function begins, perhaps within the compilation of another function."""
        super().begin()
        if self._begin is None:
            self._begin = time.monotonic()
            timer = threading.Timer(REPORT_AFTER_SECONDS, self._look)
            timer.daemon = True
            timer.start()
        elif time.monotonic() - self._begin >= REPORT_AFTER_SECONDS:
            self._look()

    def _look(self) -> None:
        if self._under_way and not self._told:
            self._told = True
            self.tell()


loading = Stopwatch()
"""The clock of this process for the time until kernels can run: importing numba, and compiling or reading the cache."""
watch = Watch(lambda: None)
"""The watch of this process for compilation, a part of `loading`. Set its ``tell`` to a function, which may be called
in any thread."""


def working_clock() -> float:
    """Return seconds on a clock that stops while machine code is compiled or loaded, so that it measures only work."""
    return time.monotonic() - loading.seconds


class Lazy(Generic[P, R]):
    """A function that is compiled when it is first called, or when a kernel that calls it is compiled."""

    def __init__(
        self,
        function: Callable[P, R],
        make: Callable[[Callable[P, R]], Any],
        make_inner: Callable[[Callable[P, R]], Any],
    ) -> None:
        functools.update_wrapper(self, function)
        self._function, self._make, self._make_inner = function, make, make_inner
        self._made: Any = None
        self._made_inner: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function. The first call compiles it or loads it from the cache."""
        return cast(R, (self._made or self.made)(*args, **kwargs))

    @property
    def made(self) -> Any:
        """The numba object, created if necessary."""
        with loading.running(), _making:  # the first kernel imports numba
            if self._made is None:
                self._made = self._make(self._function)
            return self._made

    @property
    def _numba_type_(self) -> Any:
        """The type of this object as a global variable of a kernel, for numba."""
        from numba.core.registry import cpu_target

        with _making:
            if self._made_inner is None:
                self._made_inner = self._make_inner(self._function)
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(self._made_inner)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function as machine code that releases the GIL, compiled at its first call and cached on disk.

    The cache is next to the source if that folder is writable, otherwise in the user's cache folder;
    ``NUMBA_CACHE_DIR`` names another folder. `antipodes_tasks.base.kernel_cache` reads and writes its files. Kernels
    take arrays and scalars only: a function as an argument would be compiled in every process.

    A kernel that another kernel calls is compiled as part of the other kernel, without entry points for Python and C,
    and without its own cache. This saves a fifth of the compilation time.
    """
    return Lazy(function, _compiled, _inner)


def _compiled(function: Callable[..., Any]) -> Any:
    import numba

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    from antipodes_tasks.base.kernel_cache import KernelCache

    _listen()
    options: dict[str, Any] = {"no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(nogil=True, **options)(function)
    try:
        dispatcher._cache = KernelCache(function, list(_parts(function, [])))
        watch.reason_uncached = dispatcher._cache.reason_unused
    except RuntimeError:
        watch.reason_uncached = "no cache directory can be written"
    load = dispatcher._compile_for_args  # numba calls it if it has no machine code for the types of the arguments

    def timed_load(*args: Any, **kwargs: Any) -> Any:
        with loading.running():
            return load(*args, **kwargs)

    dispatcher._compile_for_args = timed_load
    return dispatcher


def _inner(function: Callable[..., Any]) -> Any:
    import numba

    from antipodes_tasks.base.kernel_parts import PartCompiler

    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(nogil=True, pipeline_class=PartCompiler, **options)(function)


def _parts(function: Callable[..., Any], found: list[Any]) -> Iterator[object]:
    """Yield the code and the constants that are compiled as parts of a kernel; ``found`` collects its functions."""
    found.append(function)
    codes = list(_nested(function.__code__))
    for code in codes:
        yield code.co_code, code.co_names, [one for one in code.co_consts if not isinstance(one, CodeType)]
    for name in dict.fromkeys(name for code in codes for name in code.co_names):
        part = function.__globals__.get(name)
        if isinstance(part, Lazy) and part._function not in found:
            yield from _parts(part._function, found)
        elif isinstance(part, int | float | np.generic):
            yield name, part


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions and comprehensions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _nested(one)


@functools.cache
def _listen() -> None:
    """Inform the `watch` of each compilation from now on, but not of code loaded from the cache."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            watch.begin()

        def on_end(self, event: Any) -> None:
            watch.end()

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def _instruction(name: str, *flags: int) -> Callable[[BitFunction], BitFunction]:
    """Return a decorator. Kernels then use the LLVM instruction with this name; Python calls the decorated function."""
    return lambda function: Lazy(function, lambda function: function, lambda function: _intrinsic(name, flags))


def _intrinsic(name: str, flags: tuple[int, ...]) -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def typed(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(*arguments, *(ir.Constant(ir.IntType(1), flag) for flag in flags))

        return types.uint64(types.uint64), generate

    return intrinsic(typed)


WORD_IS_NOT_ZERO = 1
"""Flag of an LLVM instruction: the word is not 0, so that no test for 0 is needed."""


@_instruction("cttz", WORD_IS_NOT_ZERO)
def trailing_zeros(word: np.uint64) -> np.uint64:
    """Return the number of zero bits below the lowest 1 bit of a word, which must not be 0."""
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


@_instruction("ctlz", WORD_IS_NOT_ZERO)
def leading_zeros(word: np.uint64) -> np.uint64:
    """Return the number of zero bits above the highest 1 bit of a word, which must not be 0."""
    return np.uint64(64 - int(word).bit_length())


@_instruction("ctpop")
def popcount(word: np.uint64) -> np.uint64:
    """Return the number of 1 bits of a word."""
    return np.uint64(int(word).bit_count())
