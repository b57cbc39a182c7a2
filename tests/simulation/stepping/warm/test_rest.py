"""Steps that would change nothing are counted, not made: the same to the bit, whatever comes."""

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.jit import COMPILED
from spatialops.bench.contacts.mechanisms import lying_chain
from spatialops.bench.contacts.piles import balls, boxes, tower
from spatialops.bench.contacts.robots import gripped_box, held_wheel
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping import contact_stage
from spatialops.simulation.stepping.adapter import load_new
from spatialops.simulation.stepping.held.watched_steps import advance_held

AWAKE = so.TimeStepping(sleep=False)


def same_records(a, b):
    """Whether all that two runs have recorded is the same, to the bit."""
    names = ("times", "q", "v", "energy", "residuals", "contact_records", "events")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def both(scene, steps, dt=1e-3, **options):
    """Records with and without sleep."""
    every, controller = options.pop("record_every", 1), options.pop("controller", None)
    external, law = options.pop("external", None), options.pop("law", "coulomb")
    found = []
    for time in (so.TimeStepping(), AWAKE):
        simulator = so.Simulator(scene, dt=dt, time=time, law=law, **options)
        found.append(
            simulator.run(
                duration=steps * dt,
                record_every=every,
                controller=controller,
                external=external,
            )
        )
    return found


def loop_after(scene, steps, dt=1e-3):
    """The compiled loop of a run, after so many steps in one call."""
    simulator = so.Simulator(scene, dt=dt)
    loop = simulator.stepping_runner("test").loop((steps, steps + 2))
    load_new(loop.tables, scene.state)
    loop.tables.control[at.EVERY] = 1 << 40
    loop.tables.control[at.STEPS_LEFT] = steps
    loop.advance(advance_held)
    return loop


SCENES = {
    "balls": lambda: balls(3).scene,
    "boxes": lambda: boxes(3).scene,
    "tower": lambda: tower(4).scene,
    "chain": lambda: lying_chain(5).scene,
}


@pytest.mark.parametrize("name", SCENES)
def test_what_rests_is_not_computed_again(name):
    """Contacts are not even looked at, and nothing moves by a bit."""
    scene = SCENES[name]()
    loop = loop_after(scene, 60)
    t = loop.tables
    assert t.control[at.STILL] > 0
    looks, q = int(t.control[at.LOOKS]), t.q.copy()
    t.control[at.ROWS] = t.control[at.CONTACT_ROWS] = 0
    t.control[at.STEPS_LEFT] = 20
    loop.advance(advance_held)
    assert t.control[at.LOOKS] == looks
    assert np.array_equal(t.q, q)
    assert t.control[at.STEP] == 80
    assert not t.v.any()


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("name", SCENES)
def test_rest_is_the_same_to_the_bit(name, every):
    a, b = both(SCENES[name](), 60, record_every=every)
    assert same_records(a, b)
    assert a.metadata["contact_problems"] == b.metadata["contact_problems"]
    assert a.metadata["warm_started"] == b.metadata["warm_started"]


def test_a_push_wakes_to_the_bit():
    """A force on a joint, which grows until one box slides, is let go, and the box rests again."""
    scene = boxes(2).scene
    seen = []

    def push(time, state, contacts):
        tau = np.zeros(scene.model.nv)
        tau[3] = 60.0 * np.sin(np.pi * min(max(time - 0.03, 0.0), 0.06) / 0.06)
        seen.append(state.v.any())
        return tau

    a, b = both(scene, 300, controller=push)
    assert same_records(a, b)
    assert not seen[25]
    assert np.abs(a.v[40:90]).max() > 1e-3
    assert not a.v[-1].any()


def test_a_wrench_and_a_body_that_falls_wake_to_the_bit():
    scene = balls(2).scene
    wrench = np.zeros((2, 6))

    def gust(time, state):
        wrench[0, 3] = 0.5 if 0.04 <= time < 0.05 else 0.0
        return wrench

    a, b = both(scene, 90, external=gust)
    assert same_records(a, b)
    assert np.abs(a.v).max() > 1e-4
    fallen = boxes(2).scene
    high = fallen.state.q.copy()
    high[2] += 0.05
    fallen.state = so.State(high, fallen.state.v)
    a, b = both(fallen, 250)
    assert same_records(a, b)
    assert len(a.events)
    assert not a.v[-1].any()


