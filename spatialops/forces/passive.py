"""Passive forces: what a mechanism does by itself, whatever motors and contacts do.

Viscous damping -d v and springs k (r - q) of joints, and what bears the weight of bodies.
Controllers take them from here; within a step `simulation.stepping.integrators.joint_forces` has
them, implicitly. Dry friction is not among them: it is a constraint, solved for with the contacts.
Controllers that solve no such problem count on what it is of joints that move.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, all_finite, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.dynamics.jacobian import body_poses
from spatialops.dynamics.newton_euler import inverse_dynamics
from spatialops.tree.model import Model, not_a_model

_CREEP = 1e-4  # rad/s or m/s: below it a joint may as well stick, and friction is anything
_SOON = 1e-3  # s in which accelerations count as motion


@kernel
def add_passive_forces(links: Array, v: Array, tau: Array, out: Array) -> None:
    """Joint forces `tau` and damping, together in `out`."""
    for k in range(tau.size):
        out[k] = tau[k] - links[k, layout.DAMPING] * v[k]


def passive_forces(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Forces that a mechanism exerts by itself: damping, springs, compensation of gravity.

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
    (nv,) array
        Generalised forces, N or N m, to be added to those of motors: M a + bias = tau + passive.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.forces.passive import passive_forces
    >>> hinge = so.Joint("revolute", axis="y", damping=0.5, stiffness=2.0, reference=1.0)
    >>> rod = so.Inertia.capsule(0.1, 1.0, mass=2.0)
    >>> model = so.TreeBuilder().add_body("rod", joint=hinge, inertia=rod).build()
    >>> passive_forces(model, [0.0], [3.0])
    array([0.5])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    if not (all_finite(q) and all_finite(v)):
        raise not_finite(q=q, v=v)
    forces = spring_forces(model, q)
    add_passive_forces(model.links, v, forces, forces)
    if model.borne:
        forces += borne_weight(model, q)
    return forces


def dry_friction(model: Model, v: Array, a: Array | None = None) -> Array:
    """Forces (nv,) of dry friction at velocities (nv,): -tau_f sign(v) of joints that move.

    Continuous, tau_f v / 0.1 mrad/s where they creep: signs of rounding would shake motors. With
    accelerations, at those that they lead to in a millisecond: what begins to move is resisted.
    """
    soon = v if a is None else v + _SOON * a
    share = np.clip(soon / _CREEP, -1.0, 1.0)
    return np.asarray(-model.dry_friction * share)


def borne_weight(model: Model, q: Array) -> Array:
    """Joint forces (nv,) that bear the weight of bodies."""
    at_rest = np.zeros(model.nv)
    weightless = inverse_dynamics(model, q, at_rest, at_rest, compensation(model, q))
    return np.asarray(inverse_dynamics(model, q, at_rest, at_rest) - weightless)


def spring_forces(model: Model, q: Array) -> Array:
    """Forces (nv,) of the joints' springs at coordinates (nq,)."""
    forces = np.zeros(model.nv)
    for k in model.sprung:
        forces[k] = model.stiffness[k] * (model.reference[k] - q[model.tree[k, layout.FIRST_Q]])
    return forces


def compensation(model: Model, q: Array) -> Array:
    """Wrenches (n_bodies, 6) that bear the weight of bodies, about their origins, world axes."""
    wrenches = np.zeros((model.n_bodies, 6))
    if not model.borne:
        return wrenches
    rotations = body_poses(model, q).rotations
    for b in model.borne:
        mass, *center = model.compensation[b]
        turn = rotations[b] @ model.turns[model.body_links[b]]
        wrenches[b, 3:] = -mass * model.gravity
        wrenches[b, :3] = np.cross(turn @ np.array(center), wrenches[b, 3:])
    return wrenches
