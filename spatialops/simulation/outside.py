"""Contact problems that the compiled loop hands out: answered by laws, formulations and the ladder of solvers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.collision import _layout as column
from spatialops.contact.certificate import Certificate, certify, promised
from spatialops.contact.formulations import Formulation
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.solution import Law
from spatialops.contact.lcp.handles import Solver
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.contact.solve import solve
from spatialops.errors import SolverFailed
from spatialops.simulation import _layout as at
from spatialops.simulation.colliding import Answer, Collider
from spatialops.simulation.memory import Memory
from spatialops.simulation.moments import with_moments
from spatialops.simulation.pair_friction import PairFriction
from spatialops.simulation.prepared import acting, contact_problem, put_answer
from spatialops.simulation.scene import Scene
from spatialops.simulation.tables import Tables


class Method(NamedTuple):
    """How contact problems are solved: by a law, or, without one, by a formulation and a solver."""

    law: Law | None
    formulation: Formulation
    solver: str | Solver

    @property
    def compiled(self) -> bool:
        """Whether the loop solves by itself."""
        return self.law is None and isinstance(self.formulation, OperationalSpace) and self.solver == "auto"

    @property
    def n_f(self) -> int:
        """Directions of friction."""
        return int(getattr(self.formulation, "n_f", 4))


class ImpactRule(NamedTuple):
    """How impacts are resolved; whose coefficients are Newton's: of these pairs, and of what is no pair of geoms."""

    propagated: bool
    newton: BoolArray
    else_newton: bool

    @property
    def whole(self) -> bool:
        """Whether both phases are resolved at once, outside the loop."""
        return self.propagated or self.else_newton or bool(self.newton.any())


@dataclass(eq=False)
class Outside:
    """What the loop asks for when it stops with a problem.

    Attributes
    ----------
    fallbacks : int
        Problems that the loop could not solve by itself since `begin`.
    """

    scene: Scene
    method: Method
    pairs: PairFriction
    impacts: ImpactRule
    certified: bool
    fallbacks: int = 0
    _memory: Memory = field(default_factory=Memory)
    _certificates: list[Certificate] = field(default_factory=list)

    def begin(self) -> None:
        """Forget the run before."""
        self.fallbacks, self._memory = 0, Memory()

    def problem(self, t: Tables) -> ContactProblem:
        """The prepared problem, with what pairs of geoms have of their own."""
        problem = contact_problem(self.scene, t)
        if not self.pairs.special:
            return problem
        return self.pairs.put(problem, t.ints[: len(acting(t)), column.CONTACT_PAIR])

    def solve(self, t: Tables, fallback: bool) -> bool:
        """Solve the prepared problem and put the answer into the tables; False where they have no room for it.

        Raises
        ------
        SolverFailed
        """
        problem, law = self.problem(t), self.method.law
        if problem.has_moments and problem.n_contacts + len(with_moments(problem)) > len(t.ints):
            t.control[at.STAGE] = at.SMOOTH if problem.phase == "contact" else at.IMPACT  # once more, with room
            return False
        if problem.phase == "compression" and (self.impacts.whole or self.pairs.special):
            self._collide(problem, t)
            return True
        warm = self._memory.recall(t) if law is not None and problem.phase == "contact" else None
        answer = self._answer(problem, t, fallback, warm)
        if law is not None and problem.phase == "contact":
            self._memory.keep(t, answer.impulses, answer.moments)
        put_answer(t, problem, answer)
        return True

    def certificate(self, gap: float) -> Certificate | None:
        """The worst certificate since it was last asked for; None unless problems are certified."""
        if not self.certified:
            return None
        worst = Certificate.worst([*self._certificates, Certificate(gap=gap, residual=0.0)])
        self._certificates.clear()
        return worst

    def _collide(self, problem: ContactProblem, t: Tables) -> None:
        """Both phases of an impact, whose impulses the loop only has to apply."""
        m, threshold = problem.n_contacts, float(t.settings[at.THRESHOLD])
        collider = Collider(lambda part: self._answer(part, t), self.impacts.propagated, threshold)
        newton, pairs = np.full(m, self.impacts.else_newton), t.ints[: len(acting(t)), column.CONTACT_PAIR]
        newton[: len(pairs)], share = self.impacts.newton[pairs], float(t.monitor[at.FRACTION])
        found = collider.resolve(problem, t.floats[:m, column.RESTITUTION].copy(), newton, share)
        t.floats[:m, column.RESTITUTION] = 0.0  # nothing is left for decompression
        t.monitor[at.FRACTION] = found.share
        put_answer(t, problem, found)

    def _answer(self, problem: ContactProblem, t: Tables, fallback: bool = False, warm: Array | None = None) -> Answer:
        """Solve by the law or the formulation; SolverFailed where they do not."""
        time, law = t.monitor[at.TIME], self.method.law
        where = f"contact problem of {problem.n_contacts} contacts ({problem.phase}) at t = {time:.6g} s"
        if law is not None:
            answer = law.solve(problem, warm)
            if not answer.solved:
                raise SolverFailed(
                    f"{where} under {law!r}: residual {answer.residual:.2e}; {answer.detail}. Save it with "
                    "error.problem.save(path) and try other laws on it",
                    problem,
                    answer,
                )
            self._note(problem, answer)
            return Answer(answer.impulses, answer.moments, answer.velocity, answer.residual, answer.iterations)
        formulation = OperationalSpace(self.method.n_f) if fallback else self.method.formulation
        solution = solve(formulation.assemble(problem), "auto" if fallback else self.method.solver)
        self.fallbacks += fallback
        if not solution.solved:
            raise SolverFailed(
                f"{where}: residual {solution.residual:.2e}; {solution.status.message}. Save it with "
                "error.problem.save(path) and try other solvers on it",
                problem,
                solution,
            )
        recovered = formulation.recover(problem, solution)
        self._note(problem, recovered)
        return Answer(recovered.impulses, None, recovered.velocity, solution.residual, solution.iterations)

    def _note(self, problem: ContactProblem, answer: ContactSolution) -> None:
        """Certify one problem's answer, where that is wanted."""
        if self.certified:
            law = self.method.law
            found = certify(problem, answer.impulses, answer.loop_impulses, answer.moments, promises=promised(law))
            self._certificates.append(found)
