"""Masses, friction and restitution from noisy records.

Of a box that slides, of one that bounces and slides, and of an arm that swings.

Gauss-Newton on the records, with the derivatives of the steps themselves. Masses are sought by the
first of the log-Cholesky numbers of a body, so that no search ends at one that cannot be.

Run it with ``python -m examples.identification``.
"""

from collections.abc import Callable

import numpy as np

import spatialops as so

DT = 5e-3
ROUNDS = 5  # of every stretch of the record
SHARES = 0.25, 0.4, 0.6, 1.0

Build = Callable[[np.ndarray], so.Simulator]  # from logarithms of masses, and friction behind them


def box(parameters: np.ndarray) -> so.Simulator:
    """On a floor; parameters: log mass, friction."""
    builder = so.TreeBuilder()
    size = (0.2, 0.2, 0.1)
    solid = so.Inertia.box(size, mass=np.exp(parameters[0]))
    builder.add_body("box", joint="free", inertia=solid, position=(0.0, 0.0, 0.05 - 1e-6))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=parameters[1]),
        so.Geom("box", "box", so.Box(size), friction=parameters[1]),
    ]
    return so.Simulator(so.Scene(builder.build(), geoms), dt=DT)


def bouncing(parameters: np.ndarray) -> so.Simulator:
    """A box above the floor that does not turn; parameters: log mass, friction, restitution."""
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.2, 0.2, 0.1), mass=np.exp(parameters[0]))
    light = so.Inertia.sphere(0.01, mass=1e-9)
    parent = "world"
    for axis in "xyz":
        slide = so.Joint("prismatic", axis=axis)
        name, inertia = ("box", solid) if axis == "z" else (axis, light)
        builder.add_body(name, parent=parent, joint=slide, inertia=inertia)
        parent = name
    touch = {"friction": parameters[1], "restitution": parameters[2]}
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), **touch),
        so.Geom("box", "box", so.Box((0.2, 0.2, 0.1)), **touch),
    ]
    scene = so.Scene(builder.build(), geoms)
    scene.state.q[2] = 0.25
    return so.Simulator(scene, dt=DT, integrator="semi-implicit")


def arm(parameters: np.ndarray) -> so.Simulator:
    """Three rods; parameters: log masses."""
    builder = so.TreeBuilder()
    axes = (("a", "world", "y"), ("b", "a", "z"), ("c", "b", "y"))
    for (name, parent, axis), number in zip(axes, parameters):
        rod = so.Inertia.capsule(0.05, 0.4, mass=np.exp(number)).shifted((0.1, 0.0, -0.2))
        joint = so.Joint("revolute", axis=axis)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.1, -0.3))
    return so.Simulator(so.Scene(builder.build(), []), dt=DT)


def change_of_step(
    simulator: so.Simulator, parameters: np.ndarray, state: so.State, tau: np.ndarray
) -> np.ndarray:
    """Change (2 nv, parameters) of a step, by the bodies' log-Cholesky numbers and friction."""
    model = simulator.scene.model
    by = simulator.linearize_parameters(state, tau)
    theta = so.inertial_parameters(model).reshape(-1, 10)
    columns = []
    for b, body in enumerate(theta[: model.n_bodies]):
        # The mass is exp(2 alpha), its logarithm twice the first of the ten numbers.
        _, slope = so.from_log_cholesky(so.to_log_cholesky(body))
        columns.append(0.5 * by.inertial[:, 10 * b : 10 * b + 10] @ slope[:, 0])
    columns = columns[-1:] if len(by.friction.T) else columns
    columns += [by.friction.sum(axis=1), by.restitution.sum(axis=1)]
    return np.stack(columns[: len(parameters)], axis=1)


def motion(
    simulator: so.Simulator, parameters: np.ndarray, forces: np.ndarray, change: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of all steps (n, nv), and their change by the parameters."""
    nv, state = simulator.scene.model.nv, simulator.scene.state
    moved = np.zeros((2 * nv, len(parameters)))
    velocities, changes = [], []
    for tau in forces:
        step = simulator.linearize(state, tau)
        if change:
            moved = step.A @ moved + change_of_step(simulator, parameters, state, tau)
        state = step.state
        velocities.append(state.v)
        changes.append(moved[nv:])
    return np.array(velocities), np.array(changes)


def identify(build: Build, guess: np.ndarray, forces: np.ndarray, record: np.ndarray) -> np.ndarray:
    """Parameters that fit the recorded velocities best.

    The beginning first: while impacts come at other times than recorded, velocities that jump
    there tell nothing of which way to go.
    """
    parameters = guess.copy()
    for share in SHARES:
        n = int(share * len(forces))
        for _ in range(ROUNDS):
            velocities, changes = motion(build(parameters), parameters, forces[:n])
            rows = changes.reshape(-1, len(parameters))
            step = np.linalg.lstsq(rows, (record[:n] - velocities).ravel(), rcond=None)[0]
            parameters = parameters + np.clip(step, -0.3, 0.3)
    return parameters


def pushes(n: int, means: list[float], swings: list[float]) -> np.ndarray:
    """Forces that swing about their means: what goes to and fro tells mass from friction."""
    waves = np.sin(DT * np.outer(np.arange(n), 5.0 + np.arange(len(means))))
    return np.array(means) + np.array(swings) * waves


def main(noise: float = 0.01, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    errors = {}
    box_case = (box, [np.log(1.7), 0.35], [0.0, 0.3], pushes(400, [0] * 6, [0, 0, 0, 15, 12, 0]))
    masses = list(np.log([1.5, 0.8, 0.5]))
    arm_case = (arm, masses, [0.0, 0.0, 0.0], pushes(300, [2.0, 0.5, -0.3], [1.0, 0.3, 0.2]))
    bounce = pushes(300, [0.0, 0.0, 0.0], [12.0, 9.0, 2.0])
    bounce_case = (bouncing, [np.log(1.7), 0.35, 0.6], [0.3, 0.3, 0.5], bounce)
    cases = {"box": box_case, "bouncing box": bounce_case, "arm": arm_case}
    for name, (build, truth, guess, forces) in cases.items():
        true = np.array(truth)
        exact, _ = motion(build(true), true, forces, change=False)
        record = exact + noise * np.abs(exact).max() * rng.normal(size=exact.shape)
        found = identify(build, np.array(guess), forces, record)
        values, right = found.copy(), true.copy()
        count = len(true) if name == "arm" else 1  # of masses
        values[:count] = np.exp(found[:count])
        right[:count] = np.exp(true[:count])
        errors[name] = np.abs(values / right - 1.0)
        print(
            f"{name}: found {values.round(4)}, right {right.round(4)}, off {errors[name].max():.2%}"
        )
    return errors


if __name__ == "__main__":
    main()
