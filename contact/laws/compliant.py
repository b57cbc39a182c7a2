"""Ground that gives way: a spring and a damper along the normal, and friction that is regularised.

    f_n = max(0, k d + c d'),   d = -gap;      f_t = -min(mu f_n, b |u_t|) u_t / |u_t|

with c = damping + k x dissipation x d (K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution
interpreted as damping in vibroimpact*, 1975, for a linear spring). Over a step of duration s both
are taken at its end, so that no stiffness is too large: with the gap g there now, which closes for
the time r yet, p_n = s f_n > 0 says

    u_n + p_n / (s (k r + c)) + k g / (k r + c) = 0,
    and below the limit of friction  u_t + p_t / (s b) = 0.

(c counts where there is contact at the start: a damper does not push ahead of the surface.) That is
Coulomb's law with the compliance W + D and a shifted velocity: the exact cone's problem, better
posed than that of rigid contacts, for the same solvers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, scalar, whole
from spatialops.contact.cone.fallback_solver import ConeSolver, check_cone_solver
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.constraint_rows import CONTACT, DRY
from spatialops.contact.laws.cone import cone_conditions, load_dry, without_closures
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    finite_friction,
    speed_scale,
    unit_compliance,
    verified,
    without_moments,
)
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve


@dataclass(frozen=True, kw_only=True)
class Compliant:
    """Every contact is a spring and a damper; impacts take time.

    There is no restitution but what springs give back.

    Parameters
    ----------
    stiffness : float
        k, N/m, of each contact point.
    damping : float, optional
        N s/m. Default: 0.
    dissipation : float, optional
        Of Hunt and Crossley, s/m: the damping grows with depth; about 1 - 2/3 dissipation x speed
        rebounds. Default: 0.
    viscosity : float, optional
        b, N s/m: the slope of friction at small slips; a contact that holds the force f creeps with
        f / b. Default: 1e4.
    solver : str or ConeSolver, optional
        As `contact.solve` takes for a `ConeProblem`.
    tolerance : float, optional
        Largest accepted residual. Default: 1e-9.

    See Also
    --------
    Compliant.sinking : what these numbers are for a mass and how far it shall sink.
    """

    stiffness: float
    damping: float = 0.0
    dissipation: float = 0.0
    viscosity: float = 1e4
    solver: str | ConeSolver = "auto"
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = False  # depth bears the load, and there are no impacts

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        for name in ("stiffness", "viscosity"):
            scalar(getattr(self, name), name, low=0.0, strict=True)
        for name in ("damping", "dissipation"):
            scalar(getattr(self, name), name, low=0.0)
        check_cone_solver(self.solver)

    @classmethod
    def sinking(
        cls,
        depth: float,
        *,
        mass: float,
        contacts: int = 1,
        gravity: float = 9.81,
        damping_ratio: float = 1.0,
        creep: float = 1e-3,
    ) -> Compliant:
        """Ground into which a mass at rest on so many points sinks by `depth`.

        Parameters
        ----------
        depth : float
            m.
        mass : float
            kg, shared evenly by the points.
        contacts : int, optional
            Points that carry it. Default: 1.
        gravity : float, optional
            m/s^2.
        damping_ratio : float, optional
            Of the mass bobbing on the ground; 1, the default, is critical.
        creep : float, optional
            Slip, m/s, at which friction has become as large as the weight on a point.

        Returns
        -------
        Compliant
            With the stiffness, damping and viscosity for it.

        Examples
        --------
        >>> from spatialops.contact import Compliant
        >>> Compliant.sinking(1e-3, mass=12.0, contacts=4, gravity=10.0).stiffness
        30000.0
        """
        share = scalar(mass, "mass", low=0.0, strict=True) / whole(contacts, "contacts", low=1)
        load = share * scalar(gravity, "gravity", low=0.0, strict=True)
        stiffness = load / scalar(depth, "depth", low=0.0, strict=True)
        damping = (
            2.0
            * scalar(damping_ratio, "damping_ratio", low=0.0)
            * float(np.sqrt(stiffness * share))
        )
        return cls(
            stiffness=stiffness,
            damping=damping,
            viscosity=load / scalar(creep, "creep", low=0.0, strict=True),
        )

    def forces(self, gaps: Array, velocities: Array, friction: Array) -> Array:
        """Forces at an instant, along the frames.

        Parameters
        ----------
        gaps : (m,) array
            m; negative where bodies overlap.
        velocities : (m, 3) array
            Along the frames, m/s.
        friction : (m,) array
            Coefficients mu.

        Returns
        -------
        (m, 3) array
            N.
        """
        depth = np.maximum(-gaps, 0.0)
        normal = self.stiffness * depth - self._damping(depth) * velocities[:, 0]
        normal = np.where(depth > 0.0, np.maximum(normal, 0.0), 0.0)
        slip = np.hypot(velocities[:, 1], velocities[:, 2])
        drag = np.minimum(self.viscosity, friction * normal / np.where(slip > 0.0, slip, 1.0))
        drag = np.where(slip > 0.0, drag, 0.0)
        return np.column_stack([normal, -drag[:, None] * velocities[:, 1:]])

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses over the step, with springs as they are at its end.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier, similar problem, N s.

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.

        Raises
        ------
        ArgumentError
            For a problem with torsional, rolling or viscous friction or mu = inf, or a warm start
            that does not fit.
        """
        start = without_moments(self, checked_problem(problem, warm_start), problem)
        finite_friction(self, problem)
        give, shift = self._give(problem)
        held, W, u = without_closures(problem)
        u = (u.reshape(-1, 3) + shift).ravel()
        W, u = load_dry(problem, W + np.diag(give.ravel()), u, unit_compliance(problem))
        friction = np.where(problem.kinds == DRY, 1.0, problem.friction)
        if start is not None and problem.has_joints:
            start[:, 0] += np.where(problem.kinds == DRY, problem.dry, 0.0)
        found = solve(ConeProblem(W, u, friction), self.solver, start)
        p = found.z.reshape(-1, 3).copy()
        p[:, 0] = np.where(problem.kinds == DRY, 0.0, np.maximum(p[:, 0], 0.0))
        loops = held.impulses(problem.response.L[problem.n_loop_rows :].T @ p.ravel())
        exact, given = cone_conditions(problem), speed_scale(problem)
        # Springs ask for velocities of their own.
        whole_scale = max(given, float(np.abs(u).max(initial=0.0)))

        def conditions(p: Array, u: Array) -> Array:
            errors = exact(p, u + give * p + shift)
            return errors * (given / whole_scale) if given > 0.0 else errors

        return verified(
            problem,
            p,
            loops,
            conditions,
            found.iterations,
            tolerance=self.tolerance,
            detail=found.status.message,
        )

    def _damping(self, depth: Array) -> Array:
        return np.asarray(self.damping + self.stiffness * self.dissipation * depth)

    def _give(self, problem: ContactProblem) -> tuple[Array, Array]:
        """The diagonal D, and what is added to the velocities, both (m, 3)."""
        m, s = problem.n_contacts, problem.duration
        give, shift = np.zeros((m, 3)), np.zeros((m, 3))
        if s == 0.0:  # an impulse in no time: rigid
            return give, shift
        damping = np.where(problem.gaps < 0.0, self._damping(-problem.gaps), 0.0)
        slope = self.stiffness * problem.remaining + damping
        give[:, 0], give[:, 1:] = 1.0 / (s * slope), 1.0 / (s * self.viscosity)
        shift[:, 0] = self.stiffness * problem.gaps / slope - problem.gap_bias
        of_joints = problem.kinds != CONTACT
        give[of_joints] = shift[of_joints] = 0.0  # the ground gives way, joints do not
        return give, shift
