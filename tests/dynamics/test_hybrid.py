"""Hybrid dynamics between forward and inverse dynamics, on trees with every kind of joint."""

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import relative_error


@pytest.fixture
def wrench(model, rng):
    return rng.normal(size=(model.n_bodies, 6))


def check(model, q, v, moved, tau, a, wrench):
    found, forces = so.hybrid_dynamics(model, q, v, moved=moved, tau=tau, a=a, external=wrench)
    mask = np.zeros(model.nv, dtype=bool)
    for name in moved:
        mask[model.v_slice(name)] = True
    assert (found[mask] == a[mask]).all()
    assert (forces[~mask] == tau[~mask]).all()
    assert relative_error(so.inverse_dynamics(model, q, v, found, wrench), forces) < 1e-12


def test_any_choice_of_moved_joints_obeys_newton_and_euler(model, state, wrench, rng):
    q, v, tau = state
    a = rng.normal(size=model.nv)
    for share in (0.0, 0.3, 0.7, 1.0):
        moved = [name for name in model.joint_names if rng.random() < share]
        check(model, q, v, moved, tau, a, wrench)


def test_no_joint_moved_is_forward_dynamics(model, state, wrench):
    q, v, tau = state
    a, forces = so.hybrid_dynamics(
        model, q, v, moved=[], tau=tau, a=np.zeros(model.nv), external=wrench
    )
    assert relative_error(a, so.forward_dynamics(model, q, v, tau, wrench)) < 1e-12
    assert (forces == tau).all()


def test_arguments_stay_as_they_are(model, state):
    q, v, tau = state
    before = tau.copy()
    a = np.ones(model.nv)
    so.hybrid_dynamics(model, q, v, moved=[model.joint_names[0]], tau=tau, a=a)
    assert (tau == before).all()
    assert (a == 1.0).all()


def test_a_joint_that_is_moved_need_not_have_anything_to_move():
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("prismatic", armature=0.0))
    builder.add_body("b", parent="a", joint="prismatic", inertia=so.Inertia.sphere(0.1, mass=2.0))
    model = builder.build()
    rest = np.zeros(2)
    given = np.array([3.0, 0.0])
    a, tau = so.hybrid_dynamics(model, rest, rest, moved=["a"], tau=rest, a=given)
    assert a.tolist() == [3.0, a[1]]
    assert tau[0] == pytest.approx(0.0, abs=1e-12)  # b slides freely along the same axis
    with pytest.raises(so.errors.ModelError, match="nothing to move"):
        so.hybrid_dynamics(model, rest, rest, moved=[], tau=rest, a=given)


def test_bad_input_is_refused(model, state):
    q, v, tau = state
    a = np.zeros(model.nv)
    with pytest.raises(so.errors.ArgumentError, match="nowhere"):
        so.hybrid_dynamics(model, q, v, moved=["nowhere"], tau=tau, a=a)
    with pytest.raises(so.errors.ArgumentError, match="sequence of joints' names"):
        so.hybrid_dynamics(model, q, v, moved="b0", tau=tau, a=a)
    with pytest.raises(so.errors.ArgumentError, match="tau"):
        so.hybrid_dynamics(model, q, v, moved=[], tau=np.full(model.nv, np.nan), a=a)
    with pytest.raises(so.errors.ArgumentError, match="q"):
        so.hybrid_dynamics(model, q + np.nan, v, moved=[], tau=tau, a=a)


def test_what_is_not_read_may_be_anything(model, state):
    q, v, tau = state
    given = np.full(model.nv, np.nan)
    a, _ = so.hybrid_dynamics(model, q, v, moved=[], tau=tau, a=given)
    assert np.isfinite(a).all()
