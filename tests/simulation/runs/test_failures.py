"""Errors within a run carry the record until then and the last state, and name geoms."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.problem import LCPSolution
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError, ContactError, SolverFailed, SpatialOpsError
from spatialops.simulation import _layout as at
from tests.simulation.test_separation import RADIUS, balls

DT = 1e-3


class FailsLater:
    """A solver that fails from its n-th problem on."""

    def __init__(self, good):
        self.good = good

    def solve(self, problem, warm_start=None):
        self.good -= 1
        if self.good >= 0:
            return Lemke().solve(problem)
        return LCPSolution(np.zeros(problem.size), problem.b, Status.RAY, 3, 1.0, "fails")


def test_a_failed_solve_carries_what_was_recorded(tmp_path):
    scene = balls((0.0, 0.0, RADIUS))
    path = tmp_path / "failed.npz"
    with pytest.raises(SolverFailed, match="ball0 on floor") as caught:
        so.Simulator(scene, solver=FailsLater(5), dt=DT).run(duration=0.1, save_on_failure=path)
    record = caught.value.record
    assert record.times == pytest.approx(3.0 + DT * np.arange(6))
    assert caught.value.state.time == pytest.approx(3.0 + 5 * DT)
    assert np.array_equal(caught.value.state.q, record.final.q)
    assert record.metadata["failure"] == str(caught.value)
    assert record.metadata["steps"] == 5
    assert str(path) in caught.value.__notes__[0]
    again = so.load_record(path)
    assert np.array_equal(again.q, record.q)
    assert again.metadata["failure"] == str(caught.value)
    # One goes on from there.
    later = so.Simulator(scene, dt=DT).run(caught.value.state, duration=0.01)
    assert later.final.time == pytest.approx(3.015)


def test_a_record_that_cannot_be_saved_does_not_hide_the_error(tmp_path):
    scene = balls((0.0, 0.0, RADIUS))
    with pytest.raises(SolverFailed) as caught:
        so.Simulator(scene, solver=FailsLater(2)).run(duration=0.1, save_on_failure=tmp_path)
    assert "not saved" in caught.value.__notes__[0]


def test_nothing_is_saved_where_all_is_well(tmp_path):
    scene = balls((0.0, 0.0, RADIUS))
    so.Simulator(scene).run(duration=0.002, save_on_failure=tmp_path / "failed.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("time", [so.TimeStepping(), so.EventDriven()])
def test_a_failed_certificate_carries_the_record_and_names_the_pair(time):
    """A ball is driven into the floor by a controller that moves it there."""
    scene = balls((0.0, 0.0, RADIUS + 0.5 * DT * DT), (1.0, 0.0, 1.0))
    simulator = so.Simulator(scene, dt=DT, time=time, depth_limit=0.0)
    push = np.zeros(12)
    push[5] = -1e4
    with pytest.raises(ContactError, match="certificate failed") as caught:
        simulator.run(duration=0.05, controller=lambda time, state, contacts: push)
    assert "ball0 on floor" in str(caught.value)
    assert "ball1" not in str(caught.value)
    assert isinstance(caught.value.record, so.Record)
    assert np.isfinite(caught.value.state.q).all()


def test_a_controllers_error_of_ours_carries_the_record():
    scene = balls((0.0, 0.0, 1.0))

    def controller(time, state, contacts):
        return np.zeros(6) if time < 3.0035 else np.zeros(5)

    with pytest.raises(ArgumentError, match="tau") as caught:
        so.Simulator(scene, dt=DT).run(duration=0.1, controller=controller)
    assert len(caught.value.record.times) == 5
    assert caught.value.state.time == pytest.approx(3.004)


@pytest.mark.compiled  # Python's own sine refuses infinity
def test_a_state_that_is_no_number_leaves_the_last_that_was_one():
    scene = balls((0.0, 0.0, 1.0))

    def controller(time, state, contacts):
        return np.full(6, 1e305 if time > 3.0025 else 0.0)

    simulator = so.Simulator(scene, dt=DT, certify="off")
    with pytest.raises(SpatialOpsError, match="no longer finite") as caught:
        simulator.run(duration=0.1, controller=controller)
    assert "body0" in str(caught.value)
    assert np.isfinite(caught.value.state.q).all()
    assert np.isfinite(caught.value.record.q).all()
    assert caught.value.state.time == pytest.approx(caught.value.record.times[-1])


@pytest.mark.parametrize("integrator", ["moreau", "rk4", "semi-implicit"])
def test_an_energy_that_is_no_number_ends_a_run(integrator):
    scene = balls((0.0, 0.0, 1.0))

    def controller(time, state, contacts):
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1e159 if time > 3.0025 else 0.0])

    simulator = so.Simulator(scene, dt=DT, integrator=integrator, certify="off")
    with pytest.raises(ContactError, match="the energy is no longer finite") as caught:
        simulator.run(duration=0.1, controller=controller)
    assert np.isfinite(caught.value.record.kinetic).all()
    assert np.isfinite(caught.value.state.v).all()


def test_a_penetration_in_a_step_without_a_row_is_named():
    """Contacts are recorded every hundredth step; those of the last step are known all the same."""
    scene = balls((0.0, 0.0, RADIUS))
    simulator = so.Simulator(scene, dt=DT, depth_limit=0.0, certify="warn")
    simulator.setup.settings[at.DEPTH] = 1.0  # nothing is put right
    pressed = so.State(scene.state.q - [0.0, 0.0, 1e-4, 0.0, 0.0, 0.0, 0.0], scene.state.v, 3.0)
    with pytest.warns(UserWarning, match=r"penetration 1\.0.e-04 m of ball0 on floor"):
        simulator.run(pressed, duration=0.05, record_every=100)
