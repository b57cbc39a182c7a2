"""Joint forces are checked and cut to the effort limits; looking ahead counts nothing."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.forces.effort_limits import Effort
from spatialops.simulation.lookahead import Lookahead


def model(limit=2.0):
    builder = so.TreeBuilder()
    rod = so.Inertia(1.0, (0.2, 0.0, 0.0), np.eye(3) * 0.1)
    builder.add_body("a", joint=so.Joint("revolute", axis="y", effort_limit=limit), inertia=rod)
    builder.add_body(
        "b", parent="a", joint=so.Joint("revolute", axis="y"), position=(0.4, 0.0, 0.0), inertia=rod
    )
    return builder.build()


def test_forces_are_cut_and_counted():
    effort = Effort(model(), clip=True)
    assert effort([3.0, 30.0]) == pytest.approx([2.0, 30.0])
    assert effort([-3.0, 0.0]) == pytest.approx([-2.0, 0.0])
    assert effort.clipped.tolist() == [2, 0]
    assert effort.cut([9.0, 0.0]) == pytest.approx([2.0, 0.0])
    assert effort.clipped.tolist() == [2, 0]
    effort.forget()
    assert not effort.clipped.any()
    assert Effort(model(), clip=False)([3.0, 0.0]) == pytest.approx([3.0, 0.0])


@pytest.mark.parametrize("tau", [[1.0], [np.nan, 0.0], [np.inf, 0.0], "fast"])
def test_forces_that_are_none(tau):
    effort = Effort(model(), clip=True)
    with pytest.raises(ArgumentError, match="tau"):
        effort(tau)
    with pytest.raises(ArgumentError, match="tau"):
        effort.cut(tau)
    assert not effort.clipped.any()


@pytest.mark.compiled
def test_looking_ahead_is_not_a_command():
    sim = so.Simulator(so.Scene(model()))
    Lookahead(sim).predict(sim.scene.state, [5.0, 0.0])
    sim.problem(sim.scene.state, [5.0, 0.0])
    assert not sim.effort.clipped.any()
    _, info = sim.step(sim.scene.state, [5.0, 0.0])
    assert info.clipped.tolist() == [True, False]


def test_limits_beyond_the_root_of_all_numbers_bind():
    effort = Effort(model(1e200), clip=True)
    assert effort([1e190, 0.0]).tolist() == [1e190, 0.0]
    assert effort([1e201, 0.0]).tolist() == [1e200, 0.0]
