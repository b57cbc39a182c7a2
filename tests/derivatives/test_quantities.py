"""Derivatives of the mass matrix, Lambda, energy, momentum and centre of mass."""

import numpy as np
import pytest

import spatialops as so
from tests.derivatives.test_smooth_dynamics import columns
from tests.support.trees import central_difference, random_nodes, random_tree, relative_error

SEEDS = range(3)


def drawn(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, each=True)
    return rng, model, model.random(rng), rng.normal(size=model.nv)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_and_compliance_along_a_direction(seed):
    rng, model, q, u = drawn(seed)
    expected = central_difference(lambda x: so.mass_matrix(model, x), model, q, u, 1e-3)
    assert relative_error(so.mass_matrix_derivative(model, q, u), expected) < 1e-9
    nodes = random_nodes(rng, model, 3)
    u = u / np.abs(u).max()
    expected = central_difference(lambda x: so.compliance(model, x, nodes), model, q, u, 5e-4)
    assert relative_error(so.compliance_derivative(model, q, u, nodes), expected) < 1e-9
    wrenches = rng.normal(size=(3, 6))
    by = so.contracted_compliance_derivative(model, q, wrenches, nodes)
    for j, unit in enumerate(np.eye(model.nv)):
        along = so.compliance_derivative(model, q, unit, nodes) @ wrenches.ravel()
        assert np.allclose(by[:, j], along, rtol=0.0, atol=1e-13 * np.abs(by).max())
    assert relative_error((by @ u)[None], (expected @ wrenches.ravel())[None]) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_energy(seed):
    _, model, q, v = drawn(seed)
    by = so.energy_derivatives(model, q, v)

    def moved(dq, dv):
        return [sum(so.energy(model, so.integrate(model, q, dq), v + dv)[:2])]

    zero = np.zeros(model.nv)
    assert relative_error(by.dq[None], columns(lambda d: moved(d, zero), model.nv)) < 1e-9
    assert relative_error(by.dv[None], columns(lambda d: moved(zero, d), model.nv)) < 1e-9


def test_energy_of_springs():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    spring = so.Joint("revolute", axis=(0.0, 1.0, 0.0), stiffness=7.0, reference=0.4)
    builder.add_body("arm", joint=spring, inertia=inertia)  # turns about its centre
    model = builder.build()
    by = so.energy_derivatives(model, [0.3], [0.2])
    assert by.dq == pytest.approx([7.0 * (0.3 - 0.4)], rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_and_center_of_mass(seed):
    _, model, q, v = drawn(seed)

    def momentum(d):
        return so.centroidal_momentum_matrix(model, so.integrate(model, q, d)) @ v

    def center(d):
        return so.center_of_mass(model, so.integrate(model, q, d))

    by = so.centroidal_momentum_derivatives(model, q, v)
    assert relative_error(by.dq, columns(momentum, model.nv)) < 1e-9
    assert relative_error(by.dv, so.centroidal_momentum_matrix(model, q)) < 1e-13
    found = so.center_of_mass_derivative(model, q)
    assert relative_error(found, columns(center, model.nv)) < 1e-9
