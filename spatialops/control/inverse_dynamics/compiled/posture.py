"""Rows of the contacts that are counted on, and factors of the mass matrix, from the loop's tables.

Contacts that land are left out, as `landing_contacts` says.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.pseudo_inverse import inverse_factor_kernel
from spatialops.algebra.vectors import scaled, vec3
from spatialops.collision import _layout as col
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round
from spatialops.control.inverse_dynamics.landing_contacts import LANDS, SUNK
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.loops.rows import add_jacobian, motion_at


@kernel
def count_resting(
    ints: IntArray, floats: Array, m: int, work: Array, times: float, kept: IntArray
) -> int:
    """Contacts that do not land, by their rows in the tables; how many.

    Poses, and velocities before the step, must be in `work`.
    """
    count = 0
    for i in range(m):
        point = vec3(floats, i, col.POINT)
        normal = vec3(floats, i, col.NORMAL)
        _, velocity_a = motion_at(work, ints[i, col.CONTACT_A], point)
        _, velocity_b = motion_at(work, ints[i, col.CONTACT_B], point)
        approach = floats[i, col.OPEN] / times
        for c in range(3):
            approach += normal[c] * (velocity_a[c] - velocity_b[c])
        if not (approach < -LANDS and floats[i, col.GAP] > -SUNK):
            kept[count] = i
            count += 1
    return count


@inlined
def put_contact(
    posture: Posture, i: int, row: int, ints: IntArray, floats: Array, times: float
) -> None:
    """What is kept of a contact of the tables."""
    place = posture.place[i]
    names = posture.names[i]
    names[of.ROW] = row
    names[of.NAME] = ints[row, col.CONTACT_PAIR]
    names[of.NAME + 1] = ints[row, col.CONTACT_FEATURE_A]
    names[of.NAME + 2] = ints[row, col.CONTACT_FEATURE_B]
    names[of.LINKS] = ints[row, col.CONTACT_A]
    names[of.LINKS + 1] = ints[row, col.CONTACT_B]
    names[of.LIFTS] = 0
    for c in range(9):
        place[of.FRAME + c] = floats[row, col.NORMAL + c]
    place[of.MU] = floats[row, col.MU]
    place[of.OPEN] = floats[row, col.OPEN] / times


@kernel
def put_rows(
    tree: IntArray,
    links: Array,
    ints: IntArray,
    floats: Array,
    kept: IntArray,
    times: float,
    work: Array,
    posture: Posture,
) -> None:
    """Contacts and their rows G; poses must be in `work`."""
    G = posture.G
    for i in range(posture.place.shape[0]):
        row = kept[i]
        put_contact(posture, i, row, ints, floats, times)
        point = vec3(floats, row, col.POINT)
        none = (0.0, 0.0, 0.0)
        for c in range(3):
            for k in range(G.shape[1]):
                G[3 * i + c, k] = 0.0
            axis = vec3(posture.place, i, of.FRAME + 3 * c)
            entries = G[3 * i + c]
            add_jacobian(tree, links, work, ints[row, col.CONTACT_A], point, none, axis, entries)
            against = scaled(-1.0, axis)
            add_jacobian(tree, links, work, ints[row, col.CONTACT_B], point, none, against, entries)


@kernel
def put_factors(
    given: IntArray, others: IntArray, posture: Posture, wholly: bool, scratch: Array
) -> bool:
    """C^-1, C^-1 M_ua, G_u C^-T and the compliance; False where M_uu is singular.

    `wholly`: that of the whole mass matrix too.
    """
    u = others.size
    n = given.size
    square = scratch[: u * u].reshape((u, u))
    M = posture.mass
    factor = posture.factor
    reach = posture.reach
    G = posture.G
    for i in range(u):
        for j in range(u):
            square[i, j] = M[others[i], others[j]]
    if not inverse_factor_kernel(square, u, factor):
        return False
    for i in range(u):
        for j in range(n):
            total = 0.0
            for c in range(i + 1):
                total += factor[i, c] * M[others[c], given[j]]
            posture.coupling[i, j] = total
    for r in range(G.shape[0]):
        for i in range(u):
            total = 0.0
            for c in range(i + 1):
                total += G[r, others[c]] * factor[i, c]
            reach[r, i] = total
    put_square(reach, posture.W)
    if not wholly:
        return True
    nv = M.shape[0]
    all_of_it = scratch[: nv * nv].reshape((nv, nv))
    for i in range(nv):
        for j in range(nv):
            all_of_it[i, j] = M[i, j]
    return inverse_factor_kernel(all_of_it, nv, posture.whole)


@kernel
def put_square(reach: Array, W: Array) -> None:
    """W = L L^T."""
    for r in range(reach.shape[0]):
        for s in range(r + 1):
            total = 0.0
            for i in range(reach.shape[1]):
                total += reach[r, i] * reach[s, i]
            W[r, s] = total
            W[s, r] = total


@kernel
def put_poses(tree: IntArray, links: Array, q: Array, work: Array) -> bool:
    """Poses into `work`; False where q is no configuration."""
    return poses_kernel(tree, links, q, work) == layout.OK


@inlined
def put_following(
    posture: Posture, given: IntArray, others: IntArray, free: Array, wanted: Array, v: Array
) -> None:
    """Velocities without contacts, from `free` ones, where `given` become `wanted`.

    `v` may be `free`.
    """
    u = others.size
    for i in range(u):
        v[others[i]] = free[others[i]]
    for j in range(u):
        along = 0.0
        for c in range(given.size):
            along += posture.coupling[j, c] * (wanted[c] - free[given[c]])
        for i in range(j + 1):
            v[others[i]] -= posture.factor[j, i] * along
    for c in range(given.size):
        v[given[c]] = wanted[c]


@inlined
def put_speeds(posture: Posture, v: Array, u: Array) -> None:
    """G v with drift and gaps."""
    nv = v.size
    for r in range(u.size):
        i = r // 3
        c = r - 3 * i
        total = posture.place[i, of.DRIFT + c]
        if c == 0:
            total += posture.place[i, of.OPEN]
        for k in range(nv):
            total += posture.G[r, k] * v[k]
        u[r] = total


@inlined
def put_after(posture: Posture, others: IntArray, at: Round, p: Array, after: Array) -> None:
    """Velocities after impulses p."""
    reach = posture.reach
    for k in range(after.size):
        after[k] = at.v[k]
    for j in range(others.size):
        along = 0.0
        for r in range(p.size):
            along += reach[r, j] * p[r]
        for i in range(j + 1):
            after[others[i]] += posture.factor[j, i] * along
