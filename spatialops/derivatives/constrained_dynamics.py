"""Derivatives of the dynamics of closed mechanisms, accelerations and multipliers.

With ID the forces of inverse dynamics, f = G a + Gdot v the accelerations of the rows, and all
derivatives on the right at fixed a and lambda, M a + C = tau + G* lambda and f = dU/dt give

    | M  -G* | | da      |     | dtau - dID + d(G*) lambda |
    | G   0  | | dlambda |  =  | -df                       |,

which is solved as the dynamics are: by Y = M^-1, W = G Y G* and its pseudo-inverse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, vector
from spatialops.derivatives.closures import (
    PATH_COLUMNS,
    closure_changes_kernel,
    closure_stiffness_kernel,
    motions_kernel,
)
from spatialops.derivatives.forward_dynamics import ForwardDynamicsDerivatives
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.loops.closure_factors import LoopsLike, Span
from spatialops.dynamics.loops.constrained_dynamics import solve_constrained
from spatialops.dynamics.loops.rows import closure_jacobian
from spatialops.errors import ModelError
from spatialops.tree.model import Model


class MultiplierDerivatives(NamedTuple):
    """Derivatives of the forces along rows of closures.

    Parameters
    ----------
    dq : (n_rows, nv) array
        Row i, column j: change of multiplier i for a step along velocity j.
    dv : (n_rows, nv) array
        By velocities.
    dtau : (n_rows, nv) array
        By forces.
    """

    dq: Array
    dv: Array
    dtau: Array


class ConstrainedDynamicsDerivatives(NamedTuple):
    """What `constrained_dynamics_derivatives` returns.

    Parameters
    ----------
    accelerations : ForwardDynamicsDerivatives
        `dq`, `dv` and `dtau`, each (nv, nv).
    multipliers : MultiplierDerivatives
        `dq`, `dv` and `dtau`, each (n_rows, nv).
    rank : int
        Independent rows.
    redundant : tuple of str
        Rows that others imply.
    """

    accelerations: ForwardDynamicsDerivatives
    multipliers: MultiplierDerivatives
    rank: int
    redundant: tuple[str, ...]


def constrained_dynamics_derivatives(
    model: Model,
    loops: LoopsLike,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: ArrayLike | None = None,
    *,
    t: float = 0.0,
) -> ConstrainedDynamicsDerivatives:
    """Derivatives of `constrained_dynamics` by coordinates, velocities and forces.

    Those by coordinates are on the tangent space, as in `inverse_dynamics_derivatives`. With n_c
    rows O(N depth) for the tree and O(N^2 n_c) for the answer of the closures.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops, Loop or sequence of Loop
        Its closures; driven ones only if distances or couplers.
    q : (nq,) array_like
        Closed coordinates, rad and m.
    v : (nv,) array_like
        Velocities with G v = U(t), rad/s and m/s.
    tau : (nv,) array_like
        Generalised forces, N or N m, taken not to change with q and v.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
        It keeps its components while coordinates change.
    t : float
        Time for prescribed rates, s; default: 0.

    Returns
    -------
    ConstrainedDynamicsDerivatives
        Of accelerations and of multipliers.

    Raises
    ------
    ArgumentError, ModelError
        For wrong shapes, NaN or infinity; for closures that do not fit the model, or whose frames
        are driven; for a singular mass matrix.

    Notes
    -----
    Where rows are redundant the derivatives are those of motions of the mechanism: along directions
    u with G u = 0, velocities going with them. Off those the rank jumps, and there is none.
    Multipliers are the smallest that fit, and so are their changes.

    References
    ----------
    J. Carpentier, R. Budhiraja and N. Mansard, Proximal and sparse resolution of constrained
    dynamic equations, 2021, whose Pinocchio differentiates contacts likewise; G. H. Golub and V.
    Pereyra, The differentiation of pseudo-inverses, 1973, for redundant rows.

    Examples
    --------
    A crank is pushed, and pushed a little more:

    >>> import numpy as np, spatialops as so
    >>> bar = so.models.four_bar()
    >>> still, push = np.zeros(3), np.array([0.3, 0.0, 0.0])
    >>> by = so.constrained_dynamics_derivatives(bar.model, bar.loops, bar.state.q, still, push)
    >>> now, more = (
    ...     so.constrained_dynamics(bar.model, bar.loops, bar.state.q, still, x * push)
    ...     for x in (1.0, 1.1)
    ... )
    >>> change = by.accelerations.dtau @ (0.1 * push)
    >>> bool(np.allclose(more.accelerations - now.accelerations, change))
    True
    >>> change = by.multipliers.dtau @ (0.1 * push)
    >>> bool(np.allclose(more.multipliers - now.multipliers, change))
    True
    """
    span, motion = solve_constrained(model, loops, q, v, tau, external, t)
    _refuse_driven_frames(span)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    by = inverse_dynamics_derivatives(model, q, v, motion.accelerations, external)
    stiffness, f_q, f_v = closure_changes(span, q, v, *motion[:2])
    answer = ClosureAnswer(span, by.da)
    solved = (
        answer.of(stiffness - by.dq, -f_q),
        answer.of(-by.dv, -f_v),
        answer.of(np.eye(model.nv), np.zeros_like(f_q)),
    )
    accelerations = ForwardDynamicsDerivatives(*(a for a, _ in solved))
    multipliers = MultiplierDerivatives(*(forces for _, forces in solved))
    if motion.redundant:
        multipliers.dq[:] += _turned_range(span, answer, q, motion.multipliers)
    return ConstrainedDynamicsDerivatives(accelerations, multipliers, motion.rank, motion.redundant)


class ClosureAnswer:
    """Factors of the saddle-point problem: Y = M^-1, G, and (G Y G*)^+.

    Parameters
    ----------
    span : Span
        Factored.
    mass : (nv, nv) array
        Mass matrix there.
    """

    def __init__(self, span: Span, mass: Array) -> None:
        loops, n = span.loops, len(mass)
        self.G = np.empty((loops.n_rows, n))
        at = span.model
        closure_jacobian(at.tree, at.links, span.work, loops.term_ints, span.terms, self.G)
        self.inverse = np.linalg.inv(mass)
        units = np.eye(loops.n_rows)
        columns = [span.multipliers(unit) for unit in units]
        self.stiffness = np.reshape(columns, units.shape).T  # lambda of G a = u

    def of(self, force: Array, rows: Array) -> tuple[Array, Array]:
        """Columns of M a - G* lambda = force, G a = rows."""
        free = self.inverse @ force
        forces = self.stiffness @ (rows - self.G @ free)
        return free + self.inverse @ (self.G.T @ forces), forces


def closure_changes(
    span: Span, q: Array, v: Array, a: Array, multipliers: Array
) -> tuple[Array, Array, Array]:
    """d(G* lambda) / dq, df / dq and df / dv."""
    model, at = span.model, span.loops
    stack = model.stack()
    path: IntArray = np.empty((model.nv, PATH_COLUMNS), dtype=np.int64)
    stiffness = np.zeros((model.nv, model.nv))
    by_q = np.zeros((at.n_rows, model.nv))
    by_v = np.zeros_like(by_q)
    motions_kernel(model.tree, model.links, q, v, a, stack)
    closure_stiffness_kernel(
        model.tree, at.ints, at.floats, span.terms, multipliers, stack, path, stiffness
    )
    closure_changes_kernel(
        model.tree, model.links, at.ints, at.floats, span.terms, stack, path, by_q, by_v
    )
    model.stacks.append(stack)
    return stiffness, by_q, by_v


def _turned_range(span: Span, answer: ClosureAnswer, q: Array, multipliers: Array) -> Array:
    """How the smallest multipliers turn with the range of G, in which they lie.

    With lambda = G y and z* G = 0, z* dlambda = z* (dG y), and d(G y) is df at rest for a = y.
    """
    y = answer.inverse @ (answer.G.T @ (answer.stiffness @ multipliers))
    change = closure_changes(span, q, np.zeros_like(y), y, multipliers)[1]
    range_of_G = span.Z[:, : span.rank]
    return np.asarray(change - range_of_G @ (range_of_G.T @ change))


def _refuse_driven_frames(span: Span) -> None:
    for loop, ints in zip(span.loops.items, span.loops.ints, strict=True):
        kind = ints[layout.LOOP_KIND]
        if loop.rate is None or kind in (layout.CLOSE_DISTANCE, layout.CLOSE_COUPLER):
            continue
        raise ModelError(
            f"loop {loop.name!r}: derivatives of closures whose frame is driven are not known; "
            "only distances and couplers may be"
        )
