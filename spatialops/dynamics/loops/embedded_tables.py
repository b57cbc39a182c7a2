"""What the sweeps over aggregates work on: links where they stand, what closures leave, room."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, IntArray


class Placed(NamedTuple):
    """Links where they stand.

    Parameters
    ----------
    up : (n,) int array
        Their parents.
    axes : (n, 6) array
        Spatial velocities at unit rates.
    levers : (n, 3) array
        From the parents' origins.
    armature : (n,) array
    """

    up: IntArray
    axes: Array
    levers: Array
    armature: Array


class Freedom(NamedTuple):
    """What closures leave of the joints' rates: qdot = N z, qddot = N zdot + gamma.

    Parameters
    ----------
    sizes : (g,) int array
        d of each aggregate.
    basis : (n, width) array
        The rows of N of all links, in the first d columns.
    gamma : (n,) array
    """

    sizes: IntArray
    basis: Array
    gamma: Array


class Room(NamedTuple):
    """What the sweeps work in: rows k * width + j belong to link k and the free rate j.

    Parameters
    ----------
    reach : (n, 3) array
        From the origin of the aggregate's parent to that of each link.
    H, U : (n width, 6) arrays
        H_k* and P_k H_k*.
    Phi, gains : (n width, 6) arrays
        Phi and D^-1 Phi*, at the first link of each aggregate.
    nu : (n, width) array
        At the first link too.
    D : (width, width) array
    shift : (6, 6) array
    """

    reach: Array
    H: Array
    U: Array
    Phi: Array
    gains: Array
    nu: Array
    D: Array
    shift: Array
