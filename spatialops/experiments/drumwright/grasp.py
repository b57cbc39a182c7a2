"""The grasping experiment of [D] section VII-A: speed, pivots, how long each method holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import thread_time
from typing import NamedTuple, TypedDict

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.lcp.lemke import Lemke
from spatialops.errors import ContactError, MissingLibraryError, SolverFailed
from spatialops.experiments.drumwright.cold_laws import Cold
from spatialops.models.grasp import Grasp
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator

DT, PAPER_STEPS = 0.01, 10  # s; the paper's trials are ten steps long
DROPPED = 1e-3  # m: a box that has moved further against the grippers is no longer held


class Options(TypedDict, total=False):
    """What the simulator is told."""

    law: Law
    solver: Lemke


class Method(NamedTuple):
    """A row of the table."""

    title: str
    width: int  # variables a contact
    options: Options
    paper_seconds: float
    paper_holds: str


METHODS = {
    "lemke": Method("Stewart-Trinkle, Lemke", 6, {"solver": Lemke()}, 10.9681, "about 10"),
    "lemke-warm": Method("Stewart-Trinkle, Lemke from the last basis", 6, {}, math.nan, ""),
    "qp": Method(
        "no-slip, active-set QP", 1, {"law": Cold(NoSlip(solver="qp"))}, 1.9892, "at least 100"
    ),
    "pivoting": Method(
        "no-slip, principal pivoting", 1, {"law": Cold(NoSlip())}, 1.6680, "at least 100"
    ),
    "pivoting-warm": Method(
        "no-slip, pivoting from the last active set", 1, {"law": NoSlip()}, math.nan, ""
    ),
}
PAPER_PIVOTS = (5.5, 7)  # mean and most, of principal pivoting


@dataclass(frozen=True, eq=False)
class Trial:
    """What one method did.

    Attributes
    ----------
    method : str
        A key of `METHODS`.
    variables : int
        Of the complementarity problem.
    seconds : (trials,) array
        Of ten steps, everything included.
    pivots_mean, pivots_max : float, int
        Of the steps that were simulated.
    steps, asked : int
        Steps through which the grasp held, of those that were asked for.
    sags : (steps,) array
        How far a box had moved against the grippers after each step, m.
    residual : float
        Worst of all steps.
    ended : str
        Why it ended early, if it did.
    """

    method: str
    variables: int
    seconds: Array
    pivots_mean: float
    pivots_max: int
    steps: int
    asked: int
    sags: Array
    residual: float
    ended: str = ""

    @property
    def held(self) -> bool:
        """Whether the grasp held all the way."""
        return self.steps == self.asked

    def to_data(self) -> PlainData:
        """Plain figures, the paper's among them."""
        data = asdict(self)
        sags, seconds = data.pop("sags"), data.pop("seconds")
        known = METHODS[self.method]
        return data | {
            "title": known.title,
            "held": self.held,
            "seconds_mean": float(seconds.mean()),
            "seconds_deviation": float(seconds.std()),
            "sag_max": float(sags.max(initial=0.0)),
            "paper_seconds": known.paper_seconds,
            "paper_holds": known.paper_holds,
        }


def run_trial(
    grasp: Grasp,
    method: str,
    steps: int,
    trials: int,
    tick: Callable[[int], object] = lambda count: None,
) -> Trial:
    """Time `trials` runs of ten steps, then see through how many of `steps` steps the grasp holds.

    Raises
    ------
    MissingLibraryError
        Where the method's library is not installed.
    """
    chosen = METHODS[method]
    simulator = Simulator(grasp.scene(), dt=DT, **chosen.options)
    seconds = []
    for _ in range(trials + 1):  # the first loads the kernels
        begin = thread_time()
        _hold(simulator, grasp, PAPER_STEPS)
        seconds.append(thread_time() - begin)
    sags, pivots, residual, ended = _hold(simulator, grasp, steps, tick)
    return Trial(
        method,
        chosen.width * grasp.n_contacts,
        np.array(seconds[1:]),
        float(np.mean(pivots)) if pivots else math.nan,
        max(pivots, default=0),
        int((np.array(sags) <= DROPPED).sum()),
        steps,
        np.array(sags),
        residual,
        ended,
    )


def run_trials(
    grasp: Grasp,
    methods: tuple[str, ...],
    steps: int,
    trials: int,
    tick: Callable[[int], object] = lambda count: None,
) -> tuple[list[Trial], list[str]]:
    """Trials of several methods, and what could not be tried for want of a library."""
    done, left_out = [], []
    for method in methods:
        try:
            done.append(run_trial(grasp, method, steps, trials, tick))
        except MissingLibraryError as error:
            left_out.append(f"{METHODS[method].title}: {error}")
    return done, left_out


def _hold(
    simulator: Simulator,
    grasp: Grasp,
    steps: int,
    tick: Callable[[int], object] = lambda count: None,
) -> tuple[list[float], list[int], float, str]:
    """Step until a box is dropped, a problem is not solved, or `steps` are done."""
    state, worst = grasp.state, 0.0
    sags: list[float] = []
    pivots: list[int] = []
    for _ in range(steps):
        try:
            state, info = simulator.step(state, grasp.tau)
        except (SolverFailed, ContactError) as error:
            return sags, pivots, worst, str(error)
        tick(1)
        sags.append(grasp.sag(state.q))
        pivots.append(info.pivots)
        worst = max(worst, info.residual)
        if not sags[-1] <= DROPPED:
            return sags, pivots, worst, f"a box has moved by {sags[-1]:.2g} m"
    return sags, pivots, worst, ""
