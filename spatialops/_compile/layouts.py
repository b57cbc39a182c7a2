"""Where CPython and NumPy keep what compiled code reads of their objects, and whether they do.

All that is private is here: offsets in bytes from the beginning of an object, and functions of C
by their addresses. Everything is held against live objects when the package is imported; where
anything differs, `faults` says what, and kernels are called as any code of Numba's is.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
WORD = ctypes.sizeof(ctypes.c_void_p)
_HEAD = object.__basicsize__
"""Bytes of what all objects begin with."""

CLASS = _HEAD - WORD

# `PyArrayObject_fields`, part of NumPy's binary interface.
DATA = _HEAD
NDIM = _HEAD + 8  # an int of C
DIMS = _HEAD + 16
STRIDES = _HEAD + 24
DTYPE = _HEAD + 40
FLAGS = _HEAD + 48  # an int of C
CARRAY = 0x1 | 0x100 | 0x400  # C-contiguous, aligned, writeable: `flags.carray`

LENGTH = _HEAD  # of a tuple, and of a list
ITEMS = tuple.__basicsize__
HASH = LENGTH + WORD if ITEMS > LENGTH + WORD else 0
"""Of a tuple that keeps it (from Python 3.14 on), -1 while nobody has asked; else 0."""

LIST_ITEMS = _HEAD + 8  # their address

_NEW_ARRAY = 93  # `PyArray_New` in the table that NumPy's capsule hands over
_FASTCALL = 0x80 | 0x02  # METH_FASTCALL | METH_KEYWORDS


def slot_offset(kind: type, name: str) -> int:
    """Where objects of a class keep a slot, found by putting something there.

    Raises
    ------
    LookupError
        If it is nowhere, or could be in two places.
    """
    probe, known = cast(Callable[[type], object], kind.__new__)(kind), object()
    object.__setattr__(probe, name, known)
    places = range(_HEAD, kind.__basicsize__, WORD)
    found = [place for place in places if _word(probe, place) == id(known)]
    if len(found) != 1:
        raise LookupError(f"{kind.__name__}.{name} is not a slot")
    return found[0]


def faults() -> list[str]:
    """What is not where it is read; nothing if all is."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return ["words of 64 bits"]
    if _counts_apart():
        return ["one lock for the whole interpreter"]
    return [what for what, holds in _claims() if not _true(holds)]


def address_of_new_array() -> int:
    """`PyArray_New`."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = get(_multiarray_umath._ARRAY_API, None)
    found = ctypes.c_void_p.from_address(table + _NEW_ARRAY * WORD).value
    if found is None:
        raise LookupError("NumPy's table of functions is empty")
    return found


def address_of(name: str) -> int:
    """A function of the C interface that CPython keeps stable."""
    found = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    if found is None:
        raise LookupError(name)
    return found


class _Method(ctypes.Structure):
    """`PyMethodDef`, part of the stable interface."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Owner(ModuleType):
    """What a built-in function belongs to.

    Parameters
    ----------
    module : str
        Name of the module that the function is of.
    plan : (n,) int array
        What machine code goes by.
    careful : callable
        What the function stands before.
    """

    __slots__ = ("careful", "plan")

    def __init__(self, module: str, plan: IntArray, careful: Callable[..., object]) -> None:
        super().__init__(module)
        self.plan = plan
        self.careful = careful

    def __call__(self, *arguments: object, **named: object) -> object:
        """Call what the function stands before."""
        return self.careful(*arguments, **named)


class BuiltIn:
    """A built-in function.

    Parameters
    ----------
    name : str
    doc : str
        With the signature on the first line, and `--` on the second.
    owner : Owner
        What the code is handed as its first argument, with the name of the module that it is of.
    code : int
        Address of a `PyCFunctionFastWithKeywords`, which calls the owner or does better.
    """

    def __init__(self, name: str, doc: str, owner: Owner, code: int) -> None:
        self._method = _Method(name.encode(), code, _FASTCALL, doc.encode())
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.POINTER(_Method), ctypes.py_object, ctypes.py_object)
        self.function: Callable[..., object] = make(
            ctypes.byref(self._method), owner, owner.__name__
        )


def _counts_apart() -> bool:
    """Whether this is an interpreter whose threads run at once: its objects begin otherwise."""
    asked = getattr(sys, "_is_gil_enabled", None)
    return asked is not None and not asked()


def _word(thing: object, offset: int) -> int | None:
    return ctypes.c_void_p.from_address(id(thing) + offset).value


def _int(thing: object, offset: int) -> int:
    return ctypes.c_int.from_address(id(thing) + offset).value


def _numbers(thing: object, offset: int, count: int) -> tuple[int, ...]:
    first = _word(thing, offset)
    assert first is not None
    return tuple((ctypes.c_int64 * count).from_address(first))


def _claims() -> Iterator[tuple[str, Callable[[], bool]]]:
    """What must hold, in the order in which it is read."""
    array, frozen = np.zeros((3, 4)), np.frombuffer(bytes(8))
    pair = object(), object()
    row = list(pair)
    yield "class of an object", lambda: _word(array, CLASS) == id(np.ndarray)
    yield "numbers of an array", lambda: _word(array, DATA) == array.ctypes.data
    yield "dimensions of an array", lambda: _int(array, NDIM) == array.ndim
    yield "shape of an array", lambda: _numbers(array, DIMS, 2) == array.shape
    yield "strides of an array", lambda: _numbers(array, STRIDES, 2) == array.strides
    yield "dtype of an array", lambda: _word(array, DTYPE) == id(array.dtype)
    yield "flags of an array", lambda: _int(array, FLAGS) & CARRAY == CARRAY
    yield "flags of a read-only array", lambda: _int(frozen, FLAGS) & CARRAY != CARRAY
    yield "length of a tuple", lambda: _word(pair, LENGTH) == 2
    yield (
        "items of a tuple",
        lambda: [_word(pair, ITEMS + WORD * k) for k in range(2)] == [id(item) for item in pair],
    )
    yield "hash of a tuple", lambda: HASH == 0 or _int(pair, HASH) == -1
    yield "length of a list", lambda: _word(row, LENGTH) == 2
    yield "items of a list", lambda: _numbers(row, LIST_ITEMS, 2) == tuple(map(id, row))
    yield "PyArray_New", _makes_arrays


def _makes_arrays() -> bool:
    """Whether what is called to make an array makes one."""
    kinds = ctypes.py_object, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t), ctypes.c_int
    rest = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds, *rest)(address_of_new_array())
    shape = (ctypes.c_ssize_t * 2)(3, 4)
    number = np.dtype(np.float64).num
    made = make(np.ndarray, 2, shape, number, None, None, 0, 0, None)
    return bool(made.shape == (3, 4) and made.dtype is np.dtype(np.float64) and made.flags.carray)


def _true(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except (LookupError, AttributeError, ImportError, TypeError, ValueError):
        return False


FAULTS = faults()
"""What was found when the package was imported."""

PLAN = 0 if FAULTS else slot_offset(Owner, "plan")
