"""Derivatives of the operators along a direction: differences, kernels, identities."""

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.errors import ArgumentError
from spatialops.operators import SpatialOperators, dense
from tests.support.trees import KINDS, random_nodes, random_tree, relative_error

TOLERANCE = 1e-9
STEP = 1e-3  # of a difference of fourth order: its error is near 1e-12 of the largest entry

NAMES = ["E_phi", "E_psi", "phi", "psi", "H", "D", "D_inverse", "M", "P", "G", "tau", "K"]
NAMES += ["mass_matrix", "mass_matrix_inverse", "innovation", "square_root", "Omega"]
OF_NODES = ["B", "jacobian", "compliance"]


@pytest.fixture
def direction(model, rng):
    return rng.normal(size=model.nv)


@pytest.fixture
def at(model, state, direction):
    """The operators, and their sensitivities."""
    op = SpatialOperators(model, state[0])
    return op, op.sensitivities(direction)


def differences(model, q, u, of):
    """Central difference of fourth order of what `of` makes of the operators."""
    points = [SpatialOperators(model, so.integrate(model, q, c * STEP * u)) for c in (-2, -1, 1, 2)]
    f = [dense(of(op)) for op in points]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * STEP)


def close(left, right, tolerance=1e-12, like=None):
    """Whether they agree, relative to the largest entry; of `like` where theirs is smaller."""
    left, right = (x if isinstance(x, np.ndarray) else dense(x) for x in (left, right))
    scale = max(np.abs(right).max(), 0.0 if like is None else np.abs(dense(like)).max())
    return np.abs(left - right).max() <= tolerance * scale


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_by_differences(at, model, state, direction, name):
    expected = differences(model, state[0], direction, lambda op: getattr(op, name))
    found = getattr(at[1], name)
    if model.nv == 1:  # what is but rounding: a hinge alone feels the same everywhere
        assert close(found, expected, TOLERANCE, getattr(at[0], name))
        return
    assert relative_error(dense(found), expected) < TOLERANCE
    assert relative_error(dense(found.H), expected.T) < TOLERANCE


@pytest.mark.parametrize("name", OF_NODES)
def test_operators_of_nodes_by_differences(at, model, state, direction, rng, name):
    nodes = [*random_nodes(rng, model, 3), so.Node("world", (0.1, 0.2, 0.3))]
    expected = differences(model, state[0], direction, lambda op: getattr(op, name)(nodes))
    found = getattr(at[1], name)(nodes)
    assert relative_error(dense(found), expected) < TOLERANCE
    assert relative_error(dense(found.H), expected.T) < TOLERANCE


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_every_joint_alone_and_carrying(kind):
    rng = np.random.default_rng(7)
    model = random_tree(rng, 3, (kind, "ball", "screw"), each=True, branching=0.0)
    q, u = model.random(rng), rng.normal(size=model.nv)
    d = SpatialOperators(model, q).sensitivities(u)
    for name in ("H", "psi", "D", "K", "mass_matrix", "mass_matrix_inverse"):
        expected = differences(model, q, u, lambda op, name=name: getattr(op, name))
        assert relative_error(dense(getattr(d, name)), expected) < TOLERANCE


def test_the_kernels_have_the_same(at, model, state, direction, rng):
    q, (op, d) = state[0], at
    nodes = random_nodes(rng, model, 3)
    by_kernel = so.mass_matrix_derivative(model, q, direction)
    assert close(d.mass_matrix, by_kernel, like=op.mass_matrix)
    by_kernel = so.compliance_derivative(model, q, direction, nodes)
    assert close(d.compliance(nodes), by_kernel, 1e-10)
    drift = so.jacobian_drift(model, q, direction, nodes)
    assert relative_error(d.jacobian(nodes) @ direction, drift) < 1e-12


def test_propagations_and_their_steps(at):
    op, d = at
    assert close(d.phi @ op.phi.inv, op.phi @ d.E_phi)
    assert close(d.psi @ op.psi.inv, op.psi @ d.E_psi)
    assert close(d.E_psi, d.E_phi @ op.tau_bar - op.E_phi @ d.tau)
    assert close(d.K, d.E_phi @ op.G + op.E_phi @ d.G)


