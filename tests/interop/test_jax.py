"""Rollouts as functions of JAX. Skipped where jax is not installed, as in CI."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.interop.differentiable_rollouts import DifferentiableRollouts
from tests.interop.test_differentiable_rollouts import starts, turning

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("jitted", [True, False])
def test_gradients_are_those_over_arrays(jitted):
    simulator = turning()
    given = starts(simulator.scene.model, 2, 3)
    rollouts = DifferentiableRollouts(simulator, threads=1)
    states = rollouts.forward(*given)
    rng = np.random.default_rng(4)
    by_q, by_v = rng.normal(size=states.q.shape), rng.normal(size=states.v.shape)
    expected = rollouts.backward(states, given[2], by_q, by_v)
    roll = so.interop.jax.rollout(simulator, threads=1)

    def weighted(q, v, taus):
        made = roll(q, v, taus)
        return (by_q * made[0]).sum() + (by_v * made[1]).sum()

    gradient = jax.grad(weighted, (0, 1, 2))
    found = (jax.jit(gradient) if jitted else gradient)(*map(jax.numpy.asarray, given))
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_one_environment_and_one_step():
    simulator = turning()
    given = [jax.numpy.asarray(one) for one in starts(simulator.scene.model, 2, 3)]
    many = so.interop.jax.rollout(simulator, threads=1)(*given)
    one = so.interop.jax.step(simulator, threads=1)(given[0][0], given[1][0], given[2][0, 0])
    np.testing.assert_array_equal(one[0], many[0][0, 1])
    np.testing.assert_array_equal(one[1], many[1][0, 1])


def test_another_type_is_refused():
    simulator = turning()
    q, v, taus = (jax.numpy.asarray(one) for one in starts(simulator.scene.model, 2, 3))
    with pytest.raises(ArgumentError, match="v: expected an array of float64"):
        so.interop.jax.rollout(simulator)(q, v.astype("float32"), taus)
