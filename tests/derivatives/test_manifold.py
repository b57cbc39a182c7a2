"""Derivatives of moves along the manifold against differences."""

import numpy as np
import pytest

import spatialops as so
from spatialops.tree.state import transport
from tests.derivatives.test_smooth_dynamics import columns
from tests.support.trees import random_tree, relative_error


@pytest.mark.parametrize("step", [0.3, 5e-3])
def test_all_three_against_differences(step):
    rng = np.random.default_rng(1)
    model = random_tree(rng, 9, each=True)
    q, v = model.random(rng), rng.normal(size=model.nv)
    found = so.integrate_derivatives(model, q, v, step)
    end = so.integrate(model, q, step * v)

    def arrived(start, velocity):
        return so.difference(model, end, so.integrate(model, start, step * velocity))

    def carried(velocity):
        result = velocity.copy()
        transport(model.tree, q, so.integrate(model, q, step * velocity), result)
        return result

    by_q = columns(lambda d: arrived(so.integrate(model, q, d), v), model.nv)
    assert relative_error(found.dq, by_q) < 1e-9
    assert relative_error(found.dv, columns(lambda d: arrived(q, v + d), model.nv)) < 1e-9
    assert relative_error(found.carried, columns(lambda d: carried(v + d), model.nv)) < 1e-9
