"""Forces of the step before are taken over where they hold, and the motion is none the worse."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state

BOX = (0.2, 0.2, 0.2)


def boxes_on_a_floor(count, spacing=0.2, friction=0.5):
    """Boxes on each other (or above each other), at rest."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=friction)]
    for k in range(count):
        place = (0.0, 0.0, 0.1 + spacing * k)
        builder.add_body(
            f"b{k}", joint="free", inertia=so.Inertia.box(BOX, mass=1.0), position=place
        )
        geoms.append(so.Geom(f"b{k}", f"b{k}", so.Box(BOX), friction=friction))
    return so.Scene(builder.build(), geoms)


def stepped(scene, steps, state=None):
    """Tables after so many steps, and how often the forces of the step before were taken over."""
    simulator = so.Simulator(scene, dt=1e-3)
    t = simulator.stepping.tables(steps=(steps, steps))
    now, held = state or scene.state, 0
    for _ in range(steps):
        load_state(t, now, np.zeros(scene.model.nv), 1)
        t = simulator.stepping.advance(t)
        held += int(t.control[at.HOLDS])
        now = so.State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]))
        t.control[[at.ROWS, at.CONTACT_ROWS]] = 0
    return t, held


@pytest.mark.parametrize("count", [1, 3])
def test_at_rest_they_hold_for_good(count):
    scene = boxes_on_a_floor(count)
    t, held = stepped(scene, 60)
    assert held >= 45
    assert np.abs(t.v).max() < 1e-14
    assert t.q == pytest.approx(scene.state.q, abs=1e-15)
    weight = np.abs(t.forces[:, 2]).sum()
    assert weight == pytest.approx(9.81 * count * (count + 1) / 2.0, rel=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize(("count", "share"), [(5, 0.9), (20, 0.5)])
def test_towers_come_to_rest_and_creep_no_more(count, share):
    # Roundings of gaps ask for nothing, and forces just found are looked at more strictly.
    scene = boxes_on_a_floor(count)
    t, _ = stepped(scene, 100)
    state = so.State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]))
    t, held = stepped(scene, 1000, state)
    assert held >= share * 1000
    # Of 20 boxes the speed of one step is 3e-13 to 3e-12 by rounding, and comes to nothing.
    assert np.abs(t.v).max() < 1e-11
    assert np.abs(t.q - state.q).max() < 1e-12


def test_what_slides_or_is_pushed_is_solved():
    scene = boxes_on_a_floor(1)
    v = np.array([0.0, 0.0, 0.0, 0.3, 0.0, 0.0])  # spin, then velocity
    t, _ = stepped(scene, 20, so.State(scene.state.q, v))
    slip = 0.3 - 0.5 * 9.81 * 20e-3
    assert np.abs(t.v).max() == pytest.approx(slip, rel=1e-9)
    pushed = so.Simulator(scene, dt=1e-3)
    state = scene.state
    for push in (0.0, 0.0, 0.0, 3.0, 3.0, 0.0):
        tau = np.array([0.0, 0.0, 0.0, push, 0.0, 0.0])
        state, info = pushed.step(state, tau)
        assert info.contacts.impulses[:, 0].sum() == pytest.approx(9.81e-3, rel=1e-9)
        assert np.abs(info.contacts.impulses[:, 1:].sum(axis=0)).max() == pytest.approx(
            push * 1e-3, abs=1e-12
        )
        assert np.abs(state.v).max() < 1e-12


def test_stops_and_dry_friction_hold_too():
    """A pendulum that lies at its stop, and one that its dry friction holds up."""
    builder = so.TreeBuilder()
    for name, joint in (
        ("stopped", so.Joint("revolute", axis="y", lower=-0.4, upper=0.4)),
        ("held", so.Joint("revolute", axis="y", dry_friction=5.0)),
    ):
        inertia = so.Inertia.sphere(0.05, mass=1.0).shifted((0.3, 0.0, 0.0))
        builder.add_body(name, joint=joint, inertia=inertia)
    model = builder.build()
    scene = so.Scene(model, [])
    t, held = stepped(scene, 40, so.State(np.array([0.4, 0.1]), np.zeros(2)))
    assert held >= 30
    assert t.q == pytest.approx([0.4, 0.1], abs=1e-14)
