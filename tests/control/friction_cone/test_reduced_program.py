"""Programs without their equalities are the same programs."""

import numpy as np
import pytest

from spatialops.control.friction_cone.reduced_program import ReducedProgram
from tests.control.cases import force_program


@pytest.fixture
def program():
    rng = np.random.default_rng(2)
    return force_program(
        np.diag(rng.uniform(0.5, 3.0, 5)),
        g=rng.normal(size=5),
        E=rng.normal(size=(2, 5)),
        e=rng.normal(size=2),
        D=rng.normal(size=(3, 5)),
        d=np.ones(3),
        K=rng.normal(size=(3, 5)),
        k=np.array([9.0, 0.1, 0.2]),
        mu=[0.5],
        scales=np.array([1.0, 2.0, 5.0, 10.0]),
    )


def test_all_points_meet_the_equalities_and_cost_the_same(program):
    reduced = ReducedProgram(program)
    assert reduced.fits
    assert reduced.size == 3
    rng = np.random.default_rng(3)
    costs = []
    for _ in range(4):
        w = rng.normal(size=3)
        x = reduced.lift(w)
        assert program.E @ x == pytest.approx(program.e)
        assert reduced.drop(x) == pytest.approx(w)
        costs.append(program.cost(x) - 0.5 * w @ reduced.H @ w - reduced.g @ w)
        scaled = program.margins(x) / program.scales
        assert reduced.slack(w) == pytest.approx(scaled.min())
    assert np.ptp(costs) < 1e-10
    assert reduced.theta == 3 + 2


def test_redundant_equalities_count_once_and_contradictions_do_not_fit(program):
    for twice, fits in ((2.0, True), (2.5, False)):
        E = np.vstack([program.E[:1], 2.0 * program.E[:1]])
        e = np.array([program.e[0], twice * program.e[0]])
        reduced = ReducedProgram(force_program(np.eye(5), E=E, e=e))
        assert reduced.size == 4
        assert reduced.fits == fits


def test_feasibility_gives_every_inequality_its_scale(program):
    reduced = ReducedProgram(program)
    wider = reduced.feasibility()
    w, s = np.array([0.2, -0.4, 0.1]), 0.7
    y = np.append(w, s)
    assert wider.D @ y + wider.d == pytest.approx(reduced.D @ w + reduced.d + s)
    f, plain = wider.K @ y + wider.k, reduced.K @ w + reduced.k
    assert 0.5 * (f - plain)[0] == pytest.approx(s)  # mu n gains s
    assert (f - plain)[1:] == pytest.approx([0.0, 0.0])
