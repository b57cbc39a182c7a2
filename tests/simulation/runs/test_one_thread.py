"""A simulator that two threads enter refuses the second; each its own, they agree to the bit."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation.runs.one_thread import OneThread
from tests.support.runs import boxes


@pytest.fixture
def simulator():
    return so.Simulator(so.models.pendulum(2).scene(), dt=1e-3)


def test_a_second_thread_is_refused_while_a_first_is_at_work(simulator):
    inside = threading.Event()
    leave = threading.Event()
    errors = []

    def waits(time, state, contacts):
        inside.set()
        leave.wait(10.0)
        return np.zeros(2)

    runs = threading.Thread(target=lambda: simulator.run(duration=2e-3, controller=waits))
    runs.start()
    assert inside.wait(10.0)
    for enter in (
        lambda: simulator.step(simulator.scene.state),
        lambda: simulator.run(duration=1e-3),
        lambda: simulator.problem(simulator.scene.state),
    ):
        with pytest.raises(so.errors.ArgumentError, match="at work in another thread") as caught:
            enter()
        errors.append(caught)
    leave.set()
    runs.join()
    assert len(errors) == 3
    simulator.step(simulator.scene.state)  # free again


def test_a_controller_may_ask_the_simulator_it_runs_in(simulator):
    def asks(time, state, contacts):
        simulator.problem(state)
        return np.zeros(2)

    simulator.run(duration=2e-3, controller=asks)


def test_a_failure_leaves_it_free(simulator):
    with pytest.raises(so.errors.ArgumentError):
        simulator.step(simulator.scene.state, tau=[1.0])
    other = threading.Thread(target=simulator.step, args=(simulator.scene.state,))
    other.start()
    other.join()
    simulator.step(simulator.scene.state)


def test_copies_are_their_own(simulator):
    for other in (copy.deepcopy(simulator), pickle.loads(pickle.dumps(simulator))):
        assert other._one_thread is not simulator._one_thread
        state, _ = other.step(other.scene.state)
        assert (state.q == simulator.step(simulator.scene.state)[0].q).all()


@pytest.mark.compiled
def test_threads_with_simulators_of_their_own_agree_to_the_bit():
    scene = so.models.pendulum(4).scene()
    found = [None] * 8

    def run(k):
        found[k] = so.Simulator(scene, dt=1e-3).run(duration=0.3).q

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for q in found[1:]:
        assert (q == found[0]).all()


def _guarded():
    """What works in memory of its own, and a way in that takes a while."""
    scene = so.models.pendulum(3).scene()
    simulator = so.Simulator(scene, dt=1e-4)
    stepper = so.Simulator(scene, dt=1e-4).stepper()
    batch = so.Batch(so.Simulator(scene, dt=1e-4), 2, threads=1)

    def steps():
        for _ in range(30):
            stepper.step()

    return {
        "Simulator": lambda: simulator.run(duration=0.05, record=False),
        "Stepper": steps,
        "Batch": lambda: batch.rollout(np.zeros((2, 400, 3))),
    }


@pytest.mark.parametrize("name", ["Simulator", "Stepper", "Batch"])
def test_what_is_entered_while_it_is_at_work_refuses(name, monkeypatch):
    enter = _guarded()[name]
    entered, leave = threading.Event(), threading.Event()
    acquire = OneThread.__enter__

    def waits(self):
        acquire(self)
        if threading.current_thread() is first:
            entered.set()
            leave.wait(10.0)

    monkeypatch.setattr(OneThread, "__enter__", waits)
    first = threading.Thread(target=enter)
    first.start()
    assert entered.wait(10.0)
    with pytest.raises(so.errors.ArgumentError, match=f"this {name} is at work"):
        enter()
    leave.set()
    first.join()
    enter()


@pytest.mark.compiled
def test_a_shared_stepper_is_refused_or_right():
    """Two threads hammer one stepper: every step that is not refused is a step."""
    scene = so.models.pendulum(4).scene()
    shared, alone = (so.Simulator(scene, dt=1e-4).stepper() for _ in range(2))
    done = [0, 0]

    until = time.monotonic() + 1.0

    def hammer(k):
        while time.monotonic() < until:
            try:
                shared.step()
                done[k] += 1
            except so.errors.ArgumentError:
                time.sleep(1e-4)

    threads = [threading.Thread(target=hammer, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(sum(done)):
        alone.step()
    assert sum(done) > 0
    assert (shared.q == alone.q).all()
    assert (shared.v == alone.v).all()


@pytest.mark.compiled
def test_eight_threads_on_one_model_one_problem_and_one_scene():
    """What is shared is only read, whatever it keeps for itself."""
    scene = boxes(3)
    model, q = scene.model, scene.state.q
    problem = so.Simulator(scene, dt=2e-3).problem(scene.state)
    rng = np.random.default_rng(5)
    v, tau = rng.normal(size=(2, model.nv))
    found = [None] * 8
    start = threading.Barrier(8)
    nodes = [so.Node("box0"), so.Node("box2")]
    operators = so.SpatialOperators(model, q)

    def work(k):
        start.wait()
        for _ in range(50):
            parts = [
                so.forward_dynamics(model, q, v, tau),
                so.mass_matrix(model, q),
                so.compliance(model, q, nodes),
                operators.mass_matrix,
                problem.response.L,
                problem.after(np.ones(len(problem.response.L))),
                so.contact.solve(so.contact.check_formulation("os", 4).assemble(problem)).z,
            ]
        found[k] = np.concatenate([np.asarray(part).ravel() for part in parts])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in found[1:]:
        assert np.array_equal(other, found[0])
