"""The way from Python into a kernel takes exactly what the kernel was compiled for.

Memory is never shared.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import spatialops as so
from spatialops._arrays import Array
from spatialops._compile.fast_call import LONG
from spatialops._compile.jit import COMPILED
from spatialops.dynamics import (
    articulated_lanes,
    centroidal,
    composite_body,
    energy,
    jacobian,
    newton_euler_lanes,
    nodes,
)
from spatialops.dynamics.compliance import compliance, propagation
from spatialops.errors import ArgumentError

MODULES = (
    articulated_lanes,
    newton_euler_lanes,
    composite_body,
    centroidal,
    jacobian,
    compliance,
    propagation,
)


@pytest.fixture(scope="module")
def model() -> so.Model:
    return so.models.pendulum(3).model


def state(model: so.Model, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def call_all(model: so.Model, q: Any, v: Any, third: Any) -> list[Array]:
    nodes = [so.Node(0), so.Node(model.n_bodies - 1, (0.1, 0.2, 0.3))]
    dynamics = so.forward_dynamics(model, q, v, third), so.inverse_dynamics(model, q, v, third)
    routes = [so.compliance(model, q, nodes, method=method) for method in ("auto", "recursion")]
    ready = model.resolve(nodes)
    motion = so.node_accelerations(model, q, v, third, ready), so.node_positions(model, q, ready)
    poses = so.body_poses(model, q)
    counted = so.momentum(model, q, v), np.array(so.energy(model, q, v))
    center = so.center_of_mass(model, q)
    return [
        *dynamics,
        so.mass_matrix(model, q),
        *routes,
        so.jacobian(model, q, ready),
        *motion,
        *poses,
        *counted,
        center,
        so.centroidal_momentum_matrix(model, q),
    ]


@pytest.mark.compiled
@pytest.mark.parametrize(
    "wrong",
    [
        None,
        1.0,
        [0.0, 0.0, 0.0],
        np.zeros(3, dtype=np.int64),
        np.zeros(3, dtype=np.float32),
        np.zeros(3, dtype=np.complex64),
        np.zeros(3, dtype=">f8"),
        np.zeros((1, 1, 1, 1, 1, 3)),
        np.zeros(()),
        np.zeros(6)[::2],
        np.zeros(3).view(np.recarray),
        np.frombuffer(bytes(24)),
        np.zeros(25, dtype=np.uint8)[1:].view(np.float64),
    ],
    ids=str,
)
def test_an_open_door_refuses_every_other_kind(model: so.Model, wrong: Any) -> None:
    q, v, tau = state(model)
    tables, a = model.branches, np.empty(3)
    so.forward_dynamics(model, q, v, tau)
    call = articulated_lanes.FORWARD_DYNAMICS.call
    right = [tables.tree, tables.constants, q, v, tau, np.zeros((0, 6)), tables.workspace(), a]
    assert call(*right) == 0
    for i in range(len(right)):
        with pytest.raises(TypeError):
            call(*right[:i], wrong, *right[i + 1 :])
    with pytest.raises(TypeError):
        call(*right[:-1])


@pytest.mark.parametrize(
    "kind", ["list", "integers", "strided", "subclass", "read-only", "big-endian"]
)
def test_public_functions_convert_what_the_door_refuses(model: so.Model, kind: str) -> None:
    expected = call_all(model, np.ones(3), np.ones(3), np.ones(3))
    ones: Any = {
        "list": [1, 1, 1],
        "integers": np.ones(3, dtype=np.int64),
        "strided": np.ones(6)[::2],
        "subclass": np.ones(3).view(np.recarray),
        "read-only": np.frombuffer(np.ones(3).tobytes()),
        "big-endian": np.ones(3, dtype=">f8"),
    }[kind]
    for got, want in zip(call_all(model, ones, ones, ones), expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_results_are_not_written_where_they_do_not_fit(model: so.Model) -> None:
    q, v, tau = state(model)
    for out in (
        np.empty(2),
        np.empty(3, dtype=np.float32),
        np.frombuffer(bytes(24)),
        [0.0, 0.0, 0.0],
    ):
        for _ in range(2):  # through a closed and an open door
            with pytest.raises(ArgumentError, match="out"):
                so.forward_dynamics(model, q, v, tau, out=out)


@pytest.mark.compiled
def test_one_entrance_for_all_models(model: so.Model) -> None:
    for other in (model, so.models.pendulum(LONG + 1).model):
        call_all(other, *state(other))
    for module in MODULES:
        assert len(module._entry.overloads) == 1
    states = energy._energy_entry, energy._momentum_entry, energy._center_entry
    for entry in (nodes._jacobian_entry, nodes._positions_entry, nodes._motion_entry, *states):
        assert len(entry.overloads) == 1


def test_a_long_call_gives_the_same_result() -> None:
    """From LONG links on other threads run meanwhile; it is inverse dynamics turned round."""
    model = so.models.pendulum(LONG).model
    q, v, tau = state(model)
    a = so.forward_dynamics(model, q, v, tau)
    residual = so.inverse_dynamics(model, q, v, a) - tau
    assert np.abs(residual).max() < 1e-8 * np.abs(so.bias(model, q, v)).max()


def test_short_calls_keep_memory_and_long_ones_lend_it() -> None:
    short, long = (so.models.pendulum(links).model for links in (4, LONG))
    for fresh in (short, long):
        for seed in range(3):
            call_all(fresh, *state(fresh, seed))
    assert short.held is not None
    assert not short.spare
    assert long.held is None
    assert len(long.branches.spare) == 1 or not COMPILED
    assert len(short.scraps) == len(long.scraps) == 1
    lent, kept = long.branches.workspace(), short.branches.factor_rows
    for fresh in (short, long):
        call_all(fresh, *state(fresh))
    assert short.branches.factor_rows is kept or not COMPILED
    assert all(work is not lent for work in long.branches.spare)


@pytest.mark.compiled
@pytest.mark.parametrize("links", [5, LONG + 6])
def test_threads_do_not_disturb_one_another(links: int) -> None:
    model = so.models.pendulum(links).model
    states = [state(model, seed) for seed in range(40)]
    expected = [call_all(model, *s) for s in states]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for got, want in zip(
                pool.map(lambda s: call_all(model, *s), states), expected, strict=True
            ):
                for x, y in zip(got, want, strict=True):
                    np.testing.assert_array_equal(x, y)
