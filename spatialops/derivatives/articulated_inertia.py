"""How articulated inertias, joints' inertias and gains change along a direction, tips to base.

With s the axis of a joint, P what its link carries, D = s.P s + armature and g = P s / D, what the
joint passes on is X = P - D g g*. Along a direction of motion

    dD = s.dP s + 2 ds.P s,                  dg = (t - dD g) / D,    t = dP s + P ds,
    dX = dP - x g* - g x*,                   x = t - dD g / 2,
    dP(parent) = dM(parent) + sum of phi dX phi* + dphi X phi* + phi X dphi*,

where dphi is the moment of a lever that changes, dr x f. The recursion is that of the Riccati
equation of [J]'s appendix, differentiated.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops._layout import PARENT
from spatialops.algebra.vectors import add3, cross, vec3

# Rows of a link's motions and arms.
AXIS = 0
AXIS_CHANGE = 1
GAIN = 2
LEVER = 0
LEVER_CHANGE = 1


@inlined
def shift_rows(r: Vec3, X: Array) -> None:
    """X <- X phi*: the rows of X, as wrenches, about the parent's origin."""
    for i in range(6):
        add3(X, i, 0, cross(r, vec3(X, i, 3)))


@inlined
def shift_columns(r: Vec3, X: Array) -> None:
    """X <- phi X."""
    for j in range(6):
        moment = cross(r, (X[3, j], X[4, j], X[5, j]))
        for i in range(3):
            X[i, j] += moment[i]


@inlined
def put_gain_change(
    motions: Array, D: float, passed: Array, change: Array, gain_change: Array
) -> float:
    """Write dg of a link, and return dD."""
    own = 0.0
    lean = 0.0
    for i in range(6):
        lean += motions[GAIN, i] * motions[AXIS_CHANGE, i]
    for i in range(6):
        gain_change[i] = D * lean * motions[GAIN, i]  # P ds = X ds + D g (g.ds)
        along = 0.0
        for j in range(6):
            along += change[i, j] * motions[AXIS, j]
            gain_change[i] += passed[i, j] * motions[AXIS_CHANGE, j]
        own += motions[AXIS, i] * along
        gain_change[i] += along
    D_change = own + 2.0 * D * lean
    for i in range(6):
        gain_change[i] = (gain_change[i] - D_change * motions[GAIN, i]) / D
    return D_change


@inlined
def put_passed_change(
    motions: Array, D: float, D_change: float, change: Array, gain_change: Array, out: Array
) -> None:
    """Write dX of a link; x = D dg + dD g / 2."""
    for i in range(6):
        for j in range(6):
            out[i, j] = (
                change[i, j]
                - D_change * motions[GAIN, i] * motions[GAIN, j]
                - D * (gain_change[i] * motions[GAIN, j] + motions[GAIN, i] * gain_change[j])
            )


@inlined
def add_lever_change(rate: Vec3, passed: Array, out: Array) -> None:
    """Add dphi X phi* and its transpose; `passed` is X phi*."""
    for j in range(6):
        moment = cross(rate, (passed[3, j], passed[4, j], passed[5, j]))
        for i in range(3):
            out[i, j] += moment[i]
            out[j, i] += moment[i]


@kernel
def articulated_change_kernel(
    tree: IntArray,
    arms: Array,
    motions: Array,
    D: Array,
    passed: Array,
    change: Array,
    D_change: Array,
    gain_change: Array,
    scratch: Array,
) -> None:
    """Changes of P, D and g of all links.

    `change` (n, 6, 6) holds dM and receives dP. `passed` holds X and is written over, `scratch` is
    (6, 6). `arms` (n, 2, 3) are levers and their changes, `motions` (n, 3, 6) axes, their changes
    and gains.
    """
    for k in range(tree.shape[0] - 1, -1, -1):
        D_change[k] = put_gain_change(motions[k], D[k], passed[k], change[k], gain_change[k])
        parent = tree[k, PARENT]
        if parent < 0:
            continue
        r = vec3(arms[k], LEVER, 0)
        put_passed_change(motions[k], D[k], D_change[k], change[k], gain_change[k], scratch)
        shift_columns(r, scratch)
        shift_rows(r, scratch)
        shift_rows(r, passed[k])
        add_lever_change(vec3(arms[k], LEVER_CHANGE, 0), passed[k], scratch)
        for i in range(6):
            for j in range(6):
                change[parent, i, j] += scratch[i, j]
