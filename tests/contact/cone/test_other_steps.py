"""Newton's methods with projections of r - rho u: alone they solve what is easy, for any rho."""

import numpy as np
import pytest

from spatialops.contact.cone.fallback_methods import _other_newton, _other_step
from spatialops.contact.cone.scaled_problem import ScaledProblem
from tests.support.heaps import box_on_plane, natural_residual

METHODS = {
    "newton": lambda system, start, rho: _other_newton(system, "test", start, rho),
    "step": _other_step,
}


@pytest.mark.parametrize("rho", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_a_box_on_a_plane(method, speed, rho):
    problem = box_on_plane(9, velocity=(speed, 0.0, -0.0981), mu=0.5)
    system = ScaledProblem.of(problem)
    name, r, taken = METHODS[method](system, np.zeros(system.b.size), rho)
    assert natural_residual(problem, system.outward(r)) < 1e-11
    assert 0 < taken < 100
    assert f"step {rho:g}" in name
