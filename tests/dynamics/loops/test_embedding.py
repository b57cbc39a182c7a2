"""Constraint embedding against multipliers, and which links it takes together."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spatialops as so
from spatialops.compare.problems import linkage_tower
from spatialops.dynamics.loops.aggregates import aggregates
from spatialops.errors import ArgumentError, ModelError
from tests.support.loops import onto, random_loops
from tests.support.trees import random_tree

HINGE = so.Joint("revolute", axis="y")


def closed(model, count, rng):
    """Coordinates and velocities of `linkage_tower` that are closed."""
    q, v = np.zeros((count, 4)), np.zeros((count, 4))
    for x in (q, v):
        x[:, 0] = x[:, 2] = rng.uniform(-1.0, 1.0, count)
        x[:, 1], x[:, 3] = -x[:, 0], rng.normal(size=count)
    return q.ravel(), v.ravel()


@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees_with_every_closure_move_as_by_multipliers(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 9)))
    q, tau = model.random(rng), rng.normal(size=model.nv)
    loops = random_loops(rng, model, q, int(rng.integers(1, 4)))
    assume(loops.n_rows)
    G = so.loop_jacobian(model, loops, q)
    singular = np.linalg.svd(G, compute_uv=False)
    assume(singular[singular > 1e-12 * singular[0]].min() > 1e-3)  # else nobody knows the rank
    v = onto(G, rng.normal(size=model.nv))
    wrench = rng.normal(size=(model.n_bodies, 6))
    expected = so.constrained_dynamics(model, loops, q, v, tau, wrench).accelerations
    found = so.ConstraintEmbedding(model, loops).forward_dynamics(q, v, tau, wrench)
    assert np.abs(found - expected).max() < 1e-10 * (1.0 + np.abs(expected).max())


def test_a_tower_of_linkages_moves_as_by_multipliers(rng):
    count = 8
    model, loops = linkage_tower(count)
    q, v = closed(model, count, rng)
    assert np.abs(so.loop_errors(model, loops, q)).max() < 1e-14
    assert np.abs(so.loop_velocities(model, loops, q, v)).max() < 1e-14
    tau = rng.normal(size=model.nv)
    motion = so.constrained_dynamics(model, loops, q, v, tau)
    assert motion.rank == 2 * count
    embedding = so.ConstraintEmbedding(model, loops)
    a = embedding.forward_dynamics(q, v, tau)
    assert np.abs(a - motion.accelerations).max() < 1e-10 * np.abs(a).max()
    # Each linkage is an aggregate of three bodies; rods are tied by nothing.
    assert embedding.bodies == tuple(
        (f"crank {i}", f"coupler {i}", f"rocker {i}") for i in range(count)
    )


def test_memory_is_linear_in_the_links():
    """Neither G nor anything else of rows by links is formed."""
    peaks = []
    for count in (10, 100):
        model, loops = linkage_tower(count)
        embedding, still = so.ConstraintEmbedding(model, loops), np.zeros(model.nv)
        tracemalloc.start()
        embedding.forward_dynamics(still, still, still)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 11.0 * peaks[0]


def test_without_closures_it_is_the_articulated_body_recursion(rng):
    model = random_tree(rng, 9)
    q = model.random(rng)
    v = rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    found = so.ConstraintEmbedding(model, []).forward_dynamics(q, v, tau)
    expected = so.forward_dynamics(model, q, v, tau)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()


def test_a_driven_closure_gives_what_it_asks_for(rng):
    model, _ = linkage_tower(1)
    pin = {"joints": {model.joint_names[0]: 1.0}, "offset": 0.0}
    turning = so.Loop(kind="coupler", rate=lambda t: [0.3 + 2.0 * t], name="drive", **pin)
    loops = so.Loops(model, [turning])
    v, tau = np.array([0.3, 0.1, -0.2, 0.4]), rng.normal(size=4)
    q = rng.normal(size=4)
    found = so.ConstraintEmbedding(model, loops).forward_dynamics(q, v, tau)
    assert found[0] == pytest.approx(2.0, abs=1e-9)
    expected = so.constrained_dynamics(model, loops, q, v, tau).accelerations
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def test_a_drive_turns_armatures_too(rng):
    builder, above = so.TreeBuilder(), "world"
    ball = so.Inertia.sphere(0.1, mass=1.0)
    for i in range(3):
        hinge = so.Joint("revolute", axis="y", armature=0.5 + i)
        builder.add_body(f"b{i}", parent=above, joint=hinge, inertia=ball)
        above = f"b{i}"
    model = builder.build()
    apart = {model.joint_names[1]: 1.0, model.joint_names[2]: -1.0}
    drive = so.Loop(kind="coupler", joints=apart, rate=lambda t: 2.0 * t)
    loops = so.Loops(model, [drive])
    q, tau = rng.normal(size=3), rng.normal(size=3)
    v = np.zeros(3)
    found = so.ConstraintEmbedding(model, loops).forward_dynamics(q, v, tau)
    expected = so.constrained_dynamics(model, loops, q, v, tau)
    assert np.abs(found - expected.accelerations).max() < 1e-12
    M = so.mass_matrix(model, q)
    held = so.loop_jacobian(model, loops, q).T @ expected.multipliers
    left = M @ found + so.bias(model, q, v) - tau
    assert np.abs(np.abs(left) - np.abs(held)).max() < 1e-10


def test_aggregates_share_no_link_and_hang_on_one():
    """Closures that overlap are one; the tree is ordered; parents are outside."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 12)
        loops = random_loops(rng, model, model.random(rng), 4)
        found = aggregates(loops)
        assert sorted(found.members) == list(range(model.nv))
        up = model.tree[:, 0]
        group = np.empty(model.nv, dtype=int)
        for g, parent in enumerate(found.parents):
            own = found.members[found.starts[g] : found.starts[g + 1]]
            group[own] = g
            assert {int(up[k]) for k in own} - set(own.tolist()) == {int(parent)}
            assert parent < 0 or group[parent] < g
        for terms, row in zip(loops.term_ints, loops.term_ints[:, 0], strict=True):
            tied, outside = found.of_row[row], found.parents[found.of_row[row]]
            assert all(k == outside or (k >= 0 and group[k] == tied) for k in terms[1:3])


def test_what_cannot_move_is_said():
    builder = so.TreeBuilder()
    for name, parent in (("one", "world"), ("other", "one")):
        point = so.Inertia(1.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
        builder.add_body(name, parent=parent, joint=HINGE, inertia=point)
    model = builder.build()
    geared = so.Loop(kind="coupler", joints=dict.fromkeys(model.joint_names, 1.0))
    embedding = so.ConstraintEmbedding(model, geared)
    with pytest.raises(ModelError, match="'one', 'other'"):
        embedding.forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))
    for wrong in ([0.0], [0.0, np.nan]):
        with pytest.raises(ArgumentError, match="tau"):
            embedding.forward_dynamics(np.zeros(2), np.zeros(2), wrong)
