"""What cannot be looked ahead of is refused in words."""

import pytest

import spatialops as so
from spatialops.control.inverse_dynamics.coulomb import CoulombController
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import Lookahead


def four_bar(**options):
    bar = so.models.four_bar()
    return so.Simulator(so.Scene(bar.model, loops=bar.loops, state=bar.state), **options)


def test_closures_are_refused():
    with pytest.raises(ArgumentError, match="without closures"):
        Lookahead(four_bar())
    with pytest.raises(ArgumentError, match="without closures"):
        CoulombController(four_bar(), lambda time, state: None)


def test_steps_that_are_not_linear_in_forces_are_refused():
    pendulum = so.models.pendulum(2).scene()
    with pytest.raises(ArgumentError, match="not linear in the joint forces"):
        Lookahead(so.Simulator(pendulum, integrator="rk4"))


def test_what_is_no_simulator_is_refused():
    with pytest.raises(ArgumentError, match="expected a Simulator"):
        Lookahead(None)
