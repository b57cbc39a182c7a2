"""How contacts' relative velocities change by motion alone, so that conditions hold at the end.

A step asks of the contacts at its middle q_m what shall be true of the velocity u+ = G(q+) v+
at its end. To the second order in h

    u+ = G(q_m) v+ + (G(q_m) - G(q)) v:

half a step turns and moves a contact, over curved surfaces too, by as much after the middle as
before it. The relative velocities of the same contact at q and at q_m, with the velocities of the
start, are all that takes. Of a slip no change counts but that of its size where a film drags it:
dry friction acts in its direction at the middle, however fast it is, until it ends. And where it
ends, w x (w x r) of the points of a body that turns is no motion of a rigid body: were it asked
for, not all points could stick, by 1e-11 m/s where boxes creep, and what cannot stick has no forces
to 1e-9.

What rolls ends a step with a slip r of second order, since the next q_m is another. Asking for
u+ = 0 every time lets its point slip by r / 2 in the mean, and friction does work. Asking for none
in the mean, G(q_m) (v + v+) = 0, does none, but turns a slip round with every step, for ever. So
u+ = -(1 - c) u: with c = 1/4 the mean slip is r / 14, and what is turned round dies away. A disc at
5 degrees, 1 ms, then keeps its energy to 4e-7 a second, where c = 1 gives 6e-6. A pair counts as
rolling, with all of its points, where u changes by more than half of itself in half a step. Where
the line through two of them turns, c u of the start would draw them apart along where it is in the
middle, which no motion does: the rigid motion that is nearest is asked for.

What has a gap g and opens at the rate u_n when the piece begins may close by
g + h (u_n + u_n+) / 2: u_n+ >= -(2 g / h + u_n). Contacts without a name at the start have the gap
of the middle, and half of the piece for it. What a pair's points make of that together says
`gap_allowance`.
"""

from __future__ import annotations

import math

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.vectors import ZERO3, copy_into, dot, minus, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.detector import length_of, relative_velocity
from spatialops.collision.known_contacts import first_of_pair, keep_known
from spatialops.contact.newton._layout import VISCOUS
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import (
    gap_at_start,
    is_late,
    lateness,
)
from spatialops.simulation.stepping.constraints.same_contacts import row_before
from spatialops.simulation.stepping.faces import flatten_drifts, has_one_normal, is_face
from spatialops.simulation.stepping.gap_allowance import allow_gaps
from spatialops.simulation.stepping.tables import Tables

_DAMPING = 0.25  # c
# Speed of a face that hardly moves, m/s, and change of velocities by motion alone that is none
# then, m/s^2. A wall that settles is all but jammed: what motion asks of one face and not of its
# neighbours wedges forces against one another, by a thousand linear problems in place of twenty.
_CREEPING = 1e-3
_NO_DRIFT = 1e-6
_TURNED = 0.5  # change of a slip, as part of itself, that leaves it no direction of its own


@merged
def remaining_time(t: Tables) -> float:
    """Time of the piece after the state where its contacts are evaluated."""
    return t.monitor[at.PIECE] * (1.0 if t.control[at.SCHEME] == at.SEMI_IMPLICIT else 0.5)


@kernel
def note_motion(t: Tables) -> None:
    """Keep the contacts seen at the present state, whose velocities must be in `work`."""
    count = max(t.control[at.SEEN], 0) if t.control[at.SCHEME] == at.MOREAU else 0
    t.control[at.BEFORE] = count
    t.control[at.BEFORE_LOOK] = t.control[at.LOOKS] if t.control[at.SCHEME] == at.MOREAU else 0
    for i in range(count):
        a, b = t.seen_ints[i, col.CONTACT_A], t.seen_ints[i, col.CONTACT_B]
        velocity = ZERO3
        if t.seen_ints[i, col.CONTACT_FEATURE_A] >= 0:
            velocity = relative_velocity(t.work, a, b, vec3(t.seen, i, col.POINT))
        copy_into(t.before_ints[i], t.seen_ints[i])
        keep_known(t.before, i, t.seen, velocity)


@kernel
def is_slow(t: Tables, gap: float, speed: float) -> bool:
    """Whether a contact would be closed in a step by less than the threshold of impacts.

    It touches, as far as impacts are concerned: what rolls stands off by the error of a step."""
    threshold = t.settings[at.THRESHOLD]
    return gap <= threshold * t.settings[at.DT] and speed >= -threshold


