"""The loop's own solver where the central answer fails: Lemke answers, and that is said."""

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.jit import COMPILED
from spatialops.simulation.stepping import contact_solver

pytestmark = pytest.mark.skipif(COMPILED, reason="compiled code cannot be made to fail")


def resting_box():
    builder = so.TreeBuilder()
    builder.add_body("box", joint="free", inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=1.0))
    geoms = [
        so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)), friction=0.5),
        so.Geom("floor", "world", so.HalfSpace((0.0, 0.0, 1.0)), friction=0.5),
    ]
    state = so.State(np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    return so.Simulator(so.Scene(builder.build(), geoms, state=state), dt=1e-3)


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
