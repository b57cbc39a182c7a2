"""Energy, momentum and centre of mass: conserved where they should be, the same by other ways."""

import numpy as np
import pytest

import spatialops as so
from spatialops._layout import WORK_COLUMNS
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.response import squared_length
from tests.support.trees import central_difference, random_tree, relative_error

NO_GRAVITY = (0.0, 0.0, 0.0)


def free_tree(rng, gravity=NO_GRAVITY):
    """A tree that floats on a free root, without armature, which would hold momentum of its own."""
    builder = so.TreeBuilder(gravity=gravity)
    builder.add_body(
        "root",
        joint="free",
        inertia=so.Inertia.box((0.3, 0.2, 0.1), mass=2.0).shifted((0.1, 0.0, 0.05)),
    )
    arm = so.Inertia.capsule(0.05, 0.3, mass=1.0).shifted((0.0, 0.1, -0.15))
    for i, (parent, kind) in enumerate(
        [("root", "revolute"), ("a0", "ball"), ("root", "prismatic"), ("a2", "universal")]
    ):
        builder.add_body(
            f"a{i}",
            parent=parent,
            joint=so.Joint(kind, axis=(1, 2, 3)),
            inertia=arm,
            position=rng.normal(size=3),
        )
    return builder.build()


def test_momentum_of_floating_trees_does_not_change(rng):
    model = free_tree(rng)
    q, v = model.random(rng), rng.normal(size=model.nv)
    tau = np.zeros(model.nv)
    tau[6:] = rng.normal(size=model.nv - 6)  # the joints' own forces cannot change it
    a, h = so.forward_dynamics(model, q, v, tau), 1e-4

    def moved(t):
        return so.momentum(model, so.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a)

    rate = (moved(-2 * h) - 8 * moved(-h) + 8 * moved(h) - moved(2 * h)) / (12 * h)
    assert np.abs(rate).max() < 1e-7 * np.abs(a).max()


def test_momentum_and_energy_over_a_long_flight(rng):
    model = free_tree(rng)
    q = model.random(rng)
    v = 0.3 * rng.normal(size=model.nv)
    h = 0.005
    before = so.momentum(model, q, v)
    energy = so.energy(model, q, v).total
    tau = np.zeros(model.nv)
    for _ in range(40):  # explicit midpoint, on the manifold
        half_v = v + 0.5 * h * so.forward_dynamics(model, q, v, tau)
        half_q = so.integrate(model, q, 0.5 * h * v)
        q, v = (
            so.integrate(model, q, h * half_v),
            v + h * so.forward_dynamics(model, half_q, half_v, tau),
        )
    assert relative_error(so.momentum(model, q, v), before) < 1e-3
    assert so.energy(model, q, v).total == pytest.approx(energy, rel=1e-3)


def test_weight_changes_momentum(rng):
    model = free_tree(rng, gravity=(0.0, 1.0, -9.0))
    q, v = model.random(rng), np.zeros(model.nv)
    a = so.forward_dynamics(model, q, v, v)
    rate = so.momentum(model, q, a)[
        3:
    ]  # at rest, the rate of momentum is the momentum of the accelerations
    assert np.allclose(rate, model.mass * np.array([0.0, 1.0, -9.0]))


def test_momentum_is_mass_times_velocity_of_the_center(model, state):
    q, v, _ = state
    velocity = central_difference(lambda x: so.center_of_mass(model, x), model, q, v)
    assert relative_error(so.momentum(model, q, v)[3:], model.mass * velocity) < 1e-8


def test_potential_energy_is_the_weight_of_the_center(model, state):
    q, v, _ = state
    expected = -model.mass * model.gravity @ so.center_of_mass(model, q)
    assert so.energy(model, q, v).potential == pytest.approx(expected, rel=1e-12)


def test_total(model, state):
    result = so.energy(model, state[0], state[1])
    assert result.total == result.kinetic + result.potential


def test_angular_momentum_of_a_spinning_body():
    body = so.Inertia(2.0, tensor=np.diag([0.1, 0.2, 0.25]))
    model = so.TreeBuilder(gravity=NO_GRAVITY).add_body("a", joint="free", inertia=body).build()
    q = model.neutral()
    w = np.array([1.0, 2.0, 3.0])
    v = np.array([0.5, 0.0, -1.0])
    q[:3] = 1.0, -2.0, 3.0
    angular = np.diag([0.1, 0.2, 0.25]) @ w + np.cross(q[:3], 2.0 * v)
    assert np.allclose(
        so.momentum(model, q, np.concatenate([w, v])), np.concatenate([angular, 2.0 * v])
    )


def test_kinetic_energy_does_not_depend_on_place(rng):
    model = random_tree(rng, 5, kinds=("free", "ball"))
    q, v = model.random(rng), rng.normal(size=model.nv)
    moved = q.copy()
    for name, kind in zip(model.joint_names, model.joint_kinds):
        if kind == "free":
            moved[model.q_slice(name).start] += 17.0
    assert so.energy(model, moved, v).kinetic == pytest.approx(
        so.energy(model, q, v).kinetic, rel=1e-14
    )


def test_length_of_a_motion_is_twice_its_kinetic_energy(model, state):
    """By the factors, as contacts' rows are measured."""
    q, v, _ = state
    work = np.zeros((model.nv, WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    velocities_kernel(model.tree, model.links, v, work)
    factor_kernel(model.tree, model.links, work)
    found = squared_length(model.tree, work, v)
    assert found == pytest.approx(2.0 * so.energy(model, q, v).kinetic, rel=1e-12)
