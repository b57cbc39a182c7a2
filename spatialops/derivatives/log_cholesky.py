"""Inertial parameters of bodies that can be: all of them, and nothing else, from ten free numbers.

A body that can be has a positive definite pseudo-inertia

    J = [[S, h], [h*, m]],   S = tr(I) / 2 - I  (second moments),

and every such matrix is U U* with the upper triangular U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2,
s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]] (Rucker and Wensing 2022).
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, ArrayLike, not_finite, vector
from spatialops.errors import ModelError

_ENTRIES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # s12, s23, s13, t1, t2, t3


def from_log_cholesky(numbers: ArrayLike) -> tuple[Array, Array]:
    """Inertial parameters from ten free numbers, and their derivative.

    Parameters
    ----------
    numbers : (10,) array_like
        alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3.

    Returns
    -------
    parameters : (10,) array
        m, m c (3), and the inertia about the origin as xx, xy, xz, yy, yz, zz: as in
        `inertial_parameters`.
    derivative : (10, 10) array
        By the numbers.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    C. Rucker and P. Wensing, Smooth parameterization of rigid-body inertia, 2022.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> theta = so.inertial_parameters(so.models.pendulum(1).model)
    >>> bool(np.allclose(so.from_log_cholesky(so.to_log_cholesky(theta))[0], theta))
    True
    """
    x = vector(numbers, 10, "numbers")
    if not np.isfinite(x).all():
        raise not_finite(numbers=x)
    scale = np.exp(x[0])
    U = np.eye(4)
    U[[0, 1, 2], [0, 1, 2]] = np.exp(x[1:4])
    U[tuple(zip(*_ENTRIES))] = x[4:]
    U *= scale
    changes = np.zeros((10, 4, 4))
    changes[0] = U
    for i in range(3):
        changes[1 + i, i, i] = U[i, i]
    for i, place in enumerate(_ENTRIES):
        changes[4 + i][place] = scale
    by = np.array([_parameters(dU @ U.T + U @ dU.T) for dU in changes])
    return _parameters(U @ U.T), by.T


def to_log_cholesky(parameters: ArrayLike) -> Array:
    """The ten free numbers of a body that can be.

    Parameters
    ----------
    parameters : (10,) array_like
        As `from_log_cholesky` returns them.

    Returns
    -------
    (10,) array
        alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    ModelError
        If no body has these parameters: its mass is not positive, or its inertia less than that of
        any distribution of it.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> theta = so.inertial_parameters(so.models.pendulum(1).model)
    >>> np.allclose(so.from_log_cholesky(so.to_log_cholesky(theta))[0], theta)
    True
    """
    theta = vector(parameters, 10, "parameters")
    if not np.isfinite(theta).all():
        raise not_finite(parameters=theta)
    J = np.empty((4, 4))
    inertia = np.empty((3, 3))
    inertia[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]] = theta[4:]
    inertia[[1, 2, 2], [0, 0, 1]] = theta[[5, 6, 8]]
    J[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    J[:3, 3] = J[3, :3] = theta[1:4]
    J[3, 3] = theta[0]
    try:
        lower = np.linalg.cholesky(J[::-1, ::-1])
    except np.linalg.LinAlgError:
        raise ModelError(
            "parameters: no body has them: its pseudo-inertia [[S, h], [h*, m]] must be positive "
            f"definite, and has eigenvalues {np.linalg.eigvalsh(J)}"
        ) from None
    U = lower[::-1, ::-1]
    scaled = U / U[3, 3]
    return np.concatenate(
        [
            [np.log(U[3, 3])],
            np.log(np.diag(scaled)[:3]),
            [scaled[place] for place in _ENTRIES],
        ]
    )


def _parameters(J: Array) -> Array:
    """Inertial parameters of a pseudo-inertia."""
    second = J[:3, :3]
    inertia = np.trace(second) * np.eye(3) - second
    return np.concatenate([[J[3, 3]], J[:3, 3], inertia[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]])
