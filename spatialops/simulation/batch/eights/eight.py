"""Eight environments side by side: of every number of a step the eight of them, in one row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

# Rows of vectors.
Q_E = 0  # state where forces are evaluated
V_M = 1  # velocity that the middle is taken to have
DV = 2
NEXT = 3  # DV as a round finds it
FORCES = 4
Q_X = 5  # state at the end of the step
V_X = 6
ACC = 7
VECTORS = 8

# Rows of numbers: as the monitors and controls of the same names.
TIME = 0
PAST = 1
SMOOTH_ORDER = 2
LENGTHS_BEFORE = 3  # 2
CURVATURE = 5
INSIDE = 6  # 1.0: the environment is here; else its lane stands still
FREE = 7  # 1.0: its step is a free one
FASTEST = 8  # spin in this step, rad/s
MONITORS = 9


class Eight(NamedTuple):
    """Tables of eight environments; what all have in common is that of the loop's tables.

    Every joint has one coordinate: nq is nv.
    """

    tree: IntArray
    links: Array
    joint_ints: IntArray
    joint_floats: Array
    settings: Array
    control: IntArray
    external: Array  # none
    q: Array  # (nv, 8), and so on
    v: Array
    tau: Array
    damped: Array  # links with what resists motion as armature
    work: Array
    vectors: Array
    past: Array
    squares: Array
    monitor: Array
    steps: IntArray


def new_eight(t: Tables) -> Eight:
    """Tables for environments of the scene that `t` is of, none of which is inside yet."""
    nv = t.v.size
    made = Eight(
        t.tree,
        t.links,
        t.joint_ints,
        t.joint_floats,
        t.settings,
        t.control,
        np.zeros((0, 6)),
        _rows(nv),
        _rows(nv),
        _rows(nv),
        _rows(nv, layout.LINK_COLUMNS),
        _rows(nv, layout.WORK_COLUMNS),
        _rows(VECTORS, nv),
        _rows(at.REMEMBERED, nv),
        _rows(at.REMEMBERED),
        _rows(MONITORS),
        np.zeros(WIDTH, dtype=np.int64),
    )
    made.damped[:] = t.links[:, :, None]
    return made


def _rows(*shape: int) -> Array:
    return aligned(int(np.prod(shape)), WIDTH).reshape(*shape, WIDTH)


def fits_in_lanes(t: Tables) -> bool:
    """Whether steps of a scene can be made side by side.

    Of trees whose joints turn or slide about one axis each, without pairs of geoms, closures, dry
    friction, springs, actuators and what bears weight; by the two rules that have lanes.
    """
    with_frames = (layout.TURN, layout.SLIDE, layout.SCREW)
    schemes = (at.MOREAU, at.SEMI_IMPLICIT)
    return bool(
        np.isin(t.tree[:, layout.FRAME], with_frames).all()
        and (t.joint_ints[:, at.JOINT_KIND] == col.STOP).all()
        and not any(len(some) for some in (t.pairs, t.loop_ints, t.element_ints, t.compensation))
        and t.control[at.SCHEME] in schemes
    )
