"""Articulated-body sweeps over aggregates of links, each a body of variable geometry.

The links k of an aggregate hang on the link p outside. Closures leave their joints the rates
qdot = N z with d = len(z) free ones, so that with H_k* = sum of the axes on the way to k times N

    V_k = phi*(p, k) V_p + H_k* z,      alpha_k = phi*(p, k) alpha_p + H_k* zdot + A_k

where A_k is what velocities and closures demand: Coriolis accelerations and the joints' gamma,
qddot = N zdot + gamma. With the articulated inertias P_k and bias forces z_k of its links (all that
hangs on them counted), which are block diagonal before the aggregate's own joints give way,

    D = sum H_k P_k H_k* + N* armature N,       Phi = sum phi(p, k) P_k H_k*,
    nu = D^-1 (N* (tau - armature gamma) - sum H_k (z_k + P_k A_k)),
    P_p += sum phi P_k phi* - Phi D^-1 Phi*,    z_p += sum phi (z_k + P_k A_k) + Phi nu,
    zdot = nu - D^-1 Phi* alpha_p

A. Jain, Multibody graph transformations and analysis, part II: closed-chain constraint embedding,
Nonlinear Dynamics 67 (2012). A link that no closure ties has N = 1, and this is the
articulated-body recursion.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import add3, cross, dot, plus, put3, scaled, vec3
from spatialops.dynamics.loops.aggregates import Aggregates
from spatialops.dynamics.loops.embedded_tables import Freedom, Placed, Room

ALL_REGULAR = -1
_SINGULAR = 1e-14  # part of a diagonal entry of D that rounding leaves of nothing


@inlined
def product(left: Array, row: int, right: Array, other: int) -> float:
    """Of two spatial vectors, rows of two tables."""
    angular = dot(vec3(left, row, 0), vec3(right, other, 0))
    return angular + dot(vec3(left, row, 3), vec3(right, other, 3))


@inlined
def response(P: Array, k: int, motion: Array, row: int) -> tuple[Vec3, Vec3]:
    """Moment and force of the inertia of link k against an acceleration."""
    return (
        (
            product(P, 6 * k, motion, row),
            product(P, 6 * k + 1, motion, row),
            product(P, 6 * k + 2, motion, row),
        ),
        (
            product(P, 6 * k + 3, motion, row),
            product(P, 6 * k + 4, motion, row),
            product(P, 6 * k + 5, motion, row),
        ),
    )


@inlined
def column(table: Array, row: int, e: int) -> Vec3:
    """Three rows of a column."""
    return table[row, e], table[row + 1, e], table[row + 2, e]


@inlined
def add_moved(motion: Array, row: int, lever: Vec3, into: Array, k: int) -> None:
    """Add phi* of a motion: at a point at `lever` from its own."""
    turn = vec3(motion, row, 0)
    add3(into, k, 0, turn)
    add3(into, k, 3, plus(vec3(motion, row, 3), cross(turn, lever)))


@inlined
def add_shifted(moment: Vec3, force: Vec3, lever: Vec3, into: Array, row: int) -> None:
    """Add phi of a force: to a point from which its own is at `lever`."""
    add3(into, row, 0, plus(moment, cross(lever, force)))
    add3(into, row, 3, force)


@kernel
def sweep(
    groups: Aggregates,
    placed: Placed,
    free: Freedom,
    P: Array,
    forces: Array,
    tau: Array,
    alpha: Array,
    base: Vec3,
    room: Room,
    a: Array,
) -> int:
    """Accelerations a (n,) of the joints; ALL_REGULAR, or the aggregate whose D is singular.

    P (6 n, 6) are the links' inertias and forces (n, 6) their bias forces, both used up; alpha
    (n, 6) comes as Coriolis accelerations less the parents' and goes as accelerations.
    """
    for g in range(groups.parents.size):
        put_hinges(groups, placed, free, g, alpha, room)
    for g in range(groups.parents.size - 1, -1, -1):
        gather(groups, placed, free, g, P, forces, tau, alpha, room)
        if not factor(room.D, free.sizes[g]):
            return g
        answer(groups, free, g, room)
        if groups.parents[g] >= 0:
            pass_on(groups, free, g, P, forces, room)
    for g in range(groups.parents.size):
        scatter(groups, free, g, alpha, base, room, a)
    return ALL_REGULAR


@kernel
def put_hinges(
    groups: Aggregates, placed: Placed, free: Freedom, g: int, alpha: Array, room: Room
) -> None:
    """H_k*, A_k (in place of the Coriolis accelerations) and levers of an aggregate's links."""
    width, outside = free.basis.shape[1], groups.parents[g]
    for i in range(groups.starts[g], groups.starts[g + 1]):
        k = groups.members[i]
        up, lever = placed.up[k], vec3(placed.levers, k, 0)
        turn, slide = vec3(placed.axes, k, 0), vec3(placed.axes, k, 3)
        inside = up != outside
        put3(room.reach, k, 0, plus(lever, vec3(room.reach, up, 0)) if inside else lever)
        add3(alpha, k, 0, scaled(free.gamma[k], turn))
        add3(alpha, k, 3, scaled(free.gamma[k], slide))
        if inside:
            add_moved(alpha, up, lever, alpha, k)
        for j in range(free.sizes[g]):
            row = k * width + j
            put3(room.H, row, 0, scaled(free.basis[k, j], turn))
            put3(room.H, row, 3, scaled(free.basis[k, j], slide))
            if inside:
                add_moved(room.H, up * width + j, lever, room.H, row)


