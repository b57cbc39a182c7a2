"""Two arms take a wheel off its hub: scene, hands, script, run, all in sight.

Run it with ``python -m examples.dual_arm_wheel_removal``; ``spatialops wheel-removal`` is the same
with a report.
"""

from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.control.manipulation import motions as moves
from spatialops.control.manipulation.dual_arm.wheel_removal import arms

HUB = np.array([0.69, 0.0, 1.05])
MASS = 7.0
SIDES = ("left", "right")
DT = 5e-4
REACH = 0.158  # m from a palm to where its fingertips meet


def grasps() -> dict[str, so.control.Pose]:
    # Palms in the wheel's frame: left and right of it, pointing inward, fingers before the tyre and
    # thumbs behind.
    front = (-1.0, 0.0, 0.0)
    return {
        "left": moves.palm_pose((0.0, 0.165, 0.0), (0.0, -1.0, 0.0), front, REACH),
        "right": moves.palm_pose((0.0, -0.165, 0.0), (0.0, 1.0, 0.0), front, REACH),
    }


def script() -> so.control.Script:
    # Phases end when their guards hold; one that does not hold in time, or is watched and breaks,
    # ends the task with its words. Guards look at poses and forces, never at the clock.
    Phase, weight = so.control.Phase, 9.81 * MASS
    opened, touching, firm = (
        dict.fromkeys(SIDES, grip)
        for grip in (so.control.Open(-0.35), so.control.Squeeze(4.0), so.control.Squeeze(60.0))
    )
    kept = [moves.presses(side, 2.0) for side in SIDES]
    there, calm = [moves.arrived()], so.control.Bounds(speed=0.15, acceleration=0.5, jerk=5.0)

    def placed(x: float, z: float) -> moves.Move:
        goal = so.control.Pose(HUB + (x, 0.0, z), np.eye(3))
        return moves.object_to(SIDES, lambda _: goal)

    return so.control.Script(
        [
            Phase(
                name="approach", move=moves.to_object(grasps(), 0.137), grips=opened, until=there
            ),
            Phase(name="enclose", move=moves.to_object(grasps()), until=there),
            Phase(name="close", grips=touching, until=[moves.presses(side, 0.8) for side in SIDES]),
            Phase(
                name="squeeze",
                grips=firm,
                loads=lambda _: dict.fromkeys(SIDES, 0.5 * weight),
                until=[moves.presses(side, 9.0) for side in SIDES],
                hold=0.3,
            ),
            Phase(
                name="pull",
                move=placed(-0.10, 0.0),
                bounds=calm,
                until=[*there, moves.is_free()],
                during=kept,
            ),
            Phase(
                name="lift",
                move=placed(-0.10, 0.05),
                bounds=calm,
                until=there,
                during=[*kept, moves.is_free()],
            ),
            Phase(
                name="carry",
                move=placed(-0.30, 0.05),
                bounds=calm,
                until=there,
                during=[*kept, moves.is_free()],
            ),
            Phase(
                name="hold",
                move=moves.remember(SIDES),
                until=[moves.slips_less(side, 2e-3) for side in SIDES],
                during=[*kept, moves.is_free()],
                hold=2.0,
            ),
            Phase(
                name="lower",
                move=placed(-0.30, -0.06),
                bounds=calm,
                until=[moves.rests(0.25 * weight)],
                during=kept,
            ),
            Phase(
                name="unload",
                loads=lambda _: dict.fromkeys(SIDES, 0.0),
                until=[moves.rests(0.6 * weight)],
            ),
            Phase(
                name="open", grips=opened, until=[moves.lets_go(side) for side in SIDES], hold=0.3
            ),
            Phase(name="retract", move=moves.back_off(SIDES, 0.13), until=there),
        ]
    )


def main(duration: float = 16.0, out: str | Path = "out/wheel_removal") -> dict[str, object]:
    # 1. The robot, the wheel on its hub and a bench: one scene, the robot's joints first.
    robot, wheel = so.models.dual_arm(), so.models.wheel_on_hub(mass=MASS)
    bench = so.Geom(
        "bench",
        "world",
        so.collision.Box((0.30, 0.50, 0.04)),
        position=(0.37, 0.0, 0.78),
        friction=0.8,
    )
    scene = so.compose(
        [so.Part(source=robot.scene([bench])), so.Part(source=wheel.scene(), position=HUB)]
    )

    # 2. It starts with open hands beside the wheel, and likes to keep its elbows as when it holds
    # it.
    held = so.control.Pose(HUB, np.eye(3))
    start, posture = (arms(robot, held, grasps(), (0.14, back)) for back in (0.137, 0.0))
    scene.state = so.State(np.concatenate([start, scene.state.q[len(start) :]]), scene.state.v)

    # 3. Palms are held by springs with the robot's own Lambda; fingers squeeze by J^T f.
    impedance = so.control.Impedance(robot.model, [f"{side}_palm" for side in SIDES], posture)
    hands = {
        side: so.control.GraspForce(
            robot.model,
            f"{side}_palm",
            [f"{side}_finger1", f"{side}_finger2"],
            f"{side}_thumb",
            held=[f"{side}_spread"],
            dt=DT,
        )
        for side in SIDES
    }
    controller = so.control.ManipulationController(
        scene,
        robot.model,
        "wheel",
        impedance=impedance,
        hands=hands,
        script=script(),
        dt=DT,
        reach=REACH,
    )

    # 4. Every contact is solved, in the operational-space formulation, and certified.
    record = so.Simulator(scene, dt=DT).run(
        duration=duration, controller=controller, record_every=10, progress=True
    )
    for phase in controller.script.passed:
        print(f"  {phase.begin:6.2f} s  {phase.name:<10}{phase.end - phase.begin:6.2f} s")
    print(controller.script.failure or ("done" if controller.finished else "not over yet"))
    moved = record.q[-1][-7:-4] - HUB
    print(f"the wheel is {np.linalg.norm(moved):.3f} m off the hub")
    print(f"largest penetration {record.penetrations.max():.1e} m")

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    record.save(folder / "record.npz")
    record.replay(folder / "replay.html")
    return {"record": record, "controller": controller}


if __name__ == "__main__":
    main()
