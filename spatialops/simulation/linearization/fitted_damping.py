"""How the armature that the step fits to joints' damping changes with coordinates.

The step puts s D T(x) to the armature of a joint with damping D, x = s D / m, where m is the
inertia that the joint feels with all that it carries free to give way: D(k) of the articulated
bodies. With y the velocities of the carried joints that answer a unit rate of joint k without
force, m = y* M y, and since y makes this a minimum only M changes:

    dm / dq = d (y* M y) / dq with y fixed: twice that of the kinetic energy of y.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.derivatives.momentum import kinetic_energy_by_q
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.tree.model import Model

_LINEAR = 1e-2  # of x, below which T is taken for linear there


def armature_by_q(model: Model, q: Array, s: float) -> Array:
    """Changes (nv, nv) of the armatures in a step of length s whose dynamics are those of q."""
    result = np.zeros((model.nv, model.nv))
    damping = s * model.links[:, layout.DAMPING]
    damped = np.flatnonzero(damping > 0.0)
    if not damped.size:
        return result
    M, carried = mass_matrix(model, q), carried_by(model)
    for k in damped:
        below = np.flatnonzero(carried[:, k])
        answer = np.linalg.solve(M[np.ix_(below, below)], (below == k).astype(float))
        inverse = float(answer[below == k][0])
        y = np.zeros(model.nv)
        y[below] = answer / inverse
        by_inertia = -damping[k] * slope(damping[k] * inverse) * damping[k] * inverse**2
        result[k] = by_inertia * 2.0 * kinetic_energy_by_q(model, q, y)
    return result


def slope(x: float) -> float:
    """T'(x) of T = 1 / (1 - exp(-x)) - 1 / x, as `joint_limits_and_friction.fitted` has it."""
    if x < _LINEAR:
        return 1.0 / 12.0
    return 1.0 / (x * x) - math.exp(-x) / (1.0 - math.exp(-x)) ** 2


def carried_by(model: Model) -> Array:
    """(nv, nv) array: 1 where link k (row) is carried by link j (column), itself included."""
    result = np.eye(model.nv)
    for k, parent in enumerate(model.tree[:, layout.PARENT]):
        if parent >= 0:
            result[k] += result[parent]
    return result