@kernel
def gather(
    groups: Aggregates,
    placed: Placed,
    free: Freedom,
    g: int,
    P: Array,
    forces: Array,
    tau: Array,
    alpha: Array,
    room: Room,
) -> None:
    """D, Phi and D nu of an aggregate; bias forces of its links with what A_k needs."""
    width, d = free.basis.shape[1], free.sizes[g]
    first = groups.members[groups.starts[g]]
    for j in range(d):
        room.nu[first, j] = 0.0
        for e in range(6):
            room.Phi[first * width + j, e] = 0.0
        for other in range(d):
            room.D[j, other] = 0.0
    for i in range(groups.starts[g], groups.starts[g + 1]):
        k = groups.members[i]
        moment, force = response(P, k, alpha, k)
        add3(forces, k, 0, moment)
        add3(forces, k, 3, force)
        effort = tau[k] - placed.armature[k] * free.gamma[k]
        for j in range(d):
            row = k * width + j
            moment, force = response(P, k, room.H, row)
            put3(room.U, row, 0, moment)
            put3(room.U, row, 3, force)
            add_shifted(moment, force, vec3(room.reach, k, 0), room.Phi, first * width + j)
            room.nu[first, j] += free.basis[k, j] * effort - product(room.H, row, forces, k)
            for other in range(j + 1):
                own = free.basis[k, j] * free.basis[k, other] * placed.armature[k]
                room.D[j, other] += own + product(room.H, k * width + other, room.U, row)


@kernel
def factor(D: Array, d: int) -> bool:
    """Cholesky factor of the first d rows, in the lower triangle; whether there is one."""
    for i in range(d):
        own = D[i, i]
        for j in range(i + 1):
            rest = D[i, j]
            for k in range(j):
                rest -= D[i, k] * D[j, k]
            if i > j:
                D[i, j] = rest / D[j, j]
            elif rest > _SINGULAR * own:
                D[i, i] = math.sqrt(rest)
            else:
                return False
    return True


@kernel
def answer(groups: Aggregates, free: Freedom, g: int, room: Room) -> None:
    """From D nu and Phi: nu and the gains D^-1 Phi*, seven columns by the factor of D."""
    first, d = groups.members[groups.starts[g]], free.sizes[g]
    top = first * free.basis.shape[1]
    for i in range(d):
        for e in range(6):
            room.gains[top + i, e] = room.Phi[top + i, e]
    for step in range(2 * d):
        back = step >= d
        i = 2 * d - 1 - step if back else step
        for k in range(i + 1 if back else 0, d if back else i):
            weight = room.D[k, i] if back else room.D[i, k]
            room.nu[first, i] -= weight * room.nu[first, k]
            for e in range(6):
                room.gains[top + i, e] -= weight * room.gains[top + k, e]
        room.nu[first, i] /= room.D[i, i]
        for e in range(6):
            room.gains[top + i, e] /= room.D[i, i]


@kernel
def pass_on(groups: Aggregates, free: Freedom, g: int, P: Array, forces: Array, room: Room) -> None:
    """What an aggregate adds to the inertia and the bias force of its parent."""
    first, parent = groups.members[groups.starts[g]], groups.parents[g]
    for i in range(groups.starts[g], groups.starts[g + 1]):
        k = groups.members[i]
        lever = vec3(room.reach, k, 0)
        add_shifted(vec3(forces, k, 0), vec3(forces, k, 3), lever, forces, parent)
        for e in range(6):  # the rows of P phi*
            turn, slide = vec3(P, 6 * k + e, 0), vec3(P, 6 * k + e, 3)
            put3(room.shift, e, 0, plus(turn, cross(lever, slide)))
            put3(room.shift, e, 3, slide)
        for e in range(6):  # phi times its columns
            turn, slide = column(room.shift, 0, e), column(room.shift, 3, e)
            add_shifted(turn, slide, lever, P, 6 * parent + e)
    for j in range(free.sizes[g]):
        row = first * free.basis.shape[1] + j
        for e in range(6):
            forces[parent, e] += room.Phi[row, e] * room.nu[first, j]
            for f in range(6):
                P[6 * parent + e, f] -= room.Phi[row, e] * room.gains[row, f]


@kernel
def scatter(
    groups: Aggregates, free: Freedom, g: int, alpha: Array, base: Vec3, room: Room, a: Array
) -> None:
    """Accelerations of an aggregate's links and joints from that of its parent."""
    width, outside = free.basis.shape[1], groups.parents[g]
    first = groups.members[groups.starts[g]]
    for j in range(free.sizes[g]):
        row = first * width + j
        if outside < 0:
            room.nu[first, j] -= dot(vec3(room.gains, row, 3), base)
        else:
            room.nu[first, j] -= product(room.gains, row, alpha, outside)
    for i in range(groups.starts[g], groups.starts[g + 1]):
        k = groups.members[i]
        a[k] = free.gamma[k]
        if outside < 0:
            add3(alpha, k, 3, base)
        else:
            add_moved(alpha, outside, vec3(room.reach, k, 0), alpha, k)
        for j in range(free.sizes[g]):
            rate = room.nu[first, j]
            a[k] += free.basis[k, j] * rate
            for e in range(6):
                alpha[k, e] += rate * room.H[k * width + j, e]
