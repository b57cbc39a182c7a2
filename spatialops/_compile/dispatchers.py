"""Two kinds of compiled functions: those that Python calls, and those that kernels are made of.

Numba makes machine code of every function that it compiles, with a way into it from Python and
another from C. Of most functions here only what LLVM reads is ever used: it is copied into kernels.
Leaving out the rest saves a third of the time of compiling them.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType

from numba.core import types as numba_types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from spatialops._compile.compiler_object import CompilerObject

types: CompilerObject = numba_types  # their checker does not know all of them

Options = dict[str, object]

WITHOUT_PYTHON: Options = {"no_cpython_wrapper": True}
"""Option of Numba's: no way into a function from Python."""

_SELDOM = (50_000, 20, 20)  # objects, and collections of each generation, before the next


def _any_value(kind: CompilerObject) -> CompilerObject:
    """The type of all values that are like a constant, or like a tuple with constants in it."""
    if isinstance(kind, types.Tuple):
        return types.Tuple([_any_value(part) for part in kind])
    return kind.literal_type if isinstance(kind, types.Literal) else kind


class _Compiled(CPUDispatcher):  # type: ignore[misc]
    def compile(self, sig: CompilerObject) -> CompilerObject:
        """As Numba does, with garbage collected seldom: a tenth of the time goes there else."""
        with global_compiler_lock, _seldom_collected():
            return super().compile(sig)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Helper(_Compiled):
    """A function that is copied into kernels; Python calls what it was made of."""

    def __init__(
        self, py_func: FunctionType, locals: object = None, targetoptions: Options | None = None
    ) -> None:
        options = {**(targetoptions or {}), **WITHOUT_PYTHON}
        super().__init__(py_func, locals, options, pipeline_class=_HelperCompiler)

    def __call__(self, *arguments: CompilerObject) -> CompilerObject:
        """Run as Python does: there is no way from it into the compiled function."""
        return self.py_func(*arguments)

    def get_call_template(self, args: CompilerObject, kws: CompilerObject) -> CompilerObject:
        """What Numba asks for where a kernel calls it, whatever constants that hands over.

        Numba would compile a version for each constant, though it looks at none: LLVM does, where
        it has copied the function into its caller.
        """
        _, args = self._compiler.fold_argument_types(args, kws)
        return super().get_call_template(tuple(map(_any_value, args)), {})


class Kernel(_Compiled):
    """A function that Python calls; kernels that call it are made of a helper of the same source.

    So nothing is made of it that is not asked for, and what its callers become is the same
    whether a version for Python has been kept or not: LLVM has optimised that once more.
    """

    def compile(self, sig: CompilerObject) -> CompilerObject:
        """As Numba does, in one process at a time: others wait, and read what it has made."""
        try:
            return super().compile(sig)
        finally:
            self._cache.end_turn()

    @functools.cached_property
    def _copied(self) -> Helper:
        return Helper(self.py_func, targetoptions=dict(self.targetoptions))

    def get_call_template(self, args: CompilerObject, kws: CompilerObject) -> CompilerObject:
        """What Numba asks for where another kernel calls this one."""
        return self._copied.get_call_template(args, kws)

    def get_overload(self, sig: CompilerObject) -> CompilerObject:
        """What Numba asks for where it writes down that call."""
        return self._copied.get_overload(sig)


class _HelperCompiler(Compiler):  # type: ignore[misc]
    def compile_extra(self, func: FunctionType) -> CompilerObject:
        self.state.library = _HelperLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class _Nowhere:
    """In place of the engine that runs code: Numba tells it of what helpers do not have."""

    @staticmethod
    def set_env(name: str, environment: CompilerObject) -> None:
        """Nothing: only what raises looks for its environment."""


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function as LLVM reads it, of which no machine code is made."""

    codegen = _Nowhere()

    def get_pointer_to_function(self, name: str) -> int:
        """Nowhere."""
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
