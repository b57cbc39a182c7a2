"""A quadruped that trots on a plant which is not its controller's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.walkers import walker
from spatialops.control.joint_tracking import Gains
from spatialops.control.locomotion.trot import Trot
from spatialops.control.locomotion.waypoints import Waypoints
from spatialops.experiments.plants.mujoco_plant import MujocoPlant, Suffering
from spatialops.experiments.zapolsky.course import FALLEN, controller
from spatialops.experiments.zapolsky.measures import torque_rates
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

FRICTION = 0.8
DT = 1e-3  # s, of the plant
# Of all controllers alike. A robot that is heavier than its model hangs low for ever without an
# integral; its time constant is a third of a second.
GAINS = Gains(integral=3000.0, windup=100.0)
_UPRIGHT = 0.5  # cosine of the tilt at which a robot has fallen
PLANTS: dict[str, Suffering] = {
    "as the model": Suffering(),
    "mass + 20 %": Suffering(mass=1.2),
    "mu - 0.2": Suffering(friction=-0.2),
    "mu + 0.2": Suffering(friction=0.2),
    "2 ms late": Suffering(latency=2e-3),
    "noise": Suffering(noise=1.0),
    "all, mu - 0.2": Suffering(mass=1.2, friction=-0.2, latency=2e-3, noise=1.0),
    "all, mu + 0.2": Suffering(mass=1.2, friction=0.2, latency=2e-3, noise=1.0),
}


@dataclass(frozen=True, eq=False)
class Trotted:
    """What one run measured.

    Attributes
    ----------
    seconds : float
        Until the end, or the fall.
    fell : bool
        Whether it fell.
    errors : (n,) array
        Mean absolute joint error of every command, rad.
    tau : (k, n) array
        Torques that acted at each step of the plant, N m.
    unanswered : int
        Commands that were "held" or "damped".
    times : (n,) array
        Of the commands, s.
    """

    seconds: float
    fell: bool
    errors: Array
    tau: Array
    unanswered: int
    times: Array

    def summary(self) -> PlainData:
        """Plain figures."""
        return {
            "fell": self.fell,
            "seconds": self.seconds,
            "position_error": float(self.errors.mean()),
            "torque": float(np.abs(self.tau).max()),
            "torque_derivative": float(torque_rates(self.tau, DT).mean()),
            "unanswered": self.unanswered,
            "milliseconds_median": 1e3 * float(np.median(self.times)),
            "milliseconds_999": 1e3 * float(np.quantile(self.times, 0.999)),
        }


def trot(
    robot: str,
    name: str,
    suffering: Suffering | None = None,
    *,
    duration: float = 30.0,
    period: float = 1e-3,
    horizon: float | None = None,
) -> Trotted:
    """Walk between waypoints for `duration` seconds in MuJoCo, or until the robot falls.

    Parameters
    ----------
    robot : str
        Of `robots.ROBOTS`.
    name : str
        A controller of `course.controller`, with its default options.
    suffering : Suffering, optional
        In what the plant is not the controller's model.
    duration : float, default 30
        s.
    period : float, default 1e-3
        Time between commands, s; whole steps of the plant, which are 1 ms.
    horizon : float, optional
        Of the controller, s; default: its own.
    """
    own = walker(robot)
    scene = own.scene(FRICTION)
    plant = MujocoPlant(scene, DT, suffering)
    model = Simulator(
        scene, dt=period, impact_threshold=100.0, certify="off", integrator="semi-implicit"
    )
    gait = Trot(own.legs, own.stance, Waypoints(speed=own.speed), dt=period, gait=own.gait)
    control, track = controller(name, model, gait, limits=True, horizon=horizon, gains=GAINS)
    every = round(period / DT)
    errors = []
    times = []
    taus = []
    unanswered = 0
    tau = np.zeros(own.model.nv)
    fell = False
    for k in range(round(duration / DT)):
        if k % every == 0:
            seen = plant.seen()
            tau = control(seen.time, seen, None)
            told = control.explain()
            errors.append(float(np.abs(track.errors).mean()))
            times.append(told.seconds)
            unanswered += told.status in ("held", "damped")
        taus.append(plant.step(tau)[6:])
        fell = has_fallen(own.state, plant)
        if fell:
            break
    return Trotted(
        DT * len(taus), fell, np.array(errors), np.array(taus), unanswered, np.array(times)
    )


def has_fallen(stood: State, plant: MujocoPlant) -> bool:
    """Whether the base is low against how it stood, or tilted."""
    q = plant.state.q
    upright = 1.0 - 2.0 * float(q[3] ** 2 + q[4] ** 2)
    stands = q[2] > FALLEN * stood.q[2] and upright > _UPRIGHT
    return not (stands and bool(np.isfinite(q).all()))
