"""A step that was made, to be differentiated, and the memory that takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held
from spatialops._compile.jit import merged
from spatialops._layout import WORK_COLUMNS
from spatialops.algebra.dense_lu import BLOCK, EXCHANGES, filled
from spatialops.algebra.simd import WIDTH as LANES
from spatialops.algebra.simd import aligned
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as motion
from spatialops.collision.pair_coefficients import PairClasses
from spatialops.derivatives.manifold import MOVES, WIDEST, WIDTH, spans
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.stepping.contact_drift import remaining_time
from spatialops.simulation.stepping.integrators.joint_forces import external_of, is_damped, n_lone
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model


class Start(NamedTuple):
    """Where steps began: what the loop's tables forget.

    Attributes
    ----------
    q : (nq,) array
    v, tau : (nv,) arrays
    activation : (n_states,) array
    """

    q: Array
    v: Array
    tau: Array
    activation: Array


class Made(NamedTuple):
    """What the loop's tables hold of a step of one piece after it was made.

    It began at q0, v0, was evaluated at q, v, and its velocities changed by `change` without
    contacts and `answer` by them, in the time s; 2 half is 1 where q is in the middle of it.
    """

    tree: IntArray
    links: Array
    damped: Array
    external: Array
    q0: Array
    v0: Array
    q: Array
    v: Array
    change: Array
    answer: Array
    s: float
    half: float
    timed: bool  # whether the derivative by s is wanted
    lone: IntArray  # first links of free bodies that turn by an equation of their own
    tau: Array


class Touched(NamedTuple):
    """Its contacts, and those of the state that it began at."""

    ints: IntArray
    floats: Array
    before_ints: IntArray
    before: Array
    contacts: int  # how many of `ints` are contacts,
    acting: int  # and with their moments behind them
    owners: IntArray  # contacts that moments belong to
    turning: Array  # coefficients of moments by classes of pairs, m
    known: int  # how many of `before`
    pair_runs: IntArray
    classes: PairClasses
    geom_ints: IntArray
    geoms: Array
    solids: Array
    lists: IntArray
    shape_rows: Array
    shape_ints: IntArray
    facets: Array
    friction: Array  # what the loop's law reads: see `ContactRows`
    law: int
    depth: float  # beyond which a gap is an error
    threshold: float  # of impacts
    film: float  # of a drag
    length: float  # of the piece, s
    left: float  # of it after the state where contacts are evaluated
    joint_floats: Array  # of stops and dry friction


class Pulls(NamedTuple):
    """Its springs and actuators."""

    ints: IntArray
    floats: Array
    joints: IntArray
    arms: Array
    ctrl: Array
    activation: Array
    time: float  # since the activations
    compensation: Array  # what bears the weight of bodies; no rows: nothing


class Room(NamedTuple):
    """What a derivative works in, see `_layout`, for m contacts.

    Attributes
    ----------
    work : (5 nv + 1, 64) array
        A stack of the model's.
    factors : (nv, 64) array
    squares : (SQUARES, nv, nv) array
    vectors : (VECTORS, nv) array
    blocks : (2, MOVES, nv, WIDEST) array
        Of the moves to where the step is evaluated, and from there to its end.
    spans : (nv, 2) int array
    wrenches : (n_bodies, 6) array
    point_ints, points : (m, POINT_INTS), (m, POINT_COLUMNS)
    arms : (LOOKS, m, ARM_COLUMNS) array
    found : (LOOKS, m, FOUND_ROWS, nv) array
    slips : (SLIPS, m, nv) array
    slip_side : (m, columns) array
    lines, pushes : (3 m, nv) arrays
        What the change of the velocity shall be along, and what impulses do.
    side : (nv, columns) array
        Right-hand sides for changes of coordinates and velocities at the start, of forces, and,
        of pieces of steps, of the time that they take, and of the centres of lone bodies, three
        columns each; then nothing until blocks are full.
    goal : (3 m, columns) array
        The same of the lines.
    reply : (nv, 3 m + 32) array
        K^-1 of the pushes.
    system, upper : (nv, nv + 8) arrays
        Factors of K, see `rows/factors.py`.
    contact : (3 m, 3 m + 32) array
        The lines of that.
    resistances : (3 m,) array
        Of lines: velocity over impulse where something gives way.
    shares : (3 m,) array
        Scratch, one number a line.
    order : (ORDERS, most) int array
    results : (RESULTS,) int array
    ground : (GROUND,) array
        Of a law under which it gives way.
    own_laws : (n_pairs, OWN_INTS) int array
        Where pairs have laws of their own, else without rows.
    own_friction : (n_pairs,) array
        Coefficients under these, or drags.
    moments : (1,) int array
        Law of moments there.
    lone : (bodies,) int array
        First links of lone bodies, in the first places.
    lone_moves : (bodies, LONE_TABLES, 6, 6) array
        Of `free_bodies/lone_moves.py`.
    places : (geoms + 1, PLACE_COLUMNS) array
    motions : (2, m, MOTION_COLUMNS) array
        Of contacts of other shapes, LATE and EARLY.
    of_pair : (MANY_POINTS, COLUMNS) array
        Of contacts of one pair of geoms, see `collision/contact_motion`.
    names_of_pair : (MANY_POINTS, 2) int array
    """

    work: Array
    factors: Array
    squares: Array
    vectors: Array
    blocks: Array
    spans: IntArray
    wrenches: Array
    point_ints: IntArray
    points: Array
    arms: Array
    found: Array
    slips: Array
    slip_side: Array
    lines: Array
    pushes: Array
    side: Array
    goal: Array
    reply: Array
    system: Array
    upper: Array
    contact: Array
    resistances: Array
    shares: Array
    order: IntArray
    results: IntArray
    ground: Array
    own_laws: IntArray
    own_friction: Array
    moments: IntArray
    lone: IntArray
    lone_moves: Array
    places: Array
    motions: Array
    of_pair: Array
    names_of_pair: IntArray


OF_PAIRS = ("own_laws", "own_friction", "moments")


def new_room(model: Model, geoms: int, m: int) -> Room:
    """For so many geoms, and up to m contacts."""
    return room_of(spans(model), model.n_bodies, geoms, m)


def room_of(where: IntArray, n_bodies: int, geoms: int, m: int) -> Room:
    """The same of spans."""
    n = len(where)
    lone = int((where[:, WIDTH] == WIDEST).sum()) // WIDEST  # at most
    columns = filled(3 * n + 1 + 3 * lone)
    return Room(
        work=aligned(5 * n + 1, WORK_COLUMNS),
        factors=aligned(n, WORK_COLUMNS),
        squares=np.zeros((of.SQUARES, n, n)),
        vectors=np.zeros((of.VECTORS, n)),
        blocks=np.zeros((2, MOVES, n, WIDEST)),
        spans=where,
        wrenches=np.zeros((n_bodies, 6)),
        point_ints=np.zeros((m, of.POINT_INTS), dtype=np.int64),
        points=np.zeros((m, of.POINT_COLUMNS)),
        arms=np.zeros((of.LOOKS, m, of.ARM_COLUMNS)),
        found=np.zeros((of.LOOKS, m, of.FOUND_ROWS, n)),
        slips=np.zeros((of.SLIPS, m, n)),
        slip_side=np.zeros((m, columns)),
        lines=np.zeros((3 * m, n)),
        pushes=np.zeros((3 * m, n)),
        side=aligned(n, columns),
        goal=aligned(3 * m, columns),
        reply=aligned(n, 3 * m + BLOCK),
        system=aligned(n, n + LANES),
        upper=aligned(n, n + LANES),
        contact=aligned(3 * m, 3 * m + BLOCK),
        resistances=np.zeros(3 * m),
        shares=np.zeros(3 * m),
        order=np.zeros((2 * EXCHANGES, max(n, 3 * m)), dtype=np.int64),
        results=np.zeros(of.RESULTS, dtype=np.int64),
        ground=np.zeros(of.GROUND),
        own_laws=np.zeros((0, of.OWN_INTS), dtype=np.int64),
        own_friction=np.zeros(0),
        moments=np.zeros(1, dtype=np.int64),
        lone=np.zeros(lone, dtype=np.int64),
        lone_moves=np.zeros((lone, of.LONE_TABLES, 6, 6)),
        places=unturned(geoms),
        motions=np.zeros((2, m, of.MOTION_COLUMNS)),
        of_pair=np.zeros((col.MANY_POINTS, motion.COLUMNS)),
        names_of_pair=np.zeros((col.MANY_POINTS, 2), dtype=np.int64),
    )


def unturned(geoms: int) -> Array:
    """Places of geoms, and of the triangle of one, which all have the world's axes."""
    places = np.zeros((geoms + 1, col.PLACE_COLUMNS))
    places[:, col.TURN : col.TURN + 9] = np.eye(3).ravel()
    return places


