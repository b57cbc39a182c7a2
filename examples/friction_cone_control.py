"""A quadruped shifts its weight with the least losses, no foot slipping, and says what stops it.

Run it with ``python -m examples.friction_cone_control``.
"""

from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    Motors,
    PoseTask,
    Tracking,
)


def main(
    duration: float = 1.0, friction: float = 0.6, out: str | Path = "out/friction_cone_control"
) -> so.Record:
    # 1. A robot, its motors (losses are R (u / N K_t)^2), and the feet that stand.
    robot = so.models.quadruped()
    motors = Motors(
        Actuation(robot.model),
        torque_constant=0.02,
        resistance=0.5,
        gear=np.tile([20.0, 20.0, 30.0], 4),
    )
    feet = HeldContacts(
        robot.model,
        [
            HeldContact(node=so.Node(f), radius=robot.foot_radius, friction=friction, name=f)
            for f in robot.feet
        ],
    )

    # 2. A task: the base's attitude and position, here a path that leans forward and to the side,
    # and back.
    task = PoseTask(so.Node("base"))
    start = task.motion(robot.model, robot.state).x
    swing = np.array([0.06, 0.06, 0.15, 0.025, 0.02, -0.015])
    rate = 2.0 * np.pi

    def path(time):
        wave = (
            0.5 * (1 - np.cos(rate * time)),
            0.5 * rate * np.sin(rate * time),
            0.5 * rate**2 * np.cos(rate * time),
        )
        return start + swing * wave[0], swing * wave[1], swing * wave[2]

    # 3. The controller: least losses, forces in their exact cones, motors within their limits.
    controller = FrictionConeController(
        robot.model, [Tracking(task, path, stiffness=400.0)], motors, contacts=feet
    )
    plain = FrictionConeController(
        robot.model,
        [Tracking(task, path, stiffness=400.0)],
        motors,
        contacts=feet,
        minimum_norm=True,
    )
    controller(0.0, robot.state)
    plain(0.0, robot.state)
    saved = 1.0 - controller.explain().power / plain.explain().power
    power = controller.explain().power
    print(f"standing: {power:.1f} W, {100 * saved:.1f} % below forces of least norm")

    # 4. The simulator knows nothing of the controller: exact cones, unilateral contact.
    simulator = so.Simulator(robot.scene(friction=friction), law="cone", dt=1e-3)
    record = simulator.run(robot.state, duration, controller=controller)
    final = so.State(record.q[-1], record.v[-1])
    error = np.abs(task.motion(robot.model, final).x - path(duration)[0]).max()
    print(f"after {duration:g} s the base is where it should be to {error:.1e} (m, rad)")

    # 5. Ask for too much: it gives what friction lets it give, and says what stood in the way.
    told = hurried(robot, motors, feet)
    print(f"8 m/s^2 forward: {told.status}, {told.predicted[3]:.2f} m/s^2")
    print(f"in the way: {', '.join(told.conflict)}")
    record.save(Path(out) / "record.npz")
    print(f"the record is in {out}")
    return record


def hurried(robot, motors, feet):
    task = PoseTask(so.Node("base"))
    x = task.motion(robot.model, robot.state).x
    forward = np.array([0.0, 0.0, 0.0, 8.0, 0.0, 0.0])
    tracking = Tracking(task, lambda time: (x, np.zeros(6), forward))
    controller = FrictionConeController(robot.model, [tracking], motors, contacts=feet)
    controller(0.0, robot.state)
    return controller.explain()


if __name__ == "__main__":
    main()
