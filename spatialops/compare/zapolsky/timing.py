"""Time of a command against the number of contacts ([Z] figure 19): feet that touch the ground in ever more points."""

from __future__ import annotations

from dataclasses import fields
from time import perf_counter
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_problem import InverseProblem, inverse_problem
from spatialops.control.no_slip import PressedNoSlip
from spatialops.models.quadruped import FOOT_RADIUS, quadruped
from spatialops.simulation.foresight import Ahead, Foresight
from spatialops.simulation.simulator import Simulator

COUNTS = (4, 8, 12, 20, 40, 80, 160, 320, 640, 1000)
METHODS: dict[str, tuple[Any, int]] = {
    "lcp-no-slip": (PressedNoSlip(), 1000),
    "qp": (MaxDissipation(shortest=False), 20),
    "qp-one-stage": (MaxDissipation(regularization=1e-8), 20),
    "lcp": (Coulomb(), 20),
}


def crowded(ahead: Ahead, count: int, rng: np.random.Generator) -> Ahead:
    """The same step with `count` contacts: every foot touches in a disc of points."""
    seen = ahead.problem
    assert seen is not None
    own = {item.name: getattr(seen, item.name) for item in fields(ContactProblem) if item.init}
    which = np.arange(count) % seen.n_contacts
    for name in (
        "links",
        "points",
        "frames",
        "friction",
        "closing",
        "offset",
        "kinds",
        "dry",
        "torsion",
        "rolling",
        "gaps",
    ):
        if own[name] is not None:
            own[name] = np.asarray(own[name])[which]
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, count), 0.5 * FOOT_RADIUS * np.sqrt(rng.uniform(0.0, 1.0, count))
    shift = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(count)])
    own["points"] = own["points"] + shift
    return Ahead(ahead.model, ahead.q, ahead.before, ahead.free, ahead.mass, ContactProblem(**own), ahead.keys[which])


def timed(method: str, count: int, *, repeats: int = 30, seed: int = 0) -> dict[str, Any]:
    """Seconds of posing and solving one inverse problem of `count` contacts, warm-started from the one before.

    Demands are consistent: small motions of the trunk over feet that stand.
    """
    law, _ = METHODS[method]
    robot, rng = quadruped(), np.random.default_rng(seed)
    sim = Simulator(robot.scene(friction=1.0), impact_threshold=100.0)
    step = crowded(Foresight(sim).look(robot.state), count, rng)
    rows, times, worst, warm = np.array(range(6, 18)), [], 0.0, None
    for _ in range(repeats + 1):
        wanted = _consistent(step, rows, 1e-3 * rng.normal(size=6))
        begun = perf_counter()
        problem: InverseProblem = inverse_problem(step, rows, wanted)
        answer = law.solve(problem, warm)
        problem.forces(step, answer.impulses.ravel(), sim.dt)
        times.append(perf_counter() - begun)
        worst, warm = max(worst, answer.residual), answer.impulses
    taken = np.array(times[1:])
    return {
        "method": method,
        "contacts": count,
        "milliseconds": 1e3 * float(np.median(taken)),
        "milliseconds_999": 1e3 * float(np.quantile(taken, 0.999)),
        "residual": worst,
    }


def _consistent(step: Ahead, rows: IntArray, twist: Array) -> Array:
    """Velocities of the joints with which feet stand still while the base moves with `twist` (6,)."""
    assert step.problem is not None
    G = step.problem.jacobian
    v: Array = -np.linalg.lstsq(G[:, rows], G[:, :6] @ twist, rcond=None)[0]
    return v


def figure_19(*, repeats: int = 30, largest: int = 1000) -> list[dict[str, Any]]:
    """All methods at all counts that they are meant for."""
    return [
        timed(method, count, repeats=repeats)
        for method, (_, most) in METHODS.items()
        for count in COUNTS
        if count <= min(most, largest)
    ]


def exponent(rows: list[dict[str, Any]], method: str, *, beyond: int = 40) -> float:
    """Slope of log time against log contacts from `beyond` contacts on."""
    own = [row for row in rows if row["method"] == method and row["contacts"] >= beyond]
    if len(own) < 2:
        return float("nan")
    x, y = np.log([row["contacts"] for row in own]), np.log([row["milliseconds"] for row in own])
    return float(np.polyfit(x, y, 1)[0])
