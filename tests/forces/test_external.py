"""Wrenches from outside: exact where the answer is known, however they are given."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError


def floating(offset=0.0, spin=0.0, gravity=0.0):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -gravity))
    ball = so.Inertia.sphere(0.1, mass=2.0).shifted((offset, 0.0, 0.0))
    builder.add_body("ball", joint="free", inertia=ball)
    model = builder.build()
    v = np.array([0.0, 0.0, spin, 0.0, 0.0, 0.0])
    return so.Scene(model, state=so.State(model.neutral(), v))


WAYS = [
    {},
    {"integrator": "semi-implicit"},
    {"integrator": "rk4"},
    {"time": so.EventDriven()},
]


@pytest.mark.parametrize("options", WAYS)
def test_a_force_at_the_centre_bears_the_weight(options):
    scene = floating(0.1, gravity=9.81)
    push = {so.Node("ball", (0.1, 0.0, 0.0)): [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81]}
    final = so.Simulator(scene, dt=0.01, **options).run(duration=0.1, external=push).final
    assert abs(final.v).max() < 1e-12


@pytest.mark.parametrize("options", WAYS)
def test_a_force_that_grows_with_time(options):
    scene, dt = floating(), 0.01
    simulator = so.Simulator(scene, dt=dt, **options)
    final = simulator.run(
        duration=0.3, external=lambda time, state: [[0.0, 0.0, 0.0, time, 0.0, 0.0]]
    ).final
    error = 3e-2 if options.get("integrator") == "semi-implicit" else 1e-3
    assert final.q[0] == pytest.approx(0.3**3 / 12.0, rel=2.0 * error)
    assert final.v[3] == pytest.approx(0.3**2 / 4.0, rel=error)


def test_momentum_of_a_floating_tree_follows_the_wrenches():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.0)
    builder.add_body("a", joint="free", inertia=rod)
    builder.add_body("b", parent="a", joint=so.Joint("revolute", axis="y"), inertia=rod)
    model = builder.build()
    v = np.array([0.3, 1.0, 0.2, 0.0, 0.1, 0.0, 2.0])
    scene = so.Scene(model, state=so.State(model.neutral(), v))
    push = np.array([0.0, 0.0, 0.0, 1.0, -2.0, 3.0])
    final = so.Simulator(scene, dt=0.01).run(duration=0.2, external={"b": push}).final
    gained = so.momentum(model, final.q, final.v)[3:] - so.momentum(model, scene.state.q, v)[3:]
    assert gained == pytest.approx(0.2 * push[3:], rel=1e-11)


def test_every_door_lets_them_in():
    """One step of `step`, `run`, a stepper and a batch under the same wrench are the same."""
    scene = floating(0.05, spin=1.0, gravity=9.81)
    simulator = so.Simulator(scene, dt=0.01)
    wrench = np.array([[0.1, 0.2, 0.3, 1.0, 2.0, 3.0]])
    once = simulator.step(scene.state, external=wrench)[0]
    run = simulator.run(duration=0.01, external={"ball": wrench[0]}).final
    stepper = simulator.stepper()
    stepper.step(external=lambda time, state: wrench)
    with so.Batch(simulator, 2) as batch:
        batch.step(external=np.stack([wrench, np.zeros((1, 6))]))
        rollout = batch.rollout(np.zeros((2, 1, 6)), external=np.stack([[wrench], [0.0 * wrench]]))
        free = simulator.step(scene.state)[0]
        for q in (run.q, stepper.q, batch.q[0], rollout.q[0, 0]):
            assert q.tolist() == once.q.tolist()
        assert batch.v[1] == pytest.approx(free.v, abs=1e-8)  # without the equation of lone bodies
        batch.step()  # nothing pushes any more
    assert abs(once.v - free.v).max() > 1e-3


def test_what_pushed_once_leaves_no_trace():
    simulator = so.Simulator(floating(0.05, spin=3.0, gravity=9.81), dt=0.01)
    before = simulator.run(duration=0.05).final
    simulator.run(duration=0.05, external=lambda time, state: np.ones((1, 6)))
    assert simulator.run(duration=0.05).final.q.tolist() == before.q.tolist()
    stepper = simulator.stepper()
    stepper.step(external=np.ones((1, 6)))
    stepper.reset()
    for _ in range(5):
        stepper.step()
    assert stepper.q.tolist() == before.q.tolist()
    with so.Batch(simulator, 1) as batch:
        batch.step(external=np.ones((1, 1, 6)))
        batch.reset()
        for _ in range(5):
            batch.step()
        assert batch.q[0].tolist() == before.q.tolist()


def test_fields():
    scene = floating(0.1, gravity=9.81)
    model, q = scene.model, scene.state.q
    still = so.ChangingGravity(model, lambda time: (0.0, 0.0, 0.0))
    assert abs(so.Simulator(scene).run(duration=0.02, external=still).final.v).max() < 1e-12
    wind = so.Wind(model, {"ball": 0.5}, wind=(2.0, 0.0, 0.0))
    assert wind(0.0, scene.state)["ball"] == pytest.approx([0.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    water = so.Buoyancy(model, {"ball": 0.1}, density=1000.0, level=0.0)
    half = 0.5 * 4.0 / 3.0 * np.pi * 0.1**3 * 1000.0 * 9.81
    assert water(0.0, scene.state)["ball"][5] == pytest.approx(half)
    both = so.Simulator(scene).step(scene.state, external=[still, wind])[0]
    assert both.v[3] > 0.0
    assert abs(both.v[5]) < 1e-6
    assert q.tolist() == scene.state.q.tolist()


@pytest.mark.parametrize(
    ("external", "message"),
    [
        (np.zeros((2, 6)), "external"),
        ({"nobody": np.zeros(6)}, "nobody"),
        ({"ball": np.zeros(3)}, "ball"),
        ({"world": np.zeros(6)}, "world"),
        ({"ball": [np.nan] * 6}, "ball"),
        (lambda time, state: "up", "external"),
    ],
)
def test_wrenches_that_are_none(external, message):
    scene = floating()
    with pytest.raises(ArgumentError, match=message):
        so.Simulator(scene).step(scene.state, external=external)


def _lagging():
    """A slider whose actuator follows its control with 0.2 s, and has no force."""
    lag = so.Actuator(
        name="lag", joints="rail", gain=(0, 0, 0), dynamics="filter", time_constant=0.2
    )
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    rail = so.Joint("prismatic", axis="x", name="rail")
    model = builder.add_body("bob", joint=rail, inertia=so.Inertia.sphere(0.1, mass=2.0)).build()
    return so.Scene(model, actuators=[lag], ctrl=[1.0])


def _told(time):
    return 1.0 - np.exp(-time / 0.2)


@pytest.mark.parametrize("options", WAYS)
def test_fields_and_controllers_see_activations_as_they_are_then(options):
    seen = []

    def field(time, state):
        seen.append((state.time, *state.activation))
        return {}

    def controller(time, state, contacts):
        seen.append((time, *state.activation))
        return [0.0]

    simulator = so.Simulator(_lagging(), dt=0.01, **options)
    simulator.run(duration=0.1, external=field, controller=controller)
    times, activations = np.array(seen).T
    assert len(seen) >= 20
    assert np.allclose(activations, _told(times), atol=1e-12)


def test_a_continuous_controller_sees_activations_between_the_steps():
    seen = []

    def controller(time, state, contacts):
        seen.append((time, *state.activation))
        return [-state.q[0]]

    way = so.EventDriven(continuous=True)
    so.Simulator(_lagging(), dt=0.05, time=way).run(duration=0.1, controller=controller)
    times, activations = np.array(seen).T
    assert len(set(times)) > 3
    assert np.allclose(activations, _told(times), atol=1e-12)
