"""How the tree answers a wrench: rows of L = G psi* H* D^-1/2, and back to joint velocities.

With the factors of the articulated-body pass, M^-1 = S S* where S = (I - H psi K)* D^-1/2. A
constraint's row g of G has the row l = g S: what each joint, tips to base, takes of its unit wrench
([J] 62-64). So G M^-1 G* = L L*, and the impulse p moves the joints by dv = S (L* p): in the
coordinates y = S^-1 dv kinetic energy is y.y / 2.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import Lanes, LanesVec3
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    put3,
    scaled,
    vec3,
)
from spatialops.dynamics.articulated_body import joint_force
from spatialops.dynamics.kinematics import axis_of, finite_status
from spatialops.dynamics.newton_euler import (
    carried_acceleration,
    lifted,
    put_acceleration,
    put_inertial_force,
    subtract_external,
)


@inlined
def carried(
    tree: IntArray, links: Array, work: Array, k: int, m: LanesVec3, f: LanesVec3
) -> tuple[Lanes, LanesVec3, LanesVec3]:
    """What the joint of link k takes of a wrench, or of eight in lanes, and what of it goes up."""
    e = joint_force(tree, links, work, k, m, f)
    d_inverse = work[k, layout.D_INVERSE]
    taken = e * math.sqrt(d_inverse)
    e = e * -d_inverse
    m = plus_scaled(m, e, vec3(work, k, layout.GAIN_M))
    f = plus_scaled(f, e, vec3(work, k, layout.GAIN_F))
    return taken, plus(m, cross(vec3(work, k, layout.LEVER), f)), f


@inlined
def carry(
    tree: IntArray, links: Array, work: Array, k: int, m: Vec3, f: Vec3, row: Array, origin: int
) -> tuple[Vec3, Vec3]:
    """Add to row[origin + k] what the joint of link k takes of the wrench (m, f).

    The rest goes up.
    """
    taken, m, f = carried(tree, links, work, k, m, f)
    row[origin + k] += taken
    return m, f


@kernel
def add_wrench_row(
    tree: IntArray,
    links: Array,
    work: Array,
    between: tuple[int, int],
    point: Vec3,
    moment: Vec3,
    force: Vec3,
    row: Array,
    origin: int,
) -> None:
    """Add the row of L of a wrench at `point` on one link and its opposite on another.

    Entry k is added to row[origin + k]. The two are carried towards the base apart and merge where
    their paths meet. Factors must be in `work`."""
    a, b = between
    moment_a = moment
    force_a = force
    moment_b = scaled(-1.0, moment)
    force_b = scaled(-1.0, force)
    if a >= 0:
        moment_a = plus(moment_a, cross(minus(point, vec3(work, a, layout.ORIGIN)), force_a))
    if b >= 0:
        moment_b = plus(moment_b, cross(minus(point, vec3(work, b, layout.ORIGIN)), force_b))
    while a != b:
        if a > b:
            moment_a, force_a = carry(tree, links, work, a, moment_a, force_a, row, origin)
            a = tree[a, layout.PARENT]
        else:
            moment_b, force_b = carry(tree, links, work, b, moment_b, force_b, row, origin)
            b = tree[b, layout.PARENT]
    if a < 0:
        return
    # Both on one link: refer them to its origin, and go on as one. Equal and opposite wrenches may
    # cancel here.
    moment_a, force_a = plus(moment_a, moment_b), plus(force_a, force_b)
    while a >= 0:
        moment_a, force_a = carry(tree, links, work, a, moment_a, force_a, row, origin)
        a = tree[a, layout.PARENT]


@kernel
def velocities_from(tree: IntArray, links: Array, work: Array, dv: Array) -> None:
    """dv = S y in place of y, base to tips; uses the acceleration columns of `work`."""
    for k in range(tree.shape[0]):
        dv[k] *= math.sqrt(work[k, layout.D_INVERSE])
    carry_out(tree, links, work, dv)


@inlined
def carry_out(tree: IntArray, links: Array, work: Array, dv: Array) -> None:
    """The same in place of D^-1/2 y: every joint gives way to what its parent does."""
    for k in range(tree.shape[0]):
        parent = tree[k, layout.PARENT]
        angular = ZERO3
        linear = ZERO3
        if parent >= 0:
            angular = vec3(work, parent, layout.ALPHA)
            linear = plus(
                vec3(work, parent, layout.ACCEL), cross(angular, vec3(work, k, layout.LEVER))
            )
        pull = dot(vec3(work, k, layout.GAIN_M), angular) + dot(
            vec3(work, k, layout.GAIN_F), linear
        )
        dv[k] -= pull * work[k, layout.D_INVERSE]
        put_acceleration(tree, links, work, k, angular, linear, dv[k])


@kernel
def squared_length(tree: IntArray, work: Array, v: Array) -> float:
    """y.y of the motion v = S y, twice its kinetic energy with what resists; it is in `work`."""
    total = 0.0
    angular = linear = ZERO3
    for k in range(tree.shape[0]):
        parent, d_inverse = tree[k, layout.PARENT], work[k, layout.D_INVERSE]
        if tree[k, layout.FRAME] == layout.SAME:  # what the axes before it do is not in `work`
            angular, linear = with_joint(tree, work, k - 1, v[k - 1], angular, linear)
        elif parent >= 0:
            angular = vec3(work, parent, layout.OMEGA)
            linear = cross(angular, vec3(work, k, layout.LEVER))
            linear = plus(vec3(work, parent, layout.VELOCITY), linear)
        else:
            angular = linear = ZERO3
        pull = dot(vec3(work, k, layout.GAIN_M), angular)
        rate = v[k] + d_inverse * (pull + dot(vec3(work, k, layout.GAIN_F), linear))
        total += rate * rate / d_inverse
    return total


@inlined
def with_joint(
    tree: IntArray, work: Array, k: int, rate: float, angular: Vec3, linear: Vec3
) -> tuple[Vec3, Vec3]:
    """A motion with that of an axis of a joint of several freedoms."""
    axis = axis_of(tree, work, k)
    if tree[k, layout.MOTION] == layout.ROTARY:
        return plus_scaled(angular, rate, axis), linear
    return angular, plus_scaled(linear, rate, axis)


@kernel
def accelerations_again(
    tree: IntArray, links: Array, tau: Array, external: Array, work: Array, a: Array
) -> int:
    """Accelerations at other velocities, which must be in `work` with the factors of the poses.

    No inertias to sweep: a = S S* (tau - bias), the bias by Newton and Euler. The
    acceleration columns are left with the joints' part alone.
    """
    base = lifted(links)
    for k in range(tree.shape[0]):
        alpha, accel = carried_acceleration(tree, base, work, k)
        put3(work, k, layout.ALPHA, alpha)
        put3(work, k, layout.ACCEL, accel)
        put_inertial_force(links, work, k, alpha, accel)
    subtract_external(tree, external, work)
    answer_wrenches(tree, links, tau, work, a)
    return finite_status(a)


@kernel
def answer_wrenches(tree: IntArray, links: Array, tau: Array, work: Array, a: Array) -> None:
    """a = M^-1 (tau - what MOMENT and FORCE in `work` ask of the joints), one sweep in and one out.

    Wrenches are about the links' origins, and are lost. The acceleration columns are left with
    what the joints do.
    """
    for k in range(tree.shape[0] - 1, -1, -1):
        parent = tree[k, layout.PARENT]
        m, f = vec3(work, k, layout.MOMENT), vec3(work, k, layout.FORCE)
        rate = (tau[k] - joint_force(tree, links, work, k, m, f)) * work[k, layout.D_INVERSE]
        a[k] = rate
        if parent >= 0:
            m = plus_scaled(m, rate, vec3(work, k, layout.GAIN_M))
            f = plus_scaled(f, rate, vec3(work, k, layout.GAIN_F))
            add3(work, parent, layout.MOMENT, plus(m, cross(vec3(work, k, layout.LEVER), f)))
            add3(work, parent, layout.FORCE, f)
    carry_out(tree, links, work, a)
