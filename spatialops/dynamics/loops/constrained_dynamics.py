"""Smooth dynamics of closed mechanisms ([J] 30-37), and the rows and forces of their closures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, array, not_finite, scalar, vector
from spatialops.dynamics.articulated_body import articulated_body_kernel, singular_joint
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.loops.closure_factors import LoopsLike, Span, checked_loops, present
from spatialops.dynamics.loops.rows import (
    closure_accelerations,
    closure_jacobian,
    closure_velocities,
)
from spatialops.dynamics.newton_euler import NO_EXTERNAL
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model, not_a_model

_STEP = 1e-5  # s; of the central difference of prescribed rates


class ConstrainedMotion(NamedTuple):
    """What `constrained_dynamics` returns.

    Parameters
    ----------
    accelerations : (nv,) array
        Time derivatives of v.
    multipliers : (n_rows,) array
        Forces along the rows, N or N m: they push A along the row's direction and B against it.
    rank : int
        Independent rows.
    redundant : tuple of str
        Rows that others imply. Their multipliers are the smallest that fit: forces cannot be told
        apart there.
    """

    accelerations: Array
    multipliers: Array
    rank: int
    redundant: tuple[str, ...]


def loop_jacobian(model: Model, loops: LoopsLike, q: ArrayLike) -> Array:
    """Jacobian G of closures: G v is the velocity of their rows.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    q : (nq,) array_like
        Coordinates, rad and m.

    Returns
    -------
    (n_rows, nv) array
        Rows of all closures, in their order.

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN or infinity; for closures that do not fit the model.

    References
    ----------
    [J] equation 29.

    Examples
    --------
    >>> import spatialops as so
    >>> four_bar = so.models.four_bar()
    >>> so.loop_jacobian(four_bar.model, four_bar.loops, four_bar.state.q).shape
    (5, 3)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    span.place(q)
    G = np.empty((span.loops.n_rows, model.nv))
    closure_jacobian(model.tree, model.links, span.work, span.loops.term_ints, span.terms, G)
    return G


def loop_errors(model: Model, loops: LoopsLike, q: ArrayLike) -> Array:
    """How far the rows of closures are open.

    Angular rows are components of the rotation vector from the frame on B to that on A. Where a
    closure is closed the rate of its errors is `loop_jacobian` times v.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    q : (nq,) array_like
        Coordinates, rad and m.

    Returns
    -------
    (n_rows,) array
        m and rad.

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN or infinity; for closures that do not fit the model.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    span.place(q)
    return span.errors(q)


def loop_velocities(model: Model, loops: LoopsLike, q: ArrayLike, v: ArrayLike) -> Array:
    """Velocities of the rows of closures: G v without forming G.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.

    Returns
    -------
    (n_rows,) array
        m/s and rad/s.

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN or infinity; for closures that do not fit the model.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    span = Span(model, checked_loops(model, loops))
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    span.place(q)
    velocities_kernel(model.tree, model.links, v, span.work)
    rates = np.empty(span.loops.n_rows)
    closure_velocities(span.loops.term_ints, span.terms, span.work, rates)
    return rates


def prescribed_accelerations(loops: Loops, t: float) -> Array:
    """dU/dt of all rows (n_rows,) at a time, by a central difference."""
    difference: Array = loops.rates(t + _STEP) - loops.rates(t - _STEP)
    return difference / (2.0 * _STEP)


def constrained_dynamics(
    model: Model,
    loops: LoopsLike,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: ArrayLike | None = None,
    *,
    t: float = 0.0,
) -> ConstrainedMotion:
    """Accelerations and closure forces of a closed mechanism.

    They solve M a + C = tau + G* lambda, G a + Gdot v = dU/dt.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    q : (nq,) array_like
        Closed coordinates (see `close_loops`); where they are open by e, redundant rows are told
        from others only down to about e.
    v : (nv,) array_like
        With G v = U(t); not checked.
    tau : (nv,) array_like
        Generalised forces, N or N m.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
    t : float
        Time for prescribed rates, s; dU/dt by a central difference over 2e-5 s. Driven closures
        stand where they are. Default: 0.

    Returns
    -------
    ConstrainedMotion
        Accelerations, multipliers, rank and redundant rows.

    Raises
    ------
    ArgumentError, ModelError
        For wrong shapes, NaN or infinity; for closures that do not fit the model; for a singular
        mass matrix.

    References
    ----------
    [J] 30-37, by an orthogonal factorisation of G M^-1/2 instead of (G M^-1 G*)^-1.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> bar = so.models.four_bar()
    >>> now = so.constrained_dynamics(bar.model, bar.loops, bar.state.q, np.zeros(3), np.zeros(3))
    >>> G = so.loop_jacobian(bar.model, bar.loops, bar.state.q)
    >>> now.rank, bool(np.abs(G @ now.accelerations).max() < 1e-9)
    (2, True)
    """
    return solve_constrained(model, loops, q, v, tau, external, t)[1]


