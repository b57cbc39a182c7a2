"""Springs, damping and actuators of joints within a step; wrenches on bodies.

What resists motion is taken implicitly. With damping D and stiffness K over a piece of length s

    (M + s T D + B s^2 K) dv = s [f - D v - K (q_e - r)],

all of it along single joints. For damping T = 1 is backward Euler, T = 1/2 the trapezoidal rule; T
is chosen for every joint so that a joint alone slows down exactly as exp(-x), x = s D / m, with m
the inertia that it feels (exponential fitting): of second order where damping is mild, without
ringing where it is stiff, stable for any s since 1/2 <= T <= 1. For stiffness B = 1/4 with q_e =
q + s v / 2 is the implicit midpoint rule, which keeps the energy of an oscillator at any s: the
default's. One that a step does not resolve would ring for ever: it gets damping of up to s K.
Semi-implicit Euler has backward Euler, B = 1 with q_e = q + s v. Both are stable for any K: with
the energy of the springs and M + s (T - 1/2) D in place of M, none is gained.

Servos are springs and dampers too (`forces.elements`). One that would be beyond its range of force
pushes with the limit, without resistance; whether it would, the joint alone decides. An element of
several joints resists by the diagonal that bounds it, |c_i| sum |c_j| in place of c_i c_j: stable,
and of the order of the step. Arms of paths through space are those of the state at which the piece
is stated; that they turn meanwhile is explicit.

All this stands in the place of armature, for contacts too. RK4 takes all forces as they are.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import (
    add3,
    copy_into,
    cross,
    mat3,
    rotate,
    scaled,
    vec3,
)
from spatialops.dynamics.articulated_body import factor_from
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.forces import _layout as of
from spatialops.forces.elements import (
    add_element_forces,
    advance_activations,
    affine,
    clamped,
    element_motion,
    path_rate,
    signal,
    slope,
)
from spatialops.forces.path_length import Placed, path_length
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

RESOLVED = 1.0  # rad^2: up to this angle of its oscillation a step a spring keeps its energy
_LINEAR = 1e-2  # of x, below which T is taken for linear
_MIDPOINT = 0.25  # B of the implicit midpoint rule
_BACKWARD = 1.0  # of backward Euler


@merged
def is_damped(t: Tables) -> bool:
    """Whether forces that resist motion are taken implicitly."""
    return t.control[at.DAMPED] != 0


@merged
def has_elements(t: Tables) -> bool:
    """Whether there are springs or actuators."""
    return t.element_ints.shape[0] > 0


@merged
def within_step(t: Tables) -> float:
    """Time from the beginning of the step to the middle of the present piece, s."""
    return t.settings[at.DT] - t.monitor[at.REMAINING] + 0.5 * t.monitor[at.PIECE]


@merged
def put_joint_forces(t: Tables) -> None:
    """Joint forces of a piece into DRIVEN, armature of what resists; state in Q_E, V_E.

    Poses of Q_E must be in `work`, whose factors are overwritten.
    """
    copy_into(t.vectors[at.DRIVEN, : t.v.size], t.tau)
    if is_damped(t):
        resist(t)


@stage
def resist(t: Tables) -> None:
    """Add the elements' forces, and put armature with damping and stiffness of a piece."""
    s = t.monitor[at.PIECE]
    share = _MIDPOINT if t.control[at.SCHEME] == at.MOREAU else _BACKWARD
    stiff, drag = t.vectors[at.STIFF], t.vectors[at.DRAG]
    factor_from(t.tree, t.links, t.work, 0 if has_elements(t) else first_damped(t.links))
    if has_elements(t):
        put_elements(t, share)
    for k in range(t.links.shape[0]):
        damping = s * (t.links[k, layout.DAMPING] + drag[k])
        t.damped[k, layout.ARMATURE] = t.links[k, layout.ARMATURE] + share * s * s * stiff[k]
        if damping > 0.0:
            t.damped[k, layout.ARMATURE] += damping * fitted(damping * t.work[k, layout.D_INVERSE])


@inlined
def first_damped(links: Array) -> int:
    """First link whose joint has damping: of those before it no inertia is asked for."""
    first = 0
    while first < links.shape[0] and links[first, layout.DAMPING] == 0.0:
        first += 1
    return first


@stage
def put_elements(t: Tables, share: float) -> None:
    """Forces of springs and actuators, and what they add to stiffness and damping."""
    stiff, drag = t.vectors[at.STIFF], t.vectors[at.DRAG]
    for k in range(t.v.size):
        stiff[k] = 0.0
        drag[k] = 0.0
    for e in range(t.element_ints.shape[0]):
        put_element(t, e, share)


