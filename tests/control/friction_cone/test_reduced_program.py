"""Programs without their equalities are the same programs."""

import numpy as np
import pytest

from spatialops.control.friction_cone.barrier_function import Program
from spatialops.control.friction_cone.optimality import Rows
from spatialops.control.friction_cone.reduced_program import (
    eliminate,
    lift,
    program_of,
    reduce,
    reduced_of,
    slack_of,
    widen,
)
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


def eliminated(program):
    rows = Rows(*program.arrays)
    own, _ = reduced_of(rows, np.zeros(1000), np.zeros(100, dtype=np.int64))
    rank, fits = eliminate(rows, own, np.empty(len(program.e)))
    return rows, own._replace(rank=rank), fits


def reduced(program):
    rows, own, fits = eliminated(program)
    f = program.size - own.rank
    p, _ = program_of(f, len(program.d), len(program.mu), program.mu, np.zeros(1000))
    reduce(rows, own, p, np.empty((program.size, f)))
    return own, p, fits


def test_all_points_meet_the_equalities_and_cost_the_same(program):
    own, p, fits = reduced(program)
    assert fits
    assert len(p.g) == 3
    rng = np.random.default_rng(3)
    costs = []
    for _ in range(4):
        w, x = rng.normal(size=3), np.empty(5)
        lift(own, w, x)
        assert program.E @ x == pytest.approx(program.e)
        costs.append(program.cost(x) - 0.5 * w @ p.H @ w - p.g @ w)
        scaled = program.margins(x) / program.scales
        assert slack_of(p, w) == pytest.approx(scaled.min())
    assert np.ptp(costs) < 1e-10


def test_redundant_equalities_count_once_and_contradictions_do_not_fit(program):
    for twice, fits in ((2.0, True), (2.5, False)):
        E = np.vstack([program.E[:1], 2.0 * program.E[:1]])
        e = np.array([program.e[0], twice * program.e[0]])
        _, own, found = eliminated(force_program(np.eye(5), E=E, e=e))
        assert own.rank == 1
        assert found == fits


def test_feasibility_gives_every_inequality_its_scale(program):
    _, p, _ = reduced(program)
    sizes = ((4, 4), 4, (3, 4), 3, (3, 4), 3)
    wider = Program(*(np.zeros(size) for size in sizes), program.mu)
    widen(p, wider)
    w, s = np.array([0.2, -0.4, 0.1]), 0.7
    y = np.append(w, s)
    assert wider.D @ y + wider.d == pytest.approx(p.D @ w + p.d + s)
    f, plain = wider.K @ y + wider.k, p.K @ w + p.k
    assert 0.5 * (f - plain)[0] == pytest.approx(s)  # mu n gains s
    assert (f - plain)[1:] == pytest.approx([0.0, 0.0])
