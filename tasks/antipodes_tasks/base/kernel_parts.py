"""The compilation of functions that kernels call: they are linked into each kernel, and optimised only there.

By default, numba also optimises each of them by itself, together with all that it calls, and translates it into machine
code that nobody calls. So it optimises a function once for each function above it. A kernel of 25 functions that call
each other five deep takes 1.6 times as long that way.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class PartCompiler(Compiler):
    """The compiler of functions that only kernels call."""

    def compile_extra(self, function: Any) -> Any:
        """Return the compiled function, which has no machine code."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _Linked(codegen, function.__qualname__)  # type: ignore[no-untyped-call]
        return super().compile_extra(function)  # type: ignore[no-untyped-call]


class _Linked(JITCodeLibrary):
    """The code of a function that is complete, but neither optimised nor translated."""

    @property
    def codegen(self) -> Any:
        """What numba tells the Python objects that the machine code of the function uses."""
        return _NoObjects

    def _optimize_final_module(self) -> None:
        """Leave it to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True


class _NoObjects:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Check that there are no such objects."""
        if environment.consts:
            raise NotImplementedError(f"a function that a kernel calls uses Python objects: {environment.consts}")
