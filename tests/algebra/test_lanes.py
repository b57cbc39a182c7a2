"""Vectors and tables of lanes, and what is asked of lanes, give what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.lane_arrays import lanes_of
from spatialops.algebra.lane_logic import less, root, where
from spatialops.algebra.simd import WIDTH
from spatialops.dynamics.articulated_body import articulated_body_kernel
from spatialops.models.pendulum import pendulum


@kernel
def arithmetic(table: Array, out: Array) -> None:
    a, made = lanes_of(table), lanes_of(out)
    made[0] = -a[0]
    made[1] = a[0] / a[1]
    made[2] = 1.0 / a[1]
    made[3] = root(abs(a[0]))
    made[4] = less(a[0], a[1])
    made[5] = where(less(a[0], 0.0), a[1], 2.0)
    made[6] = 3.0
    made[6] -= a[0]
    total = 0.0  # a number that becomes lanes
    for i in range(a.size):
        total += a[i]
    made[7] = total


@kernel
def questions(table: Array, out: Array) -> None:
    a = lanes_of(table)
    out[0] = 1.0 if a[0] < 1.0 else 0.0
    out[1] = 1.0 if a[0] > 1.0 else 0.0
    out[2] = 1.0 if a[0] == 1.0 else 0.0
    out[3] = 1.0 if not a[0] < 1.0 else 0.0


def test_arithmetic_and_choices_are_those_of_numpy() -> None:
    a = np.random.default_rng(2).normal(size=(3, WIDTH))
    a[0, 3] = np.nan
    made = np.empty((8, WIDTH))
    arithmetic(a, made)
    chosen = np.where(a[0] < 0.0, a[1], 2.0)
    expected = [-a[0], a[0] / a[1], 1.0 / a[1], np.sqrt(abs(a[0])), a[0] < a[1], chosen, 3.0 - a[0]]
    np.testing.assert_array_equal(made[:7], expected)
    np.testing.assert_array_equal(made[7], a[0] + a[1] + a[2])


@pytest.mark.parametrize(
    ("values", "answers"),
    [
        (np.zeros(WIDTH), [1.0, 0.0, 0.0, 0.0]),
        (np.ones(WIDTH), [0.0, 0.0, 1.0, 1.0]),
        (np.full(WIDTH, 2.0), [0.0, 1.0, 0.0, 1.0]),
        (np.arange(WIDTH), [0.0, 0.0, 0.0, 1.0]),
        (np.full(WIDTH, np.nan), [0.0, 0.0, 0.0, 1.0]),
    ],
)
def test_comparisons_ask_about_all_lanes(values: Array, answers: list[float]) -> None:
    out = np.empty(4)
    questions(np.array([values], dtype=float), out)
    np.testing.assert_array_equal(out, answers)


@kernel
def eight_times(
    tree: Array,
    links: Array,
    q: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    a: Array,
) -> int:
    return articulated_body_kernel(
        tree, links, lanes_of(q), lanes_of(v), lanes_of(tau), external, lanes_of(work), lanes_of(a)
    )


def test_a_kernel_of_one_mechanism_takes_eight_states_of_it() -> None:
    model = pendulum(3).model
    rng = np.random.default_rng(3)
    q, v, tau = rng.normal(size=(3, 3, WIDTH))
    a, work = np.empty((3, WIDTH)), np.zeros((3, 64, WIDTH))
    none = np.zeros((0, 6))
    assert eight_times(model.tree, model.links, q, v, tau, none, work, a) == 0
    for lane in range(WIDTH):
        alone, own = np.empty(3), np.zeros((3, 64))
        states = (np.ascontiguousarray(x[:, lane]) for x in (q, v, tau))
        articulated_body_kernel(model.tree, model.links, *states, none, own, alone)
        np.testing.assert_array_equal(a[:, lane], alone)
        np.testing.assert_array_equal(work[:, 61, lane], own[:, 61])
