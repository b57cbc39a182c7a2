"""The arrays that the compiled loop works on, in one named tuple.

Passed once for thousands of steps.
"""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, merged
from spatialops.contact.newton.islands import Buffers
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.rows import SparseRows
from spatialops.contact.runs.columns import Runs
from spatialops.simulation import _layout as at

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
    pair_runs: IntArray  # which geoms may touch
    class_values: Array  # friction and restitution of classes of pairs
    own_pairs: IntArray  # those with classes of their own
    turning: Array  # torsional and rolling friction of classes, m; no rows: of none
    sweep_order: IntArray  # of a large scene, see `broad_phase`
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
    resting: Array  # state and inputs at which steps change nothing, see `rest`
    work: Array
    spare: Array  # a second workspace, for the stages of RK4
    vectors: Array
    external: Array  # the same with what bears their weight
    centers: Array  # where geoms are
    reaches: Array  # how far they may go in the piece
    kept: Array
    stood: Array  # where they stood when their contacts were made
    near: IntArray
    remembered: Array  # what the narrow phase found of pairs
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
    run_links: IntArray  # runs of long trees; no rows: of none
    run_trees: IntArray
    run_spans: Array
    run_lines: Array
    run_y: Array
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
    owners: IntArray  # contacts that the moments among them belong to
    statuses: IntArray  # who of them presses, sticks or slides
    newton_ints: IntArray  # what the loop's solver works in
    newton_floats: Flat
    island_ints: IntArray
    island_floats: Flat
    block_ints: IntArray
    block_floats: Flat
    memory: IntArray  # names of the last contacts, pair by pair, and when they acted
    memory_places: IntArray  # where the contacts of pairs begin in it, by their numbers
    forces: Array  # what they did, along the world's axes, N
    loop_ints: IntArray
    loops: Array  # frames of closures at the present time
    loops_start: Array  # and at the start of the step
    ratios: Array
    term_ints: IntArray
    terms: Array
    mechanisms: IntArray  # closed ones: rows and columns of each
    mechanism_of: IntArray  # of each tree; -1: it has no closures
    closure_rows: Flat  # rows of L, mechanism by mechanism, factored into left right basis
    basis: Flat
    left: Flat
    right: Flat
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


@merged
def rows_of(t: Tables, m: int, moved: bool = False) -> ContactRows:
    """The prepared problem of m contacts, and what moves before where that counts."""
    L = SparseRows(t.entries, t.places[:m])
    prior, dry = t.prior[:m], t.dry[:m]
    u, friction = t.u[: 3 * m], t.friction[:m]
    owners, law = t.owners[: t.control[at.MOMENTS]], t.control[at.LAW]
    statuses = t.statuses[:m]
    trees = t.run_trees if has_runs(t) else t.trees
    moves = t.vectors[at.MOVES, : t.trees.size - 1 if moved else 0]
    return ContactRows(L, trees, u, friction, prior, dry, t.facets, law, owners, statuses, moves)


@inlined
def has_runs(t: Tables) -> bool:
    """Whether rows may have columns of runs."""
    return t.run_links.shape[0] > 0


@inlined
def runs_of(t: Tables) -> Runs:
    """Those of the prepared problem."""
    return Runs(t.run_links, t.run_trees, t.run_spans, t.run_lines, t.run_y)


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
