"""A simulator that two threads enter refuses the second; each its own, they agree to the bit."""

import copy
import pickle
import threading

import numpy as np
import pytest

import spatialops as so


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
