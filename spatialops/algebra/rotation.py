"""Rotations for people: quaternions (x, y, z, w) and matrices, checked."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, all_finite
from spatialops.errors import ModelError

_NO_LENGTH = 1e-9  # of a quaternion that is taken for zero
_ORTHONORMAL = 1e-6  # error of a matrix that is a rotation, rounded
_SMALL = 1e-9  # rad; below it the sine is the angle
N = TypeVar("N", float, Array)


def rotation_matrix(rotation: ArrayLike | None, name: str = "rotation") -> Array:
    """A (3, 3) rotation from a matrix, a quaternion (x, y, z, w) or None for the identity.

    Quaternions may have any length but zero.

    Raises
    ------
    ModelError
        If it is neither, not finite, or a matrix that is not a rotation to 1e-6.
    """
    if rotation is None:
        return np.eye(3)
    try:
        if np.iscomplexobj(rotation):
            raise TypeError("complex numbers")
        value = np.array(rotation, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(
            f"{name}: expected (3, 3) numbers or a quaternion, got {rotation!r}"
        ) from None
    if not all_finite(value):
        raise ModelError(f"{name}: must be finite, got {rotation!r}")
    if value.shape == (4,):
        if math.hypot(*value.tolist()) < _NO_LENGTH:
            raise ModelError(f"{name}: a quaternion must not be zero")
        return from_quaternion(value)
    if value.shape != (3, 3):
        raise ModelError(f"{name}: expected shape (3, 3) or (4,), got {value.shape}")
    if np.abs(value @ value.T - np.eye(3)).max() > _ORTHONORMAL or np.linalg.det(value) < 0.0:
        raise ModelError(f"{name}: is not a rotation (columns must be orthonormal, determinant +1)")
    u, _, vt = np.linalg.svd(value)  # files round their numbers: take the nearest rotation
    result: Array = u @ vt
    return result


def from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotations (..., 3, 3) of quaternions (..., 4), (x, y, z, w), of any length but zero."""
    q = np.asarray(quaternion, dtype=np.float64)
    if q.shape == (4,):  # numbers of its own: a tenth of the time
        size = math.hypot(*q.tolist())
        return np.array(_rows(*[part / size for part in q.tolist()]))
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.moveaxis(np.array(_rows(*np.moveaxis(q, -1, 0))), (0, 1), (-2, -1))


def _rows(x: N, y: N, z: N, w: N) -> list[list[N]]:
    """Rows of the rotation of a unit quaternion, numbers or arrays of them."""
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]


def from_rotation_vector(rotation: ArrayLike) -> Array:
    """(3, 3) rotation by |rotation| radians about the vector `rotation` (3,)."""
    vector = np.asarray(rotation, dtype=np.float64)
    half = 0.5 * float(np.linalg.norm(vector))
    scale = np.sin(half) / (2.0 * half) if half > _SMALL else 0.5
    return from_quaternion([*(scale * vector), np.cos(half)])


def to_quaternion(rotation: ArrayLike) -> Array:
    """(..., 4) unit quaternions (x, y, z, w) with w >= 0 of rotations (..., 3, 3)."""
    from scipy.spatial.transform import Rotation

    matrices = np.asarray(rotation, dtype=np.float64)
    flat = Rotation.from_matrix(matrices.reshape(-1, 3, 3)).as_quat(canonical=True)
    result: Array = flat.reshape(*matrices.shape[:-2], 4)
    return result
