"""What the steps before did: where the next one begins to look for its middle velocity.

Accelerations of the smooth part and of contacts are kept apart, each with its backward differences

    d_0 = a1,    d_1 = a1 - a2,    d_2 = a1 - 2 a2 + a3,    ...

of steps of one length. The polynomial through the last p of them says d_0 + ... + d_(p-1) of the
next one, and so would have been wrong about the last one by d_p: the smallest difference tells
the order that foresees best. Motion that a step resolves well has high ones (a pendulum of twelve
links that whirls: 7, at which one evaluation settles a step that takes three with a parabola), and
low ones where forces jump.

What sticks or rolls swings besides: a part of contacts' accelerations changes its sign with every
step, and each difference of it is twice the one before. It is foreseen as d_0 + d_1 + c d_2, or
with one more, where d_2 was c times what it was a step before.

Where lengths differ, a straight line between the middles of steps of lengths s, s1, s2 has to do,
d_0 + d_1 (s + s1) / (s1 + s2), and d_0 alone far from them. Linear accelerations of free bodies are
kept in world axes, which do not turn. An impact ends what came before it, but contacts are thought
to push after it as they did. Only how fast the middle
velocity is found depends on the past, not where.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.vectors import (
    copy_into,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import arrive_together
from spatialops.simulation.stepping.tables import Tables

EQUAL = 1e-9  # relative: lengths of steps that differ by rounding
_FIRST_SWING = 2  # difference, and
_SWINGS = 2  # how many, that may be a share of what they were: of swings about lines and parabolas
_FARTHEST = 4.0  # lengths of the last two pieces that a line through them is followed for


@merged
def forget_past(t: Tables) -> None:
    """Motion is not smooth here."""
    begin_after_impulse(t)
    t.control[at.PUSHES] = 0
    t.vectors[at.PUSHED_BEFORE] = 0.0
    t.vectors[at.TAU_BEFORE] = 0.0


@merged
def begin_after_impulse(t: Tables) -> None:
    """Motion is not smooth here, and contacts have pushed: they will as they did before."""
    t.control[at.PAST] = 0
    t.control[at.PUSHES] = 1
    t.monitor[at.LENGTHS_BEFORE] = 0.0
    t.monitor[at.LENGTHS_BEFORE + 1] = 0.0
    t.monitor[at.CURVATURE] = 0.0
    t.vectors[at.PUSHED_BEFORE + 1 : at.PUSHED_BEFORE + at.REMEMBERED] = 0.0


@kernel
def turn_linear(tree: IntArray, q: Array, v: Array, to_world: bool) -> None:
    """Linear components of free bodies from body axes at `q` to world axes, or back, in place."""
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] != layout.POSE:
            continue
        i = tree[k, layout.FIRST_Q] + 3
        rotation = rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3])
        x = (v[k + 3], v[k + 4], v[k + 5])
        v[k + 3], v[k + 4], v[k + 5] = rotate(rotation, x) if to_world else rotate_back(rotation, x)


@merged
def is_equal(t: Tables) -> bool:
    """Whether the present piece is as long as the one before."""
    s = t.monitor[at.PIECE]
    return abs(s - t.monitor[at.LENGTHS_BEFORE]) <= EQUAL * s


@merged
def remember(t: Tables) -> None:
    """The piece that has been evaluated is the past of the next one.

    What arrives in the middle of a piece that was cut is an impulse, no acceleration: over a
    longer piece it would be foreseen as many of them.
    """
    cut = t.monitor[at.PIECE] < (1.0 - EQUAL) * t.settings[at.DT]
    if cut and (arrive_together(t) or t.control[at.PIECES] == at.MAX_PIECES):
        begin_after_impulse(t)
        return
    known = min(t.control[at.PAST] + 1, at.REMEMBERED) if is_equal(t) else 1
    if known != t.control[at.PAST]:
        t.control[at.STIRRED] = 1
    t.control[at.PAST] = known
    t.monitor[at.LENGTHS_BEFORE + 1] = t.monitor[at.LENGTHS_BEFORE]
    t.monitor[at.LENGTHS_BEFORE] = t.monitor[at.PIECE]
    t.control[at.SMOOTH_ORDER] = put_before(t, at.SMOOTH_BEFORE, at.DV)
    t.monitor[at.CURVATURE] = t.monitor[at.SQUARES + 2] if known > 2 else 0.0
    left = t.control[at.PUSHES]
    t.control[at.PUSHES] = at.REMEMBERED if t.control[at.ACTING] > 0 else max(left - 1, 0)
    if t.control[at.PUSHES] != left:
        t.control[at.STIRRED] = 1
    if t.control[at.ACTING] > 0 or left > 0:
        t.control[at.PUSHED_ORDER] = put_pushes(t)
        curvature = whole_curvature(t, known > 3 and left > 0)
        if known > 2:
            t.monitor[at.CURVATURE] = curvature


@merged
def remember_forces(t: Tables) -> None:
    """Joint forces of the step that is done: those that are held need not settle as new ones."""
    if t.control[at.PUSHES] == 0:
        return
    for k in range(t.v.size):
        if t.vectors[at.TAU_BEFORE, k] != t.tau[k]:
            t.control[at.STIRRED] = 1
            t.vectors[at.TAU_BEFORE, k] = t.tau[k]


@kernel
def put_before(t: Tables, first: int, change: int) -> int:
    """Row `change` of velocities as the newest acceleration of the rows from `first` on.

    Returns how many of them continue it best; the squares of all are left in the monitors.
    """
    nv, known = t.v.size, max(t.control[at.PAST], 2)
    fresh = t.vectors[at.ACC, :nv]
    rate = 1.0 / t.monitor[at.PIECE]
    for k in range(nv):
        fresh[k] = rate * t.vectors[change, k]
    turn_linear(t.tree, t.vectors[at.Q_E], fresh, True)
    squares = t.monitor[at.SQUARES : at.SQUARES + known]
    if renew_differences(t.vectors[first : first + known], fresh, t.work, squares) != 0.0:
        t.control[at.STIRRED] = 1
    if t.control[at.PAST] <= 2:  # nothing tells yet
        return t.control[at.PAST]
    order = 1
    for j in range(2, known):
        if squares[j] < squares[order]:
            order = j
    return order


@kernel
def put_pushes(t: Tables) -> int:
    """What contacts did as the newest of their accelerations; how many rows continue it best.

    What swings is foreseen with a share of the next difference, if the share of the piece before
    had been better.
    """
    nv = t.v.size
    rows = t.vectors[at.PUSHED_BEFORE + _FIRST_SWING : at.PUSHED_BEFORE + _FIRST_SWING + _SWINGS]
    old = t.vectors[at.SWUNG : at.SWUNG + _SWINGS]
    for j in range(_SWINGS):
        copy_into(old[j, :nv], rows[j, :nv])
    order = put_before(t, at.PUSHED_BEFORE, at.DVC)
    least = t.monitor[at.SQUARES + order]
    t.monitor[at.PUSHED_SHARE] = 0.0
    for j in range(min(_SWINGS, t.control[at.PAST] - _FIRST_SWING - 1)):
        square = product = before = 0.0
        for k in range(nv):
            inertia = 1.0 / t.work[k, layout.D_INVERSE]
            square += inertia * rows[j, k] * rows[j, k]
            product += inertia * rows[j, k] * old[j, k]
            before += inertia * old[j, k] * old[j, k]
        share = t.monitor[at.SHARES + j]
        left = square - share * (2.0 * product - share * before)
        share = min(max(product / before, -1.0), 1.0) if before > 0.0 else 0.0
        t.monitor[at.SHARES + j] = share
        if left < least:
            least, order = left, _FIRST_SWING + j
            t.monitor[at.PUSHED_SHARE] = share
    return order


@kernel
def whole_curvature(t: Tables, goes_on: bool) -> float:
    """Square of the second difference of whole accelerations, contacts' with smooth ones.

    Where that of the piece before is known, of the mean of both: what swings cancels in it.
    """
    total = 0.0
    for k in range(t.v.size):
        second = t.vectors[at.SMOOTH_BEFORE + 2, k] + t.vectors[at.PUSHED_BEFORE + 2, k]
        before = t.vectors[at.WHOLE_BEFORE, k] if goes_on else second
        t.vectors[at.WHOLE_BEFORE, k] = second
        mean = 0.5 * (second + before)
        total += mean * mean / t.work[k, layout.D_INVERSE]
    return total


@kernel
def renew_differences(rows: Array, fresh: Array, work: Array, squares: Array) -> float:
    """Backward differences with `fresh` as the newest value; by how much all of them have moved.

    `squares` are theirs, in the metric of the links' articulated inertias.
    """
    moved = 0.0
    for j in range(squares.size):
        squares[j] = 0.0
    for k in range(fresh.size):
        value, inertia = fresh[k], 1.0 / work[k, layout.D_INVERSE]
        for j in range(squares.size):
            before = rows[j, k]
            moved += abs(value - before)
            rows[j, k] = value
            squares[j] += inertia * value * value
            value -= before
    return moved


@kernel
def foresee(t: Tables, first: int, order: int, share: float, out: Array) -> None:
    """Change of velocity over the piece as the past of it goes on, in the axes of Q_E.

    To `order` differences is added a share of the next one. Where nothing is known, as after an
    impulse, contacts push as they did last.
    """
    s, known = t.monitor[at.PIECE], t.control[at.PAST]
    last, before = t.monitor[at.LENGTHS_BEFORE], t.monitor[at.LENGTHS_BEFORE + 1]
    if known >= 2 and is_equal(t):
        for k in range(out.size):
            out[k] = 0.0
        for j in range(order):  # rows lie side by side: eight sums at a time
            for k in range(out.size):
                out[k] += t.vectors[first + j, k]
        if share != 0.0:
            for k in range(out.size):
                out[k] += share * t.vectors[first + order, k]
        for k in range(out.size):
            out[k] = s * out[k]
    else:
        share = (s + last) / (last + before) if before > 0.0 else 0.0
        if share > _FARTHEST:
            share = 0.0
        if known == 0 and first == at.SMOOTH_BEFORE:
            s = 0.0
        for k in range(out.size):
            out[k] = s * (t.vectors[first, k] + share * t.vectors[first + 1, k])
    turn_linear(t.tree, t.vectors[at.Q_E], out, False)
