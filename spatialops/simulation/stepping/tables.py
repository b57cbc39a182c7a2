"""The arrays that the compiled loop works on, in one named tuple.

Passed once for thousands of steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import merged
from spatialops._layout import WORK_COLUMNS
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.scratch import scratch_shapes
from spatialops.contact.friction import directions
from spatialops.contact.lcp.lemke import covering_vectors
from spatialops.contact.newton.islands import Buffers, new_buffers
from spatialops.contact.newton.rows import ContactRows, NewtonRoom
from spatialops.contact.rows import PLACE_COLUMNS, SparseRows
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.columns import columns_of_trees
from spatialops.simulation.scene.free_bodies import free_bodies
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene

Flat = Array  # a buffer that kernels reshape to the size of the present problem


class Tables(NamedTuple):
    """Everything a step reads and writes; see `_layout` here and in collision for columns."""

    tree: IntArray
    links: Array
    damped: Array  # the same with implicit damping as armature
    lone: IntArray  # first link of every free body that nothing hangs on
    roots: IntArray  # first link of every floating tree
    root_of: IntArray  # which of them each link belongs to, -1: none
    floating: Array  # momenta of floating trees
    joint_ints: IntArray  # stops and dry friction of joints
    joint_floats: Array
    element_ints: IntArray  # springs and actuators, see `forces.elements`
    elements: Array
    element_joints: IntArray
    arms: Array
    rest_ctrl: Array  # controls that nobody sets
    compensation: Array  # what bears the weight of bodies; no rows: nothing
    geom_ints: IntArray
    geoms: Array
    solids: Array  # corners, planes and boxes of geoms
    lists: IntArray  # corners of faces, faces about corners
    pairs: IntArray
    pair_values: Array  # friction and restitution of each
    pair_rows: IntArray  # row of every pair of geoms, in a large scene
    settings: Array
    control: IntArray
    monitor: Array
    q: Array
    v: Array
    tau: Array
    ctrl: Array
    activation: Array
    pulls: Array  # what elements did in the piece
    wrenches: Array  # on bodies about their origins, as they are given
    work: Array
    spare: Array  # a second workspace, for the stages of RK4
    vectors: Array
    external: Array  # the same with what bears their weight
    centers: Array  # where geoms are
    kept: Array
    stood: Array  # where they stood when their contacts were made
    near: IntArray
    shape_rows: Array  # what the narrow phase works with
    shape_ints: IntArray
    seen_ints: IntArray  # contacts at the present state
    seen: Array
    before_ints: IntArray  # contacts as the piece began
    before: Array
    touching: IntArray  # those that touched as the piece began
    ints: IntArray  # contacts of the problem being solved
    floats: Array
    tree_of: IntArray  # tree of every link, trees being what has columns of its own
    trees: IntArray  # first column of every tree, and one past the last
    places: IntArray  # where the rows of L of every contact are in
    entries: Flat
    W: Flat  # of as many contacts as Lemke's method is given
    u: Flat  # contact velocities of the problem
    prior: Array  # normal impulses that press already
    dry: Array  # friction impulse that needs no normal one
    used: IntArray  # rows of the LCP that do something
    impulses: Flat
    stored: Flat  # impulses of compression
    facets: Array
    A: Flat
    b: Array
    z: Array
    w: Array
    D: Flat
    lcp_ints: IntArray
    lcp_vectors: Flat
    active: IntArray
    covers: Array
    friction: Array  # of the contacts of the problem
    newton_ints: IntArray  # what the loop's solver works in
    newton_floats: Flat
    island_ints: IntArray
    island_floats: Flat
    block_ints: IntArray
    block_floats: Flat
    memory: IntArray  # names of the last contacts, pair by pair, and when they acted
    # where the contacts of each pair begin in it, if any; after the pairs those of joints
    memory_first: IntArray
    forces: Array  # what they did, along the world's axes, N
    loop_ints: IntArray
    loops: Array  # frames of closures at the present time
    loops_start: Array  # and at the start of the step
    ratios: Array
    term_ints: IntArray
    terms: Array
    closure_rows: Array  # rows of L of the closures, factored into left right basis
    basis: Array
    left: Array
    right: Array
    order: IntArray
    closure_vectors: Array
    contact_parts: Array  # rows of contacts along the basis
    rows: Array
    row_forces: Array
    row_states: Array
    joint_sums: Array
    row_joints: Array
    contact_records: Array
    events: Array


def allocate(
    scene: Scene,
    joints: JointRows,
    settings: Array,
    n_f: int,
    capacity: int,
    steps: tuple[int, int],
) -> Tables:
    """Tables for up to `capacity` contacts at once.

    `steps` a call, and how many of them are recorded.
    """
    model, pairs = scene.model, scene.pairs
    nv = model.nv
    width = max(model.nq, model.nv)
    m = capacity
    few = min(m, at.PIVOTED_AT_MOST)
    n = few * (n_f + 2)
    n_pairs = len(pairs)
    n_geoms = len(scene.geoms)
    loops = scene.loops
    elements = scene.elements
    borne = model.compensation.any()
    n_b, n_joints = loops.n_rows, len(joints.ints)
    free = free_bodies(model, loops)
    sums = (at.JOINT_SUMS, nv if n_joints else 0)
    tree_of, trees = columns_of_trees(model, loops)
    widest = int(np.diff(trees).max())
    entries = 3 * m * min(nv, 2 * widest)
    contacts, events = _record_lengths(m, steps[0])
    buffers = new_buffers(NewtonRoom(m, nv, entries, len(trees) - 1, widest))
    near = np.zeros(n_pairs + 1, dtype=np.int64)
    near[-1] = -1
    places = np.zeros((n_geoms + 1, col.PLACE_COLUMNS))
    places[-1, col.TURN : col.TURN + 9] = np.eye(3).ravel()
    shape_rows, shape_ints = scratch_shapes(scene.geom_ints, scene.tables.lists)
    return Tables(
        tree=model.tree,
        links=model.links,
        damped=model.links.copy() if _is_implicit(scene) else model.links,
        lone=free.lone,
        roots=free.roots,
        root_of=free.root_of,
        floating=np.zeros((len(free.roots), at.FLOATING_COLUMNS)),
        joint_ints=joints.ints,
        joint_floats=joints.floats,
        element_ints=elements.ints,
        elements=elements.floats,
        element_joints=elements.joints,
        arms=elements.arms,
        rest_ctrl=scene.ctrl,
        compensation=model.compensation.copy() if borne else np.zeros((0, 4)),
        geom_ints=scene.geom_ints,
        geoms=scene.geom_floats,
        solids=scene.tables.solids.copy(),  # its last rows are written to
        lists=scene.tables.lists,
        pairs=pairs,
        pair_values=scene.pair_values,
        pair_rows=scene.pair_rows,
        settings=settings,
        control=np.zeros(at.CONTROLS, dtype=np.int64),
        monitor=np.zeros(at.MONITORS),
        q=np.zeros(model.nq),
        v=np.zeros(nv),
        tau=np.zeros(nv),
        ctrl=scene.ctrl.copy(),
        activation=np.zeros(elements.n_states),
        pulls=np.zeros((len(elements.ints), at.PULL_COLUMNS)),
        wrenches=np.zeros((model.n_bodies, 6)),
        work=np.zeros((nv, WORK_COLUMNS)),
        spare=np.zeros((nv, WORK_COLUMNS)),
        vectors=np.zeros((at.VECTORS, width)),
        external=np.zeros((model.n_bodies, 6)),
        centers=places,
        kept=np.zeros((n_geoms, 3)),
        stood=np.zeros((n_geoms, col.STOOD_COLUMNS)),
        near=near,
        shape_rows=np.zeros(shape_rows),
        shape_ints=np.zeros(shape_ints, dtype=np.int64),
        seen_ints=np.zeros((m, col.CONTACT_INTS), dtype=np.int64),
        seen=np.zeros((m, col.CONTACT_COLUMNS)),
        before_ints=np.zeros((m, col.CONTACT_INTS), dtype=np.int64),
        before=np.zeros((m, col.KNOWN_COLUMNS)),
        touching=np.zeros((m, col.CONTACT_INTS), dtype=np.int64),
        ints=np.zeros((m, col.CONTACT_INTS), dtype=np.int64),
        floats=np.zeros((m, col.CONTACT_COLUMNS)),
        tree_of=tree_of,
        trees=trees,
        places=np.zeros((m, PLACE_COLUMNS), dtype=np.int64),
        entries=np.zeros(entries),
        W=np.zeros(9 * few * few),
        u=np.zeros(3 * m),
        prior=np.zeros(m),
        dry=np.zeros(m),
        used=np.zeros(n, dtype=np.int64),
        impulses=np.zeros(3 * m),
        stored=np.zeros(3 * m),
        facets=directions(n_f),
        A=np.zeros(n * n),
        b=np.zeros(n),
        z=np.zeros(n),
        w=np.zeros(n),
        D=np.zeros(n * (n + 2)),
        lcp_ints=np.zeros(max(6 * (n + 1), m), dtype=np.int64),
        lcp_vectors=np.zeros(max(3 * n, m)),
        active=np.zeros(n, dtype=np.int64),
        covers=covering_vectors(n),
        friction=np.zeros(m),
        **buffers._asdict(),
        memory=np.zeros((2 * m, at.MEMORY_COLUMNS), dtype=np.int64),
        memory_first=np.zeros(n_pairs + n_joints, dtype=np.int64),
        forces=np.zeros((2 * m, 3)),
        loop_ints=loops.ints,
        loops=loops.floats.copy(),
        loops_start=loops.floats.copy(),
        ratios=loops.ratios,
        term_ints=loops.term_ints,
        terms=loops.empty_terms(),
        closure_rows=np.zeros((n_b, nv)),
        basis=np.zeros((n_b, nv)),
        left=np.zeros((n_b, n_b)),
        right=np.zeros((n_b, n_b)),
        order=np.zeros(n_b, dtype=np.int64),
        closure_vectors=np.zeros((at.CLOSURE_VECTORS, n_b)),
        contact_parts=np.zeros((3 * m, n_b)),
        rows=np.zeros((steps[1], at.ROW_COLUMNS)),
        row_forces=np.zeros((steps[1], n_b)),
        row_states=np.zeros((steps[1], model.nq + nv)),
        joint_sums=np.zeros(sums),
        row_joints=np.zeros((steps[1], *sums)),
        contact_records=np.zeros((contacts, at.RECORD_COLUMNS)),
        events=np.zeros((events, at.EVENT_COLUMNS)),
    )


def _is_implicit(scene: Scene) -> bool:
    """Whether any force of joints resists motion, and is taken implicitly."""
    return bool(scene.model.damping.any() or len(scene.elements.ints))


def with_record(t: Tables, steps: tuple[int, int]) -> Tables:
    """The same tables with an empty record; `steps` as of `allocate`."""
    rows = steps[1]
    contacts, events = _record_lengths(len(t.ints), steps[0])
    return t._replace(
        rows=np.zeros((rows, at.ROW_COLUMNS)),
        row_forces=np.zeros((rows, t.row_forces.shape[1])),
        row_states=np.zeros((rows, t.row_states.shape[1])),
        row_joints=np.zeros((rows, *t.joint_sums.shape)),
        contact_records=np.zeros((contacts, at.RECORD_COLUMNS)),
        events=np.zeros((events, at.EVENT_COLUMNS)),
    )


def has_record(t: Tables, steps: tuple[int, int]) -> bool:
    """Whether the record has the room that `with_record` gives it."""
    have = len(t.contact_records), len(t.events)
    return len(t.rows) == steps[1] and have == _record_lengths(len(t.ints), steps[0])


def record_room(t: Tables) -> tuple[int, int]:
    """The `steps` of `allocate` that the record has room for."""
    left = len(t.contact_records) - _record_lengths(len(t.ints), 0)[0]
    return left // 2, len(t.rows)


def record_bytes(t: Tables) -> int:
    """Memory that the record takes."""
    rows = t.rows.nbytes + t.row_forces.nbytes + t.row_states.nbytes + t.row_joints.nbytes
    return rows + t.contact_records.nbytes + t.events.nbytes


def _record_lengths(m: int, steps: int) -> tuple[int, int]:
    """Rows of contacts, with room for a step of m contacts in all its pieces, and of impacts."""
    return 2 * steps + 2 * (at.MAX_PIECES + 1) * m, steps // 8 + 256


@merged
def rows_of(t: Tables, m: int) -> ContactRows:
    """The prepared problem of m contacts."""
    L = SparseRows(t.entries, t.places[:m])
    prior, dry = t.prior[:m], t.dry[:m]
    return ContactRows(L, t.trees, t.u[: 3 * m], t.friction[:m], prior, dry, t.facets)


@merged
def buffers_of(t: Tables) -> Buffers:
    """What it is solved in."""
    return Buffers(
        t.newton_ints,
        t.newton_floats,
        t.island_ints,
        t.island_floats,
        t.block_ints,
        t.block_floats,
    )
