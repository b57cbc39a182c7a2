"""What a step knows of the one before: forces of the same contacts, and nothing of other states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spatialops as so
from spatialops._compile.jit import COMPILED
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.warm import impulse_memory
from tests.simulation.stepping.test_grips import grip, least


def squeezed(scene, force=10.0):
    tau = np.zeros(scene.model.nv)
    tau[0] = 4 * 0.2 * 9.81
    tau[1], tau[2] = force * least(0.3), -force * least(0.3)
    return tau


def followed(simulator, state, tau, steps):
    """States and normal impulses of so many steps."""
    found = []
    for _ in range(steps):
        state, info = simulator.step(state, tau)
        found.append(np.concatenate([state.q, state.v, info.contacts.impulses.ravel()]))
    return state, found


@pytest.mark.compiled
def test_steps_are_those_of_a_run_to_the_bit():
    scene = grip("box", 0.3)
    tau = squeezed(scene)
    state, _ = followed(so.Simulator(scene, dt=1e-3), scene.state, tau, 20)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.02, controller=lambda *_: tau)
    assert np.array_equal(record.q[-1], state.q)
    assert np.array_equal(record.v[-1], state.v)


@pytest.mark.compiled
def test_a_step_from_another_state_remembers_nothing():
    scene = grip("box", 0.3)
    used = so.Simulator(scene, dt=1e-3)
    followed(used, scene.state, squeezed(scene, 40.0), 5)
    tau = squeezed(scene)
    again = followed(used, scene.state, tau, 3)[1]
    fresh = followed(so.Simulator(scene, dt=1e-3), scene.state, tau, 3)[1]
    assert all(np.array_equal(a, b) for a, b in zip(again, fresh, strict=True))


@pytest.mark.compiled
def test_forces_follow_the_load_and_not_the_past_where_they_are_determined():
    """Twice the squeeze, one step later: the normal impulses of each jaw sum up to it."""
    scene = grip("box", 0.3)
    simulator = so.Simulator(scene, dt=1e-3)
    state, _ = followed(simulator, scene.state, squeezed(scene, 10.0), 5)
    _, info = simulator.step(state, squeezed(scene, 20.0))
    total = info.contacts.impulses[:, 0].sum()
    assert total == pytest.approx(2.0 * 20.0 * least(0.3) * 1e-3, rel=1e-9)


@pytest.mark.skipif(COMPILED, reason="it is merged into the compiled loop")
@given(data=st.data())
@settings(max_examples=100)
def test_what_acted_in_this_step_or_the_last_is_remembered_by_name(data):
    """Against a dictionary, over steps in which pairs have more and fewer contacts."""
    t = so.Simulator(stack(), dt=1e-3).stepping.tables(ROOM)
    t.monitor[at.PIECE] = 1e-3
    t.floats[:, [col.NORMAL, col.TANGENT + 1, col.SECOND + 2]] = 1.0
    known = {}
    for step in range(data.draw(st.integers(1, 12))):
        t.control[at.STEP] = step
        names = data.draw(contact_names(count_pairs(t.pair_runs)))
        put_acting(t, names)
        for i, name in enumerate(names):
            value, since = known.get(name, (0.0, -2))
            row = impulse_memory.remembered(t, i)
            assert (row >= 0) == (since >= step - 1)
            if row >= 0:
                assert t.forces[row, 0] == value
        t.impulses[: 3 * len(names)] = np.repeat(np.arange(len(names)) + 100.0 * step, 3)
        impulse_memory.store_impulses(t)
        acting = {name[0] for name in names}
        known = {name: kept for name, kept in known.items() if name[0] not in acting}
        for i, name in enumerate(names):
            known[name] = t.impulses[3 * i] / t.monitor[at.PIECE], step
        assert t.control[at.MEMORY_ROWS] <= len(t.memory)


ROOM = 12


def stack():
    """Four balls: ten pairs, the floor's among them."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace())]
    for i in range(4):
        name = f"ball {i}"
        inertia = so.Inertia.sphere(0.1, mass=1.0)
        builder.add_body(name, joint="free", inertia=inertia, position=(0.0, 0.0, 0.3 * i + 0.2))
        geoms.append(so.Geom(name, name, so.Sphere(0.1)))
    return so.Scene(builder.build(), geoms)


@st.composite
def contact_names(draw, n_pairs):
    """At most `ROOM` names (pair, feature of A, feature of B), pair by pair."""
    pairs = draw(st.lists(st.integers(0, n_pairs - 1), max_size=5, unique=True))
    names = []
    for pair in sorted(pairs):
        features = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True))
        names += [(pair, feature, 1) for feature in features]
    return names[:ROOM]


def put_acting(t, names):
    t.control[at.ACTING] = len(names)
    for i, name in enumerate(names):
        t.ints[i, [col.CONTACT_PAIR, col.CONTACT_FEATURE_A, col.CONTACT_FEATURE_B]] = name


@pytest.mark.compiled
def test_room_is_for_what_acts_and_not_for_what_could():
    """Of 200 balls each could touch each; only as many act as there are contacts."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace())]
    for i in range(200):
        name = f"ball {i}"
        inertia = so.Inertia.sphere(0.1, mass=1.0)
        builder.add_body(name, joint="free", inertia=inertia, position=(0.3 * i, 0.0, 0.1))
        geoms.append(so.Geom(name, name, so.Sphere(0.1)))
    scene = so.Scene(builder.build(), geoms)
    t = so.Simulator(scene, dt=1e-3).stepping.tables()
    assert scene.most_contacts == 200 * 201 // 2
    assert len(t.memory) < 1000
    grown = so.Simulator(scene, dt=1e-3).stepping.grow(t)
    assert len(grown.contact_records) < 2.1 * len(t.contact_records)


@pytest.mark.compiled
def test_a_step_from_another_state_knows_nothing_of_its_pairs():
    """Sides of hulls that overlap are remembered while these hardly move."""
    scene = grip("box", 0.3)
    simulator = so.Simulator(scene, dt=1e-3)
    t = simulator.stepping.tables()
    load_state(t, scene.state, np.zeros(scene.model.nv), 1)
    t.remembered[:, :2] = 1.0
    t.control[at.MEMORY_ROWS] = 1
    load_state(t, scene.state, np.zeros(scene.model.nv), 1)  # where it is
    assert t.remembered[:, 0].all()
    assert t.control[at.MEMORY_ROWS] == 1
    load_state(t, so.State(scene.state.q, scene.state.v + 1e-9), np.zeros(scene.model.nv), 1)
    assert not t.remembered[:, 0].any()
    assert t.control[at.MEMORY_ROWS] == 0
