"""Coriolis matrices and rates of Jacobians, exact and without a formula of their own.

Velocities of ball and free joints are not rates of coordinates: fields of constant v and w do not
commute, and their bracket [v, w] is the only thing beside known quadratic functions that is needed.
With c(v) the Coriolis forces and d(v) = Jdot v the drift of linear rows, both quadratic in v, and
the Levi-Civita connection of the mass matrix (no torsion, compatible with the metric),

    C(v) w    = (c(v + w) - c(v - w)) / 4 + M [v, w] / 2,      so that dM/dt = C + C^T,
    Jdot(v) w = (d(v + w) - d(v - w)) / 4 + J [v, w] / 2.

Angular rows are no rates of coordinates either, and have (J v) x (J w) / 2 on top.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops._arrays import Array, ArrayLike, vector
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.jacobian import jacobian, jacobian_drift
from spatialops.dynamics.newton_euler import bias
from spatialops.tree.model import Model
from spatialops.tree.node import NodeLike


def brackets(model: Model, v: ArrayLike) -> Array:
    """Matrix (nv, nv) whose column j is [v, e_j], the bracket of constant velocity fields.

    Zero but for ball joints, w x e, and free ones: [w x w_j; w x u_j - w_j x u], both in body axes.
    """
    v, result = vector(v, model.nv, "v"), np.zeros((model.nv, model.nv))
    for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind not in ("ball", "free"):
            continue
        at = model.v_slice(name).start
        turn = _skew(v[at : at + 3])
        result[at : at + 3, at : at + 3] = turn
        if kind == "free":
            result[at + 3 : at + 6, at : at + 3] = _skew(v[at + 3 : at + 6])
            result[at + 3 : at + 6, at + 3 : at + 6] = turn
    return result


def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Coriolis matrix C (nv, nv) with C v = bias(q, v) - bias(q, 0) and dM/dt - 2 C skew-symmetric.

    Parameters
    ----------
    model : Model
        Free and ball joints must not have an armature: the engine leaves out its gyroscopic force.
    q : (nq,) array
    v : (nv,) array

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Notes
    -----
    For analysis: 2 nv calls of Newton-Euler. Controllers need C v only.
    """
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    size = _like(v)  # so that the squares below have one scale
    unit = size * np.eye(model.nv)
    columns = [(bias(model, q, v + e) - bias(model, q, v - e)) / (4.0 * size) for e in unit]
    return np.stack(columns, axis=1) + 0.5 * mass_matrix(model, q) @ brackets(model, v)


def jacobian_rate(model: Model, q: ArrayLike, v: ArrayLike, nodes: Sequence[NodeLike]) -> Array:
    """Time derivative (6 n_c, nv) of the nodes' Jacobian along v; times v it is `jacobian_drift`.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.
    """
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    nodes = list(nodes)
    size = _like(v)
    unit = size * np.eye(model.nv)
    columns = [
        (jacobian_drift(model, q, v + e, nodes) - jacobian_drift(model, q, v - e, nodes))
        / (4.0 * size)
        for e in unit
    ]
    J = jacobian(model, q, nodes)
    rate = np.stack(columns, axis=1) + 0.5 * J @ brackets(model, v)
    spin = (J @ v).reshape(-1, 6)[:, :3]
    for i, omega in enumerate(spin):
        rate[6 * i : 6 * i + 3] += 0.5 * _skew(omega) @ J[6 * i : 6 * i + 3]
    return rate


def _like(v: Array) -> float:
    return max(1.0, float(np.abs(v).max(initial=0.0)))


def _skew(w: Array) -> Array:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
