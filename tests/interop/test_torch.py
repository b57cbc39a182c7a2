"""Rollouts as functions of PyTorch. Skipped where torch is not installed, as in CI."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from tests.interop.test_differentiable_rollouts import starts, turning

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("single", [True, False])
def test_gradcheck(single):
    simulator = turning()
    given = starts(simulator.scene.model, 2, 3)
    tensors = [torch.tensor(one[0] if single else one, requires_grad=True) for one in given]
    assert torch.autograd.gradcheck(so.interop.torch.rollout(simulator, threads=1), tensors)


def test_a_step_is_the_first_of_a_rollout():
    simulator = turning()
    q, v, taus = (torch.tensor(one) for one in starts(simulator.scene.model, 2, 3))
    states = so.interop.torch.rollout(simulator, threads=1)(q, v, taus)
    tau = taus[:, 0].clone().requires_grad_()
    step = so.interop.torch.step(simulator, threads=1)
    first = step(q, v, tau)
    np.testing.assert_array_equal(first[0].detach(), states[0][:, 1])
    assert torch.autograd.gradcheck(step, (q, v, tau))


def test_what_does_not_fit_is_refused():
    simulator = turning()
    q, v, taus = (torch.tensor(one) for one in starts(simulator.scene.model, 2, 3))
    roll = so.interop.torch.rollout(simulator, threads=1)
    with pytest.raises(ArgumentError, match="v: expected float64"):
        roll(q, v.float(), taus)
    with pytest.raises(ArgumentError, match="taus: expected a tensor on the CPU"):
        roll(q, v, taus.to("meta"))
    with pytest.raises(ArgumentError, match="q: expected a tensor, got ndarray"):
        roll(q.numpy(), v, taus)
    with pytest.raises(ArgumentError, match="taus"):
        roll(q, v, taus[:, :, :2])
