"""Momentum of trees that float: what outer forces do, and nothing else, changes it.

The midpoint rule keeps momentum to its own order only, since rows of the mass matrix that belong to
the root turn with it. At the end of a piece in which nothing touched a tree, the six velocities of
its root are therefore put right: with all joints as they are, the tree moves like one rigid body
of mass m and inertia J about the centre of mass, and

    P + m dv_c = P0 + s (m g + f),    L + J dw = L0 + moments of s m g and s f about a fixed point,

with forces where the middle of the piece has them. O(N).
"""

from __future__ import annotations

from typing import NamedTuple

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_plus,
    sym_rotated,
    sym_times,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.dynamics.energy import link_momentum
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.newton_euler import lifted
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.integrators.joint_forces import is_wrenched
from spatialops.simulation.stepping.integrators.lone_bodies import put_three, solve_three, three
from spatialops.simulation.stepping.tables import Tables

# PUT_RIGHT of a tree whose momentum was not taken as the piece began, and is being found.
_UNKNOWN = -1.0
_RECALLED = -2.0


@merged
def has_floating(t: Tables) -> bool:
    """Whether any tree floats."""
    return t.roots.size > 0


class Floating(NamedTuple):
    """A tree that floats, as kernels see it; also eight states of it."""

    links: Array
    work: Array
    root_of: IntArray  # of every link the floating tree that it is of
    root: int  # first link of its root
    i: int  # number among floating trees


@merged
def tree_of(t: Tables, i: int, work: Array) -> Floating:
    """Floating tree i, where its links are in `work`."""
    return Floating(t.links, work, t.root_of, t.roots[i], i)


@inlined
def arm_of(work: Array, k: int, origin: Vec3) -> Vec3:
    """Origin of link k as seen from a point of the world."""
    return minus(vec3(work, k, layout.ORIGIN), origin)


@stage
def take_momenta(t: Tables) -> None:
    """Momenta of floating trees about where their roots are; poses in `work`.

    Those that were put right have what they were given. Of others it is asked only where the
    piece ends and nothing has touched them.
    """
    for i in range(t.roots.size):
        if t.floating[i, at.PUT_RIGHT] <= 0.0:
            t.floating[i, at.PUT_RIGHT] = _UNKNOWN
            continue
        origin, about = vec3(t.work, t.roots[i], layout.ORIGIN), vec3(t.floating, i, at.ABOUT)
        angular, linear = vec3(t.floating, i, at.MOMENTUM), vec3(t.floating, i, at.MOMENTUM + 3)
        angular = minus(angular, cross(minus(origin, about), linear))
        put_momentum(t.floating, i, origin, angular, linear)


@inlined
def put_momentum(floating: Array, i: int, about: Vec3, angular: Vec3, linear: Vec3) -> None:
    """Momentum of floating tree i about a point as the piece begins."""
    put3(floating, i, at.ABOUT, about)
    floating[i, at.PUT_RIGHT] = 0.0
    put3(floating, i, at.MOMENTUM, angular)
    put3(floating, i, at.MOMENTUM + 3, linear)


@kernel
def momentum_of(tree: Floating, about: Vec3) -> tuple[Vec3, Vec3]:
    """Momentum of a floating tree about a fixed point."""
    angular = linear = ZERO3
    for k in range(tree.root_of.size):
        if tree.root_of[k] == tree.i and tree.links[k, layout.MASS] != 0.0:
            spin, push = link_momentum(tree.links, tree.work, k)
            angular = plus(angular, plus(spin, cross(arm_of(tree.work, k, about), push)))
            linear = plus(linear, push)
    return angular, linear


@stage
def expect_momenta(t: Tables) -> None:
    """Add what outer forces give in the piece; the poses of its middle must be in `work`."""
    for i in range(t.roots.size):
        if t.floating[i, at.PUT_RIGHT] != _UNKNOWN:
            add_outer_forces(t, tree_of(t, i, t.work))


