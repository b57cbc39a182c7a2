"""Random states of a standing quadruped: power, agreement of two solvers, time of a command."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops.control.actuation import Actuation
from spatialops.control.friction_cone.assembly import Assembly
from spatialops.control.friction_cone.barrier import Barrier
from spatialops.control.friction_cone.conic import Conic
from spatialops.control.friction_cone.controller import DAMPING, FrictionConeController
from spatialops.control.friction_cone.force_program import ForceProgram
from spatialops.control.motors import Motors
from spatialops.control.projected.control_state import control_state, minimum_norm
from spatialops.control.projected.dynamics import Projection
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.task_space.gathered_tasks import GatheredTasks
from spatialops.control.task_space.tasks import PoseTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.simulation.plain_data import PlainData
from spatialops.tree.node import Node
from spatialops.tree.state import State, integrate

GEARS = (20.0, 20.0, 30.0)  # hip, thigh, knee


def motors_of(robot: Quadruped) -> Motors:
    """Motors of the quadruped: 0.02 N m/A, 0.5 ohm, geared 20 : 1, at the knees 30 : 1."""
    return Motors(
        Actuation(robot.model), torque_constant=0.02, resistance=0.5, gear=np.tile(GEARS, 4)
    )


def grips(
    robot: Quadruped,
    feet: Sequence[int] | IntArray,
    friction: ArrayLike,
    normals: ArrayLike | None = None,
    *,
    least: float = 0.0,
) -> HeldContacts:
    """Feet that stand, by index, pressed by at least `least` (N).

    Friction and normals are one for all or one a foot.
    """
    mu = np.broadcast_to(friction, (len(feet),))
    n = np.broadcast_to((0.0, 0.0, 1.0) if normals is None else normals, (len(feet), 3))
    return HeldContacts(
        robot.model,
        [
            HeldContact(
                node=Node(robot.feet[foot]),
                friction=float(mu[i]),
                normal=n[i],
                radius=robot.foot_radius,
                least=least,
                name=robot.feet[foot],
            )
            for i, foot in enumerate(feet)
        ],
    )


def base_task(robot: Quadruped, state: State, acceleration: Array) -> Tracking:
    """The base's pose, to be accelerated so from where it is."""
    task = PoseTask(Node("base"))
    zero = task.motion(robot.model, state)
    path = (zero.x, zero.J @ state.v, np.asarray(acceleration, dtype=np.float64))
    return Tracking(task, lambda time: path, stiffness=100.0, name="base")


def random_states(
    count: int, seed: int = 0
) -> Iterator[tuple[Quadruped, State, HeldContacts, Tracking]]:
    """States near standing on three or four feet, on ground that leans by up to 15 degrees."""
    robot, rng = quadruped(), np.random.default_rng(seed)
    for _ in range(count):
        moved = integrate(robot.model, robot.state.q, rng.normal(size=robot.model.nv) * 0.15)
        feet = np.sort(rng.choice(4, size=int(rng.integers(3, 5)), replace=False))
        lean = np.tan(np.radians(rng.uniform(0.0, 15.0, len(feet))))
        angle = rng.uniform(0.0, 2.0 * np.pi, len(feet))
        normals = np.column_stack([lean * np.cos(angle), lean * np.sin(angle), np.ones(len(feet))])
        held = grips(robot, feet, rng.uniform(0.4, 0.9, len(feet)), normals)
        v = Projection(held.jacobian(moved)).P @ (rng.normal(size=robot.model.nv) * 0.3)
        state = State(moved, v)
        yield (
            robot,
            state,
            held,
            base_task(robot, state, rng.normal(size=6) * np.array([4.0, 4.0, 4.0, 1.0, 1.0, 1.0])),
        )


def programs(count: int, seed: int = 0) -> Iterator[tuple[Motors, Assembly, ForceProgram]]:
    """The strict programs of random states."""
    motors = motors_of(quadruped())
    for robot, state, held, tracking in random_states(count, seed):
        motors = motors if motors.actuation.model is robot.model else motors_of(robot)
        tasks = GatheredTasks(robot.model, [tracking])
        at = control_state(robot.model, state, held, motors, tasks, 0.0)
        posture = -DAMPING * state.v if len(at.half) > len(at.task.wanted) else None
        assembly = Assembly(at, posture, None)
        yield motors, assembly, assembly.strict()


