"""Derivatives of what a mechanism does by itself: damping, springs, compensation of gravity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, all_finite, not_finite, vector
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.jacobian import body_poses, jacobian
from spatialops.forces.passive import compensation
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import Node


class PassiveForceDerivatives(NamedTuple):
    """What `passive_force_derivatives` returns.

    Parameters
    ----------
    dq, dv : (nv, nv) arrays
        By coordinates, on the tangent space, and by velocities.
    """

    dq: Array
    dv: Array


def passive_force_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> PassiveForceDerivatives:
    """Derivatives of `passive_forces`, which are added to forces of motors.

    With tau(q, v) = motors + passive, accelerations change by `dq + dtau @ passive.dq` and
    `dv + dtau @ passive.dv` of `forward_dynamics_derivatives` at that tau.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.

    Returns
    -------
    PassiveForceDerivatives
        `dq` and `dv`: N or N m for each rad, m, rad/s or m/s.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.derivatives.passive_forces import passive_force_derivatives
    >>> hinge = so.Joint("revolute", axis="y", damping=0.5, stiffness=2.0, reference=1.0)
    >>> rod = so.Inertia.capsule(0.1, 1.0, mass=2.0)
    >>> model = so.TreeBuilder().add_body("rod", joint=hinge, inertia=rod).build()
    >>> by = passive_force_derivatives(model, [0.0], [3.0])
    >>> by.dq, by.dv
    (array([[-2.]]), array([[-0.5]]))
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    if not (all_finite(q) and all_finite(v)):
        raise not_finite(q=q, v=v)
    dq = -np.diag(model.stiffness)
    if model.borne:
        dq += borne_weight_derivative(model, q)
    return PassiveForceDerivatives(dq, -np.diag(model.damping))


def borne_weight_derivative(model: Model, q: Array) -> Array:
    """Derivative (nv, nv) of joint forces that bear weight."""
    still, wrenches = np.zeros(model.nv), compensation(model, q)
    borne = inverse_dynamics_derivatives(model, q, still, still, wrenches).dq
    change = inverse_dynamics_derivatives(model, q, still, still).dq - borne
    return np.asarray(change + turning_weight(model, q))


def turning_weight(model: Model, q: Array) -> Array:
    """What of it (nv, nv) is of moments that turn with their arms: wrenches do not say that."""
    change, wrenches = np.zeros((model.nv, model.nv)), compensation(model, q)
    rotations = body_poses(model, q).rotations
    for b in model.borne:
        turns = jacobian(model, q, [Node(model.body_names[b])])[:3]
        arm = rotations[b] @ model.turns[model.body_links[b]] @ model.compensation[b, 1:]
        moved = np.cross(turns, arm, axisa=0, axisc=0)
        change += turns.T @ np.cross(moved, wrenches[b, 3:], axisa=0, axisc=0)
    return change
