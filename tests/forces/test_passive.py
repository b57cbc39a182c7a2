"""Passive forces are one formula, and everyone's: integrators, controllers and the caller agree."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.forces.passive import add_passive_forces, passive_forces


def damped(damping=(0.3, 0.0)):
    builder = so.TreeBuilder()
    rod = so.Inertia(1.0, (0.2, 0.0, 0.0), np.eye(3) * 0.1)
    parent = "world"
    for name, d in zip("ab", damping, strict=True):
        joint = so.Joint("revolute", axis="y", damping=d)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod)
        parent = name
    return builder.build()


def test_damping_opposes_the_velocity():
    model = damped()
    v = np.array([2.0, -5.0])
    assert passive_forces(model, model.neutral(), v) == pytest.approx([-0.6, 0.0])
    assert not passive_forces(model, model.neutral(), np.zeros(2)).any()


def test_they_never_do_work_on_the_mechanism():
    rng = np.random.default_rng(8)
    for _ in range(20):
        model = damped(rng.uniform(0.1, 2.0, 2))
        v = rng.normal(size=2)
        assert passive_forces(model, model.random(rng), v) @ v < 0.0


def test_the_kernel_adds_them_to_given_forces():
    model = damped((0.3, 1.7))
    v = np.array([2.0, -5.0])
    tau = np.array([10.0, 20.0])
    out = np.empty(2)
    add_passive_forces(model.links, v, tau, out)
    assert out == pytest.approx(tau + passive_forces(model, model.neutral(), v), rel=1e-15)


def test_a_mechanism_left_alone_obeys_them():
    """The simulation's first step is the one of forward dynamics under these forces."""
    model = damped((0.3, 1.7))
    q = np.array([0.2, -0.4])
    v = np.array([2.0, -5.0])
    dt = 1e-6
    scene = so.Scene(model, state=so.State(q, v))
    after = so.Simulator(scene, dt=dt).step(so.State(q, v))[0]
    a = so.forward_dynamics(model, q, v, passive_forces(model, q, v))
    assert (after.v - v) / dt == pytest.approx(a, rel=1e-4)


@pytest.mark.parametrize("v", [[1.0], [np.nan, 0.0], "fast"])
def test_velocities_that_are_none(v):
    model = damped()
    with pytest.raises(ArgumentError, match="v"):
        passive_forces(model, model.neutral(), v)
