"""[D]'s two algorithms as they are printed, dense: for reading beside our own, not for speed.

`pivot` (`pivoting.py`) does what algorithm 1 is for: it drives one row to zero at a time, where the
printed exchange of two at once can come back to a set that it left. `choose_rows`
(`elimination.py`) does what algorithm 2 is for, by remainders instead of Cholesky factors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, array
from spatialops.contact.lcp.status import Status

_CONDITION = 1e12  # of X^T M^-1 X, from which on it counts as singular
_ROUNDING = 1e-12  # relative to the velocities: what counts as no violation


class PrintedPivots(NamedTuple):
    """What algorithm 1 returns.

    Parameters
    ----------
    z : (n,) array
        Normal forces or impulses.
    w : (n,) array
        N (M^-1 N^T z + f*); of the rows that push it is zero.
    status : Status
        SOLVED; or STALLED where an active set came back, NOT_APPLICABLE where active rows depend.
    pivots : int
        Exchanges of rows.
    """

    z: Array
    w: Array
    status: Status
    pivots: int


def modified_ppm(N: ArrayLike, M: ArrayLike, f: ArrayLike) -> PrintedPivots:
    """Normals without friction by [D] algorithm 1: a principal pivoting method on few rows.

    Solves z >= 0, w = N (M^-1 N^T z + f*) >= 0, z w = 0. Each pass brings in the row of the least
    w, and takes out the row of the least z if that is negative, both found before either.

    Parameters
    ----------
    N : (n, nv) array_like
        Rows of the contact normals.
    M : (nv, nv) array_like
        Mass matrix.
    f : (nv,) array_like
        f*: acceleration, or velocity, without contact forces.

    Returns
    -------
    PrintedPivots
        The printed algorithm has no end where sets repeat or rows depend; here a status says so.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN or infinity.

    References
    ----------
    E. Drumwright, Rapidly computable viscous friction and no-slip rigid contact models (2015),
    algorithm 1. Its lines 7 and 8 have lost the bar that tells the two sets apart.

    Examples
    --------
    Two normals on a block that falls, of which one is enough:

    >>> from spatialops.contact import modified_ppm
    >>> found = modified_ppm([[1.0, 0.0], [1.0, 0.5]], [[2.0, 0.0], [0.0, 1.0]], [-1.0, 1.0])
    >>> found.z.tolist(), found.w.tolist(), found.status.name
    ([2.0, 0.0], [0.0, 0.5], 'SOLVED')
    """
    f = array(f, (None,), "f", finite=True)
    N = array(N, (None, f.size), "N", finite=True)
    M = array(M, (f.size, f.size), "M", finite=True)
    q = N @ f
    nothing = np.zeros(len(q))
    if q.min(initial=0.0) >= 0.0:
        return PrintedPivots(nothing, q, Status.SOLVED, 0)
    active, pivots = [int(q.argmin())], 1
    met = -_ROUNDING * float(np.abs(q).max())
    seen: set[frozenset[int]] = set()
    response = np.linalg.solve(M, N.T)
    while frozenset(active) not in seen:
        seen.add(frozenset(active))
        A = N[active] @ response[:, active]
        if _is_singular(A):
            return PrintedPivots(nothing, q, Status.NOT_APPLICABLE, pivots)
        z = np.linalg.solve(A, -q[active])
        w = N @ (response[:, active] @ z + f)
        w[active] = 0.0
        comes, goes = int(w.argmin()), int(z.argmin()) if z.size else 0
        done = w[comes] >= met
        pulls = z.size > 0 and z[goes] < 0.0
        if done and not pulls:
            nothing[active] = z
            return PrintedPivots(nothing, w, Status.SOLVED, pivots)
        if pulls:
            del active[goes]
        if not done:
            active.append(comes)
        pivots += int(pulls) + int(not done)
    return PrintedPivots(nothing, q, Status.STALLED, pivots)


class RowIndices(NamedTuple):
    """Rows of J, S and T that `find_indices` keeps.

    Parameters
    ----------
    J, S, T : tuple of int
        In their order.
    """

    J: tuple[int, ...]
    S: tuple[int, ...]
    T: tuple[int, ...]


def find_indices(M: ArrayLike, J: ArrayLike, S: ArrayLike, T: ArrayLike) -> RowIndices:
    """Rows of bilateral constraints and tangents that leave the equality matrix regular.

    [D] algorithm 2, FIND-INDICES: the rows of J in order, then the first and second tangent of each
    contact, each kept if X^T M^-1 X is regular with it.

    Parameters
    ----------
    M : (nv, nv) array_like
        Mass matrix.
    J : (n_b, nv) array_like
        Bilateral rows.
    S, T : (m, nv) array_like
        First and second tangents of the contacts.

    Returns
    -------
    RowIndices
        At most nv rows in all.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN or infinity.

    References
    ----------
    E. Drumwright, as for `modified_ppm`, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import find_indices
    >>> find_indices(np.eye(2), [[1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0]], [[1.0, 1.0]])
    RowIndices(J=(0,), S=(), T=(0,))
    """
    M = array(M, (None, None), "M", finite=True)
    nv = len(M)
    blocks = [
        array(rows, (None, nv), name, finite=True) for rows, name in ((J, "J"), (S, "S"), (T, "T"))
    ]
    X = np.zeros((0, nv))
    kept: tuple[list[int], list[int], list[int]] = ([], [], [])
    order = [(0, i) for i in range(len(blocks[0]))]
    for i in range(len(blocks[1])):
        order += [(1, i), (2, i)]
    for block, i in order:
        longer = np.concatenate([X, blocks[block][i : i + 1]])
        if len(longer) <= nv and not _is_singular(longer @ np.linalg.solve(M, longer.T)):
            X = longer
            kept[block].append(i)
    return RowIndices(*(tuple(rows) for rows in kept))


def _is_singular(A: Array) -> bool:
    """Whether a Gram matrix has no Cholesky factor to speak of, whatever its rows' units."""
    own = np.sqrt(A.diagonal())
    if not own.all():
        return True
    return bool(A.size and not np.linalg.cond(A / np.outer(own, own)) < _CONDITION)
