"""Derivatives of steps of mechanisms whose bodies' weight is borne."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from tests.simulation.linearization.test_linearize import EXACT, check

INTEGRATORS = ("moreau", "semi-implicit", "rk4")
ROD = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.05, -0.2))


def leg(floating=False, damping=0.0):
    """Links of which some bear part of their weight, and a round foot."""
    builder = so.TreeBuilder()
    parent = "world"
    if floating:
        builder.add_body("base", joint=so.Joint("free"), inertia=ROD, gravity_compensation=0.3)
        parent = "base"
    joints = ("ball", "revolute", "prismatic", "revolute")
    for i, kind in enumerate(joints):
        axis = {} if kind == "ball" else {"axis": "xyzy"[i]}
        own = {} if kind == "ball" else {"damping": damping}
        builder.add_body(
            f"link {i}",
            parent=parent,
            joint=so.Joint(kind, **axis, **own),
            inertia=ROD,
            position=(0.1, 0.05, -0.3),
            gravity_compensation=(0.5, 0.0, 1.2, 0.8)[i],
        )
        parent = f"link {i}"
    return builder.build()


def swinging(model, seed=2):
    rng = np.random.default_rng(seed)
    return so.State(model.random(rng), rng.normal(size=model.nv)), rng.normal(size=model.nv)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_free_motion(integrator, floating, damping):
    model = leg(floating, damping)
    state, tau = swinging(model)
    simulator = so.Simulator(so.Scene(model, []), dt=2e-3, integrator=integrator, time=EXACT)
    check(simulator, state, tau, (1e-3, 1e-3, 1e-1))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("friction", "speed", "gap"), [(0.3, -4e-3, -1e-6), (2.0, -4e-3, -1e-6), (0.3, -0.5, 1e-4)]
)
def test_a_foot_that_slides_sticks_and_lands(integrator, friction, speed, gap):
    model = leg()
    state, tau = swinging(model)
    foot = so.Node("link 3", (0.0, 0.0, -0.4))
    height = so.node_positions(model, state.q, [foot])[0, 2] - 0.05 - gap
    touch = {"friction": friction, "restitution": 0.5}
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), position=(0.0, 0.0, height), **touch),
        so.Geom("foot", "link 3", so.Sphere(0.05), position=(0.0, 0.0, -0.4), **touch),
    ]
    J = so.jacobian(model, state.q, [foot])[3:]
    goal = np.array([0.2 if friction < 1.0 else 1e-3, 0.1 if friction < 1.0 else 0.0, speed])
    v = state.v + np.linalg.lstsq(J, goal - J @ state.v, rcond=None)[0]
    tau = tau + J.T @ np.array([0.0, 0.0, -20.0])
    simulator = so.Simulator(so.Scene(model, geoms), dt=1e-3, integrator=integrator, time=EXACT)
    found = check(simulator, so.State(state.q, v), tau, (1e-7, 1e-5, 1e-2))
    assert set(found.statuses) & {"sliding", "sticking"}


def test_a_rollout_keeps_where_weight_is_borne():
    model = leg(floating=True)
    state, _ = swinging(model)
    simulator = so.Simulator(so.Scene(model, []), dt=2e-3, time=EXACT)
    rollout = simulator.linearize_rollout(state, np.zeros((4, model.nv)))
    change = np.concatenate([np.ones(model.nv), -np.ones(model.nv)])
    ahead = rollout.jvp(change[: model.nv], change[model.nv :])
    for k in range(4):
        step = simulator.linearize(state)
        change = step.A @ change
        state = step.state
        found = np.concatenate([ahead.q[k + 1], ahead.v[k + 1]])
        assert np.allclose(found, change, rtol=1e-10, atol=1e-10)


def test_parameters_are_refused_in_words():
    model = leg()
    state, tau = swinging(model)
    with pytest.raises(ArgumentError, match="compensation of gravity, tendons"):
        so.Simulator(so.Scene(model, [])).linearize_parameters(state, tau)


def test_closures_beside_borne_weight_are_refused_in_words():
    model = leg()
    state, _ = swinging(model)
    tip = so.node_positions(model, state.q, [so.Node("link 3")])[0]
    pin = so.Loop(kind="ball", a="link 3", position_b=tip)
    simulator = so.Simulator(so.Scene(model, [], loops=so.Loops(model, [pin])))
    with pytest.raises(ArgumentError, match="beside closures"):
        simulator.linearize(so.State(state.q, np.zeros(model.nv)))