@kernel
def add_outer_forces(t: Tables, tree: Floating) -> None:
    """Add what outer forces give a tree in the piece to its momentum."""
    s, i = t.monitor[at.PIECE], tree.i
    turn, push = outer_forces(tree, t.floating, t.tau)
    if is_wrenched(t):
        moments, forces = wrench_on(t, tree)
        turn, push = plus(turn, moments), plus(push, forces)
    add3(t.floating, i, at.MOMENTUM, scaled(s, turn))
    add3(t.floating, i, at.MOMENTUM + 3, scaled(s, push))


@stage
def recall_momenta(t: Tables) -> None:
    """Momenta at the end of the piece that were not taken as it began, where nothing touched.

    Poses of its beginning, and then of its middle, are put into `spare`.
    """
    poses_kernel(t.tree, t.links, t.q, t.spare)
    velocities_kernel(t.tree, t.links, t.v, t.spare)
    for i in range(t.roots.size):
        if is_to_be_recalled(t, i):
            about = vec3(t.spare, t.roots[i], layout.ORIGIN)
            angular, linear = momentum_of(tree_of(t, i, t.spare), about)
            put_momentum(t.floating, i, about, angular, linear)
            t.floating[i, at.PUT_RIGHT] = _RECALLED
    poses_kernel(t.tree, t.links, t.vectors[at.Q_E, : t.q.size], t.spare)
    for i in range(t.roots.size):
        if t.floating[i, at.PUT_RIGHT] == _RECALLED:
            t.floating[i, at.PUT_RIGHT] = 0.0
            add_outer_forces(t, tree_of(t, i, t.spare))


@inlined
def is_to_be_recalled(t: Tables, i: int) -> bool:
    """Whether the momentum of floating tree i is asked for, and was not taken."""
    return t.floating[i, at.PUT_RIGHT] == _UNKNOWN and not is_touched(t, i)


@kernel
def outer_forces(tree: Floating, floating: Array, tau: Array) -> tuple[Vec3, Vec3]:
    """Moment about a fixed point and force of gravity and of what acts at the root.

    The mass has as many lanes as the states: a product of two numbers that all states have in
    common would be rounded before it is added, where of one state it is not.
    """
    about = vec3(floating, tree.i, at.ABOUT)
    mass, moment = floating[tree.i, at.PUT_RIGHT], ZERO3  # 0.0: it is not yet
    for k in range(tree.root, tree.root_of.size):
        if tree.root_of[k] == tree.i and tree.links[k, layout.MASS] != 0.0:
            turned = rotate(mat3(tree.work, k, layout.ROTATION), vec3(tree.links, k, layout.COM))
            center = plus(arm_of(tree.work, k, about), turned)
            mass += tree.links[k, layout.MASS]
            moment = plus_scaled(moment, tree.links[k, layout.MASS], center)
    rotation = mat3(tree.work, tree.root, layout.ROTATION)
    arm = arm_of(tree.work, tree.root, about)
    push = rotate(rotation, three(tau, tree.root + 3))
    turn = plus(rotate(rotation, three(tau, tree.root)), cross(arm, push))
    turn = minus(turn, cross(moment, lifted(tree.links)))
    return turn, plus_scaled(push, -mass, lifted(tree.links))


@kernel
def wrench_on(t: Tables, tree: Floating) -> tuple[Vec3, Vec3]:
    """Sum of the wrenches on bodies of a floating tree, about its fixed point."""
    about = vec3(t.floating, tree.i, at.ABOUT)
    moment = force = ZERO3
    for k in range(t.v.size):
        b = t.tree[k, layout.BODY]
        if b >= 0 and tree.root_of[k] == tree.i:
            own = vec3(t.external, b, 3)
            turn = plus(vec3(t.external, b, 0), cross(arm_of(tree.work, k, about), own))
            moment, force = plus(moment, turn), plus(force, own)
    return moment, force


