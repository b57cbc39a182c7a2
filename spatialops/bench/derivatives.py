"""Derivatives of the dynamics against Pinocchio's, and what a link of a long chain costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.contacts.twin import Twin as MujocoTwin
from spatialops.bench.measure import Call, Effort, Quartiles, Row, agreed, take_turns
from spatialops.bench.peers import ROBOTS, Twin, chain, chain_model, require, robot
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.jacobian import jacobian
from spatialops.dynamics.newton_euler import bias
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.simulation.batch.batch import Batch
from spatialops.simulation.simulator import Simulator
from spatialops.tree.node import Node
from spatialops.tree.state import State

Ours = Callable[..., tuple[Array, ...]]

BAR = 0.6
FLATNESS_BAR = 1.5
STEP_BAR = 0.1
GRADIENT_BAR = 4.0
STEPS = 200
SLIP = 1e-2  # m/s, rad/s
DT = 1e-3  # s
DEPTH = 5e-6  # m
CHAINS = (7, 30, 38)
LENGTHS = (100, 300, 1000)
QUICK_ROBOTS = ("xarm7", "solo12", "talos")


def contests(
    twin: Twin, rng: np.random.Generator
) -> Iterator[tuple[str, str, Ours, Call, tuple[Array, ...]]]:
    """What to compute: name, rival, our function, theirs as a call, and their matrices."""
    pin = require("pinocchio")
    q, v, third = twin.random_state(rng)
    theirs = (twin.pin, twin.data, q.copy(), v[twin.order].copy(), third[twin.order].copy())
    rnea, aba = pin.computeRNEADerivatives, pin.computeABADerivatives
    ours: Ours = partial(inverse_dynamics_derivatives, twin.model, q, v, third)
    rnea(*theirs)
    yield (
        "inverse dynamics",
        "computeRNEADerivatives",
        ours,
        partial(rnea, *theirs),
        (twin.data.dtau_dq.copy(), twin.data.dtau_dv.copy()),
    )
    ours = partial(forward_dynamics_derivatives, twin.model, q, v, third)
    aba(*theirs)
    yield (
        "forward dynamics",
        "computeABADerivatives",
        ours,
        partial(aba, *theirs),
        (twin.data.ddq_dq.copy(), twin.data.ddq_dv.copy()),
    )


def measure_twin(twin: Twin, effort: Effort, rng: np.random.Generator) -> Iterator[Row]:
    """Rows of one mechanism: with memory given, to which the bars belong, and as plain calls."""
    case, turned = f"{twin.name}, {twin.model.nv} dof", np.ix_(twin.order, twin.order)
    for what, rival, ours, theirs, matrices in contests(twin, rng):
        memory = ours()
        difference = max(
            agreed(mine[turned], their, f"{twin.name}: {what}")
            for mine, their in zip(memory, matrices)
        )
        contestants: dict[str, Call] = {
            "ours": partial(ours, out=memory),
            "plain": ours,
            rival: theirs,
        }
        timing = take_turns(contestants, effort)
        for name, limit, note in (("ours", BAR, "out="), ("plain", None, "plain call")):
            mine = timing.of(name)
            peer = timing.of(rival)
            ratio = timing.ratio(name, rival)
            yield Row("derivatives", what, case, mine, peer, rival, ratio, limit, difference, note)


def measure_lengths(effort: Effort, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds per link and ancestor of chains of growing length, against the shortest."""
    functions: dict[str, Ours] = {
        "inverse dynamics": inverse_dynamics_derivatives,
        "forward dynamics": forward_dynamics_derivatives,
    }
    for what, function in functions.items():
        calls: dict[str, Call] = {}
        for n in LENGTHS:
            model, q = chain_model(n, rng), rng.uniform(-0.1, 0.1, n)
            given = (model, q, rng.normal(size=n) / n, rng.normal(size=n) / n)
            calls[str(n)] = partial(function, *given, out=function(*given))
        timing = take_turns(calls, effort)
        base = timing.of(str(LENGTHS[0])) / LENGTHS[0] ** 2
        for n in LENGTHS[1:]:
            scale = (LENGTHS[0] / n) ** 2
            ratio = Quartiles(*(x * scale for x in timing.ratio(str(n), str(LENGTHS[0]))))
            ours = timing.of(str(n)) / n**2
            yield Row(
                "derivatives",
                what,
                f"chain {n}, per link and ancestor",
                ours,
                base,
                f"chain {LENGTHS[0]}",
                ratio,
                FLATNESS_BAR,
            )


