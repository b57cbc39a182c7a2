"""Derivatives of inverse and forward dynamics: identities, differences, Pinocchio, real robots."""

import numpy as np
import pytest

import spatialops as so
from spatialops.derivatives.mass_solve import FACTORED
from spatialops.errors import ArgumentError
from tests.dynamics.test_references import URDFS, PinocchioRobot, urdf_path
from tests.support.trees import KINDS, chain, random_tree, relative_error

TOLERANCE = 1e-9
STEP = 1e-3  # of a difference of fourth order: its error is near 1e-12 of the largest entry

MORE_URDFS = [
    ("a1_description/urdf/a1.urdf", True),
    ("alex_description/urdf/alex_nub_hands.urdf", True),
    ("anymal_b_simple_description/robots/anymal-kinova.urdf", True),
    ("anymal_c_simple_description/urdf/anymal.urdf", True),
    ("b1_description/urdf/b1-z1.urdf", True),
    ("bolt_description/robots/bolt.urdf", True),
    ("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
    ("centauro_description/urdf/centauro.urdf", True),
    ("finger_edu_description/robots/finger_edu.urdf", False),
    ("go1_description/urdf/go1.urdf", True),
    ("hextilt_description/urdf/hextilt_flying_arm_5.urdf", True),
    ("human_description/robots/human.urdf", True),
    ("laikago_description/urdf/laikago.urdf", True),
    ("pr2_description/urdf/pr2.urdf", True),
    ("tiago_description/robots/tiago.urdf", True),
    ("simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    ("so_arm_description/urdf/so100.urdf", False),
    ("talos_data/robots/talos_full_v2.urdf", True),
    ("tiago_pro_description/robots/tiago_pro.urdf", True),
    ("ur_description/urdf/ur10_robot.urdf", False),
    ("z1_description/urdf/z1.urdf", False),
]


def columns(function, nv):
    """Central differences of fourth order of a function of a velocity, one column each."""
    return np.stack([central(function, e) for e in np.eye(nv)], axis=1)


def central(function, e):
    f = [np.asarray(function(c * STEP * e)) for c in (-2.0, -1.0, 1.0, 2.0)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * STEP)


def check_by_differences(function, derivatives, model, q, v, third, external=None):
    """All three matrices against differences of `function(model, q, v, third, external)`."""
    expected = (
        columns(lambda d: function(model, so.integrate(model, q, d), v, third, external), model.nv),
        columns(lambda d: function(model, q, v + d, third, external), model.nv),
        columns(lambda d: function(model, q, v, third + d, external), model.nv),
    )
    for found, numeric in zip(derivatives(model, q, v, third, external), expected):
        assert relative_error(found, numeric) < TOLERANCE


def state_of(rng, model):
    return model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


@pytest.mark.parametrize("seed", range(4))
def test_inverse_dynamics_of_random_trees(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7, each=True)
    external = rng.normal(size=(model.n_bodies, 6)) if seed % 2 else None
    check_by_differences(
        so.inverse_dynamics,
        so.inverse_dynamics_derivatives,
        model,
        *state_of(rng, model),
        external,
    )


@pytest.mark.parametrize("seed", range(4))
def test_forward_dynamics_of_random_trees(seed):
    rng = np.random.default_rng(10 + seed)
    model = random_tree(rng, 7, each=True)
    external = rng.normal(size=(model.n_bodies, 6)) if seed % 2 else None
    check_by_differences(
        so.forward_dynamics,
        so.forward_dynamics_derivatives,
        model,
        *state_of(rng, model),
        external,
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_every_joint_alone_and_carrying(kind):
    rng = np.random.default_rng(3)
    model = random_tree(rng, 3, (kind, "ball", "revolute"), each=True, branching=0.0)
    state = state_of(rng, model)
    check_by_differences(so.inverse_dynamics, so.inverse_dynamics_derivatives, model, *state)


def test_da_is_the_mass_matrix_and_dtau_its_inverse():
    rng = np.random.default_rng(5)
    model = random_tree(rng, 9)
    q, v, a = state_of(rng, model)
    M = so.mass_matrix(model, q)
    assert relative_error(so.inverse_dynamics_derivatives(model, q, v, a).da, M) < 1e-14
    inverse = so.forward_dynamics_derivatives(model, q, v, a).dtau
    assert np.allclose(inverse @ M, np.eye(model.nv), atol=1e-11)


@pytest.mark.compiled
def test_long_chains_take_the_sweeps_and_agree():
    """Above so many links no mass matrix is factored."""
    model = chain(FACTORED + 9)
    rng = np.random.default_rng(8)
    q = rng.uniform(-0.2, 0.2, model.nv)
    v = rng.normal(size=model.nv) / model.nv
    tau = rng.normal(size=model.nv) / model.nv
    by_tau = so.forward_dynamics_derivatives(model, q, v, tau)
    a = so.forward_dynamics(model, q, v, tau)
    by_a = so.inverse_dynamics_derivatives(model, q, v, a)
    assert relative_error(by_a.da @ by_tau.dq, -by_a.dq) < 1e-9
    assert relative_error(by_a.da @ by_tau.dv, -by_a.dv) < 1e-9


def test_memory_is_written_over_and_given_back():
    model = chain(3)
    zero = np.zeros(3)
    first = so.inverse_dynamics_derivatives(model, zero, zero, zero)
    again = so.inverse_dynamics_derivatives(model, [0.3, 0.1, 0.2], zero, zero, out=first)
    assert again is first
    fresh = so.inverse_dynamics_derivatives(model, [0.3, 0.1, 0.2], zero, zero)
    assert all((a == b).all() for a, b in zip(again, fresh))


@pytest.mark.parametrize(
    "function", [so.inverse_dynamics_derivatives, so.forward_dynamics_derivatives]
)
def test_bad_input_is_refused_in_words(function):
    model = chain(2)
    zero = np.zeros(2)
    with pytest.raises(ArgumentError, match="v"):
        function(model, zero, np.zeros(3), zero)
    with pytest.raises(ArgumentError, match="v"):
        function(model, zero, [np.nan, 0.0], zero)
    with pytest.raises(ArgumentError, match="external"):
        function(model, zero, zero, zero, external=np.full((2, 6), np.nan))
    with pytest.raises(ArgumentError, match="out"):
        function(model, zero, zero, zero, out=(np.empty((3, 3)),) * 3)


def check_robot(name, free):
    robot = PinocchioRobot(urdf_path(name), free)
    rng = np.random.default_rng(2)
    q, v, a = robot.state(rng)
    twin = robot.twin
    model = robot.twin.model
    pin = robot.pin
    mine = twin.coordinates(q), twin.rates(q) @ v, twin.rates(q) @ a
    check_by_differences(so.inverse_dynamics, so.inverse_dynamics_derivatives, model, *mine)
    if all(
        joint.nq == joint.nv or joint.shortname() == "JointModelFreeFlyer"
        for joint in robot.m.joints
    ):
        T = twin.rates(q)
        pin.computeRNEADerivatives(robot.m, robot.d, q, v, a)
        found = so.inverse_dynamics_derivatives(model, *mine)
        assert relative_error(T.T @ found.dq @ T, robot.d.dtau_dq) < 1e-10
        assert relative_error(T.T @ found.dv @ T, robot.d.dtau_dv) < 1e-10


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "free"), [URDFS[3], URDFS[5]])
def test_robots_as_differences_and_pinocchio_say(name, free):
    check_robot(name, free)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("name", "free"), URDFS + MORE_URDFS)
def test_more_robots_as_differences_and_pinocchio_say(name, free):
    check_robot(name, free)
