"""The loop's own solver where the central answer fails: who answers instead, and that is said."""

import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.jit import COMPILED
from spatialops.bench.contacts.piles import boxes, collapsing_wall
from spatialops.simulation.stepping import contact_solver

replaced = pytest.mark.skipif(COMPILED, reason="compiled code cannot be made to fail")


def resting_box():
    builder = so.TreeBuilder()
    builder.add_body("box", joint="free", inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=1.0))
    geoms = [
        so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)), friction=0.5),
        so.Geom("floor", "world", so.HalfSpace((0.0, 0.0, 1.0)), friction=0.5),
    ]
    state = so.State(np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    return so.Simulator(so.Scene(builder.build(), geoms, state=state), dt=1e-3)


@replaced
def test_what_pivoting_answers_is_counted(monkeypatch):
    def fails(rows, aim, p, buffers):
        return 0, np.inf

    monkeypatch.setattr(contact_solver, "solve_islands", fails)
    simulator = resting_box()
    _, info = simulator.step(simulator.scene.state)
    assert info.pivoted == 1
    assert info.residual <= 1e-9
    weight = info.contacts.impulses[:, 0].sum() / 1e-3
    assert weight == pytest.approx(9.81, rel=1e-9)
    assert simulator.run(duration=3e-3).metadata["pivoted"] == 3


def test_the_central_answer_is_not_one():
    simulator = resting_box()
    _, info = simulator.step(simulator.scene.state)
    assert info.pivoted == 0
    assert info.contacts.impulses[:, 0] == pytest.approx(np.full(4, 9.81e-3 / 4), rel=1e-9)


@pytest.mark.compiled
@replaced
@pytest.mark.parametrize(
    ("n", "certify", "residual", "outside"),
    [
        (17, "warn", 3e-7, False),
        (17, "off", 3e-7, False),
        (17, "warn", 3e-6, True),  # too far off
        (17, "warn", np.nan, True),
        (17, "raise", 3e-7, True),
        (16, "warn", 3e-7, False),  # 64 contacts: Lemke's method answers
    ],
)
def test_a_pile_goes_on_with_the_best_answer_where_it_may(
    monkeypatch, n, certify, residual, outside
):
    solve = contact_solver.solve_islands
    told = []

    def misses(rows, aim, p, buffers):
        return solve(rows, aim, p, buffers)[0], residual

    def asked(self, t, fallback):
        told.append(fallback)
        solve_outside(self, t, fallback)

    solver = type(so.Simulator(boxes(1).scene).stepping.external)
    solve_outside = solver.solve
    monkeypatch.setattr(solver, "solve", asked)
    monkeypatch.setattr(contact_solver, "solve_islands", misses)
    simulator = so.Simulator(boxes(n).scene, dt=1e-3, certify=certify)
    if certify == "warn" and n == 17 and not outside:
        with pytest.warns(UserWarning, match=r"residual 3\.00e-07"):
            record = simulator.run(duration=1e-3)
    else:
        record = simulator.run(duration=1e-3)
    accepted = n == 17 and not outside
    assert record.residuals.max() == (residual if accepted else pytest.approx(0.0, abs=1e-9))
    assert record.metadata["pivoted"] > 0  # pieces are halved first
    assert any(told) == outside
    assert np.abs(record.v).max() < 1e-12


def buckled(dt):
    """A wall that collapses, of which too much is asked: its record, and the warnings it gave."""
    time = so.TimeStepping(tolerance=1e-12)
    simulator = so.Simulator(collapsing_wall(50).scene, dt=dt, certify="warn", time=time)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        record = simulator.run(duration=0.6)
    return record, [w for w in caught if "certificate failed" in str(w.message)]


@pytest.mark.compiled
def test_a_wall_that_buckles_is_not_left_to_slow_solvers_under_a_warning():
    told, pivoted = 0, 0
    # Which steps are not solved is a matter of roundings: in half of these runs there are some.
    for dt in np.linspace(2.5e-3, 3.5e-3, 12):
        record, failures = buckled(dt)
        assert record.metadata["solver_fallbacks"] == 0
        assert bool(failures) == (record.residuals.max() > 1e-12)
        assert record.residuals.max() <= 1e-6
        told += len(failures)
        pivoted += record.metadata["pivoted"]
        if told and pivoted:
            return
    pytest.fail(f"{told} steps without an answer, {pivoted} pivoted")
