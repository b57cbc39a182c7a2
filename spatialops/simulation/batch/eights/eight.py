"""Eight environments side by side: of every number of a step the eight of them, in one row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import COMPILED
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
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
V_E = 8  # the velocity that a step begins with, in the axes of Q_E
GUESS = 9  # what contacts are foreseen to do; nothing in free steps
VECTORS = 10

# Rows of numbers: as the monitors and controls of the same names.
TIME = 0
PAST = 1
SMOOTH_ORDER = 2
LENGTHS_BEFORE = 3  # 2
CURVATURE = 5
INSIDE = 6  # 1.0: the environment is here; else its lane stands still
FREE = 7  # 1.0: its step is a free one
FASTEST = 8  # spin in this step, rad/s
FRESH = 9  # 1.0: its links are not in `work` yet
WAITS = 10  # 1.0: it steps alone, and its smooth part is to be found here
PUSHED = 11  # 1.0: contacts push it
COMMANDED = 12  # 1.0: its joint forces are those of a controller that counts on the step
ROUNDS = 13  # corrections of its middle velocity
SPIN = 14  # of its fastest link, rad/s
LINK = 15  # the fastest one in this step
MONITORS = 16


class Eight(NamedTuple):
    """Tables of eight environments; what all have in common is that of the loop's tables.

    `neutral` are coordinates of environments that are not here: unit quaternions, else zeros.
    """

    tree: IntArray
    links: Array
    joint_ints: IntArray
    joint_floats: Array
    settings: Array
    control: IntArray
    external: Array  # none
    roots: IntArray
    root_of: IntArray
    pair_runs: IntArray
    geom_ints: IntArray
    geoms: Array
    neutral: Array
    q: Array  # (nq, 8), and so on
    v: Array
    tau: Array
    damped: Array  # links with what resists motion as armature
    work: Array
    vectors: Array
    past: Array
    squares: Array
    floating: Array
    expected: Array  # what `floating` will be if the step is a free one
    nowhere: Array  # like the `work` of one environment, of those that are not here
    places: Array  # of geoms
    monitor: Array
    steps: IntArray


def new_eight(t: Tables) -> Eight:
    """Tables for environments of the scene that `t` is of, none of which is inside yet."""
    nq, nv = t.q.size, t.v.size
    neutral = np.zeros(nq)
    for frame, last in ((layout.ATTITUDE, 3), (layout.POSE, 6)):
        neutral[t.tree[t.tree[:, layout.FRAME] == frame, layout.FIRST_Q] + last] = 1.0
    made = Eight(
        t.tree,
        t.links,
        t.joint_ints,
        t.joint_floats,
        t.settings,
        t.control,
        np.zeros((0, 6)),
        t.roots,
        t.root_of,
        t.pair_runs,
        t.geom_ints,
        t.geoms,
        neutral,
        _rows(nq),
        _rows(nv),
        _rows(nv),
        _rows(nv, layout.LINK_COLUMNS),
        _rows(nv, layout.WORK_COLUMNS),
        _rows(VECTORS, max(nq, nv)),
        _rows(at.REMEMBERED, nv),
        _rows(at.REMEMBERED),
        _rows(len(t.roots), at.FLOATING_COLUMNS),
        _rows(len(t.roots), at.FLOATING_COLUMNS),
        aligned(nv, layout.WORK_COLUMNS),
        _rows(len(t.geom_ints), col.PLACE_COLUMNS),
        _rows(MONITORS),
        np.zeros(WIDTH, dtype=np.int64),
    )
    made.damped[:] = t.links[:, :, None]
    made.q[:] = neutral[:, None]
    return made


def _rows(*shape: int) -> Array:
    return aligned(int(np.prod(shape)), WIDTH).reshape(*shape, WIDTH)


def fits_in_lanes(t: Tables) -> bool:
    """Whether steps of a scene can be made side by side.

    Of trees without closures, dry friction, springs, actuators, what bears weight, and free bodies
    that nothing hangs on; by the two rules that have lanes. Roots of lanes, for geoms and joints of
    several freedoms, are compiled only.
    """
    one_by_one = np.isin(t.tree[:, layout.FRAME], (layout.TURN, layout.SLIDE, layout.SCREW)).all()
    schemes = (at.MOREAU, at.SEMI_IMPLICIT)
    return bool(
        (COMPILED or (one_by_one and not count_pairs(t.pair_runs)))
        and (t.joint_ints[:, at.JOINT_KIND] == col.STOP).all()
        and not any(len(some) for some in (t.lone, t.loop_ints, t.element_ints, t.compensation))
        and t.control[at.SCHEME] in schemes
    )
