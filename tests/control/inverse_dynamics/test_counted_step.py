"""The step that a command counts on, from round to round."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.inverse_dynamics.counted_step import counted_step
from spatialops.simulation.lookahead import Lookahead
from tests.control.cases import quadruped_simulator

TIMES = 20.0


def walking(height=0.0, speed=0.5):
    """The quadruped in motion, and what it looks ahead with."""
    robot, sim = quadruped_simulator("cone")
    q = robot.state.q.copy()
    q[2] += height
    v = speed * np.random.default_rng(2).normal(size=18)
    v[5] = -abs(v[5])
    return so.State(q, v), Lookahead(sim)


def test_later_rounds_are_the_same_step_along_the_first_frames():
    state, lookahead = walking()
    first = counted_step(lookahead.predict(state, gain=np.zeros(18)), TIMES, None)
    met = lookahead.predict(state, gain=np.full(18, 0.01))
    later = counted_step(met, TIMES, first)
    anew = counted_step(met, TIMES, None)
    assert len(later.ahead.keys)
    assert later.ahead.problem.jacobian is first.ahead.problem.jacobian
    assert later.ahead.mass is first.ahead.mass
    assert np.array_equal(later.ahead.free, anew.ahead.free)
    assert np.abs(later.ahead.free - first.ahead.free).max() > 1e-6
    assert np.array_equal(later.lands, anew.lands)
    assert np.array_equal(later.frames, anew.ahead.problem.frames)
    one, other = later.ahead.problem, anew.ahead.problem
    assert along_world(one, one.velocities) == pytest.approx(
        along_world(other, other.velocities), abs=1e-12
    )


def along_world(problem, u):
    return np.einsum("mi,mij->mj", u.reshape(-1, 3), problem.frames)


def test_other_contacts_are_stated_anew():
    state, lookahead = walking()
    first = counted_step(lookahead.predict(state, gain=np.zeros(18)), TIMES, None)
    other, _ = walking(height=5e-4)
    later = counted_step(lookahead.predict(other, gain=np.zeros(18)), TIMES, first)
    assert later.ahead.problem is None or later.ahead.mass is not first.ahead.mass
    flying, _ = walking(height=1.0)
    assert counted_step(lookahead.predict(flying, gain=np.zeros(18)), TIMES, later).frames is None


def test_only_the_midpoint_rule_counts_on_a_gain():
    _, midpoint = walking()
    assert midpoint.counts_gain
    robot, sim = quadruped_simulator("cone", integrator="semi-implicit")
    euler = Lookahead(sim)
    assert not euler.counts_gain
    state, _ = walking()
    one = euler.predict(state, gain=np.zeros(18))
    other = euler.predict(state, gain=np.full(18, 0.01))
    assert np.array_equal(one.free, other.free)
    assert robot.model.nv == 18
