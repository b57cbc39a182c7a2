"""Operators with one block a joint, beside those with one link a degree of freedom."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.operators import SpatialOperators, dense
from tests.operators.identities import CONDITIONED, Side, apart, factorisations, propagations, tree

TOLERANCE = 1e-13
# What `factorisations` takes of operators, and joints have otherwise.
OF_LINKS = ("M = square root by its adjoint",)


class Operators:
    """Joint operators with the name of what only those of links have."""

    def __init__(self, op):
        self.joints = op.joints
        self.square_root = op.square_root

    def __getattr__(self, name):
        return getattr(self.joints, name)


def test_the_identities_hold_with_blocks(rng):
    for _ in range(4):
        model = tree(rng)
        q = model.random(rng)
        joints = Operators(SpatialOperators(model, q))
        sides = factorisations(joints, Side(so.mass_matrix(model, q))) | propagations(joints)
        figures = {name: apart(*both) for name, both in sides.items() if name not in OF_LINKS}
        assert max(by_size for by_size, _ in figures.values()) < TOLERANCE, figures
        by_entry = {n: entry for n, (_, entry) in figures.items() if n not in CONDITIONED}
        assert max(by_entry.values()) < TOLERANCE, by_entry


def test_articulated_inertias_obey_the_equation_of_riccati(rng):
    model = tree(rng)
    joints = SpatialOperators(model, model.random(rng)).joints
    blocks = np.kron(np.eye(len(joints.names)), np.ones((6, 6)))
    P, M, E_psi, E_phi = (dense(getattr(joints, name)) for name in ("P", "M", "E_psi", "E_phi"))
    assert np.allclose(
        P, M + blocks * (E_psi @ P @ E_phi.T), rtol=0.0, atol=1e-13 * np.abs(P).max()
    )
    D = dense(joints.H) @ P @ dense(joints.H).T + dense(joints.armature)
    assert np.allclose(dense(joints.D), D, rtol=0.0, atol=1e-13 * np.abs(D).max())


def test_a_joint_of_several_degrees_of_freedom_is_one_block(rng):
    model = tree(rng)
    q = model.random(rng)
    op = SpatialOperators(model, q)
    joints = op.joints
    assert set(joints.names) == {n for n in model.joint_names if model.v_slice(n) != slice(0, 0)}
    sizes = [len(range(30)[model.v_slice(name)]) for name in joints.names]
    assert sum(sizes) == model.nv
    assert max(sizes) == 6
    assert min(sizes) == 1
    psi = dense(joints.psi).reshape(len(sizes), 6, len(sizes), 6)
    ends = np.cumsum(sizes) - 1
    for i, a in enumerate(ends):
        assert joints.H_block(i).shape == (sizes[i], 6)
        assert joints.D_block(i).shape == (sizes[i], sizes[i])
        assert joints.G_block(i).shape == (6, sizes[i])
        for j, b in enumerate(ends):
            expected = op.psi_block(int(a), int(b))  # the product along the links between
            assert np.allclose(
                psi[i, :, j], expected, rtol=0.0, atol=1e-12 * max(1, abs(expected).max())
            )


def test_batches_are_what_each_gives_alone(rng):
    model = tree(rng)
    q = np.stack([model.random(rng) for _ in range(3)])
    many = SpatialOperators(model, q).joints
    x = rng.normal(size=(3, model.nv))
    answers = (many.mass_matrix_inverse @ x.ravel()).reshape(3, -1)
    for i in range(3):
        one = SpatialOperators(model, q[i]).joints
        assert np.allclose(answers[i], one.mass_matrix_inverse @ x[i], rtol=1e-13)
        assert np.array_equal(many.D_block(2)[i], one.D_block(2))


def test_refusals(rng):
    joints = SpatialOperators(tree(rng), tree(rng).random(rng)).joints
    for wrong in (-1, len(joints.names), "b0"):
        with pytest.raises(ArgumentError, match="joint"):
            joints.D_block(wrong)
