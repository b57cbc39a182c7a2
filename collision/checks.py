"""Checks of what shapes are given."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from spatialops._arrays import Array, ArrayLike, three_numbers
from spatialops.errors import ShapeError


def freeze(shape: object, **values: object) -> None:
    """Set fields of a frozen dataclass; arrays can no longer be written to."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(shape, name, value)


def positive_lengths(shape: object, kind: str, *names: str) -> None:
    """Refuse fields that are not positive numbers."""
    for name in names:
        value = getattr(shape, name)
        if not is_number(value) or not 0.0 < value < np.inf:
            raise ShapeError(f"{kind}: {name} must be a positive number, got {value!r} m")


def three_lengths(shape: object, kind: str, name: str) -> None:
    """Refuse a field that is not three positive numbers; it is kept as a tuple."""
    values = three(f"{kind}: {name}", getattr(shape, name))
    if not (values > 0.0).all():
        raise ShapeError(
            f"{kind}: {name} must be 3 positive numbers, got {getattr(shape, name)!r} m"
        )
    object.__setattr__(shape, name, tuple(float(x) for x in values))


def rows_of_three(name: str, values: ArrayLike) -> Array:
    """A copy as finite numbers (n, 3)."""
    try:
        rows = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ShapeError(f"{name}: expected numbers of shape (n, 3)") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all():
        raise ShapeError(f"{name}: expected finite numbers of shape (n, 3), got shape {rows.shape}")
    return rows


def is_number(value: object) -> TypeGuard[float]:
    """Whether this is a real number, and not a truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_friction(value: object) -> TypeGuard[float]:
    """Whether this is a coefficient of friction."""
    return is_number(value) and 0.0 <= value < np.inf


def three(name: str, values: ArrayLike) -> Array:
    """A copy as three finite numbers."""
    return three_numbers(values, name, ShapeError)
