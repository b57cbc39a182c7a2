"""A leg that hops to a place: forces found by iterative LQR through take-off, flight and landing.

The leg stands on one round foot and has motors in its hip and knee. Nothing is said of when it
shall leave the ground, or where the foot comes down. The search begins with a hop on the spot.

Run it with ``python -m examples.hopping``.
Needs matplotlib: `pip install spatialops[plots]`.
"""

from pathlib import Path

import numpy as np

import spatialops as so
from examples.ilqr import Found, Motion, Task, first_motion, search, tell

DT = 2.5e-3
LINK = 0.3  # m
FOOT = 0.03  # m
BEND = 0.6  # rad: of the thigh as it stands, and half of the knee's
PUSH = 50  # steps
STEPS = 220
FAR = 0.25  # m
HALVES = 0.5 ** np.arange(10)  # with shares of 0.6 or 0.7 it ends where the foot is about to leave


def leg() -> so.Scene:
    """On a slide in the plane, which keeps the trunk upright."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(FOOT, LINK, mass=0.3).shifted((0.0, 0.0, -0.5 * LINK))
    slide = so.Inertia.sphere(0.05, mass=0.1)
    trunk = so.Inertia.sphere(0.1, mass=2.0)
    builder.add_body("along", joint=so.Joint("prismatic", axis="x"), inertia=slide)
    up = so.Joint("prismatic", axis="z")
    builder.add_body("trunk", parent="along", joint=up, inertia=trunk)
    hinge = so.Joint("revolute", axis="y", damping=0.02)
    builder.add_body("thigh", parent="trunk", joint=hinge, inertia=rod)
    below = (0.0, 0.0, -LINK)
    builder.add_body("shank", parent="thigh", joint=hinge, inertia=rod, position=below)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.8),
        so.Geom("foot", "shank", so.Sphere(FOOT), position=below, friction=0.8),
    ]
    return so.Scene(builder.build(), geoms)


def standing(x: float) -> np.ndarray:
    height = 2.0 * LINK * np.cos(BEND) + FOOT - 1e-6
    return np.array([x, height, BEND, -2.0 * BEND])


def hop_on_the_spot(task: Task) -> np.ndarray:
    """First guess: the knee is pushed straight, then both joints are held bent."""
    x = np.concatenate([task.start.q, task.start.v])
    forces = []
    for k in range(STEPS):
        q, v = x[:4], x[4:]
        bent = standing(0.0)[2:]
        held = 40.0 * (bent - q[2:]) - 1.5 * v[2:]
        u = held + np.array([0.0, 12.0 if k < PUSH else 0.0])
        state, _ = task.simulator.step(so.State(q, v), [0.0, 0.0, *u])
        x = np.concatenate([state.q, state.v])
        forces.append(u)
    return np.array(forces)


def main(out: str | Path = "out/hopping", rounds: int = 60) -> Found:
    """Search, and draw what is found."""
    task = Task(
        simulator=so.Simulator(leg(), dt=DT),
        start=so.State(standing(0.0), np.zeros(4)),
        goal=np.concatenate([standing(FAR), np.zeros(4)]),
        weights=np.array([1e4, 1e4, 1e3, 1e3, 1e2, 1e2, 10.0, 10.0]),
        motors=np.array([2, 3]),
        effort=5e-4,
        shares=HALVES,
    )
    guess = hop_on_the_spot(task)
    first = first_motion(task, guess)
    found = search(task, guess, rounds)
    path, last = Path(out), found.motion.states[-1]
    tell(found, path)
    print(f"ends at x = {last[0]:.4f} m (goal {FAR}), speed {np.abs(last[4:]).max():.3g}")
    _draw(first, found, path / "hopping.png")
    return found


def joints_of(x: np.ndarray) -> np.ndarray:
    """Hip, knee and foot in the plane, (3, 2)."""
    points = [x[:2]]
    angle = 0.0
    for turn in x[2:4]:
        angle += turn
        points.append(points[-1] - LINK * np.array([np.sin(angle), np.cos(angle)]))
    return np.array(points)


def _draw(first: Motion, found: Found, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.6), width_ratios=(3, 2), layout="constrained")
    left, right = axes
    for motion, colour in ((first, "0.7"), (found.motion, "C0")):
        left.plot(motion.states[:, 0], motion.states[:, 1], color=colour)
    for k in np.linspace(0, STEPS, 9).astype(int):
        points = joints_of(found.motion.states[k])
        left.plot(points[:, 0], points[:, 1], "o-", color="C1", alpha=0.3 + 0.7 * k / STEPS)
    left.axhline(0.0, color="0.3")
    left.set(xlabel="x, m", ylabel="z, m", title="the hop, and the first guess in grey")
    left.set_aspect("equal")
    right.semilogy(found.costs, ".-")
    right.set(xlabel="round", ylabel="cost", title="the search")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
