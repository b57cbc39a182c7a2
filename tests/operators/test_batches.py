"""Operators of many configurations at once: block by block those of each."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ModelError
from spatialops.operators import SpatialOperators, dense
from tests.support.trees import random_nodes, random_tree, relative_error

COUNT = 4
_SQUARE = ["phi", "psi", "E_phi", "E_psi", "phi_tilde", "psi_tilde", "P", "M"]
_SQUARE += ["tau", "tau_bar", "upsilon", "Omega"]


@pytest.fixture
def configurations(model, rng):
    q = np.stack([model.random(rng) for _ in range(COUNT)])
    return q, rng.normal(size=(COUNT, model.nv))


def test_every_operator_is_block_diagonal_over_the_configurations(model, configurations, rng):
    q, v = configurations
    nodes = [*random_nodes(rng, model, 2), so.Node("world", (0.1, 0.2, 0.3))]
    many = SpatialOperators(model, q, v)
    single = [SpatialOperators(model, *at) for at in zip(q, v, strict=True)]
    names = [*_SQUARE, "H", "G", "K", "D", "D_inverse", "armature", "identity", "innovation"]
    names += ["mass_matrix", "mass_matrix_inverse", "square_root"]
    pairs = [(getattr(many, name), [getattr(op, name) for op in single]) for name in names]
    for name in ("B", "jacobian", "compliance"):
        pairs.append((getattr(many, name)(nodes), [getattr(op, name)(nodes) for op in single]))
    for name in ("phi", "psi", "innovation", "mass_matrix"):
        pairs.append((getattr(many, name).inv, [getattr(op, name).inv for op in single]))
    for stacked, parts in pairs:
        x = rng.normal(size=(COUNT, parts[0].shape[1]))
        expected = np.stack([part @ row for part, row in zip(parts, x, strict=True)])
        assert stacked.shape == (COUNT * parts[0].shape[0], x.size)
        assert np.array_equal(stacked @ x.ravel(), expected.ravel())
    for name in ("a", "b"):
        assert np.array_equal(getattr(many, name), [getattr(op, name) for op in single])


def test_blocks_of_all_configurations(model, configurations, rng):
    many = SpatialOperators(model, configurations[0])
    single = [SpatialOperators(model, q) for q in configurations[0]]
    for i, j in rng.integers(model.nv, size=(30, 2)).tolist():
        for block in ("omega", "phi_block", "psi_block"):
            found = getattr(many, block)(i, j)
            expected = np.stack([getattr(op, block)(i, j) for op in single])
            assert relative_error(found, expected) < 1e-14


def test_accelerations_of_many_states_in_one_line(model, configurations, rng):
    """[J] 59 and the bias forces, against the kernel state by state."""
    q, v = configurations
    op = SpatialOperators(model, q, v)
    tau = rng.normal(size=v.shape)
    base = np.concatenate([np.zeros(3), -model.gravity])
    fall = np.zeros((COUNT, model.nv, 6))
    fall[:, model.tree[:, 0] < 0] = base
    moved = op.phi.H @ (op.a + fall).ravel()
    bias = op.H @ op.phi @ (op.M @ moved + op.b.ravel())
    found = (op.mass_matrix_inverse @ (tau.ravel() - bias)).reshape(v.shape)
    for at in range(COUNT):
        expected = so.forward_dynamics(model, q[at], v[at], tau[at])
        assert relative_error(found[at], expected) < 1e-9


def test_what_a_batch_refuses(rng):
    model = random_tree(rng, 3, kinds=("revolute",))
    with pytest.raises(ArgumentError, match="at least one configuration"):
        SpatialOperators(model, np.zeros((0, 3)))
    with pytest.raises(ArgumentError, match="q"):
        SpatialOperators(model, np.zeros((2, 4)))
    with pytest.raises(ArgumentError, match="v"):
        SpatialOperators(model, np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(ArgumentError, match="q"):
        SpatialOperators(model, [[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]])
    assert "2 configurations" in repr(SpatialOperators(model, np.zeros((2, 3))))
    builder = so.TreeBuilder()
    for name, parent in (("one", "world"), ("other", "one")):
        axis = "z" if name == "one" else "y"
        point = so.Inertia(1.0, (0.0, 0.0, 0.5), np.zeros((3, 3)))
        builder.add_body(name, parent=parent, joint=so.Joint("revolute", axis=axis), inertia=point)
    with pytest.raises(ModelError, match="'one'"):  # upright, the rods' mass is on the first axis
        _ = SpatialOperators(builder.build(), [[0.0, 1.0], [0.0, 0.0]]).psi


def test_a_single_row_is_a_batch_of_one(rng):
    model = random_tree(rng, 4)
    q = model.random(rng)
    one, row = SpatialOperators(model, q), SpatialOperators(model, q[None])
    assert one.batch == ()
    assert row.batch == (1,)
    assert np.array_equal(dense(one.Omega), dense(row.Omega))
    assert row.omega(0, 0).shape == (1, 6, 6)
