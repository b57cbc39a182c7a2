"""The contact problem of a mechanism whose motors move as demanded: the heart of [Z]'s inverse dynamics.

With a for actuated and u for other velocities, a step of length s under motor forces tau and contact impulses p obeys

    M (v+ - v_free) = s P^T tau + G^T p,    P v+ = v_des.

The rows u hold no tau: M_uu (v_u+ - v_u0) = G_u^T p, v_u0 = v_u,free - M_uu^-1 M_ua (v_des - v_a,free). So contacts see
G_u M_uu^-1 G_u^T = G X G^T, with X the leading block of the inverse of [[M, P^T], [P, 0]] ([Z] 63, 64), and everything
that solves a contact problem solves this one. [Z] 6.2.2 comes to the same by inverting M; here the only factor is that
of M_uu, 6 x 6 for a legged robot. The rows a then give tau.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.problem import ContactProblem, Response
from spatialops.errors import ArgumentError, ModelError
from spatialops.simulation.foresight import Ahead


@dataclass(frozen=True, eq=False)
class InverseProblem(ContactProblem):
    """Contacts of a mechanism some of whose velocities are given: all laws and formulations take it as any other.

    Its `velocity` holds the given velocities, and those that the others would have without contacts.

    Parameters
    ----------
    given : (n,) int array
        Indices of velocities that no impulse changes.
    mass : (nv, nv) array
        Mass matrix at q.
    """

    given: Any = ()
    mass: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_loop_rows:
            raise ArgumentError("an inverse problem has no closures")

    @cached_property
    def others(self) -> IntArray:
        """Indices u of the velocities that follow."""
        return np.setdiff1d(np.arange(self.model.nv), self.given)

    @cached_property
    def factor(self) -> Array:
        """C^-1 of the lower Cholesky factor C of M_uu."""
        u = self.others
        return inverse_factor(self.mass[np.ix_(u, u)])

    @cached_property
    def reach(self) -> Array:
        """G_u C^-T (3 m, u): the contacts' compliance is its square."""
        return np.asarray(self.jacobian[:, self.others] @ self.factor.T)

    @cached_property
    def response(self) -> Response:
        """L (3 m, nv) with the columns of `reach` where velocities follow, and zeros where they are given."""
        L = np.zeros((len(self.jacobian), self.model.nv))
        L[:, self.others] = self.reach
        return Response(np.zeros((0, 0)), L)

    def after(self, impulses: Array, moments: Array | None = None) -> Array:
        """Velocities (nv,) after impulses (3 m,): the given ones do not change."""
        if moments is not None and np.any(moments):
            raise ArgumentError("an inverse problem has no moments of contacts")
        v: Array = self.velocity.copy()
        v[self.others] += self.factor.T @ (self.reach.T @ impulses)
        return v

    def forces(self, ahead: Ahead, impulses: Array, dt: float) -> Array:
        """Joint forces (nv,) that make the motion so, zero where no velocity is given."""
        push = (self.mass @ (self.after(impulses) - ahead.free) - self.jacobian.T @ impulses) / dt
        push[self.others] = 0.0
        result: Array = push
        return result

    def torque_rows(self) -> Array:
        """T (n, 3 m): how impulses that leave the motion as it is change s tau: -G_a^T."""
        return np.asarray(-self.jacobian[:, self.given].T)


def inverse_problem(ahead: Ahead, given: IntArray, wanted: Array, frames: Array | None = None) -> InverseProblem:
    """The problem of a step whose velocities `given` shall be `wanted` at its end.

    Parameters
    ----------
    ahead : Ahead
        The step, without joint forces.
    given : (n,) int array
    wanted : (n,) array
        rad/s or m/s.
    frames : (m, 3, 3) array, optional
        Contact frames; default: those of the step without joint forces.
    """
    model, M = ahead.model, ahead.mass
    u = np.setdiff1d(np.arange(model.nv), given)
    v = ahead.free.copy()
    v[given] = wanted
    C = inverse_factor(M[np.ix_(u, u)])
    v[u] -= C.T @ (C @ (M[np.ix_(u, given)] @ (wanted - ahead.free[given])))
    if ahead.problem is None:
        none = np.zeros((0, 3))
        made = InverseProblem(model, ahead.q, v, none, none, np.zeros((0, 3, 3)), (), given=given, mass=M)
    else:
        own = {item.name: getattr(ahead.problem, item.name) for item in fields(ContactProblem) if item.init}
        own |= {"velocity": v, "frames": own["frames"] if frames is None else frames, "given": given, "mass": M}
        made = InverseProblem(**own)
    made.__dict__["factor"] = C
    made.__dict__["others"] = u
    return made


def inverse_factor(A: Array) -> Array:
    """C^-1 of the lower Cholesky factor C of a symmetric positive definite matrix; ModelError where it is none.

    Small matrices: an inverse costs less than what BLAS threads spend on meeting for a triangular solve.
    """
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(A)))
    except np.linalg.LinAlgError:
        raise ModelError("the mass matrix of the joints without motors is singular") from None
