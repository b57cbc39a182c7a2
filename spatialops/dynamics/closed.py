"""Smooth dynamics of closed mechanisms ([J] 30-37), and the rows and forces of their closures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, array, not_finite, scalar, vector
from spatialops._layout import (
    CLOSE_COUPLER,
    LOOP_KIND,
    LOOP_TERM,
    LOOP_TERMS,
    OK,
    SINGULAR,
    TERM_ANGULAR,
    TERM_LINEAR,
    TERM_ROW,
)
from spatialops.dynamics.articulated_body import articulated_body_kernel, singular_joint
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.loop_rows import closure_accelerations, closure_jacobian, closure_velocities
from spatialops.dynamics.newton_euler import NO_EXTERNAL
from spatialops.dynamics.span import Span, checked_loops, present
from spatialops.tree.model import Model


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
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    span.place(q)
    G = np.empty((span.loops.n_rows, model.nv))
    closure_jacobian(model.tree, model.links, span.work, span.loops.term_ints, span.terms, G)
    return G


def loop_errors(model: Model, loops: Any, q: Any) -> Array:
    """How far the rows of closures are open, (n_rows,), m and rad; parameters and errors as for `loop_jacobian`.

    Angular rows are components of the rotation vector from the frame on B to that on A. Where a closure is closed the
    rate of its errors is `loop_jacobian` times v.
    """
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    span.place(q)
    return span.errors(q)


def loop_velocities(model: Model, loops: Any, q: Any, v: Any) -> Array:
    """Velocities of the rows of closures, (n_rows,), m/s and rad/s: G v without forming G."""
    span, q, v = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q"), vector(v, model.nv, "v")
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
    span = Span(model, present(checked_loops(model, loops), q, t))
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
    span, q = Span(model, checked_loops(model, loops)), vector(q, model.nq, "q")
    at, forces = span.loops, vector(multipliers, span.loops.n_rows, "multipliers")
    span.place(q)
    wrenches = np.zeros((len(at), 6))
    for wrench, ints in zip(wrenches, at.ints, strict=True):
        first, count = ints[LOOP_TERM], 1 if ints[LOOP_KIND] == CLOSE_COUPLER else ints[LOOP_TERMS]
        for n in range(first, first + count):
            force = forces[at.term_ints[n, TERM_ROW]]
            wrench += force * span.terms[n, TERM_ANGULAR : TERM_LINEAR + 3]
    return wrenches
