"""Iterative LQR on the derivatives of the steps: the search of `examples.hopping` and `pushing`.

The last states' errors e = W (x_n - goal) and the forces' r u are squared and summed. Going back
over the steps gives, with V = p' dx + dx' P dx / 2,

    Q_u = r u + B' p,    Q_ux = B' P A,    Q_uu = r + B' P B,    du = -Q_uu^-1 (Q_u + Q_ux dx)

(Tassa, Erez and Todorov 2012). Coordinates must be a vector space: no ball and free joints.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

import spatialops as so

SHARES = 0.6 ** np.arange(10)
HARDEST = 1e8
RUNAWAY = 50.0  # m/s, rad/s


class Task(NamedTuple):
    """Where to be in the end."""

    simulator: so.Simulator
    start: so.State
    goal: np.ndarray  # (2 nv,)
    weights: np.ndarray  # (2 nv,) of the squares of what is missed
    motors: np.ndarray  # joints with a force
    effort: float  # weight of the squares of forces
    shares: np.ndarray = SHARES  # of a change of forces that are tried, one after the other


class Motion(NamedTuple):
    """Steps that were made."""

    states: np.ndarray  # (n + 1, 2 nv)
    forces: np.ndarray  # (n, motors)
    A: np.ndarray
    B: np.ndarray
    statuses: list[tuple[str, ...]]


class Found(NamedTuple):
    """The best motion, and the costs of all rounds."""

    motion: Motion
    costs: list[float]


def step_of(task: Task, x: np.ndarray, u: np.ndarray) -> so.Linearization:
    nv = len(x) // 2
    tau = np.zeros(nv)
    tau[task.motors] = u
    return task.simulator.linearize(so.State(x[:nv], x[nv:]), tau)


def moved(
    task: Task,
    forces: np.ndarray,
    old: Motion | None = None,
    gains: np.ndarray | None = None,
) -> Motion | None:
    """Steps under forces, and with gains on what differs from an old motion.

    None where it runs away, or where a step's derivative is not known.
    """
    x = np.concatenate([task.start.q, task.start.v])
    states, used = [x], []
    steps: list[so.Linearization] = []
    for k, u in enumerate(forces):
        if old is not None and gains is not None:
            u = u + gains[k] @ (x - old.states[k])
        try:
            step = step_of(task, x, u)
        except so.errors.ContactError:
            return None
        x = np.concatenate([step.state.q, step.state.v])
        if np.abs(x).max() > RUNAWAY:
            return None
        states.append(x)
        used.append(u)
        steps.append(step)
    A, B = np.array([step.A for step in steps]), np.array([step.B for step in steps])
    statuses = [step.statuses for step in steps]
    return Motion(np.array(states), np.array(used), A, B[:, :, task.motors], statuses)


def cost_of(task: Task, motion: Motion) -> float:
    missed = motion.states[-1] - task.goal
    squares = 0.5 * np.sum(task.weights * missed**2)
    return float(squares + 0.5 * task.effort * np.sum(motion.forces**2))


def go_back(task: Task, motion: Motion, hard: float) -> tuple[np.ndarray, np.ndarray]:
    """Changes of forces (n, motors), and gains on states (n, motors, 2 nv)."""
    p = task.weights * (motion.states[-1] - task.goal)
    P = np.diag(task.weights)
    count = len(task.motors)
    changes, gains = [], []
    for A, B, u in zip(motion.A[::-1], motion.B[::-1], motion.forces[::-1], strict=True):
        by_u = task.effort * u + B.T @ p
        by_ux = B.T @ P @ A
        by_uu = B.T @ P @ B + (task.effort + hard) * np.eye(count)
        change, gain = -np.linalg.solve(by_uu, by_u), -np.linalg.solve(by_uu, by_ux)
        exact = by_uu - hard * np.eye(count)
        p = A.T @ p + gain.T @ (exact @ change + by_u) + by_ux.T @ change
        P = A.T @ P @ A + gain.T @ exact @ gain + gain.T @ by_ux + by_ux.T @ gain
        P = 0.5 * (P + P.T)
        changes.append(change)
        gains.append(gain)
    return np.array(changes[::-1]), np.array(gains[::-1])


def first_motion(task: Task, forces: np.ndarray) -> Motion:
    motion = moved(task, forces)
    if motion is None:
        raise ValueError("the first guess runs away")
    return motion


def search(task: Task, forces: np.ndarray, rounds: int) -> Found:
    """Better and better forces from a first guess."""
    motion, hard = first_motion(task, forces), 1.0
    costs = [cost_of(task, motion)]
    for _ in range(rounds):
        changes, gains = go_back(task, motion, hard)
        for share in task.shares:
            tried = moved(task, motion.forces + share * changes, motion, gains)
            if tried is not None and (cost := cost_of(task, tried)) < costs[-1]:
                motion, hard = tried, max(0.2 * hard, 1e-9)
                costs.append(cost)
                break
        else:
            hard *= 10.0
            if hard > HARDEST:
                break
    return Found(motion, costs)


def tell(found: Found, folder: Path) -> None:
    """Print what the search came to, and make room for its picture."""
    print(f"cost {found.costs[0]:.4g} -> {found.costs[-1]:.4g} in {len(found.costs) - 1} rounds")
    folder.mkdir(parents=True, exist_ok=True)
