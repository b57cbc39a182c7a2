"""The tables of a compiled command: of the robot, and of the call."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops.contact.newton.islands import Buffers


class Newton(NamedTuple):
    """What Newton's method on statuses works in."""

    buffers: Buffers
    places: IntArray  # (most, PLACE_COLUMNS)
    trees: IntArray  # (2,) columns of the one tree
    corners: Array  # (n_f, 2) directions of friction


class Robot(NamedTuple):
    """What does not change."""

    tree: IntArray  # tables of `Branches`,
    constants: Array
    lanes: Array  # and what kernels work in that use them
    ordered: Array
    work: Array  # workspace of links
    given: IntArray  # velocities that are demanded
    others: IntArray  # those that follow
    limits: Array  # (nv,) of joint forces in the simulator, N m or N
    middles: Array  # (n_f, 2) between directions of friction
    starts: IntArray  # rows of a contact
    newton: Newton


class Call(NamedTuple):
    """What goes in and comes out, see `layout`, and what it works in."""

    numbers: Array  # (NUMBERS,)
    options: IntArray  # (OPTIONS,)
    vectors: Array  # (VECTORS, nv)
    q: Array
    activation: Array
    stands: IntArray  # (nv + 1,) 1: links that stand; the last is the world
    names: IntArray  # (most, 3) contacts of the command before
    world: Array  # (most, 3) and their impulses, N s
    floats: Array  # the buffers of `workspace`
    ints: IntArray
    wanted: Array  # (n,)
    before: Array  # (3 most,) impulses before frames turned
    seen: Array  # (most, 3) contacts that the step meets: points,
    met: IntArray  # (most, 3) names,
    kept: IntArray  # (most,) rows of those that do not land
    q_met: Array  # (nq,) and where they are met
    active: IntArray  # (2 + most rows,) what bounded the last choice
    edges: IntArray  # (1 + most n_f,) edges of friction that pushed last
    impulses: Array  # (most, 3) that come out along the contacts' frames, N s
    pushes: Array  # (most, 3) the same in world axes
    acting: IntArray  # (most, 3) their names
    report: Array  # (REPORT,)
    counts: IntArray  # (COUNTS,)
