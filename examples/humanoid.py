"""A humanoid that stands, squats, steps in place and walks, with MuJoCo as the plant.

G1 of example-robot-data has 29 motors. A plan of footsteps gives the contacts, the paths of the
feet and, by the linear inverted pendulum, the path of the centre of mass. `WholeBodyController`
meets the feet first, then centre of mass, torso and arms by their weights.

Run it with ``python -m examples.humanoid``, or with ``--troubles`` for plants that are not as the
model: another mass and friction, commands that are late, noise; ``--tsid`` has TSID walk beside it.
Needs mujoco, matplotlib and example-robot-data.
"""

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from spatialops.bench.humanoid import Humanoid, humanoid
from spatialops.experiments.plants.trotting import PLANTS
from spatialops.experiments.plants.tsid_controller import TsidController
from spatialops.experiments.plants.walking import Maker, Walked, walk

MODEL = "as the model"


@dataclass(frozen=True, kw_only=True)
class Motion:
    """What the robot is to do; as `walk` takes it."""

    steps: int = 0
    length: float = 0.0
    squat: float = 0.0


MOTIONS = {
    "squat": Motion(squat=0.1),
    "20 steps": Motion(steps=20),
    "walk": Motion(steps=10, length=0.1),
}


def main(
    out: str | Path = "out/humanoid", *, troubles: bool = False, tsid: bool = False
) -> dict[str, Walked]:
    """Run all motions, print what was measured, and draw how the centre of mass sways."""
    robot = humanoid()
    print(f"{robot.model.nv} degrees of freedom, {robot.model.mass:.1f} kg; commands every 2 ms")
    plants = tuple(PLANTS) if troubles else (MODEL,)
    found = {}
    for plant in plants:
        for name, motion in MOTIONS.items():
            made = run(robot, motion, plant)
            tell(f"{plant}, {name}", made)
            found[f"{plant}, {name}"] = made
            if tsid:
                tell(f"{name}, by TSID", run(robot, motion, plant, partial(TsidController, robot)))
    path = Path(out)
    path.mkdir(parents=True, exist_ok=True)
    _draw(robot, found[f"{MODEL}, walk"], path / "humanoid.png")
    return found


def run(robot: Humanoid, motion: Motion, plant: str, make: Maker | None = None) -> Walked:
    """One motion on one of `PLANTS`; `make` has another controller, as `walk` takes it."""
    return walk(
        robot,
        steps=motion.steps,
        length=motion.length,
        squat=motion.squat,
        suffering=PLANTS[plant],
        make=make,
    )


def tell(name: str, made: Walked) -> None:
    """A line of figures."""
    row = made.summary()
    end = f"fell at {made.seconds:.2f} s" if made.fell else f"stands after {made.seconds:.1f} s"
    way = 1e3 * (made.centers[-1, 0] - made.centers[0, 0])
    print(
        f"  {name:<25} {end}; centre of mass {way:+.0f} mm, off its path {row['error_mean']:.2g} m "
        f"in the mean, {row['error_most']:.2g} at most, lowest {row['lowest']:.3f} m; torque "
        f"{row['torque']:.3g} N m, {row['torque_derivative']:.3g} N m/s; "
        f"command {row['milliseconds_median']:.2f} ms, 99.9 % {row['milliseconds_999']:.2f} ms"
    )


def _draw(robot: Humanoid, made: Walked, path: Path) -> None:
    import matplotlib.pyplot as plt

    motion = MOTIONS["walk"]
    plan = robot.footsteps(motion.steps, length=motion.length)
    planned = plan.center_of_mass(robot.height)
    times = np.linspace(0.0, made.seconds, len(made.centers))
    feet = np.array([[plan.foot(foot)(time)[0] for time in times] for foot in (0, 1)])
    goal = np.array([planned(time)[0] for time in times])
    figure, axes = plt.subplots(2, 1, figsize=(8.0, 5.0), sharex=True, layout="constrained")
    for axis, ax in zip((0, 1), axes, strict=True):
        for foot, name in enumerate(("left foot", "right foot")):
            ax.plot(times, feet[foot, :, axis], color=f"C{foot}", alpha=0.6, label=name)
        ax.plot(times, made.centers[:, axis], color="0.2", label="centre of mass")
        ax.plot(times, goal[:, axis], "--", color="C3", label="its plan")
        ax.set_ylabel(f"{'xy'[axis]}, m")
    axes[0].legend(ncols=2)
    axes[1].set_xlabel("time, s")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="out/humanoid")
    parser.add_argument("--troubles", action="store_true", help="plants that are not as the model")
    parser.add_argument("--tsid", action="store_true", help="TSID beside our controller")
    given = parser.parse_args()
    main(given.out, troubles=given.troubles, tsid=given.tsid)