@pytest.mark.skipif(COMPILED, reason="it is merged into the compiled loop")
@pytest.mark.parametrize("name", SCENES)
def test_forces_that_only_rows_show_to_hold_rest_too(name, monkeypatch):
    """As of what is wedged, by impulses whose roundings are more than its weight allows.

    They stay what they were to the bit where the solver takes them as they are.
    """
    monkeypatch.setattr(contact_stage, "still_holds", lambda t: False)
    loop = loop_after(SCENES[name](), 40)
    t = loop.tables
    assert t.control[at.HOLDS] == 2
    assert t.control[at.STILL] > 0
    assert not t.v.any()


@pytest.mark.compiled
def test_a_box_that_light_fingers_hold_rests():
    """What is left of its velocity is nothing of what contacts take from the fingers."""
    held = gripped_box()
    simulator = so.Simulator(held.scene, dt=1e-3)
    record = simulator.run(
        duration=1.5, controller=lambda time, state, contacts: held.control(state)
    )
    assert not record.v[-1].any()
    assert np.array_equal(record.q[-1], record.q[-20])


@pytest.mark.compiled
@pytest.mark.parametrize("hold", [1, 5])
def test_forces_of_what_rests_do_not_creep(hold):
    """Rows of a wheel in two hands disagree by roundings; by how much depends on the last bits."""
    held = held_wheel()
    forces = []

    def control(time, state, contacts):
        anew = not forces or len(forces) % hold == 1 % hold
        forces.append(held.control(state) if anew else forces[-1])
        return forces[-1]

    record = so.Simulator(held.scene, dt=1e-3).run(duration=1.5, controller=control)
    times = record.contact_records[:, 0]
    last, before = (record.contact_records[times == k, 1:] for k in np.unique(times)[[-1, -21]])
    assert not record.v[-1].any()
    assert len(last) == 26
    assert np.array_equal(last, before)


@pytest.mark.parametrize("law", ["no-slip", "cone", "frictionless", "viscous"])
def test_every_law_rests_to_the_bit(law):
    assert same_records(*both(tower(3).scene, 50, law=law))


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_other_integrators_rest_to_the_bit(integrator):
    a, b = both(boxes(2).scene, 50, integrator=integrator)
    assert same_records(a, b)
    assert not a.v[-1].any()


def test_joints_that_rest_on_stops_and_dry_friction():
    """What they did in the steps that were counted is summed up as ever."""
    builder = so.TreeBuilder()
    joint = so.Joint("revolute", axis="y", lower=-0.2, upper=0.1, dry_friction=0.05)
    inertia = so.Inertia.box((0.3, 0.05, 0.05), mass=1.0).shifted((0.15, 0.0, 0.0))
    builder.add_body("arm", joint=joint, inertia=inertia)
    scene = so.Scene(builder.build())
    a, b = both(scene, 900, record_every=3)
    assert same_records(a, b)
    assert np.array_equal(a.stop_impulses, b.stop_impulses)
    assert np.array_equal(a.dry_impulses, b.dry_impulses)
    assert not a.v[-1].any()


def test_a_run_that_goes_on_is_the_same():
    """Killed and resumed while all rests."""
    scene = tower(3).scene
    whole = so.Simulator(scene, dt=1e-3).run(duration=0.12)
    simulator = so.Simulator(scene, dt=1e-3)
    stepper = simulator.stepper()
    for _ in range(60):
        stepper.step(np.zeros(scene.model.nv))
    assert np.array_equal(stepper.q, whole.q[60])
    other = so.Simulator(scene, dt=1e-3).stepper()
    other.restore(stepper.save())
    for _ in range(60):
        other.step(np.zeros(scene.model.nv))
    assert np.array_equal(other.q, whole.q[120])
    assert np.array_equal(other.v, whole.v[120])


def test_tiny_forces_are_no_roundings():
    """A ball without friction gains what 1e-9 of its weight gives it."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("ball", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.0),
        so.Geom("ball", "ball", so.Sphere(0.1), friction=0.0),
    ]
    q = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    scene = so.Scene(builder.build(), geoms, state=so.State(q, np.zeros(6)))
    tau = np.array([0.0, 0.0, 0.0, 1e-8, 0.0, 0.0])
    record = so.Simulator(scene, dt=1e-3).run(duration=1.0, controller=lambda *_: tau)
    assert record.v[-1, 3] == pytest.approx(1e-8, rel=1e-6)


def test_sleep_is_true_or_false():
    with pytest.raises(ArgumentError, match="sleep"):
        so.TimeStepping(sleep=1)
