"""Forces that hold rows: the smallest where rows are redundant, with normal ones that push."""

from __future__ import annotations

import numpy as np
import scipy

from spatialops._arrays import Array, BoolArray

_RANK = 1e-11  # of singular values of G M^-1 G^T


def held_forces(
    L: Array, columns: Array, rates: Array, normal: list[bool]
) -> tuple[Array, bool, float]:
    """The smallest forces f on columns with L columns^T f = -rates.

    With them whether they are the only ones, and the residual. Where they are not, and some normal
    force pulls, the smallest that do not.
    """
    if not len(rates):
        return np.zeros(0), True, 0.0
    size = np.sqrt(np.einsum("ij,ij->i", L, L))
    moving = int((size > 1e-10 * size.max()).sum())
    size[size == 0.0] = 1.0
    K = (L / size[:, None]) @ (columns / size[:, None]).T
    b = -rates / size
    f, _, rank, _ = np.linalg.lstsq(K, b, rcond=_RANK)
    determined = int(rank) >= moving
    left = b - K @ f
    if np.abs(left).max() > 1e-13 * np.abs(b).max():
        f += np.linalg.lstsq(K, left, rcond=_RANK)[0]
    pushes = np.array(normal, dtype=bool)
    if not determined and pushes.any() and f[pushes].min() < -1e-9 * np.abs(f).max():
        f = _pushing(K, b, pushes)
    scale = float(np.abs(b).max())
    residual = float(np.abs(K @ f - b).max()) / scale if scale > 0.0 else 0.0
    return f / size, determined, residual


def _pushing(K: Array, b: Array, pushes: BoolArray) -> Array:
    """The smallest forces whose normal ones push."""
    weight = 1e-7
    both = np.hstack([K, -K[:, ~pushes]])
    system = np.vstack([both, weight * np.eye(both.shape[1])])
    x = scipy.optimize.nnls(system, np.concatenate([b, np.zeros(both.shape[1])]))[0]
    f = x[: len(b)].copy()
    f[~pushes] -= x[len(b) :]
    return np.asarray(f)
