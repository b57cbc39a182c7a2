"""The contact problem of a mechanism whose motors move as demanded: the heart of [Z].

With a for actuated and u for other velocities, a step of length s under motor forces tau and
contact impulses p obeys

    M (v+ - v_free) = s P^T tau + G^T p,    P v+ = v_des.

The rows u hold no tau: M_uu (v_u+ - v_u0) = G_u^T p, v_u0 = v_u,free - M_uu^-1 M_ua (v_des -
v_a,free). So contacts see G_u M_uu^-1 G_u^T = G X G^T, with X the leading block of the inverse of
[[M, P^T], [P, 0]] ([Z] 63, 64), and everything that solves a contact problem solves this one. [Z]
6.2.2 comes to the same by inverting M; here the only factor is that of M_uu, 6 x 6 for a legged
robot. The rows a then give tau.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TypeVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, all_finite, vector
from spatialops.contact.problem import ContactProblem, Response
from spatialops.control.inverse_dynamics.inverse_geometry import Geometries, InverseGeometry
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import StepPrediction

P = TypeVar("P", bound=ContactProblem)

_FIELDS = tuple(item.name for item in fields(ContactProblem) if item.init)
_OF_INVERSES = ("given", "mass")
_OF_PLACES = ("jacobian", "geometry")  # what is kept where nothing of these changes:
_PLACES = {"q", "links", "points", "frames", "kinds"}  # what rows are made of


@dataclass(frozen=True, eq=False)
class InverseProblem(ContactProblem):
    """Contacts of a mechanism some of whose velocities are given.

    All laws and formulations take it as any other problem. Made by `inverse_problem`.

    Parameters
    ----------
    model, q, velocity : Model, (nq,) array and (nv,) array
        As of `ContactProblem`; `velocity` holds the given velocities, and those that the others
        would have without contacts.
    links, points, frames, friction, gap_bias, prior_normal_impulse, phase : arrays and str
        As of `ContactProblem`.
    loop_ints, loop_terms, loop_targets : arrays
        None: there are no closures.
    kinds, dry, viscous, polygon_sides, torsion, rolling, gaps, drift : arrays
        As of `ContactProblem`.
    duration, remaining : float
        As of `ContactProblem`.
    given : (n,) int array
        Indices of velocities that no impulse changes.
    mass : (nv, nv) array
        Mass matrix at q.

    Raises
    ------
    ArgumentError
        For a problem with closures.
    """

    given: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    mass: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_loop_rows:
            raise ArgumentError("an inverse problem has no closures")

    @cached_property
    def geometry(self) -> InverseGeometry:
        """What it has of posture and contacts alone."""
        return InverseGeometry(self.mass, self.jacobian, self.given)

    @property
    def others(self) -> IntArray:
        """Indices u of the velocities that follow."""
        return self.geometry.others

    @property
    def factor(self) -> Array:
        """C^-1 of the lower Cholesky factor C of M_uu."""
        return self.geometry.factor

    @property
    def reach(self) -> Array:
        """G_u C^-T (3 m, u): the contacts' compliance is its square."""
        return self.geometry.reach

    @property
    def response(self) -> Response:
        """L (3 m, nv): columns of `reach` where velocities follow, zeros where they are given."""
        return self.geometry.response

    @property
    def compliance(self) -> Array:
        """L L^T (3 m, 3 m), 1/kg."""
        return self.geometry.compliance

    @cached_property
    def velocities(self) -> Array:
        """Velocities (3 m,) without impulses, with their bias: G is there anyway."""
        return np.asarray(self.jacobian @ self.velocity + self.bias.ravel())

    def after(self, impulses: ArrayLike, moments: ArrayLike | None = None) -> Array:
        """Velocities after impulses: the given ones do not change.

        Parameters
        ----------
        impulses : (3 m,) array_like
            Contact impulses along the contacts' frames, N s.
        moments : array_like, optional
            None, or zeros.

        Returns
        -------
        (nv,) array
            rad/s or m/s.

        Raises
        ------
        ArgumentError
            For a wrong shape, or moments that are not zero.
        """
        if moments is not None and np.any(moments):
            raise ArgumentError("an inverse problem has no moments of contacts")
        impulses = vector(impulses, len(self.jacobian), "impulses")
        v: Array = self.velocity.copy()
        v[self.others] += self.factor.T @ (self.reach.T @ impulses)
        return v

    def forces(self, ahead: StepPrediction, impulses: Array, dt: float) -> Array:
        """Joint forces that make the motion so.

        Parameters
        ----------
        ahead : StepPrediction
            The step, without joint forces.
        impulses : (3 m,) array_like
            Contact impulses along the contacts' frames, N s.
        dt : float
            Length of the step, s.

        Returns
        -------
        (nv,) array
            N m or N, zero where no velocity is given.
        """
        push = (self.mass @ (self.after(impulses) - ahead.free) - self.jacobian.T @ impulses) / dt
        push[self.others] = 0.0
        result: Array = push
        return result

    def torque_rows(self) -> Array:
        """How impulses that leave the motion as it is change the motors' own.

        Returns
        -------
        (n, 3 m) array
            T = -G_a^T, of joint impulses s tau, per N s.
        """
        return np.asarray(-self.jacobian[:, self.given].T)


