"""The barrier method and a general cone solver agree."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Barrier,
    Conic,
)
from tests.control.cases import controller_of, force_program


def random_program(rng):
    p = int(rng.integers(6, 16))
    r = int(rng.integers(0, 6))
    c = int(rng.integers(1, 6))
    E = rng.normal(size=(r, p))
    K = rng.normal(size=(3 * c, p))
    k = rng.normal(size=3 * c) * 20.0
    k[::3] += rng.uniform(0.0, 120.0)
    limits = rng.uniform(20.0, 60.0, p)
    return force_program(
        np.diag(2.0 * rng.uniform(0.05, 2.0, p)),
        E=E,
        e=E @ rng.normal(size=p) * 10.0,
        D=np.vstack([-np.eye(p), np.eye(p)]),
        d=np.concatenate([limits, limits]),
        K=K,
        k=k,
        mu=rng.uniform(0.3, 1.0, c),
        scales=np.concatenate([limits, limits, np.full(c, 50.0)]),
    )


@pytest.mark.compiled
def test_barrier_and_conic_agree():
    pytest.importorskip("clarabel")
    rng, seen = np.random.default_rng(11), set()
    for _ in range(60):
        case = random_program(rng)
        ours, theirs = Barrier().solve(case), Conic().solve(case)
        seen.add(ours.status)
        if theirs.status == "failed":  # the library sometimes cannot reach what is asked of it
            assert ours.status in ("solved", "infeasible")
            continue
        assert ours.status == theirs.status
        if ours.solved:
            # A cost known to 1e-11 leaves forces to its root, 3e-6; below 1 N m they are compared
            # absolutely.
            assert np.abs(ours.x - theirs.x).max() < 3e-6 * max(1.0, np.abs(theirs.x).max())
            assert case.cost(ours.x) <= case.cost(theirs.x) * (1.0 + 1e-9)
            assert case.margins(ours.x).min() > 0.0
            assert ours.residual < 1e-6
    assert seen == {"solved", "infeasible"}


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


ASKED = np.array([1.0, -2.0, 1.5, 0.5, 0.4, -0.6])


def test_both_solvers_give_one_command(robot):
    pytest.importorskip("clarabel")
    for solver in (Barrier(), Conic()):
        controller = controller_of(robot, ASKED, friction=0.3, solver=solver)
        tau = controller(0.0, robot.state)
        if isinstance(solver, Barrier):
            first = tau
    assert np.abs(first - tau).max() < 1e-6 * np.abs(first).max()
