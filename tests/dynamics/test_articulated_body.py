"""Articulated-body dynamics against the dense equation, closed forms, far bases, long chains."""

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.dynamics.articulated_body import (
    articulated_body_kernel,
    factor_from,
    factor_kernel,
)
from spatialops.dynamics.articulated_lanes import articulated_lanes_kernel
from spatialops.dynamics.composite_body import composite_body_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.mass_solve import mass_solve_kernel
from spatialops.dynamics.newton_euler_lanes import newton_euler_kernel
from spatialops.dynamics.response import accelerations_again
from spatialops.simulation.stepping.integrators.accelerations import accelerations
from spatialops.tree.branches import BLOCK, WORK_ROWS
from tests.support.trees import chain, random_tree, relative_error


def dense(model, q, v, tau):
    return np.linalg.solve(so.mass_matrix(model, q), tau - so.bias(model, q, v))


def test_dense_equation_of_motion(model, state):
    q, v, tau = state
    assert relative_error(so.forward_dynamics(model, q, v, tau), dense(model, q, v, tau)) < 1e-10


@pytest.mark.parametrize("branching", [0.0, 0.3])
def test_trees_that_take_several_blocks(rng, branching):
    model = random_tree(rng, 130, ("ball", "revolute", "free", "screw"), branching=branching)
    assert model.nv > 8 * WIDTH * BLOCK
    q, v = model.random(rng), rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    a = so.forward_dynamics(model, q, v, tau)
    assert relative_error(so.inverse_dynamics(model, q, v, a), tau) < 1e-8
    assert relative_error(a, accelerations_of_one_link_after_the_other(model, q, v, tau)) < 1e-9


@pytest.mark.parametrize("branching", [0.0, 0.3])
def test_rows_to_spare_change_no_bit(rng, branching):
    model = random_tree(rng, 60, ("ball", "revolute", "free", "screw"), branching=branching)
    n, tables = model.nv, model.branches
    q = model.random(rng)
    v, x = rng.normal(size=n), rng.normal(size=n)
    given, external = (tables.tree, tables.constants, q), rng.normal(size=(model.n_bodies, 6))
    found = []
    for spare in (0, BLOCK):
        work = aligned(len(tables.constants) + spare, WIDTH * WORK_ROWS)
        results = [np.empty(n), np.empty(n), np.empty(n), np.empty((n, n))]
        assert articulated_lanes_kernel(*given, v, x, external, work, results[0]) == layout.OK
        assert newton_euler_kernel(*given, v, x, external, work, results[1]) == layout.OK
        assert mass_solve_kernel(*given, x, work, results[2]) == layout.OK
        room = np.empty((n, n))
        assert composite_body_kernel(*given, work, room, results[3]) == layout.OK
        found.append(results)
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def accelerations_of_one_link_after_the_other(model, q, v, tau):
    work, a = np.empty((model.nv, layout.WORK_COLUMNS)), np.empty(model.nv)
    given = model.tree, model.links, q, v, tau, np.zeros((model.n_bodies, 6))
    assert articulated_body_kernel(*given, work, a) == layout.OK
    return a


def test_pendulum_in_closed_form():
    rod = so.Inertia(2.0, (0.0, 0.0, -0.7), np.diag([0.1, 0.1, 0.01]))
    model = (
        so.TreeBuilder()
        .add_body("a", joint=so.Joint("revolute", axis="y", armature=0.3), inertia=rod)
        .build()
    )
    angle = 0.4
    expected = -2.0 * 9.81 * 0.7 * np.sin(angle) / (0.1 + 2.0 * 0.7**2 + 0.3)
    assert so.forward_dynamics(model, np.array([angle]), np.array([1.7]), np.array([0.0]))[
        0
    ] == pytest.approx(expected, rel=1e-14)


def test_nut_on_a_screw():
    pitch = 0.05
    moment = 0.2
    mass = 3.0
    joint = so.Joint("screw", axis="z", pitch=pitch)
    model = (
        so.TreeBuilder()
        .add_body("nut", joint=joint, inertia=so.Inertia(mass, tensor=np.eye(3) * moment))
        .build()
    )
    expected = (0.7 - mass * 9.81 * pitch) / (moment + mass * pitch**2)
    assert so.forward_dynamics(model, np.array([0.3]), np.array([2.0]), np.array([0.7]))[
        0
    ] == pytest.approx(expected, rel=1e-14)


