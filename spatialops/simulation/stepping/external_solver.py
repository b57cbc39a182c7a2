"""Answers to the problems that the loop hands out: laws, formulations, the ladder of solvers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.collision import _layout as col
from spatialops.contact.certificate import Certificate
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.formulated import solve_formulated
from spatialops.contact.laws.law import Law
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.errors import SolverFailed
from spatialops.simulation import _layout as at
from spatialops.simulation.impact_models import Answer, Collider
from spatialops.simulation.law_answers import answer_of_law, certificate_of
from spatialops.simulation.pair_laws import PairFriction
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.adapter import acting, contact_problem, put_answer
from spatialops.simulation.stepping.constraints.friction_laws import loop_law
from spatialops.simulation.stepping.contact_names import names_acting
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.warm_start import Memory


class Method(NamedTuple):
    """How contact problems are solved: by a law, or, without one, by a formulation and a solver.

    The loop takes moments beside the law `in_loop`; outside of it `law` has them too.
    """

    law: Law | None
    formulation: Formulation
    solver: str | Solver
    in_loop: Law | None

    @property
    def compiled(self) -> bool:
        """Whether the loop solves by itself."""
        if self.in_loop is not None:
            return loop_law(self.in_loop) is not None
        return isinstance(self.formulation, OperationalSpace) and self.climbs

    @property
    def climbs(self) -> bool:
        """Whether the solver is the ladder, to the loop's own tolerance."""
        if isinstance(self.solver, Auto):
            return self.solver.tolerance == Auto.tolerance
        return self.solver == "auto"

    @property
    def ladder(self) -> str | Solver:
        """What solves a problem that the loop does not."""
        return self.solver if isinstance(self.solver, Auto) else "auto"

    @property
    def n_f(self) -> int:
        """Directions of friction."""
        return int(getattr(self.formulation, "n_f", 4))


class ImpactRule(NamedTuple):
    """How impacts are resolved.

    Attributes
    ----------
    propagated : bool
        One pair of bodies after the other.
    newton : (n,) bool array
        Pairs whose coefficients are Newton's.
    else_newton : bool
        Whether those of what is no pair of geoms are.
    """

    propagated: bool
    newton: BoolArray
    else_newton: bool

    @property
    def whole(self) -> bool:
        """Whether both phases are resolved at once, outside the loop."""
        return self.propagated or self.else_newton or bool(self.newton.any())


@dataclass(eq=False)
class ExternalSolver:
    """What the loop asks for when it stops with a problem.

    Attributes
    ----------
    joints : JointRows
        Names of stops and dry friction, for errors.
    certified : bool
        Whether every answer is certified by itself.
    fallbacks : int
        Problems that the loop could not solve by itself since `begin`.
    memory : Memory
        Answers to the last problem of a step.
    compressed : (m, 3) array or None
        Impulses of compression of the last impact that was resolved here.
    """

    scene: Scene
    joints: JointRows
    method: Method
    pairs: PairFriction
    impacts: ImpactRule
    certified: bool
    fallbacks: int = 0
    memory: Memory = field(default_factory=Memory)
    compressed: Array | None = None
    _certificates: list[Certificate] = field(default_factory=list)

    def begin(self) -> None:
        """Forget the run before."""
        self.fallbacks = 0
        self.memory.clear()
        self._certificates.clear()

    def problem(self, t: Tables) -> ContactProblem:
        """The prepared problem, with what pairs of geoms have of their own."""
        problem = contact_problem(self.scene, t)
        if not self.pairs.special:
            return problem
        return self.pairs.put(problem, self._classes(t))

    def solve(self, t: Tables, fallback: bool) -> None:
        """Solve the prepared problem and put the answer into the tables.

        `fallback` tries the ladder of solvers.

        Raises
        ------
        SolverFailed
        """
        problem = self.problem(t)
        if problem.phase == "compression" and (self.impacts.whole or self.pairs.special):
            self._collide(problem, t)
            return
        warm = self.memory.load_warm_start(t) if problem.phase == "contact" else None
        answer = self._answer(problem, t, fallback, warm)
        if problem.phase == "contact":
            self.memory.keep(t, answer.impulses, answer.moments)
        put_answer(t, problem, answer)

    def certificate(self, gap: float) -> Certificate | None:
        """The worst certificate since it was last asked for; None unless problems are certified."""
        if not self.certified:
            return None
        worst = Certificate.worst([*self._certificates, Certificate(gap=gap, residual=0.0)])
        self._certificates.clear()
        return worst

    def _collide(self, problem: ContactProblem, t: Tables) -> None:
        """Both phases of an impact, whose impulses the loop only has to apply."""
        m = problem.n_contacts
        threshold = float(t.settings[at.THRESHOLD])
        collider = Collider(lambda part: self._answer(part, t), self.impacts.propagated, threshold)
        newton = np.full(m, self.impacts.else_newton)
        classes = self._classes(t)
        newton[: len(classes)] = self.impacts.newton[classes]
        share = float(t.monitor[at.FRACTION])
        found = collider.resolve(problem, t.floats[:m, col.RESTITUTION].copy(), newton, share)
        t.floats[:m, col.RESTITUTION] = 0.0  # nothing is left for decompression
        t.monitor[at.FRACTION] = found.share
        self.compressed = found.compressed
        put_answer(t, problem, found)

    def _classes(self, t: Tables) -> IntArray:
        """Classes of the pairs of the acting contacts of geoms."""
        return self.scene.classes_of(t.ints[: len(acting(t)), col.CONTACT_PAIR])

    def _answer(
        self, problem: ContactProblem, t: Tables, fallback: bool = False, warm: Array | None = None
    ) -> Answer:
        """Solve by the law or the formulation; SolverFailed where they do not."""
        law = self.method.law
        if law is not None:
            self.fallbacks += fallback
            certificates = self._certificates if self.certified else None
            return answer_of_law(law, problem, lambda: self._where(problem, t), warm, certificates)
        formulation = OperationalSpace(self.method.n_f) if fallback else self.method.formulation
        solution = solve_formulated(
            problem, formulation, self.method.ladder if fallback else self.method.solver, warm
        )
        self.fallbacks += fallback
        if self.method.climbs and solution.solver != "central" and not fallback:
            t.control[at.PIVOTED] += 1  # of a fallback the loop has counted already
        if not solution.solved:
            best = f" ({t.monitor[at.MISSED]:.2e} in the loop)" if fallback else ""
            raise SolverFailed(
                f"{self._where(problem, t)}: residual {solution.residual:.2e}{best}; "
                f"{solution.message}. Save it with error.problem.save(path) and try other "
                "solvers on it",
                problem,
                solution,
            )
        recovered = formulation.recover(problem, solution)
        if self.certified:
            self._certificates.append(certificate_of(None, problem, recovered))
        return Answer(
            recovered.impulses, None, recovered.velocity, solution.residual, solution.iterations
        )

    def _where(self, problem: ContactProblem, t: Tables) -> str:
        """What is solved, for errors."""
        names = names_acting(t, self.scene, self.joints)
        return (
            f"contact problem of {problem.n_contacts} contacts ({problem.phase}) at "
            f"t = {t.monitor[at.TIME]:.6g} s, {names}"
        )
