"""What the steps before did: where the next one begins to look for its middle velocity.

Accelerations of the smooth part and of contacts are kept apart, those of the last three steps, and
continued to the middle of the next one: on a parabola, 3 a1 - 3 a2 + a3, where all were as long as
the next; else on a straight line, a1 + (a1 - a2) (s + s1) / (s1 + s2), between the middles of steps
of lengths s, s1, s2. Linear ones of free bodies are kept in world axes, which do not turn. An
impact ends what came before it. Only how fast the middle velocity is found depends on the past, not
where.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.vectors import (
    rotate,
    rotate_back,
    rotation_from_quaternion,
)
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

_REMEMBERED = 3  # steps
_EQUAL = 1e-9  # relative: lengths of steps that differ by rounding


@merged
def forget_past(t: Tables) -> None:
    """Motion is not smooth here."""
    t.control[at.PAST] = 0
    t.control[at.PUSHES] = 0
    t.vectors[at.PUSHED_BEFORE : at.PUSHED_BEFORE + _REMEMBERED] = 0.0


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


@kernel
def remember(t: Tables) -> None:
    """The piece that has been evaluated is the past of the next one."""
    nv = t.v.size
    s = t.monitor[at.PIECE]
    for i in range(at.LENGTHS_BEFORE + 2, at.LENGTHS_BEFORE, -1):
        t.monitor[i] = t.monitor[i - 1]
    t.monitor[at.LENGTHS_BEFORE] = s
    t.control[at.PAST] = min(t.control[at.PAST] + 1, _REMEMBERED)
    put_before(t, at.SMOOTH_BEFORE, t.vectors[at.DV, :nv])
    left = t.control[at.PUSHES]
    t.control[at.PUSHES] = _REMEMBERED if t.control[at.ACTING] > 0 else max(left - 1, 0)
    if t.control[at.ACTING] > 0 or left > 0:
        put_before(t, at.PUSHED_BEFORE, t.vectors[at.DVC, :nv])


@kernel
def put_before(t: Tables, newest: int, change: Array) -> None:
    """A change of velocity as the newest of three rows of accelerations."""
    rate = 1.0 / t.monitor[at.PIECE]
    for k in range(change.size):
        t.vectors[newest + 2, k] = t.vectors[newest + 1, k]
        t.vectors[newest + 1, k] = t.vectors[newest, k]
        t.vectors[newest, k] = rate * change[k]
    turn_linear(t.tree, t.vectors[at.Q_E], t.vectors[newest], True)


@merged
def weights(t: Tables) -> tuple[float, float, float]:
    """What the accelerations before are taken with, the newest first."""
    s, known = t.monitor[at.PIECE], t.control[at.PAST]
    last, before = t.monitor[at.LENGTHS_BEFORE], t.monitor[at.LENGTHS_BEFORE + 1]
    if known < 2:
        return float(known), 0.0, 0.0
    apart = abs(s - last) + abs(s - before) + abs(s - t.monitor[at.LENGTHS_BEFORE + 2])
    if known == _REMEMBERED and apart <= _EQUAL * s:
        return 3.0, -3.0, 1.0
    share = (s + last) / (last + before)
    return 1.0 + share, -share, 0.0


@kernel
def foresee(t: Tables, newest: int, out: Array) -> None:
    """Change of velocity over the piece as the past of it goes on, in the axes of Q_E."""
    s = t.monitor[at.PIECE]
    first, second, third = weights(t)
    for k in range(out.size):
        line = first * t.vectors[newest, k] + second * t.vectors[newest + 1, k]
        out[k] = s * (line + third * t.vectors[newest + 2, k])
    turn_linear(t.tree, t.vectors[at.Q_E], out, False)
