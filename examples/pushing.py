"""A box pushed to a pose by a finger: forces found by iterative LQR through two kinds of contact.

The box stands on three round feet that stick to the floor or slide; the finger may push, slide
along the face and let go. Where it shall touch, and how long, nobody says. The search begins with a
push that goes straight ahead.

Run it with ``python -m examples.pushing``.
Needs matplotlib: `pip install spatialops[plots]`.
"""

from pathlib import Path

import numpy as np

import spatialops as so
from examples.ilqr import Found, Motion, Task, first_motion, search, tell

DT = 1e-2
STEPS = 90
SIZE = (0.3, 0.2, 0.1)  # m
FINGER = 0.03
FEET = ((0.12, 0.08), (0.12, -0.08), (-0.12, 0.0))
FOOT = 0.02
HEIGHT = 0.5 * SIZE[2] + FOOT - 1e-6
GOAL = np.array([0.25, 0.06, 0.4])  # x, y, m; turn, rad


def scene() -> so.Scene:
    """A finger in a plane, and a box with all of its six freedoms."""
    builder = so.TreeBuilder()
    light = so.Inertia.sphere(FINGER, mass=0.2)
    place = (-0.5 * SIZE[0] - FINGER - 2e-3, 0.0, HEIGHT)
    slides = [so.Joint("prismatic", axis=axis) for axis in "xyz"]
    builder.add_body("to", joint=slides[0], inertia=light, position=place)
    builder.add_body("finger", parent="to", joint=slides[1], inertia=light)
    parent = "world"
    for name, joint in zip("xyz", slides, strict=True):
        builder.add_body(name, parent=parent, joint=joint, inertia=None)
        parent = name
    for name, axis in (("turn", "z"), ("pitch", "y")):
        hinge = so.Joint("revolute", axis=axis)
        builder.add_body(name, parent=parent, joint=hinge, inertia=None)
        parent = name
    roll = so.Joint("revolute", axis="x")
    builder.add_body("box", parent=parent, joint=roll, inertia=so.Inertia.box(SIZE, mass=1.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.3),
        so.Geom("finger", "finger", so.Sphere(FINGER), friction=0.3),
        so.Geom("box", "box", so.Box(SIZE), friction=0.3),
    ]
    for i, (x, y) in enumerate(FEET):
        below = (x, y, -0.5 * SIZE[2])
        geoms.append(so.Geom(f"foot {i}", "box", so.Sphere(FOOT), position=below, friction=0.3))
    return so.Scene(builder.build(), geoms)


def straight_ahead(task: Task) -> np.ndarray:
    """First guess: the finger is led ahead, and stops."""
    x = np.concatenate([task.start.q, task.start.v])
    forces = []
    for k in range(STEPS):
        ahead = min(0.4 * DT * k, 0.28)
        u = np.array([200.0 * (ahead - x[0]) - 20.0 * x[8], -200.0 * x[1] - 20.0 * x[9]])
        tau = np.zeros(8)
        tau[:2] = u
        step = task.simulator.linearize(so.State(x[:8], x[8:]), tau)
        x = np.concatenate([step.state.q, step.state.v])
        forces.append(u)
    return np.array(forces)


def main(out: str | Path = "out/pushing", rounds: int = 60) -> Found:
    """Search, and draw what is found."""
    goal, weights = np.zeros(16), np.zeros(16)
    goal[[2, 3, 5]] = GOAL
    weights[[2, 3, 5]] = (1e4, 1e4, 1e3)
    weights[8:14] = (1.0, 1.0, 10.0, 10.0, 0.0, 1.0)
    q = np.array([0.0, 0.0, 0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0])
    task = Task(
        simulator=so.Simulator(scene(), dt=DT),
        start=so.State(q, np.zeros(8)),
        goal=goal,
        weights=weights,
        motors=np.array([0, 1]),
        effort=1e-3,
    )
    guess = straight_ahead(task)
    first = first_motion(task, guess)
    found = search(task, guess, rounds)
    path, last = Path(out), found.motion.states[-1]
    tell(found, path)
    print(f"box at {last[[2, 3, 5]].round(4)} (goal {GOAL}), speed {np.abs(last[10:]).max():.3g}")
    _draw(first, found, path / "pushing.png")
    return found


def corners(x: float, y: float, turn: float) -> np.ndarray:
    """Of the box from above, (5, 2): it ends where it begins."""
    c, s = np.cos(turn), np.sin(turn)
    around = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]]) * SIZE[:2]
    return np.array([x, y]) + around @ np.array([[c, s], [-s, c]])


def _draw(first: Motion, found: Found, path: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.0, 3.6), width_ratios=(3, 2), layout="constrained"
    )
    start = -0.5 * SIZE[0] - FINGER - 2e-3
    for k in np.linspace(0, STEPS, 6).astype(int):
        x = found.motion.states[k]
        left.plot(*corners(x[2], x[3], x[5]).T, "C0", alpha=0.2 + 0.8 * k / STEPS)
        finger = Circle((start + x[0], x[1]), FINGER, color="C1", alpha=0.2 + 0.8 * k / STEPS)
        left.add_patch(finger)
    left.plot(*corners(*GOAL).T, "k--", linewidth=1.0, label="goal")
    x = first.states[-1]
    left.plot(*corners(x[2], x[3], x[5]).T, color="0.7", label="first guess")
    left.set(xlabel="x, m", ylabel="y, m", title="box and finger from above")
    left.set_aspect("equal")
    left.legend(loc="upper left")
    right.semilogy(found.costs, ".-")
    right.set(xlabel="round", ylabel="cost", title="the search")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
