"""A humanoid that stands, squats and steps on a plant which is not its controller's model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.humanoid import Humanoid
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.dynamics.energy import center_of_mass
from spatialops.experiments.plants.mujoco_plant import MujocoPlant, Suffering
from spatialops.experiments.plants.trotting import DT, FRICTION, has_fallen
from spatialops.experiments.plants.tsid_controller import TsidController
from spatialops.experiments.zapolsky.measures import torque_rates
from spatialops.simulation.plain_data import PlainData

Maker = Callable[..., WholeBodyController | TsidController]


@dataclass(frozen=True, eq=False)
class Walked:
    """What one run measured.

    Attributes
    ----------
    seconds : float
        Until the end, or the fall.
    fell : bool
        Whether it fell.
    centers : (n, 3) array
        True centre of mass at each command, m.
    errors : (n, 2) array
        How far it is from its path in the plane, m.
    feet : (2, 3) array
        Where the soles are at the end, m.
    tau : (k, nv) array
        Joint forces that acted at each step of the plant, N m.
    statuses : dict
        How many commands had which status.
    notes : dict
        How many commands told what.
    times : (n,) array
        Of the commands, s.
    """

    seconds: float
    fell: bool
    centers: Array
    errors: Array
    feet: Array
    tau: Array
    statuses: dict[str, int]
    notes: dict[str, int]
    times: Array

    def summary(self) -> PlainData:
        """Plain figures."""
        return {
            "fell": self.fell,
            "seconds": self.seconds,
            "error_mean": float(np.linalg.norm(self.errors, axis=1).mean()),
            "error_most": float(np.linalg.norm(self.errors, axis=1).max()),
            "lowest": float(self.centers[:, 2].min()),
            "torque": float(np.abs(self.tau).max()),
            "torque_derivative": float(torque_rates(self.tau, DT).max()),
            "milliseconds_median": 1e3 * float(np.median(self.times)),
            "milliseconds_999": 1e3 * float(np.quantile(self.times, 0.999)),
        }


def walk(
    robot: Humanoid,
    *,
    steps: int = 0,
    length: float = 0.0,
    squat: float = 0.0,
    suffering: Suffering | None = None,
    period: float = 2e-3,
    seed: int = 0,
    make: Maker | None = None,
) -> Walked:
    """Stand for a second, squat or step, and stand again, in MuJoCo; or until the robot falls.

    Parameters
    ----------
    robot : Humanoid
        Of `humanoid.humanoid`.
    steps : int, default 0
        How many.
    length : float, default 0
        How far each foot comes down ahead of the other, m; the last one beside it.
    squat : float, default 0
        m; takes four seconds.
    suffering : Suffering, optional
        In what the plant is not the controller's model.
    period : float, default 2e-3
        Time between commands, s; whole steps of the plant, which are 1 ms.
    seed : int, default 0
        Of the noise.
    make : callable, optional
        (plan, path, squat) -> another controller of the robot; default: `Humanoid.controller`.
    """
    plan = robot.footsteps(steps, length=length)
    path = plan.center_of_mass(robot.height)
    made: Maker = robot.controller if make is None else make
    control = made(plan, path, squat=squat)
    plant = MujocoPlant(robot.scene(FRICTION), DT, suffering, seed=seed)
    every = round(period / DT)
    centers = []
    errors = []
    taus = []
    times = []
    statuses: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    tau = np.zeros(robot.model.nv)
    fell = False
    for k in range(round(max(plan.duration, 6.0 if squat else 0.0) / DT)):
        if k % every == 0:
            seen = plant.seen()
            began = perf_counter()
            tau = control(seen.time, seen)
            times.append(perf_counter() - began)
            told = control.explain()
            statuses[told.status] += 1
            notes.update(told.notes)
            centers.append(center_of_mass(robot.model, plant.state.q))
            errors.append(centers[-1][:2] - path(seen.time)[0])
        taus.append(plant.step(tau))
        fell = has_fallen(robot.state, plant)
        if fell:
            break
    return Walked(
        seconds=DT * len(taus),
        fell=fell,
        centers=np.array(centers),
        errors=np.array(errors),
        feet=robot.soles(plant.state),
        tau=np.array(taus),
        statuses=dict(statuses),
        notes=dict(notes),
        times=np.array(times),
    )
