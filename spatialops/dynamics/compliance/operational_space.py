"""What follows from Lambda: inertia at nodes, the dynamically consistent inverse, its null space.

With J the nodes' Jacobian and Lambda = J M^-1 J^T their compliance,

    inertia = Lambda^-,   J_bar = M^-1 J^T Lambda^-,   N = 1 - J_bar J,

(O. Khatib, A unified approach for motion and force control of robot manipulators, 1987). Motions
N v do not move the nodes, forces N^T tau do not accelerate them. Where nodes cannot move in all
directions Lambda is singular and Lambda^- a generalised inverse, by rank; N is the same for any.
With closures M^-1 is that of the motions that they admit (`closed.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, not_finite, vector
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.blocks import joint_axes
from spatialops.dynamics.compliance.closed import closed_rows, motions
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.jacobian import jacobian
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.dynamics.loops.constrained_dynamics import loop_jacobian
from spatialops.dynamics.sweeps import solve_mass_kernel
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import NodeLike

RANK = 1e-10  # eigenvalue of Lambda, relative to the largest, that counts as no motion


def operational_space_inertia(
    model: Model,
    q: ArrayLike,
    nodes: Sequence[NodeLike],
    *,
    loops: LoopsLike | None = None,
) -> Array:
    """Inertia that nodes feel, Lambda^-1, or a generalised inverse where nodes cannot move freely.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node
        Points of bodies.
    loops : Loops, Loop or sequence of Loop, optional
        Closures of the mechanism, closed at q.

    Returns
    -------
    (6 n_c, 6 n_c) array
        Forces on the nodes from their accelerations, [angular; linear] in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.
    ModelError
        If the mass matrix is singular.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    return _inverse(compliance(model, q, nodes, loops=loops))


def dynamically_consistent_inverse(
    model: Model,
    q: ArrayLike,
    nodes: Sequence[NodeLike],
    *,
    loops: LoopsLike | None = None,
) -> Array:
    """Inverse of the nodes' Jacobian that weighs by the mass matrix, M^-1 J^T Lambda^-.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node
        Points of bodies.
    loops : Loops, Loop or sequence of Loop, optional
        Closures of the mechanism, closed at q.

    Returns
    -------
    (nv, 6 n_c) array
        Of all joint motions that move the nodes so, the one with least kinetic energy.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.
    ModelError
        If the mass matrix is singular.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q = so.models.pendulum(3).model, [0.3, 0.1, -0.4]
    >>> tip = [so.Node(model.body_names[-1])]
    >>> J = so.jacobian(model, q, tip)
    >>> J_bar = so.dynamically_consistent_inverse(model, q, tip)
    >>> bool(np.allclose(J @ J_bar @ J, J))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    if loops is None:
        return _consistent_inverse(model, q, jacobian(model, q, nodes))
    span, rows = closed_rows(model, loops, q, model.resolve(nodes))
    return np.asarray(motions(span, rows).T @ _inverse(rows @ rows.T))


def null_space_projector(
    model: Model,
    q: ArrayLike,
    nodes: Sequence[NodeLike],
    *,
    loops: LoopsLike | None = None,
) -> Array:
    """Projector onto the motions that leave nodes where they are, N = 1 - J_bar J.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node
        Points of bodies.
    loops : Loops, Loop or sequence of Loop, optional
        Closures of the mechanism, closed at q.

    Returns
    -------
    (nv, nv) array
        N v does not move the nodes; forces N^T tau do not accelerate them.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.
    ModelError
        If the mass matrix is singular.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q = so.models.pendulum(3).model, [0.3, 0.1, -0.4]
    >>> tip = [so.Node(model.body_names[0])]
    >>> N = so.null_space_projector(model, q, tip)
    >>> bool(np.allclose(so.jacobian(model, q, tip) @ N, 0.0)), float(np.trace(N).round(9))
    (True, 2.0)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    J, unit = jacobian(model, q, nodes), np.eye(model.nv)
    if loops is None:
        return np.asarray(unit - _consistent_inverse(model, q, J) @ J)
    # First onto what closures admit, where the nodes' inverse stays.
    G = loop_jacobian(model, loops, q)
    admitted = unit - _consistent_inverse(model, q, G) @ G
    J_bar = dynamically_consistent_inverse(model, q, nodes, loops=loops)
    return np.asarray((unit - J_bar @ J) @ admitted)


def _consistent_inverse(model: Model, q: ArrayLike, J: Array) -> Array:
    """M^-1 J^T Lambda^- of a Jacobian J."""
    rows = _solved(model, q, J)
    return np.asarray(rows.T @ _inverse(J @ rows.T))


def _inverse(Lambda: Array) -> Array:
    """Symmetric generalised inverse, of rank judged with a diagonal of ones."""
    own = np.sqrt(Lambda.diagonal())
    # Metres and radians differ in size; nodes that do not move at all have no scale.
    scale = np.where(own > 0.0, own, 1.0)
    unit = np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(Lambda / unit, rcond=RANK, hermitian=True) / unit)


def _solved(model: Model, q: ArrayLike, rows: Array) -> Array:
    """M^-1 x for the rows x, by the articulated-body factors."""
    q = vector(q, model.nq, "q")
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != layout.OK:
        raise not_finite(q=q)
    if factor_kernel(model.tree, model.links, work) != layout.OK:
        raise singular_joint(model, work)
    D_inverse = work[:, layout.D_INVERSE].copy()
    gains = work[:, layout.GAIN_M : layout.GAIN_M + 6] * D_inverse[:, None]
    levers = work[:, layout.LEVER : layout.LEVER + 3].copy()
    found = rows.copy()
    scratch = np.empty((model.nv, 6))
    axes = joint_axes(model.tree, model.links, work)
    solve_mass_kernel(model.tree, levers, axes, gains, D_inverse, scratch, found)
    return found
