"""The central answer to a contact problem: sticking where it can, forces spread evenly.

With friction the motion need not be unique, and of rigid bodies that touch at many points the
forces are not. From zero, proximal steps end at the shortest impulses, from those of the step
before at the nearest to them: both follow the data continuously and do not depend on the order of
contacts. A pivoting method ends at a corner of what is possible, and rounding decides at which.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.block_structure import analyse
from spatialops.contact.newton.gauss_seidel import sweep
from spatialops.contact.newton.proximal import proximal_steps
from spatialops.contact.newton.residual import speed_scale
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, is_dense
from spatialops.contact.newton.statuses import find_parts

# Attempts, one after the other: proximal term relative to s, iterations in all and about one
# centre, sweeps of Gauss and Seidel's method before. A small term ends at the central answer at
# once; where statuses cycle, as of contacts that hold one another and slide, larger ones part them.
# Of 600 random bodies that slide at 1 m/s on up to eight contacts, mu to 1, from zero, the first
# solves 97 %, and all leave one.
_TERMS = np.array([1e-5, 1e-3, 3e-2, 0.3, 1e-3])
_IN_ALL = np.array([20, 30, 60, 60, 100])
_ABOUT_ONE = np.array([8, 12, 20, 25, 25])
_SWEEPS = np.array([0, 30, 20, 50, 200])
ALL_ATTEMPTS = len(_TERMS)
FIRST_ATTEMPT = 1
# All of them times the square root of the trees: what holds up a wall is found course by course,
# from the floor to the top. A wall of 100 bricks takes 40 iterations in the first attempt. On the
# exact cone directions turn as well.
_OF_CONES = 3.0


class Aim(NamedTuple):
    """What is asked of a solution."""

    warm: bool  # whether it begins with the impulses given, else with none
    tolerance: float  # residual
    attempts: int  # from one start at most


@kernel
def central_impulses(
    rows: ContactRows,
    fastest: float,
    aim: Aim,
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Impulses p (3 m,) from those given, or from zero; iterations and residual.

    Residuals are relative to the scale of these rows, or the `fastest` of others if that is more.
    The iterations are negative where the impulses given were no use, and zero came after them.
    Zero is tried as it is before anything else from there: where contacts need not press (sliding
    contacts may have several motions, Painleve), they do not.
    """
    known = is_dense(rows) or analyse(rows.L.places, rows.trees, scratch.blocks, scratch.blocks_of)
    if not known:
        return 0, INFINITE
    s = find_parts(rows, scratch)
    scale = max(speed_scale(rows, s), fastest)
    start = scratch.vectors[at.START]
    put_start(scratch.status, p, start)
    total, residual = 0, INFINITE
    longer = math.sqrt(rows.trees.size - 1) * (_OF_CONES if rows.law == at.CONE else 1.0)
    for cold in range(0 if aim.warm else 1, 2):
        # r = share / W_ii of statuses. Eigenvalues of W are up to 3 m times its diagonal: with more
        # than 1 / (3 m) contacts that share a load go beyond sticking to sliding the other way.
        # From zero only the ratio of pressing and sliding counts.
        share = 1.0 / p.size if cold == 0 else 1.0
        for k in range(aim.attempts):
            for i in range(p.size):
                p[i] = start[i] if cold == 0 else 0.0
            if _SWEEPS[k] > 0:
                sweep(rows, _SWEEPS[k], p, scratch)
            limits = (int(longer * _IN_ALL[k]), int(longer * _ABOUT_ONE[k]), k == 0)
            count, residual = proximal_steps(
                rows, s, scale, _TERMS[k], share, limits, cold == 0, aim.tolerance, p, scratch
            )
            total += count
            if residual <= aim.tolerance:
                return (-total if aim.warm and cold == 1 else total), residual
    return total, residual


@kernel
def put_start(status: IntArray, p: Array, start: Array) -> None:
    """The parts that contacts have of impulses p; normals push."""
    for i in range(status.shape[0]):
        parts, j = status[i, at.PARTS], 3 * i
        start[j] = max(p[j], 0.0) if parts & at.HAS_NORMAL else 0.0
        start[j + 1] = p[j + 1] if parts & at.HAS_FIRST else 0.0
        start[j + 2] = p[j + 2] if parts & at.HAS_SECOND else 0.0
