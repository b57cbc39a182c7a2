"""Machine code that came with a wheel: one shared library, loaded where it fits, or left alone.

It was made (`tools/machine_code.py`) of these sources, for a level of instruction sets that most
processors have, by one version of Numba for one version of Python. Where any of these differs, or
Numba is told to compile otherwise, kernels are compiled here as from a clone.
"""

from __future__ import annotations

import ctypes
import functools
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba import _dynfunc, _helperlib
from numba.core import compiler, funcdesc

from spatialops._compile import digest
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.sealed import digest_of, unsealed

FOLDER = Path(__file__).parent / "shipped"
LIBRARY = "kernels.so"
INDEX = "kernels.index"

LEVEL = "x86-64-v3"
_FEATURES = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

HELPERS = "spatialops_helpers"
"""Table of the library, of where functions of Numba's run-time are."""

WRAPPER, ENVIRONMENT = ".python", ".environment"
"""What follows an entry's symbol in those of its way in from Python and of its globals."""

C_WRAPPER = "cfunc."
"""What precedes it where C calls it: Numba's own prefix."""

_SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")


@dataclass(frozen=True)
class Entry:
    """A kernel for arguments of certain types: its symbol, and Numba's type of what it returns."""

    symbol: str
    returns: CompilerObject


@dataclass(frozen=True)
class Index:
    """What is in a library, and what it needs."""

    made_for: dict[str, object]
    library: bytes  # its digest: a flipped bit is another program
    helpers: list[str]
    entries: dict[str, Entry]


def name(function: FunctionType, arguments: tuple[CompilerObject, ...]) -> str:
    """Name of a kernel for arguments of some types, in an index."""
    kinds = ", ".join(digest.described_type(kind) for kind in arguments)
    return f"{function.__module__}.{function.__qualname__}({kinds})"


def circumstances() -> dict[str, object]:
    """What must be here as it was where a library was made."""
    settings = {item: getattr(numba.config, item) for item in _SETTINGS}
    return {
        "Python": sys.implementation.cache_tag,
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "NumPy": np.__version__.partition(".")[0],
        "sources": digest.sources_digest(Path(__file__).parents[1]),
        **settings,
    }


@functools.cache
def library() -> Library | None:
    """The library of the wheel; None where there is none, or none that fits."""
    return None if reason_against() else Library(FOLDER)


@functools.cache
def reason_against() -> str:
    """Why no shipped code is used; nothing if it is."""
    if not (FOLDER / LIBRARY).exists():
        return "none came with this installation"
    overrides = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    if any(item is not None for item in overrides) or not numba.config.ENABLE_AVX:
        return "Numba is told which processor to compile for"
    has = binding.get_host_cpu_features()
    if lacking := [item for item in _FEATURES if not has.get(item)]:
        return f"it is for {LEVEL}, and this processor lacks {', '.join(lacking)}"
    index = _read_index(FOLDER)
    if index is None:
        return "its index is damaged"
    wanted, here = index.made_for, circumstances()
    if differing := [item for item in wanted if wanted[item] != here.get(item)]:
        return f"it was made for other {', '.join(differing)}"
    if digest_of(FOLDER / LIBRARY) != index.library:
        return "it is damaged"
    return ""


_WORD = ctypes.sizeof(ctypes.c_void_p)


@functools.cache
def _read_index(folder: Path) -> Index | None:
    """The index beside a library; None where it is not whole."""
    content = unsealed(folder / INDEX)
    return None if content is None else pickle.loads(content)  # part of the package, as its code


class Library:
    """A shared library of kernels, and the index that lies beside it."""

    def __init__(self, folder: Path) -> None:
        self._code = ctypes.CDLL(str(folder / LIBRARY))
        index = _read_index(folder)
        assert index is not None  # `reason_against` has seen it
        self._index = index
        self._environments: list[CompilerObject] = []
        table = self.get_pointer_to_function(HELPERS)
        for k, helper in enumerate(self._index.helpers):
            ctypes.c_void_p.from_address(table + k * _WORD).value = _helper_address(helper)

    def has(self, entry: str) -> bool:
        """Whether there is code for an entry."""
        return entry in self._index.entries

    def compiled(
        self, function: FunctionType, arguments: tuple[CompilerObject, ...], target: CompilerObject
    ) -> CompilerObject:
        """A kernel as Numba takes what it has compiled."""
        entry = self._index.entries[name(function, arguments)]
        returns = entry.returns
        return compiler.compile_result(
            typing_context=target.typing_context,
            target_context=target,
            entry_point=self._python_function(entry, function),
            signature=returns(*arguments),
            fndesc=funcdesc.ExternalFunctionDescriptor(entry.symbol, returns, tuple(arguments)),
            library=self,
            objectmode=False,
            lifted=(),
        )

    def get_pointer_to_function(self, symbol: str) -> int:
        """Address of anything in the library, as Numba asks for it."""
        return ctypes.addressof(self._word(symbol))

    def _python_function(self, entry: Entry, function: FunctionType) -> CompilerObject:
        """The way from Python into a kernel, which looks for the globals of its module."""
        environment = _dynfunc.Environment(function.__globals__)
        self._environments.append(environment)
        self._word(entry.symbol + ENVIRONMENT).value = id(environment)
        start = self.get_pointer_to_function(entry.symbol + WRAPPER)
        module = sys.modules[function.__module__]
        return _dynfunc.make_function(module, function.__name__, "", start, environment, (self,))

    def _word(self, symbol: str) -> ctypes.c_void_p:
        return ctypes.c_void_p.in_dll(self._code, symbol)


def _helper_address(helper: str) -> int:
    """Of a function of Numba's run-time, which compiled code knows as `numba_...`."""
    modules: tuple[CompilerObject, ...] = (_helperlib, _dynfunc)
    known = {name: address for module in modules for name, address in module.c_helpers.items()}
    return int(known[helper.removeprefix("numba_")])
