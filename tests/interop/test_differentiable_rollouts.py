"""Rollouts over arrays: their gradients against differences, by coordinates and forces."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ContactError
from spatialops.interop.coordinate_gradients import coordinate_rates, to_coordinates, to_tangent
from spatialops.interop.differentiable_rollouts import DifferentiableRollouts

EXACT = so.TimeStepping(settled=1e-13)  # differences see what is not settled


def turning():
    """A body on a ball joint that carries a rod: coordinates with a quaternion."""
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.2, 0.3, 0.1), mass=1.0)
    builder.add_body("head", joint="ball", inertia=solid)
    hinge = so.Joint("revolute", axis="y")
    builder.add_body("rod", parent="head", joint=hinge, inertia=solid, position=(0.0, 0.1, 0.3))
    return so.Simulator(so.Scene(builder.build(), []), dt=5e-3, time=EXACT)


def starts(model, size, n_steps, seed=0):
    """Coordinates, velocities and forces of some environments."""
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(size, model.nv))
    q = np.array([so.integrate(model, model.neutral(), move) for move in moves])
    return q, rng.normal(size=(size, model.nv)), rng.normal(size=(size, n_steps, model.nv))


def gradient_by_differences(function, at, step=1e-4):
    """Differences of fourth order of a function of an array, entry by entry."""
    found = np.empty_like(at)
    for i in np.ndindex(at.shape):
        values = []
        for c in (-2.0, -1.0, 1.0, 2.0):
            moved = at.copy()
            moved[i] += c * step
            values.append(function(moved))
        f = values
        found[i] = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * step)
    return found


def test_threads_change_nothing():
    """To the bit: an environment's gradient does not depend on who comes before."""
    simulator = turning()
    q, v, taus = starts(simulator.scene.model, 5, 3)
    rng, found = np.random.default_rng(1), []
    by_q, by_v = rng.normal(size=(5, 4, q.shape[1])), rng.normal(size=(5, 4, v.shape[1]))
    for threads in (1, 2, 8):
        rollouts = DifferentiableRollouts(simulator, threads=threads)
        found.append(rollouts.backward(rollouts.forward(q, v, taus), taus, by_q, by_v))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_gradients_are_differences():
    simulator = turning()
    model = simulator.scene.model
    rollouts = DifferentiableRollouts(simulator, threads=1)
    given = list(starts(model, 2, 4))
    states = rollouts.forward(*given)
    rng = np.random.default_rng(1)
    by_q, by_v = rng.normal(size=states.q.shape), rng.normal(size=states.v.shape)
    found = rollouts.backward(states, given[2], by_q, by_v)
    for i, gradient in enumerate(found):

        def weighted(moved, i=i):
            made = rollouts.forward(*given[:i], moved, *given[i + 1 :])
            return (by_q * made.q).sum() + (by_v * made.v).sum()

        expected = gradient_by_differences(weighted, given[i], 1e-3)
        assert np.abs(gradient - expected).max() < 1e-8 * np.abs(expected).max()


def test_gradients_are_those_of_the_linearized_rollout():
    simulator = so.Simulator(so.Scene(so.models.pendulum(3).model, []), dt=1e-2, time=EXACT)
    model = simulator.scene.model
    rollouts = DifferentiableRollouts(simulator, threads=1)
    q, v, taus = starts(model, 3, 5)
    states = rollouts.forward(q, v, taus)
    by_q, by_v = np.random.default_rng(2).normal(size=(2, *states.q.shape))
    found = rollouts.backward(states, taus, by_q, by_v)
    for e in range(3):
        rollout = simulator.linearize_rollout(so.State(q[e], v[e]), taus[e])
        expected = rollout.vjp(by_q[e], by_v[e])
        for ours, theirs in zip(found, expected):
            np.testing.assert_allclose(ours[e], theirs, rtol=1e-10, atol=1e-12)


def test_coordinates_and_tangents():
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.2, 0.3, 0.1), mass=1.0)
    builder.add_body("a", joint="free", inertia=solid)
    builder.add_body("b", parent="a", joint="ball", inertia=solid)
    flat = so.Joint("planar", axis="z", second_axis="x")
    builder.add_body("c", parent="b", joint=flat, inertia=solid)
    model = builder.build()
    q = so.integrate(model, model.neutral(), np.random.default_rng(3).normal(size=model.nv))
    h = 1e-6
    ends = [[so.integrate(model, q, c * e) for c in (h, -h)] for e in np.eye(model.nv)]
    expected = np.array([(ahead - behind) / (2.0 * h) for ahead, behind in ends]).T
    np.testing.assert_allclose(coordinate_rates(model, q), expected, atol=1e-9)
    h = np.arange(1.0, model.nv + 1.0)
    np.testing.assert_allclose(to_tangent(model, q, to_coordinates(model, q, h)), h, rtol=1e-13)


def test_what_does_not_fit_is_refused():
    rollouts = DifferentiableRollouts(turning(), threads=1)
    q, v, taus = starts(rollouts.model, 2, 3)
    for bad in (q[0], q[:, :3], np.full_like(q, np.nan), 0.0 * q):
        with pytest.raises(ArgumentError):
            rollouts.forward(bad, v, taus)
    with pytest.raises(ArgumentError, match="v"):
        rollouts.forward(q, v[:1], taus)
    with pytest.raises(ArgumentError, match="taus"):
        rollouts.forward(q, v, taus[0])


def test_a_step_that_is_not_known_names_its_environment():
    builder = so.TreeBuilder()
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.5, torsion=0.02, restitution=0.5),
        so.Geom("ball", "ball", so.Sphere(0.1), friction=0.5, torsion=0.02, restitution=0.5),
    ]
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=1e-3, time=EXACT)
    rollouts = DifferentiableRollouts(simulator, threads=1)
    taus, q = np.zeros((2, 8, 6)), np.tile(rollouts.model.neutral(), (2, 1))
    q[:, 2] = 1.0, 0.102
    v = np.zeros((2, 6))
    v[1] = 0.0, 0.0, 3.0, 0.0, 0.0, -1.0
    states = rollouts.forward(q, v, taus)
    by_q, by_v = np.ones_like(states.q), np.ones_like(states.v)
    with pytest.raises(ContactError, match=r"environment 1, step \d: linearize: .*torsional"):
        rollouts.backward(states, taus, by_q, by_v)
