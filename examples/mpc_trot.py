"""A quadruped trots by the forces of a short horizon, with MuJoCo as the plant.

`MpcTrotController` finds forces of the feet over the next strides for the robot as one body, and a
whole-body controller makes them. With ``--sensors`` it knows its state from IMU, encoders and
contacts alone, by `ContactAidedFilter`.

Run it with ``python -m examples.mpc_trot``; ``--robot``, ``--plant`` and ``--seconds`` choose.
Needs mujoco and example-robot-data.
"""

import argparse
from dataclasses import dataclass
from time import thread_time

import numpy as np

from spatialops.algebra.rotation import rotation_matrix
from spatialops.bench.walkers import FILES, walker
from spatialops.control import Actuation, ContactAidedFilter, Motors, MpcTrotController
from spatialops.experiments.plants.mujoco_plant import MujocoPlant
from spatialops.experiments.plants.trotting import DT, FRICTION, PLANTS, has_fallen
from spatialops.tree.node import Node
from spatialops.tree.state import State

PACE = (0.2, 0.0, 0.2)  # forward, sideways, turning, m/s and rad/s
_SETTLED = 1.0  # s after which means are taken


@dataclass(frozen=True, kw_only=True)
class Trotted:
    """What a run measured: mean velocities, m/s and rad/s, largest tilt, rad, and of the filter."""

    seconds: float
    fell: bool
    pace: tuple[float, ...]
    tilt: float
    velocity_error: float
    milliseconds: float


def main(
    robot: str = "solo12",
    plant: str = "as the model",
    *,
    seconds: float = 10.0,
    sensors: bool = False,
) -> Trotted:
    """Trot a curve for so many seconds, or until the robot falls."""
    own = walker(robot)
    model = own.model
    base = model.joint_names[0]
    motors = Motors(Actuation(model))
    control = MpcTrotController(
        model, own.feet, motors, own.state, lambda time, state: PACE, gait=own.gait, base=base
    )
    nodes = [Node(foot) for foot in own.feet]
    estimate = ContactAidedFilter(model, nodes, base=base, radius=own.radius, ground=0.0)
    estimate.start(own.state)
    world = MujocoPlant(own.scene(FRICTION), DT, PLANTS[plant])
    state = world.seen()
    paces = []
    tilts = []
    errors = []
    times = []
    fell = False
    for _ in range(round(seconds / DT)):
        begun = thread_time()
        tau = control(state.time, state)
        times.append(thread_time() - begun)
        world.step(tau)
        true = world.state
        state = world.seen()
        if sensors:
            told = world.sensed(own.feet)
            found = estimate(DT, told.imu, told.q, told.v, told.touching)
            errors.append(found.v[3:6] - true.v[3:6])
            state = State(found.q, found.v, true.time)
        R = rotation_matrix(true.q[3:7])
        paces.append([true.v[3], true.v[4], true.v[2]])
        tilts.append(np.arccos(min(R[2, 2], 1.0)))
        fell = has_fallen(own.state, world)
        if fell:
            break
    late = round(_SETTLED / DT)
    made = Trotted(
        seconds=DT * len(paces),
        fell=fell,
        pace=tuple(np.mean(paces[late:], axis=0).tolist()),
        tilt=float(np.max(tilts)),
        velocity_error=float(np.sqrt(np.mean(np.square(errors)))) if errors else 0.0,
        milliseconds=1e3 * float(np.median(times)),
    )
    print(
        f"{robot}, {plant}: {'falls' if fell else 'trots'} {made.seconds:.1f} s; "
        f"{made.pace[0]:.3f} m/s ahead, {made.pace[1]:.3f} aside, {made.pace[2]:.3f} rad/s of "
        f"{PACE}; tilt up to {made.tilt:.3f} rad; command {made.milliseconds:.2f} ms"
        + (f"; velocity known to {made.velocity_error:.3f} m/s" if sensors else "")
    )
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="solo12", choices=tuple(FILES))
    parser.add_argument("--plant", default="as the model", choices=tuple(PLANTS))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--sensors", action="store_true", help="state by the robot's own sensors")
    given = parser.parse_args()
    main(given.robot, given.plant, seconds=given.seconds, sensors=given.sensors)
