"""Momentum of trees that float: what outer forces do, and nothing else, changes it.

The midpoint rule keeps momentum to its own order only, since rows of the mass matrix that belong to
the root turn with it. At the end of a piece in which nothing touched a tree, the six velocities of
its root are therefore put right: with all joints as they are, the tree moves like one rigid body
of mass m and inertia J about the centre of mass, and

    P + m dv_c = P0 + s (m g + f),    L + J dw = L0 + moments of s m g and s f about a fixed point,

with forces where the middle of the piece has them. O(N).
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel, merged
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
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.dynamics.energy import link_momentum
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.newton_euler import lifted
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.integrators.lone_bodies import put_three, solve_three, three
from spatialops.simulation.stepping.tables import Tables


@merged
def has_floating(t: Tables) -> bool:
    """Whether any tree floats."""
    return t.roots.size > 0


@inlined
def center_of(t: Tables, k: int, origin: Vec3) -> Vec3:
    """Centre of mass of link k as seen from a point of the world."""
    arm = rotate(mat3(t.work, k, layout.ROTATION), vec3(t.links, k, layout.COM))
    return plus(minus(vec3(t.work, k, layout.ORIGIN), origin), arm)


@kernel
def take_momenta(t: Tables) -> None:
    """Momenta of floating trees about where their roots are; poses and velocities in `work`."""
    for i in range(t.roots.size):
        put3(t.floating, i, at.ABOUT, vec3(t.work, t.roots[i], layout.ORIGIN))
        angular, linear = momentum_of(t, i)
        put3(t.floating, i, at.MOMENTUM, angular)
        put3(t.floating, i, at.MOMENTUM + 3, linear)


@kernel
def momentum_of(t: Tables, i: int) -> tuple[Vec3, Vec3]:
    """Momentum of floating tree i about its fixed point."""
    about = vec3(t.floating, i, at.ABOUT)
    angular = linear = ZERO3
    for k in range(t.v.size):
        if t.root_of[k] == i and t.links[k, layout.MASS] != 0.0:
            spin, push = link_momentum(t.links, t.work, k)
            arm = minus(vec3(t.work, k, layout.ORIGIN), about)
            angular = plus(angular, plus(spin, cross(arm, push)))
            linear = plus(linear, push)
    return angular, linear


@kernel
def expect_momenta(t: Tables) -> None:
    """Add what outer forces give in the piece; the poses of its middle must be in `work`."""
    s = t.monitor[at.PIECE]
    for k in range(t.v.size):
        i = t.root_of[k]
        if i < 0:
            continue
        about = vec3(t.floating, i, at.ABOUT)
        weight = scaled(-s * t.links[k, layout.MASS], lifted(t.links))
        add3(t.floating, i, at.MOMENTUM, cross(center_of(t, k, about), weight))
        add3(t.floating, i, at.MOMENTUM + 3, weight)
        if k == t.roots[i]:
            rotation = mat3(t.work, k, layout.ROTATION)
            arm = minus(vec3(t.work, k, layout.ORIGIN), about)
            push = scaled(s, rotate(rotation, three(t.tau, k + 3)))
            turn = plus_scaled(cross(arm, push), s, rotate(rotation, three(t.tau, k)))
            add3(t.floating, i, at.MOMENTUM, turn)
            add3(t.floating, i, at.MOMENTUM + 3, push)


@kernel
def is_touched(t: Tables, i: int) -> bool:
    """Whether an acting contact of geoms has a side on floating tree i."""
    for j in range(t.control[at.ACTING]):
        a, b = t.ints[j, col.CONTACT_A], t.ints[j, col.CONTACT_B]
        own = t.ints[j, col.CONTACT_FEATURE_A] >= 0
        if own and ((a >= 0 and t.root_of[a] == i) or (b >= 0 and t.root_of[b] == i)):
            return True
    return False


@kernel
def put_right(t: Tables) -> None:
    """Put the roots' velocities in V_X right, at the end of a piece whose poses are in `work`."""
    v_x = t.vectors[at.V_X, : t.v.size]
    for i in range(t.roots.size):
        if not is_touched(t, i):
            correct_root(t, i)
    velocities_kernel(t.tree, t.links, v_x, t.work)


@kernel
def correct_root(t: Tables, i: int) -> None:
    """Give floating tree i the momentum that it shall have."""
    v_x = t.vectors[at.V_X, : t.v.size]
    about, root = vec3(t.floating, i, at.ABOUT), t.roots[i]
    angular, linear = momentum_of(t, i)
    mass = 0.0
    center = ZERO3
    for k in range(t.v.size):
        if t.root_of[k] == i:
            mass += t.links[k, layout.MASS]
            center = plus_scaled(center, t.links[k, layout.MASS], center_of(t, k, about))
    center = scaled(1.0 / mass, center)
    J = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(t.v.size):
        if t.root_of[k] == i and t.links[k, layout.MASS] != 0.0:
            m, arm = t.links[k, layout.MASS], minus(center_of(t, k, about), center)
            rotation, c = mat3(t.work, k, layout.ROTATION), vec3(t.links, k, layout.COM)
            J = sym_plus(J, sym_rotated(rotation, sym3(t.links, k, layout.INERTIA)))
            J = sym_plus(J, point_inertia(-m, rotate(rotation, c)))
            J = sym_plus(J, point_inertia(m, arm))
    push = minus(vec3(t.floating, i, at.MOMENTUM + 3), linear)
    turn = minus(minus(vec3(t.floating, i, at.MOMENTUM), angular), cross(center, push))
    xx, xy, xz, yy, yz, zz = J
    spin = solve_three(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), turn)
    lever = minus(minus(vec3(t.work, root, layout.ORIGIN), about), center)
    slide = plus(scaled(1.0 / mass, push), cross(spin, lever))
    rotation = mat3(t.work, root, layout.ROTATION)
    put_three(v_x, root, plus(three(v_x, root), rotate_back(rotation, spin)))
    put_three(v_x, root + 3, plus(three(v_x, root + 3), rotate_back(rotation, slide)))


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
