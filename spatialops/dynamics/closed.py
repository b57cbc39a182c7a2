"""Closed mechanisms: Jacobian and errors of closures, their smooth dynamics ([J] 30-37), and how to close them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, array, not_finite, scalar, vector
from spatialops._layout import (
    CLOSE_COUPLER,
    CLOSE_DISTANCE,
    LOOP_AXES_B,
    LOOP_KIND,
    LOOP_POINT_B,
    LOOP_SPIN,
    LOOP_TARGET,
    LOOP_TERM,
    LOOP_TERMS,
    OK,
    SINGULAR,
    TERM_ANGULAR,
    TERM_LINEAR,
    TERM_ROW,
    WORK_COLUMNS,
)
from spatialops.algebra.rotation import from_rotation_vector
from spatialops.dynamics.articulated_body import articulated_body_kernel, factor_kernel, singular_joint
from spatialops.dynamics.elimination import TOLERANCE, combine_rows, coordinates_of, factor_rows, multipliers_of
from spatialops.dynamics.jacobian import body_poses
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.loops import (
    closure_accelerations,
    closure_errors,
    closure_jacobian,
    closure_rows,
    closure_velocities,
    put_terms,
)
from spatialops.dynamics.newton_euler import NO_EXTERNAL
from spatialops.dynamics.response import velocities_from
from spatialops.errors import ArgumentError, ModelError
from spatialops.tree.loop import Loop, Loops
from spatialops.tree.model import Model
from spatialops.tree.state import integrate


class ConstrainedMotion(NamedTuple):
    """What `constrained_dynamics` returns.

    Attributes
    ----------
    accelerations : (nv,) array
        Time derivatives of v.
    multipliers : (n_rows,) array
        Forces along the rows, N or N m: they push A along the row's direction and B against it.
    rank : int
        Independent rows.
    redundant : tuple of str
        Rows that others imply. Their multipliers are the smallest that fit: forces cannot be told apart there.
    """

    accelerations: Array
    multipliers: Array
    rank: int
    redundant: tuple[str, ...]


class Span:
    """Poses, terms and rows of closures at one configuration, and the factors L = Z R Q of the rows."""

    def __init__(self, model: Model, loops: Loops) -> None:
        n = loops.n_rows
        self.model, self.loops = model, loops
        self.work, self.terms = np.zeros((model.nv, WORK_COLUMNS)), loops.empty_terms()
        self.L, self.Q, self.Z, self.R = (np.zeros(shape) for shape in ((n, model.nv), (n, model.nv), (n, n), (n, n)))
        self.order: IntArray = np.zeros(n, dtype=np.int64)
        self.rooms, self.part, self.rank = np.zeros((2, n)), np.zeros(n), 0

    def place(self, q: Array) -> None:
        """Poses and terms at q."""
        if poses_kernel(self.model.tree, self.model.links, q, self.work) != OK:
            raise not_finite(q=q)
        self.put_terms()

    def put_terms(self) -> None:
        """Terms at the poses in `work`."""
        at = self.loops
        put_terms(self.model.tree, at.ints, at.floats, at.ratios, at.term_ints, self.work, self.terms)

    def errors(self, q: Array) -> Array:
        """Errors of the rows; q must have been placed."""
        at, errors = self.loops, np.empty(self.loops.n_rows)
        closure_errors(self.model.tree, at.ints, at.floats, at.ratios, at.term_ints, q, self.work, errors)
        return errors

    def factor(self, tolerance: float = TOLERANCE) -> None:
        """Factors of the rows; those of the articulated-body pass must be in `work`."""
        closure_rows(self.model.tree, self.model.links, self.work, self.loops.term_ints, self.terms, self.L)
        n = self.loops.n_rows
        self.rank = factor_rows(self.L, n, tolerance, self.Q, self.Z, self.R, self.order, *self.rooms)

    def answer(self, u: Array) -> tuple[Array, Array]:
        """The least motion with G dv = u, (nv,), and its multipliers (n_rows,); uses acceleration columns of `work`."""
        dv, forces = np.empty(self.model.nv), np.empty(self.loops.n_rows)
        coordinates_of(self.Z, self.R, self.order, self.rank, u, self.part)
        combine_rows(self.Q, self.rank, self.part, dv)
        multipliers_of(self.Z, self.R, self.order, self.rank, self.part, forces)
        velocities_from(self.model.tree, self.model.links, self.work, dv)
        return dv, forces

    def redundant(self) -> tuple[str, ...]:
        """Names of the rows that others imply, in the order of the closures."""
        return tuple(self.loops.row_names[i] for i in sorted(self.order[self.rank :]))


def put_driven(loops: Loops, errors: Array, time: float) -> None:
    """Put the frames on B of driven closures where those on A are, and give them their spin at a time.

    Only in the directions, linear or angular, in which there is a rate: the others are to be closed like any closure.
    """
    for loop, ints, floats in zip(loops.items, loops.ints, loops.floats, strict=True):
        if loop.rate is None:
            continue
        own, rates = errors[loops.rows(loop.name)], loop.rates(time)
        if ints[LOOP_KIND] in (CLOSE_DISTANCE, CLOSE_COUPLER):
            floats[LOOP_TARGET] += own[0] if callable(loop.rate) or rates[0] else 0.0
            continue
        slides = loop.n_slides
        axes, moves = floats[LOOP_AXES_B : LOOP_AXES_B + 9].reshape(3, 3), np.zeros((3, 3))  # slide, turn, spin
        if callable(loop.rate) or rates[:slides].any():
            moves[0, :slides] = own[:slides]
        if callable(loop.rate) or rates[slides:].any():
            moves[1, : own.size - slides] = own[slides:]
        moves[2, : own.size - slides] = rates[slides:]
        floats[LOOP_POINT_B : LOOP_POINT_B + 3] += axes @ moves[0]
        floats[LOOP_AXES_B : LOOP_AXES_B + 9] = (axes @ from_rotation_vector(moves[1])).ravel()
        floats[LOOP_SPIN : LOOP_SPIN + 3] = moves[2]


def _present(loops: Loops, q: Array, time: float) -> Loops:
    """The closures with driven frames where they stand at q."""
    if all(loop.rate is None for loop in loops.items):
        return loops
    placed = copy.copy(loops)
    placed.floats = loops.floats.copy()
    span = Span(loops.model, placed)
    span.place(q)
    put_driven(placed, span.errors(q), time)
    return placed


def _checked(model: Model, loops: Any) -> Loops:
    if not isinstance(loops, Loops):
        loops = Loops(model, [loops] if isinstance(loops, Loop) else loops)
    if loops.model is not model:
        raise ArgumentError("loops: were made for another model; make them with Loops(model, ...)")
    checked: Loops = loops
    return checked


def loop_at(
    model: Model, q: Any, kind: str, a: Any, b: Any = "world", *, point: Any, axis: Any = "z", **options: Any
) -> Loop:
    """The closure that is closed at q and has its frames at a world point, its axis along a world direction.

    Parameters
    ----------
    model : Model
    q : (nq,) array
    kind, a, b, **options
        As for `Loop`; not a coupler or a distance.
    point : (3,) array_like
        m, world axes.
    axis : (3,) array_like or "x", "y", "z"
        Of a revolute or prismatic closure, world axes.

    Returns
    -------
    Loop
    """
    q = vector(q, model.nq, "q")
    place, poses, sides = array(point, (3,), "point", finite=True), body_poses(model, q), {}
    for side, body in (("a", a), ("b", b)):
        frame = model.frame(body) if isinstance(body, str) else model.frame(model.body_names[model.body_index(body)])
        turn = np.eye(3) if frame.body < 0 else poses.rotations[frame.body]
        origin = np.zeros(3) if frame.body < 0 else poses.positions[frame.body]
        rotation, position = turn @ frame.rotation, origin + turn @ frame.position
        sides[f"position_{side}"] = rotation.T @ (place - position)
        sides[f"rotation_{side}"] = rotation.T
    return Loop(kind=kind, a=a, b=b, axis=axis, **sides, **options)


def loop_jacobian(model: Model, loops: Any, q: Any) -> Array:
    """Jacobian G (n_rows, nv) of closures: G v is the velocity of their rows ([J] 29).

    Parameters
    ----------
    model : Model
    loops : Loops, Loop or sequence of Loop
    q : (nq,) array

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN or infinity; for closures that do not fit the model.
    """
    span, q = Span(model, _checked(model, loops)), vector(q, model.nq, "q")
    span.place(q)
    G = np.empty((span.loops.n_rows, model.nv))
    closure_jacobian(model.tree, model.links, span.work, span.loops.term_ints, span.terms, G)
    return G


def loop_errors(model: Model, loops: Any, q: Any) -> Array:
    """How far the rows of closures are open, (n_rows,), m and rad; parameters and errors as for `loop_jacobian`.

    Angular rows are components of the rotation vector from the frame on B to that on A. Where a closure is closed the
    rate of its errors is `loop_jacobian` times v.
    """
    span, q = Span(model, _checked(model, loops)), vector(q, model.nq, "q")
    span.place(q)
    return span.errors(q)


def loop_velocities(model: Model, loops: Any, q: Any, v: Any) -> Array:
    """Velocities of the rows of closures, (n_rows,), m/s and rad/s: G v without forming G."""
    span, q, v = Span(model, _checked(model, loops)), vector(q, model.nq, "q"), vector(v, model.nv, "v")
    span.place(q)
    velocities_kernel(model.tree, model.links, v, span.work)
    rates = np.empty(span.loops.n_rows)
    closure_velocities(span.loops.term_ints, span.terms, span.work, rates)
    return rates


def constrained_dynamics(
    model: Model, loops: Any, q: Any, v: Any, tau: Any, external: Any = None, *, t: float = 0.0
) -> ConstrainedMotion:
    """Accelerations and closure forces of a closed mechanism: M a + C = tau + G* lambda, G a + Gdot v = dU/dt.

    Parameters
    ----------
    model : Model
    loops : Loops, Loop or sequence of Loop
    q : (nq,) array
        Closed coordinates (see `close_loops`); where they are open by e, redundant rows are told from others only down
        to about e.
    v : (nv,) array
        With G v = U(t); not checked.
    tau : (nv,) array
        Generalised forces, N or N m.
    external : (n_bodies, 6) array, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes.
    t : float
        Time for prescribed rates, s; dU/dt by a central difference over 2e-5 s. Driven closures stand where they are.

    Returns
    -------
    ConstrainedMotion

    Raises
    ------
    ArgumentError, ModelError
        For wrong shapes, NaN or infinity; for closures that do not fit the model; for a singular mass matrix.

    References
    ----------
    [J] 30-37, by an orthogonal factorisation of G M^-1/2 instead of (G M^-1 G*)^-1.
    """
    q, v, tau = vector(q, model.nq, "q"), vector(v, model.nv, "v"), vector(tau, model.nv, "tau")
    t = scalar(t, "t")
    span = Span(model, _present(_checked(model, loops), q, t))
    wrench = NO_EXTERNAL if external is None else array(external, (model.n_bodies, 6), "external")
    a, rates, at = np.empty(model.nv), np.empty(span.loops.n_rows), span.loops
    status = articulated_body_kernel(model.tree, model.links, q, v, tau, wrench, span.work, a)
    if status == SINGULAR and np.isfinite(q).all():
        raise singular_joint(model, span.work)
    if status != OK:
        raise not_finite(q=q, v=v, tau=tau, external=external)
    span.put_terms()
    g = model.gravity
    closure_accelerations(at.ints, at.floats, at.term_ints, span.terms, (-g[0], -g[1], -g[2]), span.work, rates)
    span.factor()
    step = 1e-5
    correction, forces = span.answer((at.rates(t + step) - at.rates(t - step)) / (2.0 * step) - rates)
    return ConstrainedMotion(a + correction, forces, span.rank, span.redundant())


def loop_forces(model: Model, loops: Any, q: Any, multipliers: Any) -> Array:
    """Wrenches (n_loops, 6) [moment (N m); force (N)] of closures on their bodies A, world axes, at A's frame.

    A coupler's is what it does along the axis of its first joint, at the origin of that joint's body.
    """
    span, q = Span(model, _checked(model, loops)), vector(q, model.nq, "q")
    at, forces = span.loops, vector(multipliers, span.loops.n_rows, "multipliers")
    span.place(q)
    wrenches = np.zeros((len(at), 6))
    for wrench, ints in zip(wrenches, at.ints, strict=True):
        first, count = ints[LOOP_TERM], 1 if ints[LOOP_KIND] == CLOSE_COUPLER else ints[LOOP_TERMS]
        for n in range(first, first + count):
            force = forces[at.term_ints[n, TERM_ROW]]
            wrench += force * span.terms[n, TERM_ANGULAR : TERM_LINEAR + 3]
    return wrenches


def close_loops(
    model: Model,
    loops: Any,
    q: Any,
    v: Any = None,
    *,
    hold: Sequence[str] = (),
    t: float = 0.0,
    tolerance: float = 1e-12,
) -> Any:
    """Coordinates near q that close the loops, and velocities near v that keep them closed.

    Newton steps, each the least motion in the metric of M, halved while they do not help. A driven closure stands where it
    is in the directions (linear, angular) in which it has a rate: only velocities are to fit it there.

    Parameters
    ----------
    model : Model
    loops : Loops, Loop or sequence of Loop
    q : (nq,) array
    v : (nv,) array, optional
    hold : sequence of str
        Joints of one degree of freedom whose coordinate (and velocity) is kept.
    t : float
        Time for prescribed rates, s.
    tolerance : float
        Error that every row must reach, m and rad; near the limit of rounding for mechanisms some metres across.

    Returns
    -------
    (nq,) array, or two arrays (nq,) and (nv,)
        The second where `v` is given.

    Raises
    ------
    ModelError
        If no closed configuration is found from there; it says which closures stay open.
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> four_bar = so.models.four_bar()
    >>> q = so.close_loops(four_bar.model, four_bar.loops, four_bar.state.q + 0.1, hold=["crank"])
    >>> bool(np.abs(so.loop_errors(four_bar.model, four_bar.loops, q)).max() < 1e-12)
    True
    """
    given, q = _checked(model, loops), vector(q, model.nq, "q").copy()
    kept = [Loop(kind="coupler", joints={j: 1.0}, offset=q[model.q_slice(j)][0], name=f"hold {j}") for j in hold]
    span = Span(model, _present(Loops(model, [*given.items, *kept]), q, t))
    q = newton(span, q, scalar(tolerance, "tolerance", low=0.0, strict=True))
    if v is None:
        return q
    v, rates = vector(v, model.nv, "v").copy(), np.empty(span.loops.n_rows)
    wanted = np.concatenate([given.rates(t), *(v[model.v_slice(j)] for j in hold)])
    for _ in range(2):  # the second takes away what rounding of the first left
        span.place(q)
        velocities_kernel(model.tree, model.links, v, span.work)
        closure_velocities(span.loops.term_ints, span.terms, span.work, rates)
        factor_kernel(model.tree, model.links, span.work)
        span.factor()
        v += span.answer(wanted - rates)[0]
    worst = float(np.abs(wanted - rates).max(initial=0.0))
    if worst > 1e-9 * (1.0 + float(np.abs(wanted).max(initial=0.0))):
        name = span.loops.row_names[int(np.abs(wanted - rates).argmax())]
        raise ModelError(f"loops: no velocities fit: {name} misses its rate by {worst:.2e} (m/s or rad/s)")
    return q, v


def newton(span: Span, q: Array, tolerance: float) -> Array:
    """Closed coordinates near q, which is left alone; ModelError where there are none to be found."""
    model = span.model
    span.place(q)
    errors = span.errors(q)
    for _ in range(100):
        size = float(np.abs(errors).max(initial=0.0))
        if size <= tolerance:
            return q
        factor_kernel(model.tree, model.links, span.work)
        # Off the closed configurations by e, rows that are redundant there look independent by about e.
        span.factor(min(max(TOLERANCE, size), 1e-4))
        step = span.answer(-errors)[0]
        step *= min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300))  # by no more than a radian or a metre
        for _ in range(12):
            ahead = integrate(model, q, step)
            span.place(ahead)
            tried = span.errors(ahead)
            if np.linalg.norm(tried) < np.linalg.norm(errors):
                break
            step *= 0.5
        else:
            break
        q, errors = ahead, tried
    worst = sorted({span.loops.row_names[i] for i in np.flatnonzero(np.abs(errors) > 0.1 * np.abs(errors).max())})
    raise ModelError(
        f"loops: cannot be closed from there: {', '.join(worst[:4])} stay open by {np.abs(errors).max():.2e} m or rad; "
        "start nearer to a closed configuration, or check lengths"
    )