def room_for(t: Tables, held: Held) -> Held:
    """The room, or a larger one where the tables of contacts have grown."""
    m, room = len(t.ints), held.tables
    if len(room.points) >= m:
        return held
    larger = room_of(room.spans, len(room.wrenches), len(room.places) - 1, m)
    laws = {name: getattr(room, name) for name in ("ground", *OF_PAIRS)}
    return Held(larger._replace(**laws))


@merged
def made_step(t: Tables, start: Start, timed: bool) -> Made:
    """The step that the loop has made from `start`."""
    nv = t.v.size
    return Made(
        t.tree,
        t.links,
        t.damped,
        external_of(t),
        start.q,
        start.v,
        t.vectors[at.Q_E, : t.q.size],
        t.vectors[at.V_E, :nv],
        t.vectors[at.DV, :nv],
        t.vectors[at.DVC, :nv],
        t.monitor[at.PIECE],
        0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0,
        timed,
        t.lone[: n_lone(t) if t.control[at.SCHEME] == at.MOREAU else 0],
        start.tau,
    )


@merged
def touched(t: Tables) -> Touched:
    """Its contacts."""
    return Touched(
        t.ints,
        t.floats,
        t.before_ints,
        t.before,
        t.control[at.ACTING] - t.control[at.MOMENTS],
        t.control[at.ACTING],
        t.owners,
        t.turning,
        t.control[at.BEFORE],
        t.pair_runs,
        PairClasses(t.class_values, t.own_pairs),
        t.geom_ints,
        t.geoms,
        t.solids,
        t.lists,
        t.shape_rows,
        t.shape_ints,
        t.facets,
        t.friction,
        t.control[at.LAW],
        t.settings[at.DEPTH],
        t.settings[at.THRESHOLD],
        t.settings[at.FILM],
        t.monitor[at.PIECE],
        remaining_time(t),
        t.joint_floats,
    )


@merged
def pulls(t: Tables, start: Start) -> Pulls:
    """Its springs and actuators."""
    return Pulls(
        t.element_ints,
        t.elements,
        t.element_joints,
        t.arms,
        t.ctrl,
        start.activation,
        # The whole step is one piece, whose middle is in the middle.
        0.5 * t.settings[at.DT],
        t.compensation,
    )


@merged
def pulls_change(t: Tables) -> bool:
    """Whether joint forces of the step change with its state; those of RK4 are known elsewhere."""
    return is_damped(t) or (t.compensation.shape[0] > 0 and t.control[at.SCHEME] != at.RK4)
