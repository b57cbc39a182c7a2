"""Impulses that dissipate most, compiled: `laws.max_dissipation` of plain contacts.

The polyhedron of friction is spanned by its edges, p = E a with a >= 0. Of the program

    min |v+|_M^2 / 2   over   p = E a,  a >= 0,  N v+ >= 0

the last rows follow from the conditions of the others, 0 <= a _|_ E^T v+ >= 0: opposite edges add
up to the normal. What is left is a problem of normals alone, which principal pivoting solves on the
rows E^T L.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.algebra.vectors import dot
from spatialops.contact.laws.law import TOLERANCE
from spatialops.contact.laws.pivoting import MET, MOST
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import (
    UNSOLVED,
    largest,
    largest_compliance,
)
from spatialops.control.inverse_dynamics.compiled.pivoting import pivot_from
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_speeds
from spatialops.control.inverse_dynamics.compiled.turning import turn_back, turning
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round

# the friction that is counted on where there is more: cones of the program end where mu does
ROUGH = 1.0
PARTS = 1e-6  # of the largest velocity: contacts that move apart faster than that part
_ROUNDING = 2.0**-52


@kernel
def solve_dissipation(
    posture: Posture,
    others: IntArray,
    at: Round,
    released: bool,
    corners: Array,
    active: IntArray,
    scratch: Array,
    ints: IntArray,
) -> tuple[int, float]:
    """As `solve_cone`; `released`: contacts that part lose their friction.

    Those of feet that are lifted do in any case. `active` has the number of edges that pushed last,
    and which.
    """
    m = at.slip.size
    n_f = corners.shape[0]
    count = m * n_f
    friction = scratch[:m]
    edges = matrix(scratch, m, count, 3)
    begin = m + 3 * count
    rows = matrix(scratch, begin, count, others.size)
    begin += count * others.size
    speeds = scratch[begin : begin + count]
    lengths = scratch[begin + count : begin + 2 * count]
    push = scratch[begin + 2 * count : begin + 3 * count]
    rest = scratch[begin + 3 * count :]
    for i in range(m):
        friction[i] = posture.place[i, of.MU]
        if released:
            friction[i] = min(friction[i], ROUGH)
    taken = 0
    size = largest(at.u)
    while True:
        put_edges(posture, at, friction, corners, edges, rows, speeds, lengths)
        if active[0] > 0 and active[active[0]] >= count:
            active[0] = 0  # of more contacts
        pivots = pivot_from(rows, speeds, (lengths, size, MET), MOST, active, push, rest, ints)
        if pivots < 0:
            return taken, UNSOLVED
        taken += pivots
        put_sums(edges, push, n_f, at.p)
        put_after(posture, others, at, at.p, at.after)
        put_speeds(posture, at.after, at.then)
        if not lets_go(posture.names, at, released, PARTS * size, friction):
            break
    residual = judged(posture, at, edges, push, n_f)
    return taken, residual if residual <= TOLERANCE else UNSOLVED


@inlined
def put_edges(
    posture: Posture,
    at: Round,
    friction: Array,
    corners: Array,
    edges: Array,
    rows: Array,
    speeds: Array,
    lengths: Array,
) -> None:
    """Edges along the frames of rows, their rows, velocities, and lengths of rows."""
    n_f = corners.shape[0]
    for i in range(at.slip.size):
        turn = turning(posture.place, i)
        own = (at.u[3 * i], at.u[3 * i + 1], at.u[3 * i + 2])
        for j in range(n_f):
            e = i * n_f + j
            edge = edges[e]
            edge[0] = 1.0
            edge[1] = friction[i] * corners[j, 0]
            edge[2] = friction[i] * corners[j, 1]
            turn_back(turn, edge, edge, 0)
            along = (edge[0], edge[1], edge[2])
            speeds[e] = dot(along, own)
            square = 0.0
            for c in range(rows.shape[1]):
                entry = 0.0
                for r in range(3):
                    entry += edge[r] * posture.reach[3 * i + r, c]
                rows[e, c] = entry
                square += entry * entry
            lengths[e] = math.sqrt(square)


@inlined
def put_sums(edges: Array, push: Array, n_f: int, p: Array) -> None:
    """Impulses of contacts: sums over their edges."""
    for i in range(p.size // 3):
        for c in range(3):
            total = 0.0
            for e in range(i * n_f, (i + 1) * n_f):
                total += push[e] * edges[e, c]
            p[3 * i + c] = total


@inlined
def lets_go(names: IntArray, at: Round, all_of_them: bool, limit: float, friction: Array) -> bool:
    """Take the friction of contacts that part under a load; whether there are any."""
    found = False
    for i in range(friction.size):
        if not (all_of_them or names[i, of.LIFTS] == 1):
            continue
        if at.then[3 * i] > limit and at.p[3 * i] > 0.0 and friction[i] > 0.0:
            friction[i] = 0.0
            found = True
    return found


@inlined
def judged(posture: Posture, at: Round, edges: Array, push: Array, n_f: int) -> float:
    """|min(s a, E^T v+)|, relative, with what large impulses hide by rounding; slips are put."""
    s = largest_compliance(posture.W)
    worst = _ROUNDING * s * largest(at.p)
    for e in range(push.size):
        i = 3 * (e // n_f)
        u = edges[e, 0] * at.then[i] + edges[e, 1] * at.then[i + 1] + edges[e, 2] * at.then[i + 2]
        worst = max(worst, abs(min(s * push[e], u)))
    for i in range(at.slip.size):
        at.slip[i] = math.hypot(at.then[3 * i + 1], at.then[3 * i + 2])
    scale = largest(at.u)
    if scale == 0.0:
        scale = s * largest(at.p)
    return worst / scale if scale > 0.0 else worst
