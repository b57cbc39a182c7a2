"""Impacts of the event-driven method, by the same rules as the time stepper's: see `simulation.colliding`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.contact.certificate import Certificate, certify, promised
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.energy import energy
from spatialops.errors import SolverFailed
from spatialops.simulation.colliding import Answer, Collider, after_impact
from spatialops.simulation.event_sight import Contacts
from spatialops.simulation.pair_friction import PairFriction
from spatialops.tree.model import Model


class Rules(NamedTuple):
    """How impacts are resolved: one after the other or together, and pairs whose coefficient is Newton's."""

    propagated: bool
    newton: BoolArray
    threshold: float


class Impact(NamedTuple):
    """Velocities after, impulses (m, 3) along the frames, kinetic energies, restitution given back, residual."""

    v: Array
    impulses: Array
    before: float
    after: float
    fraction: float
    residual: float


class Impacts:
    """Resolves the impacts of a model under the laws of its pairs."""

    def __init__(self, model: Model, friction: PairFriction, rules: Rules) -> None:
        self.model, self.friction, self.rules = model, friction, rules
        self.certificates: list[Certificate] | None = None  # of all problems, where somebody wants them

    def resolve(
        self, time: float, q: Array, v: Array, contacts: Contacts, closures: Any, *, restitution: bool
    ) -> Impact:
        """All that touches takes part; `closures` are terms (ints, floats) of independent rows.

        Raises
        ------
        SolverFailed
            If the law has no solution.
        """
        ints, terms = closures
        problem = ContactProblem(
            self.model,
            q,
            v,
            contacts.links,
            contacts.points,
            contacts.frames,
            contacts.friction,
            phase="compression",
            kinds=contacts.kinds,
            loop_ints=ints,
            loop_terms=terms,
            loop_targets=np.zeros(int(ints[:, 0].max()) + 1 if len(ints) else 0),
        )
        if self.friction.special:
            problem = self.friction.put(problem, contacts.of_geoms.pairs)
        collider = Collider(lambda part: self._answer(part, time), self.rules.propagated, self.rules.threshold)
        newton = self.rules.newton[contacts.pairs]
        found = collider.resolve(problem, contacts.restitution * restitution, newton)
        end = after_impact(problem, found)
        energies = energy(self.model, q, v).kinetic, energy(self.model, q, end).kinetic
        return Impact(end, found.impulses, *energies, found.share * restitution, found.residual)

    def _answer(self, problem: ContactProblem, time: float) -> Answer:
        solution = self.friction.law.solve(problem)
        if not solution.solved:
            raise SolverFailed(
                f"impact of {problem.n_contacts} contacts ({problem.phase}) at t = {time:.6g} s under "
                f"{self.friction.law!r}: residual {solution.residual:.2e}; {solution.detail}. Save it with "
                "error.problem.save(path)",
                problem,
                solution,
            )
        if self.certificates is not None:
            own = promised(self.friction.law)
            found = certify(problem, solution.impulses, solution.loop_impulses, solution.moments, promises=own)
            self.certificates.append(found)
        return Answer(solution.impulses, None, solution.velocity, solution.residual, solution.iterations)
