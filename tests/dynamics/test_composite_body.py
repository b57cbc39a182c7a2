"""Mass matrix: symmetric, positive, the form of kinetic energy, and from inertias and J."""

import numpy as np
import pytest

import spatialops as so
from spatialops._layout import COM, INERTIA, MASS
from tests.support.trees import chain, relative_error


def body_inertias(model, q):
    """Spatial inertias of the bodies in world axes about their origins, from the tables."""
    turns = so.body_poses(model, q).rotations
    for link, turn in zip(model.body_links, turns):
        row, back = model.links[link], turn @ model.turns[link]
        about = np.empty((3, 3))
        about[np.triu_indices(3)] = row[INERTIA : INERTIA + 6]
        about.T[np.triu_indices(3)] = row[INERTIA : INERTIA + 6]
        x, y, z = back @ row[COM : COM + 3] * row[MASS]
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        yield np.block([[back @ about @ back.T, skew], [skew.T, row[MASS] * np.eye(3)]])


def test_symmetric_and_positive(model, state):
    mass = so.mass_matrix(model, state[0])
    assert np.array_equal(mass, mass.T)
    assert np.linalg.eigvalsh(mass).min() > 0.0


def test_sum_over_bodies(model, state):
    q = state[0]
    expected = np.diag(model.links[:, 23]).copy()  # armature
    for b, inertia in enumerate(body_inertias(model, q)):
        J = so.jacobian(model, q, [so.Node(b)])
        expected += J.T @ inertia @ J
    assert relative_error(so.mass_matrix(model, q), expected) < 1e-12


def test_kinetic_energy(model, state):
    q, v, _ = state
    assert 0.5 * v @ so.mass_matrix(model, q) @ v == pytest.approx(
        so.energy(model, q, v).kinetic, rel=1e-12
    )


def test_branches_do_not_couple(rng):
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0).shifted((0.1, 0.2, 0.3))
    for name in "ab":
        builder.add_body(name, joint="ball", inertia=ball)
    model = builder.build()
    assert not so.mass_matrix(model, model.random(rng))[:3, 3:].any()


def test_output_may_be_given(model, state):
    out = np.full((model.nv, model.nv), np.nan)
    assert so.mass_matrix(model, state[0], out=out) is out
    assert np.array_equal(out, so.mass_matrix(model, state[0]))


@pytest.mark.compiled
def test_long_chain_columns(rng):
    model = chain(300)
    q, rest = rng.uniform(-0.3, 0.3, 300), np.zeros(300)
    mass, gravity = so.mass_matrix(model, q), so.bias(model, q, rest)
    for k in (0, 7, 150, 299):
        column = so.inverse_dynamics(model, q, rest, np.eye(300)[k]) - gravity
        assert np.abs(column - mass[:, k]).max() < 1e-13 * np.abs(gravity).max()
