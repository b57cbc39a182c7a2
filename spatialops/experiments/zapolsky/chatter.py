"""Torque chatter ([Z] figures 6 and 15): a quadruped kneels on contacts in another order each step.

Four feet that keep their places have twelve components of force and the trunk feels six: laws admit
many forces that do the same. Which of them a solver meets depends on the order in which contacts
are listed, and no detector promises one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from spatialops._arrays import NOTHING, Array
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_dynamics.base import ContactInverseDynamics, Demand, Options
from spatialops.control.inverse_dynamics.coulomb import ConeController, CoulombController
from spatialops.control.inverse_dynamics.dissipation import DissipationController
from spatialops.control.joint_tracking import JointTracking, Reference
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.errors import ArgumentError
from spatialops.experiments.zapolsky.measures import torque_rates
from spatialops.models.quadruped import quadruped
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

_DT, _FRICTION = 1e-3, 0.8
_RATE = 12.0  # rad/s
_BEND = np.array([0.0, 0.02, 0.04])  # rad, of the joints of a leg: feet stay where they are


def _by_lemke(
    simulator: Simulator, demand: Demand, **options: Unpack[Options]
) -> ContactInverseDynamics:
    """The LCP by a pivoting method, which ends at whatever corner it meets first."""
    control = CoulombController(simulator, demand, **options)
    control.law = Coulomb(n_f=control.n_f, solver="lemke")
    return control


KINDS: dict[str, tuple[Callable[..., ContactInverseDynamics], Mapping[str, str]]] = {
    "lcp-lemke": (_by_lemke, {}),
    "lcp": (CoulombController, {}),
    "qp-first": (DissipationController, {"stages": "first"}),
    "lcp-nearest": (CoulombController, {"choice": "nearest"}),
    "qp": (DissipationController, {}),
    "cone": (ConeController, {}),
}


class Shuffled:
    """A law that is told of the contacts in another order each time, and starts afresh."""

    def __init__(self, law: Law, rng: np.random.Generator) -> None:
        self.law, self.rng = law, rng
        self.rigid = law.rigid

    def solve(self, problem: ContactProblem, warm_start: object = None) -> LawSolution:
        """What the law answers, in the order of `problem`."""
        order = self.rng.permutation(problem.n_contacts)
        answer = self.law.solve(problem.part(order))
        return replace(answer, impulses=answer.impulses[np.argsort(order)])


@dataclass(frozen=True, eq=False)
class Kneeling:
    """What one run measured.

    Attributes
    ----------
    tau : (n, 12) array
        N m.
    missed : float
        Largest difference of a joint acceleration from the predicted one, relative to the largest
        acceleration.
    """

    dt: float
    tau: Array
    missed: float

    @property
    def change(self) -> Array:
        """Mean |d tau / dt| of each step but the first, N m/s."""
        return np.asarray(torque_rates(self.tau, self.dt).mean(axis=1))


def kneel(name: str, *, duration: float = 1.0, seed: int = 0) -> Kneeling:
    """Bend all legs to and fro for `duration` seconds under a controller of `KINDS`.

    Raises
    ------
    ArgumentError
        For an unknown controller.
    """
    if name not in KINDS:
        raise ArgumentError(f"controller: expected one of {', '.join(KINDS)}; got {name!r}")
    robot = quadruped()
    sim = Simulator(robot.scene(friction=_FRICTION), dt=_DT, impact_threshold=100.0, certify="off")
    feet, q0 = Legs(robot.model, robot.feet).links, robot.state.q[7:].copy()

    def knees(time: float, state: State) -> Reference:
        wave = np.tile(_BEND, 4)
        sine, cosine = np.sin(_RATE * time), np.cos(_RATE * time)
        return Reference(
            q0 + 0.5 * wave * sine, 0.5 * _RATE * wave * cosine, -0.5 * _RATE**2 * wave * sine
        )

    kind, options = KINDS[name]
    control = kind(
        sim,
        JointTracking(robot.model, knees, dt=_DT),
        standing=lambda time: feet,
        horizon=_DT,  # what is measured is how exactly a command inverts a step
        **options,
    )
    control.law = Shuffled(control.law, np.random.default_rng(seed))
    state = robot.state
    taus = []
    missed = 0.0
    largest = NOTHING
    for _ in range(round(duration / _DT)):
        tau, before = control(state.time, state), state
        state, _ = sim.step(before, tau)
        predicted, reached = control.explain().predicted[6:], (state.v - before.v)[6:] / _DT
        missed = max(missed, float(np.abs(reached - predicted).max()))
        largest = max(largest, np.abs(reached).max())
        taus.append(tau[6:])
    return Kneeling(_DT, np.array(taus), missed / largest)
