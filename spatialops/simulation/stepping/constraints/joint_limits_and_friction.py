"""Stops and dry friction of joints within a step.

A stop is a contact: its normal row is +-e_k, the rate of its gap q_k - lower or upper - q_k, and
nothing acts sideways. Dry friction tau_f is one too: its tangent is e_k, it has no normal, and it
resists with at most tau_f times the length of the piece. Both take the last rows of the table of
contacts, so that impacts, the time of impact, projection of positions, other formulations and laws
treat them as they treat contacts. In an impact, which takes no time, dry friction has no impulse.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.vectors import copy_into, cross, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import FULL
from spatialops.collision.pair_runs import count_pairs
from spatialops.dynamics.kinematics import axis_of
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables


@merged
def has_joints(t: Tables) -> bool:
    """Whether any joint has a stop or dry friction."""
    return t.joint_ints.shape[0] > 0


@merged
def of_joint(t: Tables, pair: int) -> bool:
    """Whether a pair is not one of geoms."""
    return pair >= count_pairs(t.pair_runs)


@merged
def n_of_geoms(t: Tables) -> int:
    """How many of the acting contacts are of geoms.

    Those of joints come after them, and moments last.
    """
    m = t.control[at.ACTING] - t.control[at.MOMENTS]
    while m > 0 and of_joint(t, t.ints[m - 1, col.CONTACT_PAIR]):
        m -= 1
    return m


@merged
def gap_of(t: Tables, j: int, q: Array) -> float:
    """Gap of stop j, rad or m."""
    return t.joint_floats[j, at.JOINT_SIDE] * (
        q[t.joint_ints[j, at.JOINT_Q]] - t.joint_floats[j, at.JOINT_LIMIT]
    )


@kernel
def stop_gap(t: Tables, pair: int, q: Array) -> float:
    """Gap of the stop that stands for a pair."""
    return gap_of(t, pair - count_pairs(t.pair_runs), q)


@kernel
def joint_contacts(t: Tables, q: Array, v: Array, horizon: float, count: int) -> int:
    """Add stops that are near, now or within the horizon, to `count` contacts seen.

    With a horizon also all dry friction.

    Poses must be in `work`. Returns how many there are (FULL if too many, or if `count` says so).
    """
    if count < 0:
        return count
    for j in range(t.joint_ints.shape[0]):
        k = t.joint_ints[j, at.JOINT_LINK]
        kind = t.joint_ints[j, at.JOINT_KIND]
        side = t.joint_floats[j, at.JOINT_SIDE]
        gap, reach = gap_of(t, j, q), t.settings[at.MARGIN] + t.monitor[at.REACH]
        if (kind == col.STOP and gap > reach and gap + horizon * side * v[k] > reach) or (
            kind == col.DRY and horizon == 0.0
        ):
            continue
        if count == t.seen_ints.shape[0]:
            return FULL
        put_joint(t, j, count, 0.0 if kind == col.DRY else gap)
        rates = joint_rates(t, j, v)
        put3(t.seen, count, col.APPROACH, (rates[0], rates[1], 0.0))
        count += 1
    return count


@merged
def put_joint(t: Tables, j: int, i: int, gap: float) -> None:
    """Row i of the contacts seen: stop or dry friction j."""
    k, kind = t.joint_ints[j, at.JOINT_LINK], t.joint_ints[j, at.JOINT_KIND]
    t.seen_ints[i, col.CONTACT_PAIR] = count_pairs(t.pair_runs) + j
    t.seen_ints[i, col.CONTACT_A], t.seen_ints[i, col.CONTACT_B] = k, t.tree[k, layout.PARENT]
    t.seen_ints[i, col.CONTACT_FEATURE_A], t.seen_ints[i, col.CONTACT_FEATURE_B] = kind, 0
    axis = axis_of(t.tree, t.work, k)
    x = abs(axis[0])
    y = abs(axis[1])
    z = abs(axis[2])
    across = cross(
        axis,
        (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0),
    )
    length = math.sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2])
    across = scaled(1.0 / length, across)
    normal, tangent = scaled(t.joint_floats[j, at.JOINT_SIDE], axis), across
    if kind == col.DRY:
        normal, tangent = across, axis
    put3(t.seen, i, col.POINT, vec3(t.work, k, layout.ORIGIN))
    put3(t.seen, i, col.NORMAL, normal)
    put3(t.seen, i, col.TANGENT, tangent)
    put3(t.seen, i, col.SECOND, cross(normal, tangent))
    t.seen[i, col.GAP] = gap
    t.seen[i, col.MU] = 0.0
    t.seen[i, col.RESTITUTION] = t.joint_floats[j, at.JOINT_RESTITUTION]


@inlined
def joint_rates(t: Tables, j: int, v: Array) -> tuple[float, float]:
    """Rates of stop or dry friction j along its normal and its tangent, at joint velocities v."""
    rate = v[t.joint_ints[j, at.JOINT_LINK]]
    dry = t.joint_ints[j, at.JOINT_KIND] == col.DRY
    return t.joint_floats[j, at.JOINT_SIDE] * rate, rate if dry else 0.0


@kernel
def put_joint_speeds(t: Tables, first: int, count: int, v: Array) -> None:
    """Rates of acting stops and dry frictions, rows `first` to `count`, at joint velocities v."""
    for i in range(first, count):
        rates = joint_rates(t, t.ints[i, col.CONTACT_PAIR] - count_pairs(t.pair_runs), v)
        t.floats[i, col.APPROACH], t.floats[i, col.APPROACH + 1] = rates


@kernel
def put_dry_limits(t: Tables, m: int) -> None:
    """The impulses up to which dry friction resists in the present piece.

    None in an impact (no piece: m is 0).
    """
    for i in range(t.dry.size):
        t.dry[i] = 0.0
    for i in range(m):
        if t.ints[i, col.CONTACT_FEATURE_A] == col.DRY:
            t.dry[i] = (
                t.joint_floats[
                    t.ints[i, col.CONTACT_PAIR] - count_pairs(t.pair_runs), at.JOINT_LIMIT
                ]
                * t.monitor[at.PIECE]
            )


@kernel
def find_used(t: Tables, m: int) -> int:
    """Rows of the LCP of m contacts that do something, into `used`; how many.

    Of a stop the normal alone; of dry friction the two directions along the joint, and its rate.
    """
    nf, count = t.facets.shape[0], 0
    width = nf + 1
    for i in range(m):
        kind = t.ints[i, col.CONTACT_FEATURE_A]
        for a in range(width):
            along = a == 1 or a == 1 + nf // 2
            if (kind != col.STOP or a == 0) and (kind != col.DRY or along):
                t.used[count] = width * i + a
                count += 1
    for i in range(m):
        if t.ints[i, col.CONTACT_FEATURE_A] != col.STOP:
            t.used[count] = width * m + i
            count += 1
    return count


@kernel
def squeeze(t: Tables, n: int, count: int) -> None:
    """Leave only the used rows and columns of A and entries of b.

    In place, since they move towards the front.
    """
    for i in range(count):
        t.b[i] = t.b[t.used[i]]
        for j in range(count):
            t.A[count * i + j] = t.A[n * t.used[i] + t.used[j]]


@kernel
def unsqueeze(t: Tables, n: int, count: int) -> None:
    """Put z back in its place among n rows; idle ones are zero."""
    last = count - 1
    for i in range(n - 1, -1, -1):
        if last >= 0 and t.used[last] == i:
            t.z[i] = t.z[last]
            last -= 1
        else:
            t.z[i] = 0.0


@inlined
def along_joint(t: Tables, j: int, normal: float, tangent: float) -> float:
    """What impulses of stop or dry friction j are along the joint: a stop pushes to its side."""
    if t.joint_ints[j, at.JOINT_KIND] == col.DRY:
        return tangent
    return t.joint_floats[j, at.JOINT_SIDE] * normal


@kernel
def sum_joints(t: Tables, share: float, before: Array, after: Array) -> None:
    """Add a share of joints' impulses, and their work p (v- + v+) / 2, to what the record keeps."""
    for i in range(n_of_geoms(t), t.control[at.ACTING] - t.control[at.MOMENTS]):
        k, j = t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_PAIR] - count_pairs(t.pair_runs)
        dry = t.joint_ints[j, at.JOINT_KIND] == col.DRY
        p = share * along_joint(t, j, t.floats[i, col.IMPULSE], t.floats[i, col.IMPULSE + 1])
        t.joint_sums[at.DRY_SUM if dry else at.STOP_SUM, k] += p
        t.joint_sums[at.WORK_SUM, k] += 0.5 * p * (before[k] + after[k])


@kernel
def write_joint_sums(t: Tables, row: int) -> None:
    """The sums into a row of the record; they start anew."""
    for s in range(t.joint_sums.shape[0]):
        copy_into(t.row_joints[row, s], t.joint_sums[s])
        for k in range(t.joint_sums.shape[1]):
            t.joint_sums[s, k] = 0.0
