"""The decorators of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

import numba

from spatialops._compile.beside import BESIDE
from spatialops._compile.cache import cache_directory
from spatialops._compile.dispatchers import WITHOUT_PYTHON, Helper, Kernel
from spatialops._compile.kept_code import KeptCode

Function = TypeVar("Function", bound=Callable[..., object])

COMPILED = not numba.config.DISABLE_JIT
_FOLDER = cache_directory() if COMPILED else None


# NaN stays NaN. Without the run-time that counts references a kernel cannot allocate, by
# construction, and saves up to half its time: Numba counts every array argument of every helper
# that branches.
_OPTIONS: dict[str, object] = {
    "nopython": True,
    "boundscheck": None,
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract"},
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def kernel(function: Function) -> Function:
    """Compile a kernel: lazily, cached on disk, GIL released.

    Only fused multiply-add may change its arithmetic.
    """
    return _cached(function, _OPTIONS)


def kernel_of_the_loop(function: Function) -> Function:
    """Compile a kernel that no step goes without: where it is missing, a second process begins."""
    return _cached(function, _OPTIONS, BESIDE.begin)


def kernel_apart(function: Function) -> Function:
    """Compile a kernel that is reached by its address, and that Python does not call."""
    return _cached(function, {**_OPTIONS, **WITHOUT_PYTHON}, BESIDE.begin)


def entry_point(function: Function) -> Function:
    """Compile the way into a kernel from Python, as a `FastCall` takes it.

    It gives up the GIL itself, where that is worth it.
    """
    return _cached(function, {**_OPTIONS, "nogil": False})


def entry_in_c(function: Function) -> Function:
    """Compile a function of words that C calls, holding the GIL."""
    return _cached(function, {**_OPTIONS, "nogil": False, "no_cfunc_wrapper": False})


def _cached(
    function: Function, options: dict[str, object], missing: Callable[[], None] | None = None
) -> Function:
    if not COMPILED:
        return function
    return cast(Function, _kernel(cast(FunctionType, function), options, missing))


def _kernel(
    function: FunctionType, options: dict[str, object], missing: Callable[[], None] | None = None
) -> Kernel:
    compiled = Kernel(function, targetoptions=options)
    compiled._cache = KeptCode(function, _FOLDER, options, shipped=True, missing=missing)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a helper into every kernel that calls it.

    Measured: a per-link helper that is called instead costs 20-40 ns a link, most of it for
    counting references to its array arguments.
    """
    if not COMPILED:
        return function
    options = {**_OPTIONS, "forceinline": True}
    return cast(Function, Helper(cast(FunctionType, function), targetoptions=options))


def merged(function: Function) -> Function:
    """Copy a function's source into the kernels that call it, before they are compiled.

    For functions of the stepping loop's big tuple of arrays: compiled on their own, each takes 2 to
    5 s for handing over that tuple alone.
    """
    if not COMPILED:
        return function
    options = {**_OPTIONS, "inline": "always"}
    return cast(Function, Helper(cast(FunctionType, function), targetoptions=options))
