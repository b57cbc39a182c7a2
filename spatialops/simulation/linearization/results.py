"""What derivatives of steps, of rollouts and of impacts are handed out as."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops.tree.state import State


class Linearization(NamedTuple):
    """What `Simulator.linearize` returns.

    Parameters
    ----------
    state : State
        Where the step ends.
    A : (2 nv, 2 nv) array
        Change of the state at the end by that at the start, both as [coordinates; velocities] on
        the tangent spaces.
    B : (2 nv, nv) array
        By joint forces.
    statuses : tuple of str
        What the contacts of the step do: "open", "sticking", "sliding", or "dragged" by a viscous
        law; behind them joints with dry friction, "sticking" or "sliding", and at stops, "stopped"
        or "open".
    switching : tuple of str
        Contacts that are about to do something else, and which one-sided derivative was taken.
    """

    state: State
    A: Array
    B: Array
    statuses: tuple[str, ...]
    switching: tuple[str, ...]


class RolloutTangent(NamedTuple):
    """What `LinearizedRollout.jvp` returns.

    Parameters
    ----------
    q, v : (n + 1, nv) arrays
        Changes of all states, on the tangent spaces.
    """

    q: Array
    v: Array


class RolloutGradient(NamedTuple):
    """What `LinearizedRollout.vjp` returns.

    Parameters
    ----------
    q, v : (nv,) arrays
        By the state at the start, on the tangent space.
    tau : (n, nv) array
        By the forces of all steps.
    """

    q: Array
    v: Array
    tau: Array


class ParameterGradient(NamedTuple):
    """What `LinearizedRollout.vjp_parameters` returns.

    Parameters
    ----------
    q, v : (nv,) arrays
        By the state at the start, on the tangent space.
    tau : (n, nv) array
        By the forces of all steps.
    inertial : (10 n_bodies,) array
        By `inertial_parameters`.
    friction, restitution : (n_pairs,) array
        By the coefficients of the scene's pairs of geoms.
    """

    q: Array
    v: Array
    tau: Array
    inertial: Array
    friction: Array
    restitution: Array


class ImpactFound(NamedTuple):
    """What `Linearizer.impact` returns.

    Attributes
    ----------
    status : int
        KNOWN, or nothing else is said.
    by : (nv, 2 nv) array
        Change of the velocity after it by [q; v].
    v : (nv,) array
        That velocity.
    gaps : (m,) array
        Of its contacts, m.
    rows : (m, nv) array
        How these change with coordinates.
    ints : (m, POINT_INTS) int array
        What they do.
    """

    status: int
    by: Array
    v: Array
    gaps: Array
    rows: Array
    ints: IntArray
