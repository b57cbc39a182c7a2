"""The derivative of Lambda times given wrenches, by all coordinates at once.

With w the wrenches at the nodes and y = M^-1 J* w the accelerations that answer them,

    d(Lambda w) = dJ y + J M^-1 (dJ* w - dM y),

where y and w stay. A joint j carries rigidly all that lies beyond it. At a node's point P, which it
moves by s_j, an axis (w_i, s_i) that it carries turns by its angular part w_j, and the velocity
under one that it does not carry changes by w_i x s_j. The part with dM is inverse dynamics at rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops._arrays import (
    Array,
    ArrayLike,
    BoolArray,
    all_finite,
    array,
    not_finite,
    several,
    vector,
)
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import FIRST, spans
from spatialops.dynamics.jacobian import jacobian
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import NodeLike


def contracted_compliance_derivative(
    model: Model, q: ArrayLike, wrenches: ArrayLike, nodes: Sequence[NodeLike]
) -> Array:
    """Derivative of Lambda times given wrenches by the coordinates.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    wrenches : (n_c, 6) array_like
        [moment (N m); force (N)] at each node, in world axes; they keep their components.
    nodes : sequence of Node
        n_c points fixed to bodies.

    Returns
    -------
    (6 n_c, nv) array
        Column j: of ``compliance(model, q, nodes) @ wrenches.ravel()`` for a step along velocity j.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    See Also
    --------
    compliance_derivative : of Lambda itself, along one direction.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, u = so.models.pendulum(2).model, np.array([0.3, 0.1]), np.array([0.5, 1.0])
    >>> tip, wrench = [so.Node("link2")], np.array([[0.0, 0.3, 0.0, 1.0, 0.0, -2.0]])
    >>> by = so.contracted_compliance_derivative(model, q, wrench, tip)
    >>> along = so.compliance_derivative(model, q, u, tip) @ wrench.ravel()
    >>> bool(np.allclose(by @ u, along))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    nodes = several(nodes, "nodes", "nodes")
    given = array(wrenches, (len(nodes), 6), "wrenches")
    if not (all_finite(q) and all_finite(given)):
        raise not_finite(q=q, wrenches=given)
    still = np.zeros(model.nv)
    J = jacobian(model, q, nodes)
    resting = inverse_dynamics_derivatives(model, q, still, still)
    inverse = np.linalg.inv(resting.da)
    y = inverse @ (J.T @ given.ravel())
    turned = resting.dq - inverse_dynamics_derivatives(model, q, still, y).dq
    moved = np.empty((len(nodes), 6, model.nv))
    carried = _carried(model)
    for c, wrench in enumerate(given):
        angular, linear = J[6 * c : 6 * c + 3], J[6 * c + 3 : 6 * c + 6]
        turned += _turned_wrench(angular, linear, wrench, carried)
        moved[c] = _turned_motion(angular, linear, y, carried)
    return np.asarray(moved.reshape(-1, model.nv) + J @ (inverse @ turned))


def _carried(model: Model) -> BoolArray:
    """Entry i, j: whether velocity i, on a path through j, is of j's joint or beyond it."""
    first = spans(model)[:, FIRST]
    carried: BoolArray = np.arange(model.nv)[:, None] >= first[None, :]
    return carried


def _turned_wrench(angular: Array, linear: Array, wrench: Array, carried: BoolArray) -> Array:
    """d(J* w)_i by q_j of a node."""
    moment, force = wrench[:3], wrench[3:]
    turning = np.cross(moment, angular, axisb=0, axisc=0)  # a . (w_j x b) = b . (a x w_j)
    pushing = np.cross(force, angular, axisb=0, axisc=0)
    beyond = angular.T @ turning + linear.T @ pushing
    before = angular.T @ np.cross(linear, force, axisa=0, axisc=0)
    return np.where(carried, beyond, before)


def _turned_motion(angular: Array, linear: Array, y: Array, carried: BoolArray) -> Array:
    """d(J y) by q_j of a node."""
    spin, speed = (angular * y) @ carried, (linear * y) @ carried
    rest = (angular @ y)[:, None] - spin
    turned = np.cross(angular, spin, axisa=0, axisb=0, axisc=0)
    moved = np.cross(angular, speed, axisa=0, axisb=0, axisc=0)
    moved += np.cross(rest, linear, axisa=0, axisb=0, axisc=0)
    return np.concatenate([turned, moved])