@kernel
def was_slow(t: Tables, pair: int) -> bool:
    """Whether a pair had such a contact as the piece began."""
    count = t.control[at.BEFORE]
    for j in range(first_of_pair(t.before_ints, count, pair, count // 2), count):
        if t.before_ints[j, col.CONTACT_PAIR] != pair:
            return False
        if is_slow(t, t.before[j, col.KNOWN_GAP], t.before[j, col.KNOWN_SPEED]):
            return True
    return False


@kernel
def put_drift(t: Tables) -> None:
    """Drifts of the acting contacts, and OPEN; velocities at V_E must be in `work`."""
    begin = 0
    for end in range(1, t.control[at.ACTING] + 1):
        pair = t.ints[begin, col.CONTACT_PAIR]
        if end == t.control[at.ACTING] or t.ints[end, col.CONTACT_PAIR] != pair:
            put_drift_of_pair(t, begin, end)
            allow_gaps(t, begin, end)
            begin = end


@kernel
def put_drift_of_pair(t: Tables, begin: int, end: int) -> None:
    """Drifts of the acting contacts of one pair."""
    rolling = 1.0 if rolls(t, begin, end) else 0.0
    for i in range(begin, end):
        put3(t.floats, i, col.DRIFT, ZERO3)
        put3(t.floats, i, col.SLIP, slip_now(t, i))
        t.floats[i, col.MIDWAY] = 1.0 if t.control[at.SCHEME] == at.MOREAU else 0.0
        t.floats[i, col.ROLLS] = rolling
        t.floats[i, col.OPEN] = t.floats[i, col.GAP] / remaining_time(t)
        j = row_before(t, i)
        if is_late(t, i):
            put_late(t, i)
        elif changes(t, i, j):
            put_change(t, i, j)
    if is_face(t, begin, end):
        if creeps(t, begin, end):
            for i in range(begin, end):
                put3(t.floats, i, col.DRIFT, ZERO3)
        elif t.control[at.LAW] != VISCOUS:
            flatten_drifts(t, begin, end, False)
    elif rolling == 1.0 and end - begin > 1 and has_one_normal(t, begin, end):
        flatten_drifts(t, begin, end, True)


@inlined
def creeps(t: Tables, begin: int, end: int) -> bool:
    """Whether a face hardly moves, and motion alone changes its velocities by next to nothing."""
    fastest = most = 0.0
    for i in range(begin, end):
        slip, drift = vec3(t.floats, i, col.SLIP), vec3(t.floats, i, col.DRIFT)
        fastest = max(fastest, dot(slip, slip), t.floats[i, col.APPROACH] ** 2)
        most = max(most, dot(drift, drift))
    least = _NO_DRIFT * t.monitor[at.PIECE]
    return most <= least * least and fastest <= _CREEPING * _CREEPING


@inlined
def changes(t: Tables, i: int, j: int) -> bool:
    """Whether acting contact i was there as the piece began, as row j, and not deep."""
    return j >= 0 and not is_late(t, i) and t.before[j, col.KNOWN_GAP] >= -t.settings[at.DEPTH]


@kernel
def rolls(t: Tables, begin: int, end: int) -> bool:
    """Whether motion alone turns the slips of a pair's contacts, all of which were there before."""
    turned = begun = 0.0
    for i in range(begin, end):
        j = row_before(t, i)
        if t.ints[i, col.CONTACT_FEATURE_A] < 0 or not changes(t, i, j):
            return False
        slip, before = slips_of(t, i, j)
        change = minus(slip, before)
        turned += dot(change, change)
        begun += dot(before, before)
    return not turned < _TURNED * _TURNED * begun


@inlined
def slips_of(t: Tables, i: int, j: int) -> tuple[Vec3, Vec3]:
    """Slip of acting contact i now, and as the piece began, when it was row j."""
    normal, before = vec3(t.floats, i, col.NORMAL), vec3(t.before, j, col.KNOWN_VELOCITY)
    return slip_now(t, i), plus_scaled(before, -dot(normal, before), normal)


@inlined
def slip_now(t: Tables, i: int) -> Vec3:
    """Slip of acting contact i with the velocities of V_E; none of a joint."""
    if t.ints[i, col.CONTACT_FEATURE_A] < 0:
        return ZERO3
    normal = vec3(t.floats, i, col.NORMAL)
    a, b = t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B]
    now = relative_velocity(t.work, a, b, vec3(t.floats, i, col.POINT))
    return plus_scaled(now, -dot(normal, now), normal)


@kernel
def put_late(t: Tables, i: int) -> None:
    """What the gap of acting contact i leaves free where the first of its island arrives at x.

    u+ >= -(g + x h u) / ((1 - x) h), with the gap g as the piece began.
    """
    if t.control[at.SCHEME] != at.MOREAU:
        return
    rest = 0.5 * lateness(t, i)
    h = t.monitor[at.PIECE]
    left = gap_at_start(t, i) + (1.0 - rest) * h * t.floats[i, col.APPROACH]
    t.floats[i, col.OPEN] = left / (rest * h)


@kernel
def put_change(t: Tables, i: int, j: int) -> None:
    """Drift of acting contact i, which was row j as the piece began."""
    normal, speed = vec3(t.floats, i, col.NORMAL), t.before[j, col.KNOWN_SPEED]
    t.floats[i, col.OPEN] = 2.0 * t.before[j, col.KNOWN_GAP] / t.monitor[at.PIECE] + speed
    if t.ints[i, col.CONTACT_FEATURE_A] < 0:  # a joint's rows do not turn
        return
    slip, begun = slips_of(t, i, j)
    change = ZERO3
    if t.floats[i, col.ROLLS] == 1.0:
        change = minus(slip, scaled(_DAMPING, begun))  # of rigid bodies: all contacts agree on it
    elif is_dragged(t, i):
        change = scaled(1.0 - length_of(begun) / length_of(slip), slip)
    along = t.floats[i, col.APPROACH] - speed
    put3(t.floats, i, col.DRIFT, plus_scaled(change, along, normal))


@inlined
def is_dragged(t: Tables, i: int) -> bool:
    """Whether friction of acting contact i depends on how fast it slips."""
    return t.control[at.LAW] == VISCOUS and t.floats[i, col.MU] != math.inf


@inlined
def add_drift(t: Tables) -> None:
    """Add drifts, and what gaps leave free, to the velocities of the problem."""
    for i in range(t.control[at.ACTING]):
        drift = vec3(t.floats, i, col.DRIFT)
        for j in range(3):
            t.u[3 * i + j] += dot(drift, vec3(t.floats, i, col.NORMAL + 3 * j))
        t.u[3 * i] += t.floats[i, col.OPEN]
