"""How the tree answers a wrench: rows of L = G psi* H* D^-1/2, and the way back from them to joint velocities.

With the factors of the articulated-body pass, M^-1 = S S* where S = (I - H psi K)* D^-1/2. A constraint's row g of G
has the row l = g S: what each joint, tips to base, takes of its unit wrench ([J] 62-64). So G M^-1 G* = L L*, and the
impulse p moves the joints by dv = S (L* p): in the coordinates y = S^-1 dv kinetic energy is y.y / 2.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops._layout import ACCEL, ALPHA, D_INVERSE, GAIN_F, GAIN_M, LEVER, ORIGIN, PARENT
from spatialops.algebra.vectors import ZERO3, cross, dot, minus, plus, plus_scaled, scaled, vec3
from spatialops.dynamics.articulated_body import joint_force
from spatialops.dynamics.newton_euler import put_acceleration


@inlined
def carry(tree: IntArray, links: Array, work: Array, k: int, m: Vec3, f: Vec3, row: Array) -> tuple[Vec3, Vec3]:
    """Leave what the joint of link k takes of the wrench (m, f) in `row`, and carry the rest to the parent."""
    e = joint_force(tree, links, work, k, m, f)
    d_inverse = work[k, D_INVERSE]
    row[k] += e * math.sqrt(d_inverse)
    m = plus_scaled(m, -e * d_inverse, vec3(work, k, GAIN_M))
    f = plus_scaled(f, -e * d_inverse, vec3(work, k, GAIN_F))
    return plus(m, cross(vec3(work, k, LEVER), f)), f


@kernel
def add_wrench_row(
    tree: IntArray, links: Array, work: Array, a: int, b: int, point: Vec3, moment: Vec3, force: Vec3, row: Array
) -> None:
    """Add to `row` the row of L of a wrench at `point` on link a and its opposite on link b.

    The two are carried towards the base apart and merge where their paths meet. Factors must be in `work`.
    """
    moment_a, force_a, moment_b, force_b = moment, force, scaled(-1.0, moment), scaled(-1.0, force)
    if a >= 0:
        moment_a = plus(moment_a, cross(minus(point, vec3(work, a, ORIGIN)), force_a))
    if b >= 0:
        moment_b = plus(moment_b, cross(minus(point, vec3(work, b, ORIGIN)), force_b))
    while a != b:
        if a > b:
            moment_a, force_a = carry(tree, links, work, a, moment_a, force_a, row)
            a = tree[a, PARENT]
        else:
            moment_b, force_b = carry(tree, links, work, b, moment_b, force_b, row)
            b = tree[b, PARENT]
    if a < 0:
        return
    # Both on one link: refer them to its origin, and go on as one. Equal and opposite wrenches may cancel here.
    moment_a, force_a = plus(moment_a, moment_b), plus(force_a, force_b)
    while a >= 0:
        moment_a, force_a = carry(tree, links, work, a, moment_a, force_a, row)
        a = tree[a, PARENT]


@kernel
def velocities_from(tree: IntArray, links: Array, work: Array, dv: Array) -> None:
    """dv = S y in place of y, by one sweep base to tips; uses the acceleration columns of `work`."""
    for k in range(tree.shape[0]):
        parent, angular, linear = tree[k, PARENT], ZERO3, ZERO3
        if parent >= 0:
            angular = vec3(work, parent, ALPHA)
            linear = plus(vec3(work, parent, ACCEL), cross(angular, vec3(work, k, LEVER)))
        pull = dot(vec3(work, k, GAIN_M), angular) + dot(vec3(work, k, GAIN_F), linear)
        d_inverse = work[k, D_INVERSE]
        dv[k] = dv[k] * math.sqrt(d_inverse) - pull * d_inverse
        put_acceleration(tree, links, work, k, angular, linear, dv[k])