@kernel
def put_element(t: Tables, e: int, share: float) -> None:
    """Force of element e, and what it adds to stiffness and damping where it is within its range.

    Semi-implicit Euler has the spring where the old velocity would lead."""
    s = t.monitor[at.PIECE]
    q_e, v_e = t.vectors[at.Q_E, : t.q.size], t.vectors[at.V_E, : t.v.size]
    if is_path(t, e):
        length = path_of(t, e, t.work)
        own = t.vectors[at.ARMS, : t.v.size]
        rate = path_rate(t.element_ints, t.element_joints, e, own, v_e)
    else:
        length, rate = element_motion(t.element_ints, t.element_joints, t.arms, e, q_e, v_e)
    if share == _BACKWARD:
        length += s * rate
    u = signal(t.element_ints, t.elements, e, t.ctrl, t.activation, within_step(t))
    force = affine(t.elements, e, of.GAIN, length, rate) * u
    force += affine(t.elements, e, of.BIAS, length, rate)
    stiffness, damping = slope(t.elements, e, u, 1), slope(t.elements, e, u, 2)
    total = inverse = 0.0
    first = t.element_ints[e, of.FIRST]
    for i in range(first, first + t.element_ints[e, of.COUNT]):
        arm = arm_at(t, e, i)
        total += abs(arm)
        inverse += arm * arm * t.work[t.element_joints[i, of.LINK], layout.D_INVERSE]
    if share == _MIDPOINT:
        added = s * stiffness * too_stiff(s * s * stiffness * inverse)
        damping += added
        force -= added * rate
    resists = s * damping * fitted(s * damping * inverse) + share * s * s * stiffness
    alone = force / (1.0 + resists * inverse)
    if alone < t.elements[e, of.FORCE_LOW] or alone > t.elements[e, of.FORCE_HIGH]:
        force = clamped(force, t.elements[e, of.FORCE_LOW], t.elements[e, of.FORCE_HIGH])
        resists = stiffness = damping = 0.0
    t.pulls[e, at.PULLED] = force
    t.pulls[e, at.YIELDS] = resists / s
    for i in range(first, first + t.element_ints[e, of.COUNT]):
        k = t.element_joints[i, of.LINK]
        arm = arm_at(t, e, i)
        t.vectors[at.DRIVEN, k] += arm * force
        t.vectors[at.STIFF, k] += abs(arm) * total * stiffness
        t.vectors[at.DRAG, k] += abs(arm) * total * damping


@merged
def is_path(t: Tables, e: int) -> bool:
    """Whether the length of element e is that of a path through space."""
    return t.element_ints[e, of.POINTS] > 0


@merged
def arm_at(t: Tables, e: int, i: int) -> float:
    """Arm of element e in row i of its joints."""
    return t.vectors[at.ARMS, t.element_joints[i, of.LINK]] if is_path(t, e) else t.arms[i]


@merged
def path_of(t: Tables, e: int, work: Array) -> float:
    """Length of element e, a path, by the poses in `work`; its arms into ARMS."""
    return path_length(t.element_ints, t.element_joints, t.arms, e, placed_in(t, t.q, work))


@merged
def placed_in(t: Tables, q: Array, work: Array) -> Placed:
    """The mechanism at q by the poses in `work`, with room for arms of paths."""
    return Placed(t.tree, t.links, q, work, t.vectors[at.ARMS, : t.v.size])


@merged
def has_paths(t: Tables) -> bool:
    """Whether the length of any element is that of a path."""
    found = False
    for e in range(t.element_ints.shape[0]):
        found = found or is_path(t, e)
    return found


@inlined
def too_stiff(x: float) -> float:
    """Damping of a spring in units of s K, x being the square of the angle of its oscillation in s.

    None where the step resolves it; towards 1 where not, which is backward Euler."""
    return max(1.0 - 1.0 / max(x, RESOLVED), 0.0)


@kernel
def drive(t: Tables, q: Array, v: Array) -> None:
    """Joint forces at a state into DRIVEN, all of them as they are: for RK4.

    Uses `spare`.
    """
    driven = t.vectors[at.DRIVEN, : t.v.size]
    copy_into(driven, t.tau)
    if has_elements(t):
        if has_paths(t):
            poses_kernel(t.tree, t.links, q, t.spare)
        add_element_forces(
            t.element_ints,
            t.elements,
            t.element_joints,
            t.arms,
            placed_in(t, q, t.spare),
            v,
            t.ctrl,
            t.activation,
            within_step(t),
            driven,
        )


@merged
def advance_elements(t: Tables) -> None:
    """Activations at the end of the step."""
    if t.activation.size > 0:
        dt = t.settings[at.DT]
        if advance_activations(t.element_ints, t.elements, t.ctrl, t.activation, dt):
            t.control[at.STIRRED] = 1


@inlined
def fitted(x: float) -> float:
    """1 / (1 - exp(-x)) - 1 / x for x > 0: between 1/2 and 1."""
    if x < _LINEAR:
        return 0.5 + x / 12.0
    return 1.0 / (1.0 - math.exp(-x)) - 1.0 / x


@inlined
def fitted_slope(x: float) -> float:
    """Derivative of `fitted`."""
    if x < _LINEAR:
        return 1.0 / 12.0
    return 1.0 / (x * x) - math.exp(-x) / (1.0 - math.exp(-x)) ** 2


@merged
def is_wrenched(t: Tables) -> bool:
    """Whether wrenches act on bodies."""
    return t.control[at.WRENCHED] != 0


@merged
def external_of(t: Tables) -> Array:
    """Wrenches on bodies where there are any: rows of as many bodies, or none."""
    return t.external[: t.external.shape[0] * t.control[at.WRENCHED]]


@merged
def n_lone(t: Tables) -> int:
    """How many free bodies have the equation of `lone_bodies`: none where wrenches act."""
    return 0 if is_wrenched(t) else t.lone.size


@merged
def put_wrenches(t: Tables, work: Array) -> None:
    """Wrenches on bodies, with what bears their weight, at the poses in `work`."""
    if is_wrenched(t):
        bear(t, work)


@kernel
def bear(t: Tables, work: Array) -> None:
    for k in range(t.tree.shape[0]):
        b = t.tree[k, layout.BODY]
        if b < 0:
            continue
        for j in range(6):
            t.external[b, j] = t.wrenches[b, j]
        if t.compensation.shape[0] > 0:
            up = scaled(-t.compensation[b, 0], vec3(t.links, 0, layout.GRAVITY))
            arm = rotate(mat3(work, k, layout.ROTATION), vec3(t.compensation, b, 1))
            add3(t.external, b, 0, cross(arm, up))
            add3(t.external, b, 3, up)
