"""Moving on the manifold of coordinates."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import spatialops as so
from tests.support.trees import random_tree, relative_error

SEEDS = st.integers(0, 2**32 - 1)


def quaternion_starts(model):
    pairs = zip(model.joint_names, model.joint_kinds)
    return [model.q_slice(name).stop - 4 for name, kind in pairs if kind in ("ball", "free")]


def free_body():
    return (
        so.TreeBuilder()
        .add_body("a", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
        .build()
    )


@given(SEEDS, st.floats(1e-14, 1.7))
def test_difference_undoes_integrate(seed, size):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5)
    q, dv = (
        model.random(rng),
        size * rng.uniform(-1.0, 1.0, model.nv),
    )  # turns below pi: |(1.7, 1.7, 1.7)| < pi
    assert np.allclose(
        so.difference(model, q, so.integrate(model, q, dv)), dv, rtol=1e-9, atol=1e-14
    )


@given(SEEDS)
def test_integrate_undoes_difference(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5)
    q0, q1 = model.random(rng), model.random(rng)
    q = so.integrate(model, q0, so.difference(model, q0, q1))
    for i in quaternion_starts(model):  # q and -q are the same rotation
        q[i : i + 4] *= np.sign(q[i : i + 4] @ q1[i : i + 4])
    assert np.allclose(q, q1, atol=1e-9)


@given(SEEDS, st.floats(0.0, 1e3))
def test_quaternions_keep_their_length(seed, size):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 4, kinds=("ball", "free"))
    q = so.integrate(model, model.random(rng), size * rng.normal(size=model.nv))
    for i in quaternion_starts(model):
        assert np.linalg.norm(q[i : i + 4]) == pytest.approx(1.0, abs=1e-14)


def test_opposite_quaternions_are_no_difference(rng):
    model = free_body()
    q = model.random(rng)
    other = q.copy()
    other[3:] *= -1.0
    assert np.abs(so.difference(model, q, other)).max() < 1e-15


def test_a_free_body_moves_along_its_own_axes(rng):
    model, turn = free_body(), Rotation.random(rng=rng)
    q = np.concatenate([[1.0, 2.0, 3.0], turn.as_quat()])
    dv = rng.normal(size=6)
    result = so.integrate(model, q, dv)
    assert np.allclose(result[:3], q[:3] + turn.apply(dv[3:]))
    assert np.allclose(
        Rotation.from_quat(result[3:]).as_matrix(),
        (turn * Rotation.from_rotvec(dv[:3])).as_matrix(),
    )


def test_integrate_is_the_derivative_of_poses(model, state):
    q, v, _ = state
    nodes = [so.Node(b, (0.3, -0.1, 0.2)) for b in range(model.n_bodies)]
    h = 1e-6
    moved = [
        so.node_positions(model, so.integrate(model, q, s * h * v), nodes) for s in (1.0, -1.0)
    ]
    expected = so.node_velocities(model, q, v, nodes)[:, 3:]
    assert relative_error((moved[0] - moved[1]) / (2.0 * h), expected) < 1e-7


def test_output_may_be_given(model, state):
    q, v, _ = state
    out, dv = np.empty(model.nq), np.empty(model.nv)
    assert so.integrate(model, q, v, out=out) is out
    assert np.array_equal(out, so.integrate(model, q, v))
    assert so.difference(model, q, out, out=dv) is dv
    assert so.integrate(model, q, v, out=q) is q  # in place
    assert np.array_equal(q, out)


def test_states_are_checked(model, state):
    q, v, _ = state
    make: Any = so.State
    checked = make(q.tolist(), v.tolist(), 1).checked(model)
    assert np.allclose(checked.q, q)
    assert checked.time == 1.0
    checked.q[:] = 0.0
    assert q.any()
    for bad in (
        so.State(q[:-1], v),
        so.State(q, np.append(v, 0.0)),
        so.State(np.full(model.nq, np.nan), v),
        so.State(q, v, np.inf),
        make(q, v, None),
        make(q, v, "now"),
        make(None, v),
        make("q", v),
    ):
        with pytest.raises(so.errors.ArgumentError):
            bad.checked(model)


def test_states_get_unit_quaternions():
    model = free_body()
    state = so.State(np.array([0, 0, 0, 0, 0, 0, 5.0]), np.zeros(6)).checked(model)
    assert np.array_equal(state.q, [0, 0, 0, 0, 0, 0, 1.0])
    with pytest.raises(so.errors.ArgumentError, match="quaternion at index 3 is zero"):
        so.State(np.zeros(7), np.zeros(6)).checked(model)


@pytest.mark.parametrize("which", [0, 1])
def test_a_difference_of_what_is_no_number_is_refused(which):
    model = so.models.pendulum(2).model
    ends = [np.zeros(2), np.zeros(2)]
    ends[which][1] = np.nan
    with pytest.raises(so.errors.ArgumentError, match=f"q{which}: holds NaN"):
        so.difference(model, *ends)
