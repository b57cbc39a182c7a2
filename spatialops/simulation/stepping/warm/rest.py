"""What rests, found exactly: it stays where it is to the bit, and is not computed again.

What contacts do is known to a tolerance of the fastest of them. A tree on contacts comes to rest
where its velocities at the end of a piece are a tenth of that, or less, of what contacts took from
it, or from another that it touches: a box is held as exactly as light fingers are stopped on it.
They are made none, and what began the piece without velocities stays where it is: else what is left
of the weight, 1e-13 of it or so, would move it by 1e-20 m a step for ever.

A step is a function of the state, of what acts, and of what is remembered: forces of contacts
under their names, accelerations of the steps before, activations, contacts that were seen. Where
several steps in a row have changed nothing of that, not a bit, neither does the next one. It is
counted and recorded as if it had been made. Whatever else then comes from outside, a force, a
control, a wrench, another state, is compared with what there was, and steps are made again.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    sum_joints,
)
from spatialops.simulation.stepping.constraints.loop_constraints import has_loops
from spatialops.simulation.stepping.detection_stage import lowest_gap
from spatialops.simulation.stepping.integrators.flow import flow_to
from spatialops.simulation.stepping.tables import Tables

_SHARE = 0.1  # of the tolerance
# Steps that change nothing before the next one is known: what was seen at the end of one is what
# the next one begins with, and all that is remembered has been written anew by then.
_ENOUGH = 3


@merged
def begin_watching(t: Tables) -> None:
    """Nothing has changed in this step yet."""
    alone = t.control[at.EXTERNAL] == 1 or has_loops(t)  # those have memories of their own
    t.control[at.STIRRED] = 1 if alone else 0


@merged
def flow_to_end(t: Tables) -> None:
    """The end of the piece, where what has next to no velocity is stopped."""
    flow_to(t, 1.0)
    if t.control[at.ACTING] > 0 and not has_loops(t):
        come_to_rest(t, t.vectors[at.Q_X, : t.q.size], t.vectors[at.V_X, : t.v.size])


@kernel
def come_to_rest(t: Tables, q_x: Array, v_x: Array) -> None:
    """Stop the trees whose velocities at the end of the piece are next to nothing."""
    nv, taken = t.v.size, t.vectors[at.ACC]
    put_taken(t, taken)
    for i in range(t.trees.size - 1):
        first, end = t.trees[i], t.trees[i + 1]
        if not is_stopped(t, i, v_x, taken[i]):
            continue
        began = False
        for k in range(first, end):
            v_x[k] = 0.0
            began = began or t.v[k] != 0.0
        if began:
            continue
        last_q = t.tree[end, layout.FIRST_Q] if end < nv else t.q.size
        for k in range(t.tree[first, layout.FIRST_Q], last_q):
            q_x[k] = t.q[k]


@inlined
def put_taken(t: Tables, taken: Array) -> None:
    """What contacts took from every tree, or from another that it touches, the most."""
    for i in range(t.trees.size - 1):
        taken[i] = square_of(t, i, t.vectors[at.DVC])
    for c in range(t.control[at.ACTING]):
        a, b = t.ints[c, col.CONTACT_A], t.ints[c, col.CONTACT_B]
        if a < 0 or b < 0 or t.tree_of[a] == t.tree_of[b]:
            continue
        i, j = t.tree_of[a], t.tree_of[b]
        taken[i] = max(taken[i], square_of(t, j, t.vectors[at.DVC]))
        taken[j] = max(taken[j], square_of(t, i, t.vectors[at.DVC]))


@inlined
def square_of(t: Tables, i: int, v: Array) -> float:
    """Square of velocities of tree i, in the metric of the links' articulated inertias."""
    total = 0.0
    for k in range(t.trees[i], t.trees[i + 1]):
        total += v[k] * v[k] / t.work[k, layout.D_INVERSE]
    return total


@inlined
def is_stopped(t: Tables, i: int, v_x: Array, taken: float) -> bool:
    """Whether tree i has next to nothing of what contacts took."""
    share = _SHARE * t.settings[at.TOLERANCE]
    return square_of(t, i, v_x) <= share * share * taken and taken > 0.0


@kernel
def move_state(t: Tables, q_x: Array, v_x: Array) -> None:
    """The state at the end of the piece is the present one; whether it is another is noted."""
    stirred = False
    for k in range(t.q.size):
        stirred = stirred or t.q[k] != q_x[k]
        t.q[k] = q_x[k]
    for k in range(t.v.size):
        stirred = stirred or t.v[k] != v_x[k]
        t.v[k] = v_x[k]
    held = t.control[at.ACTING] == 0 or t.control[at.HOLDS] > 0
    if stirred or not held or t.control[at.REPEATS] > 0:
        t.control[at.STIRRED] = 1


@merged
def note_rest(t: Tables) -> None:
    """Count the steps that have changed nothing, and keep what acted in them."""
    t.control[at.STILL] = t.control[at.STILL] + 1 if t.control[at.STIRRED] == 0 else 0
    if t.control[at.STILL] == _ENOUGH:
        visit_inputs(t, True)
        t.monitor[at.RESTING_GAP] = lowest_gap(t)


@kernel
def visit_inputs(t: Tables, keep: bool) -> bool:
    """Whether state and inputs are those that were kept; or keep them."""
    nq, nv = t.q.size, t.v.size
    n_ctrl, n_states = t.ctrl.size, t.activation.size
    first = nq + 2 * nv
    last = first + n_ctrl + n_states
    same = visit(t.q, t.resting[:nq], keep)
    same &= visit(t.v, t.resting[nq : nq + nv], keep)
    same &= visit(t.tau, t.resting[nq + nv : first], keep)
    same &= visit(t.ctrl, t.resting[first : first + n_ctrl], keep)
    same &= visit(t.activation, t.resting[first + n_ctrl : last], keep)
    for b in range(t.wrenches.shape[0]):
        same &= visit(t.wrenches[b], t.resting[last + 6 * b : last + 6 * b + 6], keep)
    return same


@inlined
def visit(values: Array, kept: Array, keep: bool) -> bool:
    """Whether values are those kept; or keep them."""
    same = True
    for k in range(values.size):
        same &= values[k] == kept[k]
        if keep:
            kept[k] = values[k]
    return same


@merged
def rests(t: Tables) -> bool:
    """Whether the coming step changes nothing."""
    asleep = t.settings[at.SLEEPS] == 1.0 and t.control[at.STILL] >= _ENOUGH
    return asleep and visit_inputs(t, False)


@merged
def stay(t: Tables) -> None:
    """All of a step that changes nothing but what counts it."""
    t.monitor[at.LOWEST_GAP] = min(t.monitor[at.LOWEST_GAP], t.monitor[at.RESTING_GAP])
    if t.control[at.ACTING] > 0:
        t.control[at.SOLVES] += 1
        t.control[at.WARM] += 1
        t.monitor[at.RESIDUAL] = max(t.monitor[at.RESIDUAL], t.monitor[at.HELD_RESIDUAL])
        if has_joints(t):
            sum_joints(t, 1.0, t.v, t.v)
    for s in range(t.control[at.MEMORY_ROWS]):
        if t.memory[s, at.MEMORY_STEP] >= t.control[at.STEP]:
            t.memory[s, at.MEMORY_STEP] = t.control[at.STEP] + 1