def measure_step(effort: Effort) -> Iterator[Row]:
    """The derivative of a step of a standing quadruped against differences of MuJoCo's."""
    mujoco, robot_model = require("mujoco"), quadruped()
    scene, nv = robot_model.scene(), robot_model.model.nv
    simulator, twin = Simulator(scene, dt=DT), MujocoTwin(scene, DT)
    data = mujoco.MjData(twin.model)
    state, tau = standing(robot_model)
    twin.put_state(data, state)
    twin.put_forces(data, tau)
    A = np.zeros((2 * nv, 2 * nv))
    calls: dict[str, Call] = {"ours": partial(simulator.linearize, state, tau)}
    for name, centred in (("centred", True), ("one-sided", False)):
        theirs = (twin.model, data, 1e-6, centred, A, None, None, None)
        calls[name] = partial(mujoco.mjd_transitionFD, *theirs)
    timing = take_turns(calls, effort)
    for name in ("centred", "one-sided"):
        found = timing.of("ours"), timing.of(name)
        case, rival = f"standing quadruped, {nv} dof", f"mjd_transitionFD, {name}"
        ratio, note = timing.ratio("ours", name), f"{data.ncon} contacts there, 4 here"
        yield Row("derivatives", "linearize", case, *found, rival, ratio, STEP_BAR, note=note)


def measure_rollout(effort: Effort, rng: np.random.Generator) -> Iterator[Row]:
    """The gradient of steps of a quadruped whose feet slide until they stick, beside the steps."""
    robot_model = quadruped()
    simulator = Simulator(robot_model.scene(friction=0.3), dt=DT)
    state, tau = standing(robot_model)
    state = State(state.q, SLIP * rng.normal(size=tau.size))
    forces = np.tile(tau, (STEPS, 1))
    weights = rng.normal(size=(2, STEPS + 1, tau.size))
    rollout = simulator.linearize_rollout(state, forces)
    with Batch(simulator, 1, threads=1) as batch:
        calls: dict[str, Call] = {
            "whole": lambda: simulator.linearize_rollout(state, forces).vjp(*weights),
            "back": partial(rollout.vjp, *weights),
            "rollout": partial(batch.rollout, forces[None], state.q[None], state.v[None]),
        }
        timing = take_turns(calls, effort)
    for name, limit, note in (
        ("whole", GRADIENT_BAR, "a step, there and back"),
        ("back", None, ""),
    ):
        yield Row(
            "derivatives",
            "gradient",
            f"{STEPS} steps of a quadruped on its feet",
            timing.of(name) / STEPS,
            timing.of("rollout") / STEPS,
            "the same steps",
            timing.ratio(name, "rollout"),
            limit,
            note=note or "a step, back alone",
        )


def standing(robot_model: Quadruped) -> tuple[State, Array]:
    """The quadruped at rest, a little in the ground, and joint forces that hold it there."""
    model = robot_model.model
    q = robot_model.state.q.copy()
    v = np.zeros(robot_model.model.nv)
    q[2] -= DEPTH
    feet = [jacobian(model, q, [Node(foot)])[3:] for foot in robot_model.feet]
    G, held = np.concatenate(feet), bias(model, q, v)
    forces = np.linalg.lstsq(G.T[:6], held[:6], rcond=None)[0]
    return State(q, v), held - G.T @ forces


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """All rows of this group."""
    rng = np.random.default_rng(1)
    for name in QUICK_ROBOTS if quick else ROBOTS:
        twin = robot(name)
        if twin is not None:
            yield from measure_twin(twin, effort, rng)
    for n in CHAINS[:1] if quick else CHAINS:
        yield from measure_twin(chain(n, rng), effort, rng)
    yield from measure_lengths(effort, rng)
    yield from measure_step(effort)
    yield from measure_rollout(effort, rng)