def test_phi_changes_by_a_commutator(at, model, state, direction):
    """With the velocities of the links' origins, which are those of their bodies' nodes."""
    op, d = at
    motion = (op.phi.H @ (op.H.H @ direction)).reshape(-1, 6)
    links = np.arange(model.nv)
    for k in np.flatnonzero(
        model.tree[:, layout.GROUP] > 1
    ):  # a ball or free joint moves as its last link
        links[k : k + model.tree[k, layout.GROUP]] = k + model.tree[k, layout.GROUP] - 1
    N = np.zeros((model.nv, 6, model.nv, 6))
    for k, velocity in enumerate(motion[links, 3:]):
        N[k, :3, k, 3:] = np.cross(velocity, np.eye(3)).T
    N = N.reshape(6 * model.nv, -1)
    expected = dense(op.phi) @ N - N @ dense(op.phi)
    assert np.abs(dense(d.phi) - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def test_factors_of_the_mass_matrix(at):
    op, d = at
    factor = op.innovation.inv
    of_factor = d.H @ op.phi @ op.K + op.H @ d.phi @ op.K + op.H @ op.phi @ d.K
    turned = op.innovation @ of_factor @ op.innovation
    assert close(turned, -dense(d.innovation), 1e-11, op.innovation)
    half = of_factor @ op.D @ factor.H
    assert close(half + half.H + factor @ d.D @ factor.H, d.mass_matrix, like=op.mass_matrix)
    half = d.square_root @ op.square_root.H
    assert close(half + half.H, d.mass_matrix, like=op.mass_matrix)
    half = d.innovation.H @ op.D_inverse @ op.innovation
    inverse = half + half.H + op.innovation.H @ d.D_inverse @ op.innovation
    assert close(inverse, d.mass_matrix_inverse, 1e-10, op.mass_matrix_inverse)


def test_joints_answer_all_but_their_armature_along_any_direction(at):
    """Of H G = 1 - armature D^-1, and of G D = P H*."""
    op, d = at
    lost = dense(d.H @ op.G + op.H @ d.G + op.armature @ d.D_inverse)
    assert np.abs(lost).max() <= 1e-12 * max(1.0, np.abs(dense(d.G)).max())
    assert close(d.G @ op.D + op.G @ d.D, d.P @ op.H.H + op.P @ d.H.H)


def test_sensitivities_are_linear_in_the_direction(at, model, direction, rng):
    op, d = at
    other = rng.normal(size=model.nv)
    both = op.sensitivities(2.0 * direction - other)
    apart = op.sensitivities(other)
    for name in ("psi", "K", "Omega"):
        expected = 2.0 * dense(getattr(d, name)) - dense(getattr(apart, name))
        assert close(getattr(both, name), expected, 1e-11, getattr(op, name))


def test_a_batch_has_those_of_each(model, rng):
    q = np.stack([model.random(rng) for _ in range(3)])
    u = rng.normal(size=(3, model.nv))
    nodes = [*random_nodes(rng, model, 2), so.Node("world")]
    many = SpatialOperators(model, q).sensitivities(u)
    single = [SpatialOperators(model, *x).sensitivities(y) for x, y in zip(q[:, None], u)]
    pairs = [(getattr(many, name), [getattr(d, name) for d in single]) for name in NAMES]
    pairs += [
        (getattr(many, of)(nodes), [getattr(d, of)(nodes) for d in single]) for of in OF_NODES
    ]
    for stacked, parts in pairs:
        x = rng.normal(size=(3, parts[0].shape[1]))
        expected = np.stack([part @ row for part, row in zip(parts, x)])
        assert np.array_equal(stacked @ x.ravel(), expected.ravel())


def test_what_is_refused(at, model):
    op, d = at
    with pytest.raises(ArgumentError, match="direction"):
        op.sensitivities(np.zeros(model.nv + 1))
    with pytest.raises(ArgumentError, match="direction"):
        op.sensitivities(np.full(model.nv, np.nan))
    with pytest.raises(ArgumentError, match="no formula for the inverse"):
        _ = d.phi.inv
    assert repr(d).startswith("Sensitivities of SpatialOperators of")