def power(count: int = 1000, seed: int = 0) -> PlainData:
    """Losses of least-norm forces and of the optimum, in states in which the task can be kept.

    The least norm knows no cones. Where it breaks them its losses are no bar, and are counted
    apart: there the optimum is compared with the least norm under the same cones and limits (the
    same program with W = 1).
    """
    admissible: list[float] = []
    broken: list[float] = []
    ruled: list[float] = []
    infeasible = failed = 0
    for motors, assembly, program in programs(10 * count, seed):
        if len(ruled) + failed == count:
            break
        solution = Barrier().solve(program)
        if solution.status == "infeasible":
            infeasible += 1
            continue
        p, x = assembly.p, minimum_norm(program.E, program.e)[0]
        other = Barrier().solve(
            replace(program, H=np.diag(np.r_[np.full(p, 2.0), np.zeros(assembly.n - p)]))
        )
        if not (solution.solved and other.solved):
            failed += 1
            continue
        best = motors.power(solution.x[:p])
        ruled.append(best / motors.power(other.x[:p]) - 1.0)
        (admissible if program.margins(x).min() >= 0.0 else broken).append(
            best / motors.power(x[:p]) - 1.0
        )
    return {
        "states": len(ruled) + failed,
        "failed": failed,
        "drawn besides, infeasible": infeasible,
        "saving against least norm under the same cones, mean": -_mean(ruled),
        "saving against least norm under the same cones, largest": -min(ruled),
        "least norm admissible": len(admissible),
        "saving where admissible, mean": -_mean(admissible),
        "saving where admissible, largest": -min(admissible, default=0.0),
        "least norm breaks a cone or limit": len(broken),
        "saving against it there, mean": -_mean(broken),
        "largest excess over least norm": max(*ruled, *admissible),
        "series": {
            "ruled": np.array(ruled),
            "admissible": np.array(admissible),
            "broken": np.array(broken),
        },
    }


def agreement(count: int = 300, seed: int = 1) -> PlainData:
    """How far the barrier method and Clarabel are apart, relative to the largest force."""
    forces = []
    costs = []
    statuses = 0
    conic_failed = 0
    for motors, assembly, program in programs(count, seed):
        ours, theirs = Barrier().solve(program), Conic().solve(program)
        if theirs.status == "failed":
            conic_failed += 1
            continue
        if ours.status != theirs.status:
            statuses += 1
            continue
        if not ours.solved:
            continue
        u, other = ours.x[: assembly.p], theirs.x[: assembly.p]
        forces.append(float(np.abs(u - other).max() / np.abs(other).max()))
        costs.append(abs(motors.power(u) / motors.power(other) - 1.0))
    return {
        "programs": count,
        "both solved": len(forces),
        "disagree on feasibility": statuses,
        "conic solver failed": conic_failed,
        "largest difference of forces": max(forces),
        "largest difference of power": max(costs),
        "series": {"forces": np.array(forces), "power": np.array(costs)},
    }


def timing(count: int = 5000, repeats: int = 5) -> PlainData:
    """Time of a command of the 18-dof quadruped on four feet, us by the clock.

    Every command is given `repeats` times from the same start. All of these times count what other
    programs took meanwhile; the least for each command hardly does. States are drawn anew for every
    command, so that the last one helps less than it does in a simulation.
    """
    robot = quadruped()
    motors = motors_of(robot)
    held = grips(robot, range(4), 0.6)
    rng = np.random.default_rng(2)
    task = PoseTask(Node("base"))
    x0 = task.motion(robot.model, robot.state).x

    def path(time: float) -> tuple[Array, Array, Array]:
        swing = np.array([0.05, 0.05, 0.1, 0.01, 0.01, 0.005])
        return (
            x0 + swing * np.sin(6.0 * time),
            6.0 * swing * np.cos(6.0 * time),
            -36.0 * swing * np.sin(6.0 * time),
        )

    controller = FrictionConeController(robot.model, [Tracking(task, path)], motors, contacts=held)
    moves = [
        integrate(robot.model, robot.state.q, rng.normal(size=18) * 0.02) for _ in range(count + 20)
    ]
    times, second = np.empty((count + 20, repeats)), 0
    for i, q in enumerate(moves):
        state, before = State(q, np.zeros(18)), controller
        for j in range(repeats):
            controller = copy(before)  # with the same warm start
            begin = clock.perf_counter()
            controller(1e-3 * i, state)
            times[i, j] = clock.perf_counter() - begin
        second += i >= 20 and len(controller.attempts) > 1
    times = 1e6 * times[20:]
    every, least = times.ravel(), times.min(axis=1)
    return {
        "commands": count,
        "of which took a second program": second,
        "median, us": float(np.median(every)),
        "99th percentile, us": float(np.percentile(every, 99.0)),
        "99.9th percentile, us": float(np.percentile(every, 99.9)),
        f"least of {repeats}, median, us": float(np.median(least)),
        f"least of {repeats}, 99th percentile, us": float(np.percentile(least, 99.0)),
        f"least of {repeats}, 99.9th percentile, us": float(np.percentile(least, 99.9)),
        "programs running or waiting on this machine": float(os.getloadavg()[0]),
        "processors": os.cpu_count(),
        "series": {"every time": every, f"least of {repeats}": least},
    }


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0
