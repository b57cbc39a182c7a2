"""Time of a command against the number of contacts ([Z] figure 19), feet touching in many points.

Times are those of the process, so that other programs on the machine do not count.
"""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import numpy as np
from scipy import sparse

from spatialops._arrays import NOTHING, Array
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.control.inverse_dynamics.inverse_problem import InverseProblem, inverse_problem
from spatialops.control.inverse_dynamics.landing_contacts import part
from spatialops.control.inverse_dynamics.no_slip import PressedNoSlip
from spatialops.errors import MissingLibraryError
from spatialops.models.quadruped import FOOT_RADIUS, quadruped
from spatialops.simulation.lookahead import Lookahead, StepPrediction
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator

_DT = 1e-3
_MOTORS = np.arange(6, 18)
COUNTS = (4, 8, 12, 20, 40, 80, 160, 320, 640, 1000)
METHODS: dict[str, tuple[Law, int]] = {
    "lcp-no-slip": (PressedNoSlip(), 1000),
    "qp": (MaxDissipation(shortest=False), 160),
    "qp-one-stage": (MaxDissipation(regularization=1e-8), 40),
    "lcp": (Coulomb(), 160),
}


def crowded(ahead: StepPrediction, count: int, rng: np.random.Generator) -> StepPrediction:
    """The same step with `count` contacts: every foot touches in a disc of points."""
    seen = ahead.problem
    assert seen is not None
    many = part(ahead, np.arange(count) % seen.n_contacts)
    assert many.problem is not None
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    radius = 0.5 * FOOT_RADIUS * np.sqrt(rng.uniform(0.0, 1.0, count))
    shift = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(count)])
    return replace(many, problem=replace(many.problem, points=many.problem.points + shift))


def timed(method: str, count: int, *, repeats: int = 30, seed: int = 0) -> PlainData:
    """Time of posing and solving an inverse problem of `count` contacts, warm-started.

    Joints stand still, all that feet with three points each can follow, while the trunk is pushed
    at random.
    """
    law, _ = METHODS[method]
    calm, rng = _crowd(count, seed)
    times = []
    worst = 0.0
    warm = None
    for _ in range(repeats + 1):
        step = _pushed(calm, rng)
        begun = process_time()
        problem: InverseProblem = inverse_problem(step, _MOTORS, np.zeros(len(_MOTORS)))
        answer = law.solve(problem, warm)
        problem.forces(step, answer.impulses.ravel(), _DT)
        times.append(process_time() - begun)
        worst, warm = max(worst, answer.residual), answer.impulses
    taken = np.array(times[1:])
    return {
        "method": method,
        "contacts": count,
        "milliseconds": 1e3 * float(np.median(taken)),
        "milliseconds_999": 1e3 * float(np.quantile(taken, 0.999)),
        "residual": worst,
    }


def _crowd(count: int, seed: int) -> tuple[StepPrediction, np.random.Generator]:
    robot, rng = quadruped(), np.random.default_rng(seed)
    sim = Simulator(robot.scene(friction=1.0), impact_threshold=100.0, dt=_DT)
    return crowded(Lookahead(sim).predict(robot.state), count, rng), rng


def general(
    *, repeats: int = 30, counts: tuple[int, ...] = (4, 12, 40, 160), seed: int = 0
) -> list[PlainData]:
    """The no-slip law against a general QP solver (Clarabel) on the same problems, each in turn.

    Held tangents make the law's LCP the optimality conditions of min |L^T p|^2 / 2 + u . p over p_n
    >= 0, which the solver gets in its sparse form, min |w|^2 / 2 + u . p with w = L^T p. Both times
    begin with the contacts' rows.
    """
    rows = []
    for count in counts:
        calm, rng = _crowd(count, seed)
        own = []
        other = []
        apart = 0.0
        warm = None
        for _ in range(repeats + 1):
            problem = inverse_problem(_pushed(calm, rng), _MOTORS, np.zeros(len(_MOTORS)))
            L, u = np.ascontiguousarray(problem.reach), problem.velocities
            begun = process_time()
            answer = PressedNoSlip().solve(problem, warm)
            own.append(process_time() - begun)
            warm = answer.impulses
            begun = process_time()
            p = clarabel(L, u)
            other.append(process_time() - begun)
            moved = np.abs(L.T @ (p - warm.ravel())).max() / max(np.abs(L.T @ p).max(), NOTHING)
            apart = max(apart, float(moved))
        ratio = float(np.median(np.array(other[1:]) / np.array(own[1:])))
        rows.append(
            {
                "method": "lcp-no-slip",
                "solver": "clarabel",
                "contacts": count,
                "ratio": ratio,
                "apart": apart,
            }
        )
    return rows


def clarabel(L: Array, u: Array) -> Array:
    """Impulses (3 m,) that minimize |L^T p|^2 / 2 + u . p with normal ones >= 0.

    Raises
    ------
    MissingLibraryError
        Without the library `clarabel`.
    """
    try:
        import clarabel as library
    except ImportError as error:
        raise MissingLibraryError(
            "the comparison needs clarabel: pip install 'spatialops[qp]'"
        ) from error
    n, k = L.shape
    size = np.abs(L).max()
    P = sparse.diags(np.concatenate([np.zeros(n), np.ones(k)]), format="csc")
    ties = sparse.hstack([sparse.csc_matrix(L.T / size), -sparse.eye(k)])
    presses = sparse.csc_matrix(
        (-np.ones(n // 3), (np.arange(n // 3), np.arange(0, n, 3))), shape=(n // 3, n + k)
    )
    settings = library.DefaultSettings()
    settings.verbose = False
    cones = [library.ZeroConeT(k), library.NonnegativeConeT(n // 3)]
    scale = max(float(np.abs(u).max()), NOTHING)
    c, b = np.concatenate([u / scale, np.zeros(k)]), np.zeros(k + n // 3)
    found = library.DefaultSolver(
        P, c, sparse.vstack([ties, presses], format="csc"), b, cones, settings
    ).solve()
    return np.asarray(found.x[:n]) * scale / size**2


def _pushed(step: StepPrediction, rng: np.random.Generator) -> StepPrediction:
    """The step with pushes of about 2 m/s^2 on the trunk, which is not enough to lift it."""
    free = step.free.copy()
    free[:6] += 2.0 * _DT * rng.uniform(-1.0, 1.0, 6)
    return replace(step, free=free)


def figure_19(*, repeats: int = 30, largest: int = 1000) -> list[PlainData]:
    """All methods at all counts that they are meant for."""
    return [
        timed(method, count, repeats=repeats)
        for method, (_, most) in METHODS.items()
        for count in COUNTS
        if count <= min(most, largest)
    ]


def exponent(rows: list[PlainData], method: str, *, beyond: int = 40) -> float:
    """Slope of log time against log contacts from `beyond` contacts on."""
    own = [row for row in rows if row["method"] == method and row["contacts"] >= beyond]
    if len(own) < 2:
        return float("nan")
    x, y = np.log([row["contacts"] for row in own]), np.log([row["milliseconds"] for row in own])
    return float(np.polyfit(x, y, 1)[0])
