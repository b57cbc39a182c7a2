"""Impacts of the event-driven method, by the same rules as the time stepper's.

`simulation.impact_models` has the rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.contact.certificate import Certificate
from spatialops.contact.constraint_rows import CONTACT
from spatialops.contact.laws.reduction import REST
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.energy import energy
from spatialops.simulation.event_driven.contacts import ContactDetector, Contacts
from spatialops.simulation.impact_models import Answer, Collider, after_impact
from spatialops.simulation.law_answers import answer_of_law
from spatialops.simulation.pair_laws import PairFriction
from spatialops.simulation.stepping.contact_names import pairs_text
from spatialops.tree.model import Model

_LEAST = 1e-300  # N s


class Rules(NamedTuple):
    """How impacts are resolved: in turn or together, and where coefficients are Newton's."""

    propagated: bool
    newton: BoolArray
    threshold: float


class Impact(NamedTuple):
    """An impact that is over.

    Attributes
    ----------
    v : (nv,) array
        Velocities after it.
    impulses : (m, 3) array
        Along the contacts' frames, N s.
    before, after : float
        Kinetic energies, J.
    fraction : float
        Share of the restitution that was given back.
    residual : float
        Of the worst problem, relative.
    """

    v: Array
    impulses: Array
    before: float
    after: float
    fraction: float
    residual: float


class Met(NamedTuple):
    """An impact as it is written down: contacts (m), their impulses (m, 3), and its event's row."""

    time: float
    contacts: Contacts
    impulses: Array
    event: list[float]


class Impacts:
    """Resolves the impacts of a model under the laws of its pairs, which the detector knows."""

    def __init__(
        self,
        model: Model,
        friction: PairFriction,
        rules: Rules,
        detector: ContactDetector,
    ) -> None:
        self.model = model
        self.friction = friction
        self.rules = rules
        self.detector = detector
        # Of all problems, where somebody wants them.
        self.certificates: list[Certificate] | None = None

    def resolve(
        self,
        time: float,
        q: Array,
        v: Array,
        contacts: Contacts,
        closures: tuple[IntArray, Array],
        *,
        restitution: bool,
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
        classes = self.detector.classes(contacts.pairs)
        of_geoms = classes[contacts.kinds == CONTACT]
        if self.friction.special:
            problem = self.friction.put(problem, of_geoms)
        problem = self._pressed(problem, of_geoms)
        collider = Collider(
            lambda part: self._answer(part, time, contacts),
            self.rules.propagated,
            self.rules.threshold,
        )
        newton = self.rules.newton[classes]
        found = collider.resolve(problem, contacts.restitution * restitution, newton)
        end = after_impact(problem, found)
        energies = energy(self.model, q, v).kinetic, energy(self.model, q, end).kinetic
        return Impact(end, found.impulses, *energies, found.share * restitution, found.residual)

    def _pressed(self, problem: ContactProblem, classes: IntArray) -> ContactProblem:
        """The same, with next to nothing that presses what may not slip and stays together.

        An impact knows no weights, and without slip those contacts are held that press.
        """
        held = np.isinf(self.friction.friction[classes])
        if not held.any():
            return problem
        u = problem.velocities
        normal = u[problem.n_loop_rows :: 3][: len(classes)]
        stays = np.abs(normal) <= REST * np.abs(u).max(initial=0.0)
        prior = problem.prior_normal_impulse.copy()
        prior[: len(classes)][stays & held] = _LEAST
        return replace(problem, prior_normal_impulse=prior)

    def _answer(self, problem: ContactProblem, time: float, contacts: Contacts) -> Answer:
        def where() -> str:
            names = pairs_text(self.detector.names(pair) for pair in contacts.pairs.tolist())
            return (
                f"impact of {problem.n_contacts} contacts ({problem.phase}) at t = {time:.6g} s, "
                f"{names}"
            )

        found = answer_of_law(self.friction.law, problem, where, certificates=self.certificates)
        return found._replace(moments=None)