def test_falling_bodies_fall():
    model = (
        so.TreeBuilder()
        .add_body("a", joint="free", inertia=so.Inertia.box((1, 2, 3), mass=2.0))
        .build()
    )
    assert np.allclose(
        so.forward_dynamics(model, model.neutral(), np.zeros(6), np.zeros(6)),
        [0, 0, 0, 0, 0, -9.81],
    )


def test_singular_mass_matrices_name_the_joint():
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("prismatic", name="idle"))
    builder.add_body("b", parent="a", joint="prismatic", inertia=so.Inertia.sphere(0.1, mass=1.0))
    with pytest.raises(so.errors.ModelError, match="'idle': nothing to move"):
        so.forward_dynamics(builder.build(), np.zeros(2), np.zeros(2), np.zeros(2))


def test_outputs_may_be_given(model, state):
    out = np.full(model.nv, np.nan)
    expected = so.forward_dynamics(model, *state)
    assert so.forward_dynamics(model, *state, out=out) is out
    assert np.array_equal(out, expected)


def test_far_bases_lose_no_digits(rng):
    q = rng.normal(size=6)
    v = rng.normal(size=6)
    tau = rng.normal(size=6)
    near, far = chain(6), chain(6, base=(1e6, -1e6, 1e6))
    for compute in (so.forward_dynamics, so.inverse_dynamics):
        assert relative_error(compute(far, q, v, tau), compute(near, q, v, tau)) < 1e-14
    assert relative_error(so.mass_matrix(far, q), so.mass_matrix(near, q)) < 1e-14
    nodes = [so.Node("b5", (0.0, 0.0, -0.2)), so.Node("b2")]
    # The nodes' positions in the world, and with them their levers, are known to 1e6 m times 2^-53
    # = 1e-10 m only.
    assert relative_error(so.compliance(far, q, nodes), so.compliance(near, q, nodes)) < 1e-8
    assert relative_error(so.jacobian(far, q, nodes), so.jacobian(near, q, nodes)) < 1e-8


@pytest.mark.compiled
def test_long_chains(rng):
    model = chain(300)
    q = rng.uniform(-0.3, 0.3, 300)
    v = rng.normal(size=300)
    tau = rng.normal(size=300)
    a = so.forward_dynamics(model, q, v, tau)
    # The mass matrix has a condition of 1e10: accelerations agree in what they need, not digit by
    # digit.
    assert (
        np.abs(so.inverse_dynamics(model, q, v, a) - tau).max()
        < 1e-9 * np.abs(so.bias(model, q, v)).max()
    )
    assert relative_error(a, dense(model, q, v, tau)) < 1e-5


def test_other_velocities_with_the_same_factors(model, state, rng):
    q, v, tau = state
    work, forces = np.zeros((model.nv, layout.WORK_COLUMNS)), np.zeros(model.nv)
    external = rng.normal(size=(model.n_bodies, 6))
    first, second = np.zeros(model.nv), np.zeros(model.nv)
    none = np.zeros(model.nv)
    accelerations(model.tree, model.links, q, none, tau, external, work, forces, first)
    velocities_kernel(model.tree, model.links, v, work)
    accelerations_again(model.tree, model.links, tau, external, work, second)
    expected = so.forward_dynamics(model, q, v, tau, external)
    assert relative_error(second, expected) < 1e-10


def test_factors_of_tips_are_those_of_all(model, state):
    q, _, _ = state
    work = np.zeros((model.nv, layout.WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    for first in range(model.nv + 1):
        whole, tips = work.copy(), work.copy()
        tips[:, layout.ART_J : layout.ART_C + 6] = np.nan  # of links before nothing is read
        factor_kernel(model.tree, model.links, whole)
        factor_from(model.tree, model.links, tips, first)
        kept = slice(layout.GAIN_M, layout.D_INVERSE + 1)
        np.testing.assert_array_equal(tips[first:, kept], whole[first:, kept])
        assert not tips[:first, kept].any()
