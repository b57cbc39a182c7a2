"""Conditions of optimality against their formulas, written out in NumPy."""

import numpy as np
import pytest

from spatialops.control import ForceProgram
from spatialops.control.friction_cone.barrier_function import Program
from spatialops.control.friction_cone.reduced_program import slack_of
from spatialops.errors import ArgumentError

N = 5
R = 2
M = 4
C = 3


def some_program(rng):
    root = rng.normal(size=(N, N))
    return ForceProgram(
        root @ root.T,
        rng.normal(size=N),
        rng.normal(size=(R, N)),
        rng.normal(size=R),
        rng.normal(size=(M, N)),
        rng.normal(size=M),
        rng.normal(size=(3 * C, N)),
        rng.normal(size=3 * C),
        rng.uniform(0.2, 0.9, C),
        scales=rng.uniform(1.0, 9.0, M + C),
    )


def margins_of(p, x):
    f = (p.K @ x + p.k).reshape(-1, 3)
    return np.concatenate([p.D @ x + p.d, p.mu * f[:, 0] - np.linalg.norm(f[:, 1:], axis=1)])


@pytest.mark.parametrize("seed", range(5))
def test_conditions_are_their_formulas(seed):
    rng = np.random.default_rng(seed)
    p, x = some_program(rng), rng.normal(size=N)
    y = rng.normal(size=R)
    l = rng.normal(size=M)
    z = rng.normal(size=(C, 3))
    gradient = p.H @ x + p.g
    pull = p.E.T @ y + p.D.T @ l + p.K.T @ z.ravel()
    least = 1e-3 * p.H.diagonal().max()
    weight = max(np.abs(l).max(), np.abs(z).max(), least)
    dual = z[:, 0] - p.mu * np.linalg.norm(z[:, 1:], axis=1)
    gap = l @ (p.D @ x + p.d) + z.ravel() @ (p.K @ x + p.k)
    rows = np.abs(p.E).sum(axis=1) * (1.0 + np.abs(x).max()) + np.abs(p.e)
    wanted = {
        "stationarity": np.abs(gradient - pull).max()
        / max(np.abs(gradient).max(), np.abs(pull).max(), least),
        "equality": (np.abs(p.E @ x - p.e) / rows).max(),
        "violation": max(0.0, -(margins_of(p, x) / p.scales).min()),
        "dual": max(0.0, -l.min(), -dual.min()) / weight,
        "gap": abs(gap) / max(0.5 * x @ p.H @ x, 1e-3 * least),
    }
    assert p.residuals(x, y, l, z) == pytest.approx(wanted, rel=1e-12)
    assert p.residual(x, y, l, z) == pytest.approx(max(wanted.values()), rel=1e-12)


def test_margins_and_the_least_slack():
    rng = np.random.default_rng(7)
    p, x = some_program(rng), rng.normal(size=N)
    assert np.allclose(p.margins(x), margins_of(p, x), rtol=0.0, atol=1e-14)
    tables = Program(p.H, p.g, p.D, p.d, p.K, p.k, p.mu)
    assert slack_of(tables, x) == pytest.approx(margins_of(p, x).min(), rel=1e-13)


def test_what_is_not_a_number_counts_most():
    rng = np.random.default_rng(8)
    p, x = some_program(rng), rng.normal(size=N)
    y = rng.normal(size=R)
    l = rng.normal(size=M)
    z = rng.normal(size=(C, 3))
    l[1] = np.nan
    assert np.isnan(p.residual(x, y, l, z))


@pytest.mark.parametrize("name", ["H", "g", "E", "e", "D", "d", "K", "k"])
def test_programs_are_finite(name):
    p = some_program(np.random.default_rng(9))
    own = {field: getattr(p, field).copy() for field in ("H", "g", "E", "e", "D", "d", "K", "k")}
    own[name].flat[-1] = np.inf
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        ForceProgram(**own, mu=p.mu)
