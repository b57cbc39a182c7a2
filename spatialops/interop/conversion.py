"""Numbers of one mechanism in two conventions, both ways.

Velocities go over linearly, v = T(q) v', and so do powers: tau' = T^T tau. Accelerations have the
rate of T besides, a = T a' + Tdot v'. Every joint has its own block of T; other names of the same
things are only another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, vector
from spatialops.tree.model import Model


class JointMap(NamedTuple):
    """How the numbers of one joint go over.

    Where they lie here and there, and maps where they are not the identity: coordinates both ways,
    rates T(q') (nv, nv) of a joint, and its drift Tdot v'.
    """

    q: slice
    v: slice
    their_q: slice
    their_v: slice
    coordinates: Callable[[Array], Array] | None = None
    their_coordinates: Callable[[Array], Array] | None = None
    rates: Callable[[Array], Array] | None = None
    drift: Callable[[Array, Array], Array] | None = None


@dataclass(frozen=True, eq=False)
class Conversion:
    """A mechanism here, and how its numbers are written in another library ("theirs").

    Parameters
    ----------
    model : Model
        Ours.
    joints : tuple of JointMap
        Of all joints that move.
    bodies : dict of str to int
        Index there of every body's frame here: joints of Pinocchio, bodies of MuJoCo.
    """

    model: Model
    joints: tuple[JointMap, ...]
    bodies: dict[str, int] = field(default_factory=dict)

    def q_from(self, theirs: ArrayLike) -> Array:
        """Our coordinates (nq,) of theirs."""
        given = vector(theirs, self.their_nq, "theirs")
        q = np.empty(self.model.nq)
        for one in self.joints:
            part = given[one.their_q]
            q[one.q] = part if one.coordinates is None else one.coordinates(part)
        return q

    def q_to(self, q: ArrayLike) -> Array:
        """Their coordinates of ours (nq,)."""
        given = vector(q, self.model.nq, "q")
        theirs = np.empty(self.their_nq)
        for one in self.joints:
            part = given[one.q]
            map_ = one.their_coordinates
            theirs[one.their_q] = part if map_ is None else map_(part)
        return theirs

    def v_from(self, their_q: ArrayLike, theirs: ArrayLike) -> Array:
        """Our velocities (nv,) of theirs."""
        return self.rates(their_q) @ vector(theirs, self.model.nv, "theirs")

    def v_to(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Their velocities of ours (nv,)."""
        T = self.rates(self.q_to(q))
        return _solved(T, vector(v, self.model.nv, "v"))

    def a_from(self, their_q: ArrayLike, their_v: ArrayLike, theirs: ArrayLike) -> Array:
        """Our accelerations (nv,) of theirs."""
        T, drift = self.rates(their_q), self.drift(their_q, their_v)
        return T @ vector(theirs, self.model.nv, "theirs") + drift

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Their accelerations of ours (nv,)."""
        their_q, their_v = self.q_to(q), self.v_to(q, v)
        left = vector(a, self.model.nv, "a") - self.drift(their_q, their_v)
        return _solved(self.rates(their_q), left)

    def tau_from(self, their_q: ArrayLike, theirs: ArrayLike) -> Array:
        """Our joint forces (nv,) of theirs: their power is the same."""
        given = vector(theirs, self.model.nv, "theirs")
        return _solved(self.rates(their_q).T, given)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Their joint forces of ours (nv,)."""
        return self.rates(self.q_to(q)).T @ vector(tau, self.model.nv, "tau")

    def rates(self, their_q: ArrayLike) -> Array:
        """T (nv, nv), which takes their velocities to ours."""
        given = vector(their_q, self.their_nq, "their_q")
        T = np.zeros((self.model.nv, self.model.nv))
        for one in self.joints:
            width = one.v.stop - one.v.start
            block = np.eye(width) if one.rates is None else one.rates(given[one.their_q])
            T[one.v, one.their_v] = block
        return T

    def drift(self, their_q: ArrayLike, their_v: ArrayLike) -> Array:
        """Tdot v' (nv,): our accelerations where theirs are zero."""
        q = vector(their_q, self.their_nq, "their_q")
        v = vector(their_v, self.model.nv, "their_v")
        found = np.zeros(self.model.nv)
        for one in self.joints:
            if one.drift is not None:
                found[one.v] = one.drift(q[one.their_q], v[one.their_v])
        return found

    @property
    def their_nq(self) -> int:
        """Number of their coordinates."""
        return sum(one.their_q.stop - one.their_q.start for one in self.joints)


def width(start: int, n: int) -> slice:
    """The slice of n numbers from `start`."""
    return slice(int(start), int(start) + n)


def _solved(T: Array, values: Array) -> Array:
    return np.asarray(np.linalg.solve(T, values), dtype=np.float64)
