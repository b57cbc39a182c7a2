"""Factors of closures: mechanism by mechanism, together those of all rows."""

import numpy as np
import pytest

import spatialops as so
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.tree.loops import Loops


def four_bars(kinds):
    """Mechanisms side by side, each closed by a closure of its kind; "free" ones are of balls."""
    builder, inertia = so.TreeBuilder(), so.Inertia.box((0.1, 0.1, 0.2), mass=1.0)
    for i, kind in enumerate(kinds):
        joint = so.Joint("ball") if kind == "free" else so.Joint("revolute", axis="y")
        place = {"joint": joint, "inertia": inertia}
        builder.add_body(f"a{i}", position=(i, 0.0, 0.0), **place)
        builder.add_body(f"b{i}", parent=f"a{i}", position=(0.3, 0.0, -0.2), **place)
        builder.add_body(f"c{i}", position=(i + 0.5, 0.0, 0.0), **place)
    model = builder.build()
    ends = {"position_a": (0.1, 0.0, -0.2), "position_b": (-0.1, 0.0, -0.4)}
    loops = [
        so.Loop(kind="ball" if kind == "free" else kind, a=f"b{i}", b=f"c{i}", **ends)
        for i, kind in enumerate(kinds)
    ]
    return model, Loops(model, loops)


def factored(model, loops, rng):
    span = Span(model, loops)
    span.place(so.integrate(model, model.neutral(), 0.1 * rng.normal(size=model.nv)))
    factor_kernel(model.tree, model.links, span.work)
    span.factor()
    return span


@pytest.mark.parametrize(
    "kinds", [["free"] * 3, ["ball"] * 3, ["free", "ball", "revolute", "free"]]
)
def test_those_of_all_rows(kinds, rng):
    model, loops = four_bars(kinds)
    span = factored(model, loops, rng)
    rank, n = span.rank, loops.n_rows
    assert len(loops.extents) == len(kinds)
    assert rank == np.linalg.matrix_rank(span.L, 1e-8) == sum(span.ranks)
    assert span.ranks == [{"free": 3, "ball": 2, "revolute": 3}[kind] for kind in kinds]
    Q, Z = span.Q[:rank], span.Z[:, :rank]
    assert np.abs(Q @ Q.T - np.eye(rank)).max() < 1e-13
    R = span.R[:rank, :rank] if rank < n else np.eye(rank)
    assert np.abs(Z @ R @ Q - span.L).max() < 1e-13 * np.abs(span.L).max()
    assert sorted(span.order) == list(range(n))
    assert np.linalg.matrix_rank(span.L[span.order[:rank]], 1e-8) == rank


@pytest.mark.parametrize("kinds", [["free"] * 3, ["free", "ball", "revolute", "free"]])
def test_the_smallest_multipliers_of_the_least_motion(kinds, rng):
    model, loops = four_bars(kinds)
    span = factored(model, loops, rng)
    u = span.L @ rng.normal(size=model.nv)
    _, forces = span.answer(u)
    expected = np.linalg.lstsq(span.L @ span.L.T, u, rcond=1e-10)[0]
    assert np.abs(forces - expected).max() < 1e-9 * np.abs(expected).max()


def test_ranks_may_be_given_for_each(rng):
    model, loops = four_bars(["free", "ball"])
    span = factored(model, loops, rng)
    factor_kernel(model.tree, model.links, span.work)
    span.factor(most=[1, 2])
    assert span.ranks == [1, 2]
    assert set(span.order[:3]) <= {0, 1, 2, 3, 4, 5}
    assert np.count_nonzero(span.order[:3] < 3) == 1
