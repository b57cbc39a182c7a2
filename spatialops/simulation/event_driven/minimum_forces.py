"""Forces that hold rows: the smallest where rows are redundant, with normal ones that push."""

from __future__ import annotations

import numpy as np
import scipy

from spatialops._arrays import Array, BoolArray

_RANK = 1e-11  # of singular values of G M^-1 G^T
_MOVES = 1e-10  # length of a row of L, relative to the longest, above which it moves anything
_REFINED = 1e-13  # residual from which on one more solution does not help
_PULLS = -1e-9  # of the largest force: a normal one below it pulls
_RIDGE = 1e-7  # weight of the forces themselves: the smallest are taken


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
    moving = int((size > _MOVES * size.max()).sum())
    size[size == 0.0] = 1.0
    K = (L / size[:, None]) @ (columns / size[:, None]).T
    b = -rates / size
    f, _, rank, _ = np.linalg.lstsq(K, b, rcond=_RANK)
    determined = int(rank) >= moving
    left = b - K @ f
    if np.abs(left).max() > _REFINED * np.abs(b).max():
        f += np.linalg.lstsq(K, left, rcond=_RANK)[0]
    pushes = np.array(normal, dtype=bool)
    if not determined and pushes.any() and f[pushes].min() < _PULLS * np.abs(f).max():
        f = _pushing(K, b, pushes)
    scale = float(np.abs(b).max())
    residual = float(np.abs(K @ f - b).max()) / scale if scale > 0.0 else 0.0
    return f / size, determined, residual


def _pushing(K: Array, b: Array, pushes: BoolArray) -> Array:
    """The smallest forces whose normal ones push."""
    both = np.hstack([K, -K[:, ~pushes]])
    system = np.vstack([both, _RIDGE * np.eye(both.shape[1])])
    x = scipy.optimize.nnls(system, np.concatenate([b, np.zeros(both.shape[1])]))[0]
    f = x[: len(b)].copy()
    f[~pushes] -= x[len(b) :]
    return np.asarray(f)