def inverse_problem(
    ahead: StepPrediction,
    given: IntArray,
    wanted: Array,
    frames: Array | None = None,
    kept: Geometries | None = None,
) -> InverseProblem:
    """The problem of a step whose velocities `given` shall be `wanted` at its end.

    Parameters
    ----------
    ahead : StepPrediction
        The step, without joint forces.
    given : (n,) int array
        Indices of the velocities that are demanded.
    wanted : (n,) array
        What they shall be, rad/s or m/s.
    frames : (m, 3, 3) array, optional
        Contact frames; default: those of the step without joint forces.
    kept : Geometries, optional
        Of problems before, some of which may be of this posture and these contacts.

    Returns
    -------
    InverseProblem
        With the demanded velocities, and those that the others would have without contacts.
    """
    made = _without_contacts(ahead) if ahead.problem is None else ahead.problem
    made = restated(made, InverseProblem, given=given, mass=ahead.mass)
    if frames is not None and ahead.problem is not None and frames is not made.frames:
        drift = turned(made.drift, made.frames, frames)
        made = restated(made, InverseProblem, frames=frames, drift=drift)
    if kept is not None:
        made.__dict__["geometry"] = kept.of(ahead.mass, made.jacobian, given)
    made.__dict__["velocity"] = _following(made.geometry, given, ahead.free, wanted)
    return made


def demanding(problem: InverseProblem, wanted: Array) -> InverseProblem:
    """The same contacts under another demand (n,), rad/s or m/s."""
    v = _following(problem.geometry, problem.given, problem.velocity, wanted)
    return restated(problem, InverseProblem, velocity=v)


def _following(geometry: InverseGeometry, given: IntArray, free: Array, wanted: Array) -> Array:
    """Velocities (nv,) without contacts, from `free` ones, where `given` become `wanted`."""
    v: Array = free.copy()
    v[given] = wanted
    v[geometry.others] -= geometry.factor.T @ (geometry.coupling @ (wanted - free[given]))
    if not all_finite(v):
        raise ArgumentError("wanted: the velocities that follow are not finite")
    return v


def _without_contacts(ahead: StepPrediction) -> ContactProblem:
    """The problem of a step that meets nothing."""
    none = np.zeros((0, 3))
    links = np.zeros((0, 2), dtype=np.int64)
    frames = np.zeros((0, 3, 3))
    return ContactProblem(ahead.model, ahead.q, ahead.free, links, none, frames, np.zeros(0))


def restated(problem: ContactProblem, kind: type[P], **changes: object) -> P:
    """A problem with other fields, none of which is checked: a command restates its step ten times.

    Rows of the same contacts along the same axes are kept.
    """
    own = problem.__dict__
    made = kind.of_checked({name: own[name] for name in (*_FIELDS, *_OF_INVERSES) if name in own})
    made.__dict__.update(changes)
    if changes.keys().isdisjoint(_PLACES):
        kept = _OF_PLACES if changes.keys().isdisjoint(_OF_INVERSES) else ("jacobian",)
        made.__dict__.update({name: own[name] for name in kept if name in own})
    return made


def turned(vectors: Array, frames: Array, others: Array) -> Array:
    """Components (m, 3) along other frames of vectors along frames (m, 3, 3)."""
    return np.asarray(np.einsum("mij,mkj,mk->mi", others, frames, vectors))
