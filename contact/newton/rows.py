"""What the solver is given, and the arrays it works in.

A contact problem is its rows: G M^-1 G^T = L L^T, so that in the coordinates y = L^T p the mass is
one and the rows' velocities are v = u + L y. The product W = L L^T is never formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.contact.newton import _layout as at


class ContactRows(NamedTuple):
    """Contacts as their rows along normal, first and second tangent."""

    L: Array  # (3 m, nv) at least
    u: Array  # (3 m,) velocities without impulses, with the gaps' part
    friction: Array  # (m,)
    prior: Array  # (m,) normal impulses that press already
    dry: Array  # (m,) friction impulse that needs no normal one
    corners: Array  # (n_f, 2) directions of friction


class NewtonScratch(NamedTuple):
    """What the solver works in, for m contacts of a mechanism of nv degrees of freedom."""

    status: IntArray  # (m, STATUS_COLUMNS)
    contacts: IntArray  # (3 m,) contact of each unknown
    parts: IntArray  # (3 m,) which of its components that is
    order: IntArray  # (3 m,) of rows after pivoting
    columns: IntArray  # (3 m,)
    vectors: Array  # (VECTORS, 3 m)
    y: Array  # (nv,)
    rho: Array  # (3 m, nv) rows that must not move
    gamma: Array  # (3 m, nv) and what acts on them
    M: Array  # (3 m, 3 m) at least


@inlined
def newton_scratch(ints: IntArray, floats: Array, m: int, nv: int) -> NewtonScratch:
    """Name the parts of two buffers of `newton_room` entries."""
    n = 3 * m
    a = at.STATUS_COLUMNS * m
    b = at.VECTORS * n
    c = b + nv
    d = c + 2 * n * nv
    return NewtonScratch(
        ints[:a].reshape(m, at.STATUS_COLUMNS),
        ints[a : a + n],
        ints[a + n : a + 2 * n],
        ints[a + 2 * n : a + 3 * n],
        ints[a + 3 * n : a + 4 * n],
        floats[:b].reshape(at.VECTORS, n),
        floats[b:c],
        floats[c : c + n * nv].reshape(n, nv),
        floats[c + n * nv : d].reshape(n, nv),
        floats[d : d + n * n].reshape(n, n),
    )


def newton_room(m: int, nv: int) -> tuple[int, int]:
    """Whole numbers and numbers that `newton_scratch` cuts up for m contacts."""
    n = 3 * m
    return at.STATUS_COLUMNS * m + 4 * n, at.VECTORS * n + nv + 2 * n * nv + n * n


def new_newton_scratch(m: int, nv: int) -> NewtonScratch:
    """Fresh scratch."""
    n = 3 * m
    return NewtonScratch(
        status=np.zeros((m, at.STATUS_COLUMNS), dtype=np.int64),
        contacts=np.zeros(n, dtype=np.int64),
        parts=np.zeros(n, dtype=np.int64),
        order=np.zeros(n, dtype=np.int64),
        columns=np.zeros(n, dtype=np.int64),
        vectors=np.zeros((at.VECTORS, n)),
        y=np.zeros(nv),
        rho=np.zeros((n, nv)),
        gamma=np.zeros((n, nv)),
        M=np.zeros((n, n)),
    )
