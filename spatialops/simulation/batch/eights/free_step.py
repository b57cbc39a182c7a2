"""A step of eight environments that meet nothing: no contact, no stop, no limit.

Every lane does the operations of `stepping/integrators` in their order, from the same source where
that is a loop over links, and ends with the same bits. Where an environment might meet something,
or its step asks for more than this, FREE is 0.0 and nothing of it is changed: then the loop makes
its step.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_arrays import lanes_of
from spatialops.algebra.lane_logic import less, root, where
from spatialops.algebra.simd import WIDTH, Lanes
from spatialops.algebra.trigonometry import FAR
from spatialops.algebra.vectors import dot, vec3
from spatialops.dynamics.articulated_body import factor_from
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.stepping.integrators.joint_forces import first_damped, fitted

LARGEST = 1e120  # what is not less, or NaN, may have an energy that is no number
_CLEAR = 1e-9  # rad or m: stops nearer to the margin than this are left to the loop


@kernel
def begin_free_step(e: Eight) -> None:
    """Free are those that are inside, until something says otherwise."""
    monitor = lanes_of(e.monitor)
    monitor[of.FREE] = monitor[of.INSIDE]
    monitor[of.FASTEST] = 0.0
    monitor[of.PUSHED] = 0.0
    guess, tau = lanes_of(e.vectors[of.GUESS]), lanes_of(e.tau)
    commanded = 0.0
    for k in range(e.v.shape[0]):
        guess[k] = 0.0
        commanded = where(less(0.0, abs(tau[k])), 1.0, commanded)
    monitor[of.COMMANDED] = commanded


@kernel
def keep_near(e: Eight, row: int) -> None:
    """Leave to the loop what has turned very far: the library's sines are not in lanes.

    Its coordinates in `row` of the vectors become neutral.
    """
    monitor, q = lanes_of(e.monitor), lanes_of(e.vectors[row])
    free = monitor[of.FREE]
    for k in range(e.tree.shape[0]):
        if e.tree[k, layout.FRAME] == layout.TURN or e.tree[k, layout.FRAME] == layout.SCREW:
            free = where(less(abs(q[e.tree[k, layout.FIRST_Q]]), FAR), free, 0.0)
    for i in range(e.q.shape[0]):
        q[i] = where(free, q[i], e.neutral[i])
    monitor[of.FREE] = free


@kernel
def resist_eight(e: Eight, dt: float) -> None:
    """Armature with what damping resists in a step; poses must be in `work`.

    As `joint_forces.resist` without springs.
    """
    factor_from(e.tree, e.links, lanes_of(e.work), first_damped(e.links))
    for k in range(e.links.shape[0]):
        damping = dt * e.links[k, layout.DAMPING]
        for lane in range(WIDTH):
            armature = e.links[k, layout.ARMATURE]
            if damping > 0.0:
                armature += damping * fitted(damping * e.work[k, layout.D_INVERSE, lane])
            e.damped[k, layout.ARMATURE, lane] = armature


@inlined
def note_spin(e: Eight, counts: Lanes) -> Lanes:
    """How fast the fastest link of each turns, by the velocities in `work`; kept if it counts."""
    monitor, work = lanes_of(e.monitor), lanes_of(e.work)
    most = -1.0
    link = 0.0
    for k in range(e.tree.shape[0]):
        omega = vec3(work, k, layout.OMEGA)
        square = dot(omega, omega)
        faster = less(most, square)
        link = where(faster, float(k), link)
        most = where(faster, square, most)
    spin = root(where(less(most, 0.0), 0.0, most))
    monitor[of.SPIN] = where(counts, spin, monitor[of.SPIN])
    faster = less(monitor[of.FASTEST], where(counts, spin, 0.0))
    monitor[of.FASTEST] = where(faster, spin, monitor[of.FASTEST])
    monitor[of.LINK] = where(faster, link, monitor[of.LINK])
    return spin


@kernel
def keep_off_stops(e: Eight, q: Array, v: Array, horizon: float) -> None:
    """Leave to the loop what is near a stop, now or within the horizon."""
    monitor = lanes_of(e.monitor)
    positions = lanes_of(q)
    rates = lanes_of(v)
    free = monitor[of.FREE]
    reach = e.settings[at.MARGIN] + _CLEAR
    for j in range(e.joint_ints.shape[0]):
        side = e.joint_floats[j, at.JOINT_SIDE]
        gap = positions[e.joint_ints[j, at.JOINT_Q]] - e.joint_floats[j, at.JOINT_LIMIT]
        gap = side * gap
        ahead = gap + horizon * side * rates[e.joint_ints[j, at.JOINT_LINK]]
        free = where(less(reach, gap), where(less(reach, ahead), free, 0.0), 0.0)
    monitor[of.FREE] = free


@kernel
def keep_finite(e: Eight, fastest: float) -> None:
    """Leave to the loop what is hardly finite, cannot move, or turns faster than allowed."""
    monitor, work = lanes_of(e.monitor), lanes_of(e.work)
    q_x, v_x = lanes_of(e.vectors[of.Q_X]), lanes_of(e.vectors[of.V_X])
    free = where(less(fastest, monitor[of.FASTEST]), 0.0, monitor[of.FREE])
    for i in range(e.q.shape[0]):
        free = where(less(abs(q_x[i]), LARGEST), free, 0.0)
    for k in range(e.v.shape[0]):
        free = where(less(abs(v_x[k]), LARGEST), free, 0.0)
        free = where(less(0.0, work[k, layout.D_INVERSE]), free, 0.0)
    monitor[of.FREE] = free


@kernel
def end_free_step(e: Eight, dt: float) -> None:
    """To the end of the step with all that are free."""
    monitor = lanes_of(e.monitor)
    q = lanes_of(e.q)
    v = lanes_of(e.v)
    q_x, v_x = lanes_of(e.vectors[of.Q_X]), lanes_of(e.vectors[of.V_X])
    free = monitor[of.FREE]
    for i in range(e.q.shape[0]):
        q[i] = where(free, q_x[i], q[i])
    for k in range(e.v.shape[0]):
        v[k] = where(free, v_x[k], v[k])
    monitor[of.TIME] = where(free, monitor[of.TIME] + dt, monitor[of.TIME])
    for lane in range(WIDTH):
        if e.monitor[of.FREE, lane] != 0.0:
            e.steps[lane] += 1
