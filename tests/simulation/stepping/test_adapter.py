"""What the loop's tables are made into for others."""

import numpy as np

import spatialops as so
from spatialops import _layout as layout
from spatialops.simulation.stepping.adapter import with_links
from tests.support.trees import random_nodes, random_tree


def test_another_armature_is_in_all_that_is_made_of_a_model(rng):
    model = random_tree(rng, 6, branching=0.5)
    q, v = model.random(rng), rng.normal(size=model.nv)
    a = rng.normal(size=model.nv)
    links, more = model.links.copy(), rng.uniform(0.1, 1.0, model.nv)
    links[:, layout.ARMATURE] += more
    made, nodes = with_links(model, links), random_nodes(rng, model, 2)
    M, J = so.mass_matrix(model, q) + np.diag(more), so.jacobian(model, q, nodes)
    tau = so.inverse_dynamics(model, q, v, a) + more * a
    expected = J @ np.linalg.solve(M, J.T)
    assert np.allclose(so.mass_matrix(made, q), M, rtol=0.0, atol=1e-12)
    assert np.allclose(so.inverse_dynamics(made, q, v, a), tau, rtol=1e-10)
    assert np.allclose(so.forward_dynamics(made, q, v, tau), a, rtol=1e-7)
    assert np.allclose(
        so.compliance(made, q, nodes), expected, rtol=0.0, atol=1e-9 * np.abs(expected).max()
    )
    assert np.array_equal(model.links[:, layout.ARMATURE] + more, made.links[:, layout.ARMATURE])
