"""A block that is pushed: its derivative through friction, and where that derivative jumps.

Run it with ``python -m examples.derivatives_at_switches``.
Needs matplotlib: `pip install spatialops[plots]`.
"""

from pathlib import Path

import numpy as np

import spatialops as so

DT = 1e-2
FRICTION = 0.5


def block() -> so.Scene:
    """One kilogram on rails along x and z, on a floor."""
    builder = so.TreeBuilder()
    builder.add_body("slide", joint=so.Joint("prismatic", axis="x"), inertia=None)
    mass = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("block", parent="slide", joint=so.Joint("prismatic", axis="z"), inertia=mass)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=FRICTION),
        so.Geom("block", "block", so.Sphere(0.1), friction=FRICTION),
    ]
    return so.Scene(builder.build(), geoms)


def main(points: int = 61, out: str | Path = "out/derivatives") -> dict[str, np.ndarray]:
    simulator = so.Simulator(block(), dt=DT)
    at_rest = so.State(np.array([0.0, 0.1 - 1e-6]), np.zeros(2))

    # 1. One step for every push: the block's velocity at the end, and what linearize says of it.
    pushes = np.linspace(0.0, 10.0, points)
    steps = [simulator.linearize(at_rest, [push, 0.0]) for push in pushes]
    speeds = np.array([step.state.v[0] for step in steps])
    slopes = np.array([step.B[2, 0] for step in steps])
    statuses = [step.statuses[0] for step in steps]

    # 2. Below mu m g it sticks, and no push matters to first order; above, all of it does. A search
    # that begins among the sticking ones is told that pushing is of no use.
    limit = FRICTION * 9.81
    print(f"sticks up to {limit:.3f} N; slopes {np.unique(slopes.round(9))}, DT / m = {DT}")

    # 3. At the limit itself the derivative is one-sided, and `switching` says so.
    edge = simulator.linearize(at_rest, [limit, 0.0])
    print(f"at the limit: {edge.statuses[0]}; {', '.join(edge.switching)}")

    path = Path(out)
    path.mkdir(parents=True, exist_ok=True)
    _draw(pushes, speeds, slopes, statuses, path / "switch.png")
    return {"pushes": pushes, "speeds": speeds, "slopes": slopes}


def _draw(
    pushes: np.ndarray, speeds: np.ndarray, slopes: np.ndarray, statuses: list[str], path: Path
) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.0), layout="constrained")
    left.plot(pushes, 1e3 * speeds, color="0.3")
    for i in range(5, len(pushes), 14):
        ends = pushes[i] + np.array([-1.0, 1.0])
        left.plot(ends, 1e3 * (speeds[i] + slopes[i] * (ends - pushes[i])), "C1", linewidth=3.0)
    left.set(xlabel="push, N", ylabel="speed after 10 ms, mm/s", title="the step and its tangents")
    for status, colour in (("sticking", "C0"), ("sliding", "C1")):
        chosen = np.array(statuses) == status
        right.plot(pushes[chosen], 1e3 * slopes[chosen], ".", color=colour, label=status)
    right.set(xlabel="push, N", ylabel="mm/s per N", title="the derivative")
    right.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