def solve_constrained(
    model: Model,
    loops: LoopsLike,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: ArrayLike | None,
    t: float,
) -> tuple[Span, ConstrainedMotion]:
    """The same, with the factored closures that it was found by."""
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    tau = vector(tau, model.nv, "tau")
    t = scalar(t, "t")
    span = Span(model, present(checked_loops(model, loops), q, t))
    wrench = NO_EXTERNAL if external is None else array(external, (model.n_bodies, 6), "external")
    a, missing = open_motion(span, q, v, tau, wrench, t)
    span.factor()
    correction, forces = span.answer(missing)
    return span, ConstrainedMotion(a + correction, forces, span.rank, span.redundant())


def open_motion(
    span: Span, q: Array, v: Array, tau: Array, external: Array, t: float
) -> tuple[Array, Array]:
    """Accelerations as if nothing were closed, and what the rows of the closures lack then.

    Articulated factors and the closures' terms are in the span afterwards.

    Returns
    -------
    a : (nv,) array
        Of the tree alone.
    missing : (n_rows,) array
        dU/dt - (G a + Gdot v), m/s^2 and rad/s^2.

    Raises
    ------
    ArgumentError, ModelError
        For NaN or infinity; for a singular mass matrix.
    """
    model, at = span.model, span.loops
    a = np.empty(model.nv)
    rates = np.empty(at.n_rows)
    status = articulated_body_kernel(model.tree, model.links, q, v, tau, external, span.work, a)
    if status == layout.SINGULAR and np.isfinite(q).all():
        raise singular_joint(model, span.work)
    if status != layout.OK:
        raise not_finite(q=q, v=v, tau=tau, external=external)
    span.put_terms()
    g = model.gravity
    closure_accelerations(
        at.ints, at.floats, at.term_ints, span.terms, (-g[0], -g[1], -g[2]), span.work, rates
    )
    return a, prescribed_accelerations(at, t) - rates


def loop_forces(model: Model, loops: LoopsLike, q: ArrayLike, multipliers: ArrayLike) -> Array:
    """Wrenches of closures on their bodies A.

    A coupler's is what it does along the axis of its first joint, at the origin of that joint's
    body.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures.
    q : (nq,) array_like
        Coordinates, rad and m.
    multipliers : (n_rows,) array_like
        Forces along the rows, N or N m, as `constrained_dynamics` has them.

    Returns
    -------
    (n_loops, 6) array
        [moment (N m); force (N)] at A's frame, world axes; B feels the opposite.

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN or infinity; for closures that do not fit the model.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    at, forces = span.loops, vector(multipliers, span.loops.n_rows, "multipliers")
    span.place(q)
    wrenches = np.zeros((len(at), 6))
    for wrench, ints in zip(wrenches, at.ints, strict=True):
        first, count = (
            ints[layout.LOOP_TERM],
            1 if ints[layout.LOOP_KIND] == layout.CLOSE_COUPLER else ints[layout.LOOP_TERMS],
        )
        for n in range(first, first + count):
            force = forces[at.term_ints[n, layout.TERM_ROW]]
            wrench += force * span.terms[n, layout.TERM_ANGULAR : layout.TERM_LINEAR + 3]
    return wrenches


def closure_body_wrenches(
    model: Model, loops: LoopsLike, q: ArrayLike, multipliers: ArrayLike
) -> Array:
    """The same on all bodies, A and B, each at its body's origin: [J] 30's G* lambda as wrenches.

    Returns
    -------
    (n_bodies, 6) array
        [moment (N m); force (N)], world axes: what `inverse_dynamics` takes as `external`.
    """
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    at, forces = span.loops, vector(multipliers, span.loops.n_rows, "multipliers")
    span.place(q)
    wrenches = np.zeros((model.n_bodies, 6))
    body_of = model.tree[:, layout.BODY]
    for ints, term in zip(at.term_ints, span.terms, strict=True):
        force = forces[ints[layout.TERM_ROW]] * term[layout.TERM_LINEAR : layout.TERM_LINEAR + 3]
        turn = forces[ints[layout.TERM_ROW]] * term[layout.TERM_ANGULAR : layout.TERM_ANGULAR + 3]
        point = term[layout.TERM_POINT : layout.TERM_POINT + 3]
        for link, sign in ((ints[layout.TERM_A], 1.0), (ints[layout.TERM_B], -1.0)):
            if link < 0 or body_of[link] < 0:
                continue
            lever = point - span.work[link, layout.ORIGIN : layout.ORIGIN + 3]
            wrenches[body_of[link], :3] += sign * (turn + np.cross(lever, force))
            wrenches[body_of[link], 3:] += sign * force
    return wrenches
