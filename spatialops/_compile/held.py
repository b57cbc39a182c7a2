"""Tables that are described once in memory: a way into kernels that unpacks nothing.

Handing over the loop's tuple of ninety arrays takes Numba 15 us a call, ten times a step of a small
scene, and 2 s to compile. What it unpacks them into is the same from call to call; here it is
written down once, and kernels are called with its address.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import NativeValue, intrinsic, unbox

from spatialops._compile.apart import untold
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.jit import COMPILED, kernel_of_the_loop
from spatialops._compile.layouts import (
    CARRAY,
    DATA,
    DIMS,
    DTYPE,
    FAULTS,
    FLAGS,
    NDIM,
    STRIDES,
    WORD,
)
from spatialops._compile.references import Reference
from spatialops._compile.stage import expect_stages
from spatialops._compile.words import load, load_int

Number = TypeVar("Number", int, float)

_WORDS, _WORDS_A_DIMENSION = 5, 2  # of what describes an array: see numba's `ArrayModel`
_FORM = 3  # dimensions, type of numbers, flags


class Held:
    """Tables, and where their description stands.

    Parameters
    ----------
    tables : NamedTuple of arrays, or of tuples of them
        Which must not be exchanged for others; what is in them may change.

    Attributes
    ----------
    address : int, or the tables where nothing is compiled
        What functions made by `held` take in place of the tables.
    """

    def __init__(self, tables: CompilerObject) -> None:
        self.tables = tables
        self.address: CompilerObject = tables
        if COMPILED:
            description = _DESCRIPTIONS.setdefault(type(tables), _Description())
            self._block = description.written(tables)
            self.address = self._block.ctypes.data

    def __reduce__(self) -> tuple[type[Held], tuple[CompilerObject]]:
        return Held, (self.tables,)  # a copy describes its own


def addresses_of(addresses: Sequence[CompilerObject]) -> CompilerObject:
    """Several, as `at_address` reads them in kernels."""
    return np.array(addresses, dtype=np.int64) if COMPILED else list(addresses)


def held(function: Callable[..., Number]) -> Callable[..., Number]:
    """Compile a function of tables that are held, and of arrays that are as they must be.

    It is called with `Held.address` for parameters that are annotated with the type of tables that
    are held, first of all those of the loop. Types are those of the first call and are not looked
    at again: for callers in this package, which make the arrays themselves.
    """
    return _HeldCall(function) if COMPILED else function


class _HeldCall:
    def __init__(self, function: Callable[..., float]) -> None:
        self.py_func = function
        self._kernel: CompilerObject = kernel_of_the_loop(function)
        self._call: CompilerObject = None

    def __call__(self, address: int, *arguments: CompilerObject) -> CompilerObject:
        if self._call is None:
            self._compile(arguments)
        try:  # as `reaching`, which would pack the arguments once more
            return self._call(address, *arguments)
        except SystemError as told:
            raise untold(told) from None

    def _compile(self, arguments: Sequence[CompilerObject]) -> None:
        first, *others = self._references()
        given = zip(others, self._as_annotated(arguments), strict=True)
        kinds = (first, *(kind or numba.typeof(item) for kind, item in given))
        expect_stages(self.py_func, first)
        self._kernel.compile(kinds)
        self._call = self._kernel.overloads[kinds].entry_point

    def _as_annotated(self, arguments: Sequence[CompilerObject]) -> list[CompilerObject]:
        """Whole numbers in the place of floats as floats: the next caller may have none."""
        _, *parameters = inspect.signature(self.py_func).parameters.values()
        return [
            _as_float(one.annotation, item) for one, item in zip(parameters, arguments, strict=True)
        ]

    def _references(self) -> list[CompilerObject]:
        """Types of the parameters that are addresses; None of others."""
        function: CompilerObject = self.py_func
        parameters = inspect.signature(function).parameters.values()
        kinds = [function.__globals__.get(one.annotation) for one in parameters]
        described = [_DESCRIPTIONS.get(kind) for kind in kinds]
        return [one and one.reference for one in described]


def _as_float(annotation: str, item: CompilerObject) -> CompilerObject:
    """A number that is annotated as a float, or a tuple with such fields, as annotated."""
    if annotation == "float":
        return float(item)
    if not hasattr(item, "_fields"):
        return item
    kinds = inspect.get_annotations(type(item)).values()  # `NamedTuple` makes references of them
    names = [getattr(kind, "__forward_arg__", "") for kind in kinds]
    return type(item)(*map(_as_float, names, item))


class _Description:
    """Writes down tables of one type, that of the first ones."""

    def __init__(self) -> None:
        self._words = 0
        self._forms = np.zeros((0, _FORM), dtype=np.int64)
        self.reference: CompilerObject = None

    def written(self, tables: CompilerObject) -> npt.NDArray[np.int64]:
        arrays = _arrays_of(tables)
        begun = self.reference is not None
        if not begun:
            if any(item.itemsize != WORD for item in arrays):
                raise TypeError("tables are of numbers of eight bytes")
            self.reference = Reference(numba.typeof(tables))
            self._words = sum(_WORDS + _WORDS_A_DIMENSION * item.ndim for item in arrays)
        block = np.zeros(self._words, dtype=np.int64)
        forms = np.zeros((len(arrays), _FORM), dtype=np.int64)
        if FAULTS:
            block[:] = [word for item in arrays for word in _words_of(item)]
        else:
            _describe(np.fromiter(map(id, arrays), np.int64, len(arrays)), forms, block)
        if not begun:
            self._forms = forms
        alike = not FAULTS and np.array_equal(forms, self._forms)
        if not alike and numba.typeof(tables) != self.reference.table:
            raise TypeError("tables of another type than those that kernels were compiled for")
        return block


def _arrays_of(tables: Sequence[CompilerObject]) -> list[CompilerObject]:
    """The arrays of a tuple, and of tuples within it."""
    found = []
    for item in tables:
        if isinstance(item, tuple):
            found.extend(_arrays_of(item))
        else:
            found.append(item)
    return found


def _words_of(item: CompilerObject) -> tuple[int, ...]:
    """What `_describe` puts of an array, where what that reads is not where it should be."""
    return 0, 0, item.size, item.itemsize, item.ctypes.data, *item.shape, *item.strides


@kernel_of_the_loop
def _describe(
    arrays: npt.NDArray[np.int64], forms: npt.NDArray[np.int64], block: npt.NDArray[np.int64]
) -> None:
    """What describes arrays in kernels, and what Numba's types of them depend on.

    In place of those who own them, which nobody asks for here, are zeros.
    """
    k = 0
    for i in range(arrays.size):
        ndim = load_int(arrays[i], NDIM)
        if k + _WORDS + _WORDS_A_DIMENSION * ndim > block.size:
            break  # the forms tell that these are others
        shape, strides = load(arrays[i], DIMS), load(arrays[i], STRIDES)
        size = 1
        for axis in range(ndim):
            count = load(shape, WORD * axis)
            size *= count
            block[k + _WORDS + axis] = count
            block[k + _WORDS + ndim + axis] = load(strides, WORD * axis)
        block[k + 2] = size
        block[k + 3] = WORD
        block[k + 4] = load(arrays[i], DATA)
        forms[i, 0] = ndim
        forms[i, 1] = load(arrays[i], DTYPE)
        forms[i, 2] = load_int(arrays[i], FLAGS) & CARRAY
        k += _WORDS + _WORDS_A_DIMENSION * ndim


@intrinsic  # type: ignore[untyped-decorator]
def _at_address(
    context: CompilerObject, like: CompilerObject, address: CompilerObject
) -> CompilerObject:
    def point(
        context: CompilerObject,
        builder: CompilerObject,
        signature: CompilerObject,
        arguments: CompilerObject,
    ) -> CompilerObject:
        return builder.inttoptr(arguments[1], ir.PointerType(ir.IntType(8)))

    return like(like, types.int64), point


@unbox(Reference)  # type: ignore[untyped-decorator]
def _unbox_address(kind: CompilerObject, obj: CompilerObject, c: CompilerObject) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(obj), is_error=c.pyapi.c_api_error())


def at_address(like: CompilerObject, address: CompilerObject) -> CompilerObject:
    """The tables that are held at an address, of the type of others."""
    return address


_DESCRIPTIONS: dict[object, _Description] = {}
if COMPILED:
    at_address = _at_address
