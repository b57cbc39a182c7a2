"""Checks at the door of public functions: what comes in is made to fit kernels, or refused."""

from __future__ import annotations

import math
import struct
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from spatialops.errors import ArgumentError

Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ArrayLike: TypeAlias = npt.ArrayLike
Vec3: TypeAlias = tuple[float, float, float]
Mat3: TypeAlias = tuple[Vec3, Vec3, Vec3]
Sym3: TypeAlias = tuple[float, float, float, float, float, float]
NamedAxis: TypeAlias = Literal["x", "y", "z"]
Axis: TypeAlias = Vec3 | NamedAxis
AxisLike: TypeAlias = ArrayLike | NamedAxis

_T = TypeVar("_T")
_FLOAT = np.dtype(np.float64)

NOTHING = 1e-300  # a scale of zeros, which may not divide
_AT_ONCE = 1 << 16  # rows of a part


def three_numbers(values: ArrayLike, name: str, error: type[ValueError]) -> Array:
    """A copy of `values` as three finite numbers, or this error."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        result = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise error(f"{name}: expected 3 numbers, got {values!r}") from None
    if result.shape != (3,) or not np.isfinite(result).all():
        raise error(f"{name}: expected 3 finite numbers, got {values!r}")
    return result


def vector(values: ArrayLike, size: int, name: str) -> Array:
    """`values` as a C-contiguous writeable float64 vector of `size`; copied only if it must be."""
    if (
        type(values) is np.ndarray
        and values.dtype is _FLOAT
        and values.shape == (size,)
        and values.flags.carray
    ):
        return values
    return array(values, (size,), name)


def array(
    values: ArrayLike, shape: tuple[int | None, ...], name: str, *, finite: bool = False
) -> Array:
    """`values` as a fresh or already fitting float64 array of `shape` (None: any length)."""
    if (
        type(values) is np.ndarray
        and values.dtype is _FLOAT
        and values.shape == shape
        and values.flags.carray
        and not (finite and not all_finite(values))
    ):
        return values
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            raise TypeError("complex numbers")
        result = np.array(given, dtype=np.float64, order="C", copy=None)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{name}: expected numbers of shape {_text(shape)}, got {type(values).__name__}"
        ) from error
    fits = result.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, result.shape)
    )
    if not fits:
        raise ArgumentError(f"{name}: expected shape {_text(shape)}, got {_text(result.shape)}")
    if finite and not np.isfinite(result).all():
        raise ArgumentError(f"{name}: holds NaN or infinity at index {_first_bad(result)}")
    return result if result.flags.carray else result.copy()


def output(out: Array | None, shape: tuple[int, ...], name: str = "out") -> Array:
    """`out` if it fits, a new array if it is None."""
    if out is None:
        return np.empty(shape)
    if (
        type(out) is not np.ndarray
        or out.dtype != _FLOAT
        or out.shape != shape
        or not out.flags.carray
    ):
        raise ArgumentError(
            f"{name}: expected a writeable C-contiguous float64 array of shape {_text(shape)}"
        )
    return out


def scalar(
    value: object, name: str, *, low: float = -np.inf, high: float = np.inf, strict: bool = False
) -> float:
    """`value` as a finite float within [low, high] (or above `low` strictly)."""
    try:
        number = float(value)  # type: ignore[arg-type]  # refused below where it is none
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: expected a number, got {value!r}") from error
    inside = low < number if strict else low <= number
    bounded = low > -np.inf or high < np.inf
    if bounded and not (inside and number <= high):
        bounds = f"{'>' if strict else '>='} {low:g}" + (
            "" if high == np.inf else f" and <= {high:g}"
        )
        raise ArgumentError(f"{name}: expected a number {bounds}, got {number:g}")
    if not math.isfinite(number):
        raise ArgumentError(f"{name}: expected a finite number, got {number:g}")
    return number


def whole(value: object, name: str, *, low: int, high: int | None = None) -> int:
    """`value` as an int within [low, high]; booleans and fractions are refused."""
    try:
        number = int(value)  # type: ignore[call-overload]  # refused below where it is none
        exact = not isinstance(value, (bool, str, bytes)) and number == value
    except (TypeError, ValueError, OverflowError):
        number, exact = low, False
    if not exact or number < low or (high is not None and number > high):
        bounds = f">= {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(f"{name}: expected a whole number {bounds}, got {value!r}")
    return number


def instance(value: object, kind: type[_T], name: str) -> _T:
    """`value` if it is of this class, or the error that says what was expected."""
    if isinstance(value, kind):
        return value
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise ArgumentError(f"{name}: expected {article} {kind.__name__}, got {type(value).__name__}")


def several(
    values: Iterable[_T], name: str, what: str, error: type[ValueError] = ArgumentError
) -> tuple[_T, ...]:
    """`values` as a tuple; what cannot be gone through, and a single string, are refused."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise error(f"{name}: expected a sequence of {what}, got {values!r}")
    return tuple(values)


def dimensions(values: ArrayLike, name: str) -> int:
    """Number of axes of what may become an array; rows of different lengths are refused."""
    try:
        return np.ndim(values)
    except ValueError as error:
        raise ArgumentError(f"{name}: expected numbers in rows of one length") from error


def flag(value: object, name: str) -> bool:
    """`value` if it is True or False: a text would be true, also "off"."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def is_one_of(value: object, names: Container[str]) -> bool:
    """Whether a value is one of the names, which nothing but a string can be."""
    return isinstance(value, str) and value in names


def given(value: object) -> Any:
    """The default of a field as callers may write it; `__post_init__` makes of it what it is."""
    return value


def all_finite(values: Array) -> bool:
    """Whether a vector has neither NaN nor infinity."""
    return b"\0" not in np.isfinite(values).tobytes()  # a third of the time of `all()`


def largest(values: Array) -> float:
    """Largest size of an entry, zero where there is none."""
    return float(np.abs(values).max()) if values.size else 0.0


def in_parts(rows: IntArray) -> Iterator[IntArray]:
    """Rows of a long table part by part, so that what is made of them on the way stays small."""
    for start in range(0, len(rows), _AT_ONCE):
        yield rows[start : start + _AT_ONCE]


@lru_cache(maxsize=64)
def constant(value: float, shape: tuple[int, ...]) -> Array:
    """A read-only array of one value, which takes no memory."""
    return np.ndarray(shape, _FLOAT, struct.pack("d", value), 0, (0,) * len(shape))


def not_finite(**arguments: ArrayLike | None) -> ArgumentError:
    """The error that names the first argument holding NaN or infinity."""
    for name, values in arguments.items():
        if values is None:
            continue
        numbers = np.asarray(values, dtype=np.float64)  # objects, too, became numbers at the door
        if not np.isfinite(numbers).all():
            return ArgumentError(f"{name}: holds NaN or infinity at index {_first_bad(numbers)}")
    return ArgumentError("the result is not finite: the inputs are too large to represent it")


def _first_bad(values: ArrayLike) -> str:
    index = np.argwhere(~np.isfinite(values))[0]
    return str(int(index[0])) if index.size == 1 else str(tuple(int(i) for i in index))


def _text(shape: Sequence[int | None]) -> str:
    return (
        "("
        + ", ".join("any" if n is None else str(n) for n in shape)
        + ("," if len(shape) == 1 else "")
        + ")"
    )