@kernel
def is_touched(t: Tables, i: int) -> bool:
    """Whether an acting contact of geoms has a side on floating tree i."""
    for j in range(t.control[at.ACTING]):
        a, b = t.ints[j, col.CONTACT_A], t.ints[j, col.CONTACT_B]
        own = t.ints[j, col.CONTACT_FEATURE_A] >= 0
        if own and ((a >= 0 and t.root_of[a] == i) or (b >= 0 and t.root_of[b] == i)):
            return True
    return False


@stage
def put_right(t: Tables) -> None:
    """Put the roots' velocities in V_X right, and those of links, at the end of a piece.

    Its poses and velocities are in `work`.
    """
    recalls = False
    for i in range(t.roots.size):
        recalls = recalls or is_to_be_recalled(t, i)
    if recalls:
        recall_momenta(t)
    for i in range(t.roots.size):
        if not is_touched(t, i):
            correct_root(tree_of(t, i, t.work), t.floating, t.vectors[at.V_X, : t.v.size])
            t.floating[i, at.PUT_RIGHT] = 1.0


@merged
def forget_momenta(t: Tables) -> None:
    """Something else has moved floating trees since they were put right, or pushed them."""
    for i in range(t.roots.size):
        t.floating[i, at.PUT_RIGHT] = 0.0


@kernel
def correct_root(tree: Floating, floating: Array, v_x: Array) -> None:
    """Give a floating tree the momentum that it shall have."""
    links, work = tree.links, tree.work
    about, root = vec3(floating, tree.i, at.ABOUT), tree.root
    mass = 0.0
    angular = linear = center = ZERO3
    J = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(root, tree.root_of.size):
        m = links[k, layout.MASS]
        if tree.root_of[k] != tree.i or m == 0.0:
            continue
        rotation, omega = mat3(work, k, layout.ROTATION), vec3(work, k, layout.OMEGA)
        c, arm = rotate(rotation, vec3(links, k, layout.COM)), arm_of(work, k, about)
        own = sym_rotated(rotation, sym3(links, k, layout.INERTIA))
        velocity = vec3(work, k, layout.VELOCITY)
        push = scaled(m, plus(velocity, cross(omega, c)))
        spin = plus_scaled(sym_times(own, omega), m, cross(c, velocity))
        angular = plus(angular, plus(spin, cross(arm, push)))
        linear = plus(linear, push)
        mass += m
        center = plus_scaled(center, m, plus(arm, c))
        J = sym_plus(J, sym_plus(own, point_inertia(-m, c)))
        J = sym_plus(J, point_inertia(m, plus(arm, c)))
    center = scaled(1.0 / mass, center)
    push = minus(vec3(floating, tree.i, at.MOMENTUM + 3), linear)
    turn = minus(minus(vec3(floating, tree.i, at.MOMENTUM), angular), cross(center, push))
    xx, xy, xz, yy, yz, zz = sym_plus(J, point_inertia(-mass, center))
    spin = solve_three(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), turn)
    lever = minus(arm_of(work, root, about), center)
    slide = plus(scaled(1.0 / mass, push), cross(spin, lever))
    rotation = mat3(work, root, layout.ROTATION)
    put_three(v_x, root, plus(three(v_x, root), rotate_back(rotation, spin)))
    put_three(v_x, root + 3, plus(three(v_x, root + 3), rotate_back(rotation, slide)))
    origin = vec3(work, root, layout.ORIGIN)
    for k in range(root + 5, tree.root_of.size):  # they move with the last link of the root
        if tree.root_of[k] == tree.i:
            add3(work, k, layout.OMEGA, spin)
            add3(work, k, layout.VELOCITY, plus(slide, cross(spin, arm_of(work, k, origin))))


@inlined
def point_inertia(m: float, r: Vec3) -> tuple[float, float, float, float, float, float]:
    """Inertia m (r.r 1 - r r^T) of a point mass."""
    square = m * dot(r, r)
    return (
        square - m * r[0] * r[0],
        -m * r[0] * r[1],
        -m * r[0] * r[2],
        square - m * r[1] * r[1],
        -m * r[1] * r[2],
        square - m * r[2] * r[2],
    )
