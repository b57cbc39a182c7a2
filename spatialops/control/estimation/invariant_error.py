"""The group in which a base, its velocity and its feet are errors of one exponential.

A pose R, velocity v, place p and feet d_i are one element of SE_{k+2}(3). Of the error exp(x) X
with x = (phi, dv, dp, dd_i) the dynamics between measurements do not depend on the state but for
biases, so that a filter is as right far from the truth as near to it.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array

_SMALL = 1e-6  # rad; below it series


def skew(a: Array) -> Array:
    """The matrix (3, 3) of a x."""
    x, y, z = a.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def exponential(phi: Array) -> tuple[Array, Array]:
    """Exp(phi) (3, 3), and its left Jacobian."""
    angle = float(np.linalg.norm(phi))
    K = skew(phi)
    KK = K @ K
    if angle < _SMALL:
        return np.eye(3) + K + 0.5 * KK, np.eye(3) + 0.5 * K + KK / 6.0
    sine = np.sin(angle) / angle
    cosine = 0.5 * (np.sin(0.5 * angle) / (0.5 * angle)) ** 2  # (1 - cos) / angle^2
    rest = (1.0 - sine) / angle**2
    return np.eye(3) + sine * K + cosine * KK, np.eye(3) + cosine * K + rest * KK


def moved(vectors: Array, x: Array) -> Array:
    """Vectors (k, 3) of the group after exp(x), x = (phi; theirs) (3 k + 3,)."""
    turn, spread = exponential(x[:3])
    return np.asarray(vectors @ turn.T + x[3:].reshape(-1, 3) @ spread.T)
