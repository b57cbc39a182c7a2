"""A stepper does what a run does, to the bit, apart from its simulator and from other steppers."""

import copy

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ContactError, RecordError
from tests.support.runs import DT, boxes, driven_crank, stopped_links

TORQUES = 0.3 * np.random.default_rng(7).normal(size=(60, 12))


def pendulum():
    return so.models.pendulum(3).scene()


def boxes_of_two():
    return boxes(2)


def run_of(simulator, torques, begin=None):
    left = iter(torques)
    duration = len(torques) * simulator.dt
    return simulator.run(begin, duration, controller=lambda t, s, c: next(left))


def steps(stepper, count):
    for _ in range(count):
        stepper.step()


@pytest.mark.parametrize(
    "scene",
    [
        pendulum,
        pytest.param(lambda: boxes(2), marks=pytest.mark.compiled),
        pytest.param(lambda: so.models.four_bar().scene(), marks=pytest.mark.compiled),
        pytest.param(driven_crank, marks=pytest.mark.compiled),
    ],
    ids=["pendulum", "boxes", "four bar", "crank"],
)
def test_steps_are_those_of_a_run(scene):
    simulator = so.Simulator(scene(), dt=2e-3)
    torques = TORQUES[:, : simulator.scene.model.nv]
    record = run_of(simulator, torques)
    stepper = simulator.stepper()
    for _ in range(2):
        for k, tau in enumerate(torques):
            stepper.step(tau)
            np.testing.assert_array_equal(stepper.q, record.q[k + 1])
            np.testing.assert_array_equal(stepper.v, record.v[k + 1])
            assert stepper.time == record.times[k + 1]
            assert stepper.info.residual == record.residuals[k + 1]
        stepper.reset()


@pytest.mark.compiled
def test_contacts_are_those_that_a_controller_sees():
    simulator = so.Simulator(boxes(2), dt=2e-3)
    seen = []

    def watch(time, state, contacts):
        seen.append(contacts)
        return so.Command()

    simulator.run(duration=0.1, controller=watch)
    stepper = simulator.stepper()
    for contacts in seen:
        assert len(stepper.contacts) == len(contacts)
        np.testing.assert_array_equal(stepper.contacts.impulses, contacts.impulses)
        np.testing.assert_array_equal(stepper.contacts.frames, contacts.frames)
        stepper.step()
    assert max(map(len, seen)) > 0


@pytest.mark.compiled
def test_steppers_share_nothing_that_changes():
    simulator = so.Simulator(boxes(2), dt=2e-3)
    alone, other = simulator.stepper(), simulator.stepper()
    record = run_of(simulator, TORQUES)
    for k, tau in enumerate(TORQUES):
        alone.step(tau)
        other.step(-tau)
        simulator.step(simulator.scene.state, tau)
        np.testing.assert_array_equal(alone.q, record.q[k + 1])


def test_a_copy_goes_on_by_itself():
    stepper = so.Simulator(pendulum()).stepper()
    stepper.step()
    other = copy.deepcopy(stepper)
    other.step([1.0, 0.0, 0.0])
    before = stepper.q.copy()
    other.step([1.0, 0.0, 0.0])
    np.testing.assert_array_equal(stepper.q, before)
    stepper.step([1.0, 0.0, 0.0])
    stepper.step([1.0, 0.0, 0.0])
    np.testing.assert_array_equal(stepper.q, other.q)


def test_views_are_not_to_be_written():
    stepper = so.Simulator(pendulum()).stepper()
    view = stepper.q
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0


@pytest.mark.compiled
def test_after_an_error_it_must_begin_anew():
    scene = boxes(1)
    stepper = so.Simulator(scene, dt=2e-3, depth_limit=1e-7).stepper()
    spinning = so.State(scene.state.q, np.array([0.0, 3.0, 0.0, 0.0, 0.0, -1.0]))
    stepper.reset(spinning)
    with pytest.raises(ContactError, match="penetration"):
        steps(stepper, 100)
    with pytest.raises(ArgumentError, match="reset"):
        stepper.step()
    stepper.reset()
    stepper.step()


def test_effort_limits_cut():
    builder = so.TreeBuilder()
    joint = so.Joint("revolute", axis="y", effort_limit=2.0)
    builder.add_body("arm", joint=joint, inertia=so.Inertia.sphere(0.1, mass=1.0))
    simulator = so.Simulator(so.Scene(builder.build()))
    hard, limit = simulator.stepper(), simulator.stepper()
    hard.step([50.0])
    limit.step([2.0])
    assert hard.v[0] == limit.v[0] != 0.0
    assert hard.info.clipped.tolist() == [True]
    assert limit.info.clipped.tolist() == [False]


def test_what_it_refuses():
    stepper = so.Simulator(pendulum()).stepper()
    with pytest.raises(ArgumentError, match="tau"):
        stepper.step([1.0])
    with pytest.raises(ArgumentError, match="tau"):
        stepper.step([np.nan, 0.0, 0.0])
    with pytest.raises(ArgumentError, match="TimeStepping"):
        so.Simulator(pendulum(), time=so.EventDriven()).stepper()
    with pytest.raises(ArgumentError, match="full"):
        so.Simulator(pendulum(), certify="full").stepper()


@pytest.mark.compiled
def test_runs_do_not_depend_on_the_run_before():
    """Their tables are used again: whatever a run has left in them makes no difference."""
    simulator = so.Simulator(boxes(2), dt=2e-3)
    first = run_of(simulator, TORQUES)
    run_of(simulator, -TORQUES)
    again = run_of(simulator, TORQUES)
    for name in ("q", "v", "kinetic", "residuals", "pivots", "contact_records", "events"):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))


@pytest.mark.parametrize(
    "make",
    [pytest.param(boxes_of_two, marks=pytest.mark.compiled), driven_crank, stopped_links],
)
def test_a_stepper_put_away_goes_on_to_the_same_bits(make, tmp_path):
    first, second = (so.Simulator(make(), dt=DT).stepper() for _ in range(2))
    forces = np.random.default_rng(7).normal(size=(60, len(first.v)))
    for tau in forces[:30]:
        first.step(tau)
    np.savez(tmp_path / "kept.npz", **first.save())
    with np.load(tmp_path / "kept.npz") as kept:
        second.restore(dict(kept))
    assert second.time == first.time
    for tau in forces[30:]:
        first.step(tau)
        second.step(tau)
        assert np.array_equal(first.q, second.q)
        assert np.array_equal(first.v, second.v)
        assert np.array_equal(first.contacts.impulses, second.contacts.impulses)


def test_what_was_put_away_elsewhere_is_refused():
    kept = so.Simulator(boxes_of_two(), dt=DT).stepper().save()
    other = so.Simulator(stopped_links(), dt=DT).stepper()
    with pytest.raises(RecordError):
        other.restore(kept)
    other.step()
    with pytest.raises(RecordError):
        other.restore({})


def test_a_step_that_was_interrupted_is_no_state():
    stepper = so.Simulator(boxes_of_two(), dt=DT, law=_Interrupts()).stepper()
    with pytest.raises(KeyboardInterrupt):
        steps(stepper, 50)
    for use in (stepper.step, stepper.save):
        with pytest.raises(ArgumentError, match="reset"):
            use()
    stepper.reset()


class _Interrupts:
    """A law during which Ctrl-C is pressed."""

    rigid = True

    def solve(self, problem, warm_start=None):
        raise KeyboardInterrupt
