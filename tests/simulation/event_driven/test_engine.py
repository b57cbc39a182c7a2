"""The event-driven method against closed forms: when things happen, and what comes after."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import Box, HalfSpace, Sphere
from spatialops.contact import Compliant, Viscous
from spatialops.errors import ArgumentError, ContactError, PainleveError, PainleveWarning
from spatialops.simulation.event_log import EventLog

G, R = 9.81, 0.1


def body(
    shape,
    inertia,
    place,
    velocity=(0.0,) * 6,
    *,
    friction=0.0,
    restitution=0.0,
    gravity=(0.0, 0.0, -G),
):
    """A free body over a floor; `velocity` [angular; linear] in body axes."""
    builder = so.TreeBuilder(gravity=gravity)
    builder.add_body("body", joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    q = model.neutral()
    q[: len(place)] = place
    pair = {"friction": friction, "restitution": restitution}
    geoms = [so.Geom("floor", "world", HalfSpace(), **pair), so.Geom("body", "body", shape, **pair)]
    return so.Scene(model, geoms, state=so.State(q, np.array(velocity, dtype=float)))


def ball(height, velocity=(0.0,) * 6, **options):
    return body(Sphere(R), so.Inertia.sphere(R, mass=1.0), (0.0, 0.0, height), velocity, **options)


def block(size, velocity=(0.0,) * 6, **options):
    return body(
        Box(size), so.Inertia.box(size, mass=1.0), (0.0, 0.0, 0.5 * size[2]), velocity, **options
    )


def run(scene, duration, *, dt=0.05, controller=None, law="coulomb", threshold=0.01, **options):
    sim = so.Simulator(
        scene, dt=dt, time=so.EventDriven(**options), law=law, impact_threshold=threshold
    )
    record = sim.run(duration=duration, controller=controller)
    assert record.residuals.max() <= 1e-8
    return record


def world_velocity(record, row=-1):
    model = record.scene.model
    return so.node_velocities(model, record.q[row], record.v[row], [so.Node("body")])[0]


# ------------------------------------------------------------------------------------------ impacts


@pytest.mark.compiled
@pytest.mark.parametrize("e", [0.5, 0.8])
def test_bounces_and_the_end_of_them(e):
    # Zeno: the first impact after sqrt(2 h / g), the others after flights of 2 e^k v0 / g; all end
    # 2 e v0 / (g (1 - e)) later. An impact below the threshold is the last one: what it leaves out
    # is shorter than 2 v / (g (1 - e)).
    fall, threshold = 1.0, 1e-6
    record = run(
        ball(R + fall, restitution=e), 4.5 if e > 0.6 else 2.0, dt=0.25, threshold=threshold
    )
    speed, met = np.sqrt(2.0 * G * fall), [np.sqrt(2.0 * fall / G)]
    while speed > threshold:
        speed *= e
        met.append(met[-1] + 2.0 * speed / G)
    impacts = record.log.of("impact")
    times = np.array([event.time for event in impacts])
    assert len(times) == len(met)
    assert np.abs(times - met).max() < 1e-9
    zeno = met[0] + 2.0 * e * np.sqrt(2.0 * G * fall) / (G * (1.0 - e))
    assert 0.0 < zeno - times[-1] < 2.0 * threshold / (G * (1.0 - e))
    assert impacts[-1].after == ("stick",)
    assert np.abs(record.v[-1]).max() == 0.0
    ratio = np.array([event.energy[1] / event.energy[0] for event in impacts[:5]])
    assert ratio == pytest.approx(e**2, rel=1e-9)


@pytest.mark.compiled
def test_a_ball_that_keeps_its_energy():
    record = run(ball(R + 0.5, restitution=1.0), 10.0, dt=0.5)
    assert np.abs(record.energy / record.energy[0] - 1.0).max() < 1e-11
    assert len(record.log.of("impact")) == 1 + int((10.0 / np.sqrt(1.0 / G) - 1.0) // 2.0)


@pytest.mark.compiled
def test_a_shot_does_not_pass_through_a_thin_wall():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("body", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.01, mass=1.0))
    model = builder.build()
    v = np.array([0.0, 0.0, 0.0, 50.0, 0.0, 0.0])
    wall = so.Geom(
        "wall", "world", Box((0.01, 2.0, 2.0)), position=(5.0, 0.0, 0.0), restitution=1.0
    )
    scene = so.Scene(
        model,
        [wall, so.Geom("shot", "body", Sphere(0.01), restitution=1.0)],
        state=so.State(model.neutral(), v),
    )
    record = run(scene, 0.3, dt=0.3)
    assert [event.kind for event in record.log] == ["impact"]
    assert record.log[0].time == pytest.approx((5.0 - 0.005 - 0.01) / 50.0, abs=1e-12)
    assert record.v[-1, 3] == pytest.approx(-50.0, rel=1e-12)


@pytest.mark.parametrize("overlap", [1e-3, 1e-5, -1e-5])
def test_a_graze_is_not_missed(overlap):
    # A ball flies past another that stands still, nearly missing it: they meet where the distance
    # is 2 R.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("body", joint=so.Joint("free"), inertia=so.Inertia.sphere(R, mass=1.0))
    model = builder.build()
    q, v = model.neutral(), np.zeros(6)
    q[0] = -1.0
    q[2] = 2.0 * R - overlap
    v[3] = 4.0
    post = so.Geom("post", "world", Sphere(R), restitution=1.0)
    scene = so.Scene(
        model, [post, so.Geom("body", "body", Sphere(R), restitution=1.0)], state=so.State(q, v)
    )
    record = run(scene, 0.5, dt=0.5)
    assert len(record.log) == (overlap > 0.0)
    if overlap > 0.0:
        away = np.sqrt((2.0 * R) ** 2 - q[2] ** 2)
        assert record.log[0].time == pytest.approx((1.0 - away) / 4.0, abs=1e-12)


# ----------------------------------------------------------------------------------------- friction


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_a_sliding_ball_begins_to_roll(law):
    mu, speed = 0.3, 2.0
    record = run(ball(R, (0.0, 0.0, 0.0, speed, 0.0, 0.0), friction=mu), 0.5, dt=0.1, law=law)
    assert [event.kind for event in record.log] == ["stick"]
    assert record.log[0].time == pytest.approx(2.0 * speed / (7.0 * mu * G), abs=1e-8)
    assert record.log[0].before == ("slip",)
    assert world_velocity(record)[3] == pytest.approx(5.0 / 7.0 * speed, abs=1e-8)


@pytest.mark.compiled
def test_without_slip_a_ball_rolls_at_once():
    record = run(ball(R, (0.0, 0.0, 0.0, 7.0, 0.0, 0.0), friction=0.3), 0.1, law="no-slip")
    assert world_velocity(record)[3] == pytest.approx(5.0, abs=1e-8)
    assert [event.kind for event in record.log] == ["impact"]


def test_a_block_stops_where_friction_stops_it():
    mu, speed = 0.5, np.hypot(1.0, 0.4)
    record = run(block((0.2, 0.2, 0.1), (0.0, 0.0, 0.0, 1.0, 0.4, 0.0), friction=mu), 0.4, dt=0.1)
    assert [event.kind for event in record.log] == ["stick"]
    assert record.log[0].time == pytest.approx(speed / (mu * G), abs=1e-9)
    assert np.hypot(*record.q[-1, :2]) == pytest.approx(speed**2 / (2.0 * mu * G), abs=1e-9)
    assert np.abs(record.v[-1]).max() < 1e-12


@pytest.mark.compiled
def test_a_growing_force_makes_a_block_slip():
    mu, rate = 0.5, 10.0

    def push(time, state, contacts):
        return np.array([0.0, 0.0, 0.0, rate * time, 0.0, 0.0])

    record = run(
        block((0.2, 0.2, 0.1), friction=mu), 0.55, dt=0.55, controller=push, continuous=True
    )
    began = mu * G / rate
    assert [event.kind for event in record.log] == ["slip"]
    assert record.log[0].time == pytest.approx(began, abs=1e-7)
    assert record.log[0].after == ("slip",) * len(record.log[0].contacts)
    assert record.v[-1, 3] == pytest.approx(0.5 * rate * (0.55 - began) ** 2, rel=1e-4)


@pytest.mark.compiled
def test_a_tilting_slope_lets_a_foot_go():
    # Gravity turns: a body on one foot, held upright by a slide, slips where tan(angle) passes mu.
    mu, turn = 0.4, 0.5
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "rail", joint=so.Joint("prismatic", axis="x"), inertia=so.Inertia.sphere(0.1, mass=0.5)
    )
    builder.add_body(
        "body",
        parent="rail",
        joint=so.Joint("prismatic", axis="z"),
        inertia=so.Inertia.sphere(0.1, mass=1.5),
    )
    model = builder.build()
    pair = {"friction": mu}
    geoms = [
        so.Geom("floor", "world", HalfSpace(), **pair),
        so.Geom("foot", "body", Sphere(R), **pair),
    ]
    scene = so.Scene(model, geoms, state=so.State(np.array([0.0, R]), np.zeros(2)))

    def weigh(time, state, contacts):
        return 2.0 * G * np.array([np.sin(turn * time), -np.cos(turn * time)])

    record = run(scene, 1.0, dt=0.1, controller=weigh, continuous=True)
    assert [event.kind for event in record.log] == ["slip"]
    assert record.log[0].time == pytest.approx(np.arctan(mu) / turn, abs=1e-9)


# --------------------------------------------------------------------------------------- separation


def ladder(angle, length=2.0):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    inertia = so.Inertia(1.0, (0.0, 0.0, 0.0), np.diag([length**2 / 12.0, length**2 / 12.0, 1e-4]))
    builder.add_body("body", joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    half, small = 0.5 * length, 0.01
    geoms = [
        so.Geom("floor", "world", HalfSpace(), friction=0.0),
        so.Geom("wall", "world", HalfSpace((1.0, 0.0, 0.0)), friction=0.0),
        so.Geom("top", "body", Sphere(small), position=(0.0, 0.0, half), friction=0.0),
        so.Geom("foot", "body", Sphere(small), position=(0.0, 0.0, -half), friction=0.0),
    ]
    q = model.neutral()
    q[[0, 2]] = small + half * np.cos(angle), small + half * np.sin(angle)
    lean = -(0.5 * np.pi - angle)  # about y: the top goes to the wall at x = 0
    q[3:7] = 0.0, np.sin(0.5 * lean), 0.0, np.cos(0.5 * lean)
    return so.Scene(model, geoms, state=so.State(q, np.zeros(6)))


@pytest.mark.compiled
def test_a_ladder_leaves_the_wall():
    # Down a smooth wall and floor, from rest at an angle: it leaves the wall where sin is 2/3 of
    # that at the start.
    start = np.deg2rad(70.0)
    record = run(ladder(start), 1.2, dt=0.1, tolerance=1e-11)
    first = record.log[0]
    assert (first.kind, first.contacts, first.after) == (
        "separation",
        (("top", "wall"),),
        ("open",),
    )
    before = int(np.flatnonzero(record.times < first.time)[-1])
    left = first.time - record.times[before]
    sim = so.Simulator(record.scene, dt=left, time=so.EventDriven(tolerance=1e-11))
    state, _ = sim.step(so.State(record.q[before], record.v[before], float(record.times[before])))
    top = so.node_positions(record.scene.model, state.q, [so.Node("body", (0.0, 0.0, 1.0))])[0]
    foot = so.node_positions(record.scene.model, state.q, [so.Node("body", (0.0, 0.0, -1.0))])[0]
    assert (top[2] - foot[2]) / 2.0 == pytest.approx(2.0 / 3.0 * np.sin(start), abs=1e-7)
    until = record.times <= first.time
    assert np.abs(record.energy[until] - record.energy[0]).max() < 1e-9


@pytest.mark.parametrize("rest", [0.0, 2e-14, 5e-14, 9e-14, 1.5e-13, 1e-12])
def test_an_event_at_the_end_of_a_run(rest):
    # What is left after it is less than two times can be told apart by: the run is at its end.
    fall = np.sqrt(2.0 * 0.5 / G)
    sim = so.Simulator(ball(R + 0.5, restitution=1.0), dt=fall + rest, time=so.EventDriven())
    state, _ = sim.step(sim.scene.state)
    assert state.time == fall + rest
    assert state.q[2] == pytest.approx(R, abs=1e-11)
    assert abs(state.v[5]) == pytest.approx(G * fall, abs=1e-11)


@pytest.mark.compiled
def test_a_rocking_block():
    # G. W. Housner (1963): an inelastic impact of the base leaves 1 - 3/2 sin^2(alpha) of the rate,
    # tan(alpha) = b / h.
    width, height = 0.4, 1.0
    scene = block((width, 0.5, height), friction=2.0)
    tilt = 0.1
    q = scene.state.q.copy()
    corner = np.array([0.5 * width, -0.5 * height])
    turned = np.array([[np.cos(tilt), np.sin(tilt)], [-np.sin(tilt), np.cos(tilt)]]) @ corner
    q[2] = -turned[1]
    q[4] = np.sin(0.5 * tilt)
    q[6] = np.cos(0.5 * tilt)
    scene = so.Scene(scene.model, scene.geoms, state=so.State(q, np.zeros(6)))
    record = run(scene, 0.6, dt=0.05)
    hit = record.log[0]
    assert hit.kind == "impact"
    alpha = np.arctan(width / height)
    assert np.sqrt(hit.energy[1] / hit.energy[0]) == pytest.approx(
        1.0 - 1.5 * np.sin(alpha) ** 2, abs=1e-9
    )
    # About the corner R from the middle: I w^2 / 2 is what the middle has come down by.
    radius = 0.5 * np.hypot(width, height)
    fallen = radius * (np.cos(alpha - tilt) - np.cos(alpha))
    assert hit.energy[0] == pytest.approx(G * fallen, rel=1e-8)


# ----------------------------------------------------------------------------------------- Painleve


def rod(angle, mu, speed=1.0, rate=0.0, length=1.0):
    """A rod that slides on its lower end along x, `angle` from the floor, its upper end behind."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    thin = so.Inertia(1.0, (0.0, 0.0, 0.0), np.diag([length**2 / 12.0, length**2 / 12.0, 1e-4]))
    builder.add_body("body", joint=so.Joint("free"), inertia=thin)
    model = builder.build()
    small = 1e-6
    geoms = [
        so.Geom("floor", "world", HalfSpace(), friction=mu),
        so.Geom("tip", "body", Sphere(small), position=(0.0, 0.0, -0.5 * length), friction=mu),
    ]
    q = model.neutral()
    lean = -(0.5 * np.pi - angle)
    q[2] = small + 0.5 * length * np.sin(angle)
    q[3:7] = 0.0, np.sin(0.5 * lean), 0.0, np.cos(0.5 * lean)
    # The tip slides along x, in world axes; it turns about y.
    turn = so.body_poses(model, q).rotations[0]
    arm = turn @ np.array([0.0, 0.0, -0.5 * length])
    omega = np.array([0.0, rate, 0.0])
    v = np.concatenate(
        [turn.T @ omega, turn.T @ (np.array([speed, 0.0, 0.0]) - np.cross(omega, arm))]
    )
    return so.Scene(model, geoms, state=so.State(q, v))


@pytest.mark.compiled
def test_painleve_is_called_by_its_name():
    # m a_n = f (1 + 3 cos^2 - 3 mu sin cos) - m g: for mu > 4/3 the bracket can be negative, and no
    # force keeps it up.
    angle, mu = np.deg2rad(60.0), 3.0
    assert 1.0 + 3.0 * np.cos(angle) ** 2 - 3.0 * mu * np.sin(angle) * np.cos(angle) < 0.0
    with pytest.raises(PainleveError, match="tip on floor"):
        run(rod(angle, mu, speed=1.0), 0.05)
    # Turning fast enough its tip would leave by itself: with friction there are two answers.
    with pytest.warns(PainleveWarning, match="tip on floor"):
        run(rod(angle, mu, speed=1.0, rate=8.0), 1e-3, dt=1e-3)
    # The other way it slides without a paradox.
    record = run(rod(angle, mu, speed=-1.0), 0.02, dt=0.01)
    assert record.penetrations.max() < 1e-9


# ----------------------------------------------------------------------------------------- the rule


@pytest.mark.compiled
@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("dormand-prince", 5)])
def test_order_of_the_rule(method, order):
    from spatialops.simulation.event_driven.runge_kutta import RungeKutta

    scene = so.models.pendulum(2).scene()
    model = scene.model
    rule = RungeKutta(model.tree, method, 1e300)
    q0, v0 = np.array([1.0, 0.5]), np.array([0.3, -0.2])

    def accelerations(time, q, v):
        return so.forward_dynamics(model, q, v, np.zeros(2))

    def end(n):
        q, v = q0, v0
        for i in range(n):
            q, v, _ = rule.step(accelerations, i / n, q, v, 0.5 / n)
        return np.concatenate([q, v])

    reference = end(640)
    errors = [np.abs(end(n) - reference).max() for n in (5, 10, 20)]
    assert np.log2(errors[0] / errors[1]) > order - 0.5
    assert np.log2(errors[1] / errors[2]) > order - 0.5


@pytest.mark.compiled
def test_time_stepping_converges_to_it():
    speeds = (1.0, -2.0, 0.5, 2.0, 0.7, -1.0)
    scene = ball(R + 0.3, speeds, friction=0.2, restitution=0.5)
    exact = run(scene, 1.0, dt=0.25, threshold=1e-3)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3, 5e-4):
        record = so.Simulator(scene, dt=dt, law="cone", impact_threshold=1e-3).run(duration=1.0)
        errors.append(np.abs(so.difference(scene.model, exact.q[-1], record.q[-1])).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 1e-5
    assert np.mean(orders[1:]) > 0.8  # the longest step is better than that already


# --------------------------------------------------------------------------------------- mechanisms


@pytest.mark.compiled
def test_a_loop_stays_closed_and_keeps_its_energy():
    scene = so.models.four_bar().scene()
    record = run(scene, 1.0, dt=0.1, tolerance=1e-10)
    assert record.closure_errors.max() < 1e-12
    assert np.abs(record.energy - record.energy[0]).max() < 1e-8 * np.ptp(record.kinetic)
    fine = so.Simulator(scene, dt=1e-3, integrator="rk4").run(duration=1.0)
    assert np.abs(fine.q[-1] - record.q[-1]).max() < 1e-6


@pytest.mark.compiled
def test_a_closed_mechanism_falls_on_its_feet():
    # A planar loop with two redundant rows under a free body: trial states, which are a bit open,
    # must not lock it.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body("base", joint=so.Joint("free"), inertia=so.Inertia.sphere(R, mass=1.0))
    thin = so.Inertia.sphere(0.05, mass=0.3)
    for side, x in (("left", 0.2), ("right", -0.2)):
        hip, knee = (
            so.Joint("revolute", axis="y", name=f"{side} hip"),
            so.Joint("revolute", axis="y"),
        )
        builder.add_body(
            f"{side} leg", parent="base", joint=hip, position=(x, 0.0, 0.0), inertia=thin
        )
        builder.add_body(
            side, parent=f"{side} leg", joint=knee, position=(0.0, 0.0, -0.2), inertia=thin
        )
    model = builder.build()
    ends = {"position_a": (-0.2, 0.0, -0.1), "position_b": (0.2, 0.0, -0.1)}
    loop = so.Loop(kind="revolute", a="left", b="right", axis="y", **ends)
    q = model.neutral()
    q[2] = 0.5
    q = so.close_loops(model, [loop], q)
    q[3:7] = 0.0, np.sin(0.05), 0.0, np.cos(0.05)
    pair = {"friction": 0.5, "restitution": 0.3}
    geoms = [so.Geom("floor", "world", HalfSpace(), **pair)]
    geoms += [so.Geom(name, name, Sphere(0.05), **pair) for name in ("left", "right", "base")]
    scene = so.Scene(model, geoms, loops=[loop], state=so.State(q, np.zeros(model.nv)))
    record = run(scene, 0.5, dt=0.05, law="cone", tolerance=1e-8)
    assert len(record.log.of("impact")) >= 2
    assert record.closure_errors.max() < 1e-12
    assert record.penetrations.max() < 1e-12
    assert np.diff(record.energy).max() < 1e-7 * record.energy[0]


@pytest.mark.compiled
def test_a_pendulum_on_the_ground():
    # Two links with tip spheres fall, hit the ground with friction and come to rest or slide:
    # nothing gains energy.
    scene = so.models.pendulum(3).scene()
    record = run(scene, 0.6, dt=0.02)
    assert np.diff(record.energy).max() < 1e-8 * abs(record.energy[0])
    assert record.penetrations.max() < 1e-8


# --------------------------------------------------------------------------------------- other laws


@pytest.mark.compiled
def test_viscous_slip_dies_down():
    coefficient = 3.0
    scene = block((0.2, 0.2, 0.01), (0.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    record = run(scene, 0.5, dt=0.1, law=Viscous(coefficient=coefficient / 4.0))
    # The drag tilts nothing: four corners of a flat block press all the time.
    assert record.v[:, 3] == pytest.approx(np.exp(-coefficient * record.times), abs=1e-8)
    assert record.log == EventLog()


@pytest.mark.compiled
def test_compliant_ground_gives_a_ball_back():
    stiffness = 1e4
    scene = ball(R + 1e-3, (0.0, 0.0, 0.0, 0.0, 0.0, -1.0), gravity=(0.0, 0.0, 0.0))
    record = run(scene, 0.05, dt=1e-3, law=Compliant(stiffness=stiffness))
    depth = R - record.q[:, 2]
    assert depth.max() == pytest.approx(1.0 * np.sqrt(1.0 / stiffness), rel=1e-2)
    touch, flight = np.pi / np.sqrt(stiffness), 1e-3
    assert record.v[-1, 5] == pytest.approx(1.0, abs=1e-6)
    assert record.q[-1, 2] == pytest.approx(R + 0.05 - touch - flight, abs=1e-6)


@pytest.mark.compiled
def test_compliant_ground_sinks_as_asked():
    law = Compliant.sinking(1e-3, mass=1.0, contacts=4)
    scene = block((0.2, 0.2, 0.1), friction=0.5)
    record = run(scene, 0.5, dt=0.1, law=law, tolerance=1e-7)
    assert record.q[-1, 2] == pytest.approx(0.05 - 1e-3, abs=1e-6)


# --------------------------------------------------------------------------------------------- face


def test_the_log_is_kept_and_printed(tmp_path):
    record = run(ball(R + 0.1, friction=0.5), 0.3, dt=0.1)
    again = so.load_record(record.save(tmp_path / "record.npz"))
    assert again.log == record.log
    assert [event.kind for event in again.log] == ["impact"]
    assert "impact" in str(again.log)
    assert "body on floor: open -> stick, 1.401 m/s, 0.981 -> " in str(again.log)
    assert again.log[0].energy[1] <= 1e-30  # J: the ball lies there
    assert str(EventLog()) == "no events"
    assert so.Simulator(record.scene).run(duration=0.0).log == EventLog()


@pytest.mark.compiled
def test_steps_are_as_good_as_runs():
    scene = ball(R + 0.05, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), friction=0.3, restitution=0.4)
    record = run(scene, 0.3, dt=0.1)
    sim, state = so.Simulator(scene, dt=0.1, time=so.EventDriven()), scene.state
    counts = 0
    for _ in range(3):
        state, info = sim.step(state)
        counts += len(info.events)
    assert np.abs(so.difference(scene.model, state.q, record.q[-1])).max() < 1e-7
    assert counts == len(record.events)


def test_stiff_damping_has_an_end():
    """Explicit steps are as short as 1e-6 s here: their number is bounded, and an error says so."""
    builder = so.TreeBuilder()
    light = so.Inertia.sphere(0.01, mass=1e-3)
    hinge = so.Joint("revolute", axis="y", damping=0.1)
    builder.add_body("stiff", joint=hinge, inertia=light, position=(0.0, 0.0, 1.0))
    scene = so.Scene(builder.build(), state=so.State(np.array([0.1]), np.array([1.0])))
    few = so.Simulator(scene, dt=0.01, time=so.EventDriven(max_steps=300))
    with pytest.raises(ContactError, match=r"more than 300 steps within one dt.*too stiff"):
        few.run(duration=0.1)
    enough = so.Simulator(scene, dt=1e-4, time=so.EventDriven(max_steps=300))
    assert abs(enough.run(duration=1e-3).v[-1, 0]) < 1e-3


def test_what_it_cannot_take_is_refused():
    scene = ball(R)
    with pytest.raises(ArgumentError, match="time"):
        so.Simulator(scene, time="events")
    with pytest.raises(ArgumentError, match="time"):
        so.Simulator(scene, time=so.EventDriven)
    with pytest.raises(ArgumentError, match="law"):
        so.Simulator(scene, time=so.EventDriven(), law="convex")
    for bad in (
        {"method": "euler"},
        {"tolerance": 0.0},
        {"continuous": 1},
        {"max_impacts": 0},
        {"max_steps": 0},
    ):
        with pytest.raises(ArgumentError, match=next(iter(bad))):
            so.EventDriven(**bad)


def test_what_it_does_not_have_is_refused_by_name():
    builder = so.TreeBuilder()
    builder.add_body(
        "arm",
        joint=so.Joint("revolute", axis="y", lower=-1.0, upper=1.0),
        inertia=so.Inertia.sphere(0.1, mass=1.0),
    )
    stops = so.Scene(builder.build())
    with pytest.raises(ArgumentError, match="joint_limits=False"):
        so.Simulator(stops, time=so.EventDriven(), law=so.contact.Compliant(stiffness=1e4))
    model = (
        so.TreeBuilder()
        .add_body("body", joint=so.Joint("free"), inertia=so.Inertia.sphere(R, mass=1.0))
        .build()
    )
    geoms = [
        so.Geom("floor", "world", HalfSpace(), torsion=0.01),
        so.Geom("body", "body", Sphere(R), torsion=0.01),
    ]
    with pytest.raises(ArgumentError, match="torsional"):
        so.Simulator(so.Scene(model, geoms), time=so.EventDriven())
    driven = so.Loop(kind="weld", a="body", b="world", rate=np.zeros(6))
    with pytest.raises(ArgumentError, match="prescribed rates"):
        so.Simulator(so.Scene(model, loops=[driven]), time=so.EventDriven())


def slider(lower, *, gravity=(0.0, 0.0, 0.0), v=0.0, joint="prismatic", upper=np.inf, dry=0.0):
    """One joint along or about y with stops, at zero."""
    builder = so.TreeBuilder(gravity=gravity)
    inertia = so.Inertia(
        2.0, (0.0, 0.0, -0.5) if joint == "revolute" else (0.0, 0.0, 0.0), np.eye(3) * 0.1
    )
    own = so.Joint(joint, axis="y", lower=lower, upper=upper, dry_friction=dry)
    builder.add_body("arm", joint=own, inertia=inertia)
    model = builder.build()
    return so.Scene(model, state=so.State(np.zeros(1), np.array([v])))


@pytest.mark.parametrize("restitution", ["poisson", "newton"])
def test_a_joint_bounces_between_its_stops(restitution):
    # 1 m/s over 0.1 m and back with e = 0.5: impacts at 0.1, 0.1 + 0.2 / 0.5, ...
    scene = slider(-0.1, v=1.0, upper=0.1)
    sim = so.Simulator(
        scene, dt=0.05, time=so.EventDriven(), stop_restitution=0.5, restitution=restitution
    )
    record = sim.run(duration=1.5)
    assert [event.time for event in record.log] == pytest.approx(
        [0.1, 0.1 + 0.4, 0.1 + 0.4 + 0.8], abs=1e-10
    )
    assert [event.contacts[0] for event in record.log] == [
        ("arm", f"{x} limit") for x in ("upper", "lower", "upper")
    ]
    assert record.v[-1, 0] == pytest.approx(-0.125, abs=1e-12)
    assert record.stop_impulses[:, 0].sum() == pytest.approx(2.0 * (-1.5 + 0.75 - 0.375), abs=1e-9)
    state, info = sim.step(so.State(np.array([0.09]), np.array([1.0])))
    assert state.v[0] == pytest.approx(-0.5, abs=1e-12)
    assert info.stop_impulses[0] == pytest.approx(-3.0, abs=1e-9)


def test_a_joint_rests_on_its_stop_and_leaves_it():
    # Pushed against the stop with 3 N until the force turns round, then away with 2 kg.
    scene = slider(0.0)
    record = so.Simulator(scene, dt=0.1, time=so.EventDriven(continuous=True)).run(
        duration=1.0, controller=lambda time, state, contacts: np.array([10.0 * (time - 0.3)])
    )
    (event,) = record.log
    assert event.kind == "separation"
    assert event.time == pytest.approx(0.3, abs=1e-9)
    assert record.q[-1, 0] == pytest.approx(10.0 * 0.7**3 / 6.0 / 2.0, abs=1e-9)
    assert np.abs(record.q[:4]).max() < 1e-12


@pytest.mark.compiled
def test_a_pendulum_between_stops_converges_with_time_stepping():
    gravity, ends = (0.0, 0.0, -9.81), []
    scene = slider(-0.3, gravity=gravity, v=2.0, joint="revolute", upper=0.2)
    options = {"stop_restitution": 0.8, "dt": 0.02, "time": so.EventDriven()}
    record = so.Simulator(scene, **options).run(duration=0.6)
    assert len(record.log.of("impact")) >= 2
    assert record.q.max() < 0.2 + 1e-9
    assert record.q.min() > -0.3 - 1e-9
    for dt in (1e-3, 2.5e-4):
        ends.append(so.Simulator(scene, dt=dt, stop_restitution=0.8).run(duration=0.6).q[-1, 0])
    errors = np.abs(np.array(ends) - record.q[-1, 0])
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 1e-3


def test_a_joint_stops_by_its_dry_friction_and_is_moved_again():
    # 2 kg at 1 m/s against 3 N stop at 2/3 s; a force that grows by 10 N/s from then on moves them
    # again 0.3 s later.
    scene, begin = slider(-np.inf, v=1.0, dry=3.0), 2.0 / 3.0
    record = so.Simulator(scene, dt=0.05, time=so.EventDriven(continuous=True), certify="full").run(
        duration=1.5,
        controller=lambda time, state, contacts: np.array([10.0 * max(time - begin, 0.0)]),
    )
    assert [event.kind for event in record.log] == ["stick", "slip"]
    assert [event.time for event in record.log] == pytest.approx([begin, begin + 0.3], abs=1e-8)
    assert record.log[0].contacts == (("arm", "dry friction"),)
    late = 1.5 - begin - 0.3
    assert record.q[-1, 0] == pytest.approx(1.0 / 3.0 + 10.0 * late**3 / 12.0, abs=1e-8)
    assert record.dry_impulses[5, 0] == pytest.approx(-3.0 * 0.05, abs=1e-12)
    assert record.certificate().residual < 1e-9


@pytest.mark.compiled
def test_dry_friction_a_stop_and_a_floor_together():
    # A pendulum with dry friction, a stop and a foot on the floor: it comes to rest as under time
    # stepping.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    rod = so.Inertia(1.0, (0.15, 0.0, 0.0), np.diag([1e-3, 8e-3, 8e-3]))
    hinge = {"axis": "y", "dry_friction": 0.3}
    builder.add_body(
        "upper", joint=so.Joint("revolute", **hinge), position=(0.0, 0.0, 0.35), inertia=rod
    )
    builder.add_body(
        "lower",
        parent="upper",
        joint=so.Joint("revolute", upper=0.9, lower=-1.2, **hinge),
        position=(0.3, 0.0, 0.0),
        inertia=rod,
    )
    geoms = [so.Geom("floor", "world", HalfSpace(), friction=0.4, restitution=0.3)]
    geoms += [so.Geom("tip", "lower", Sphere(0.03), (0.3, 0.0, 0.0), friction=0.4, restitution=0.3)]
    scene = so.Scene(builder.build(), geoms, state=so.State(np.array([0.2, 0.3]), np.zeros(2)))
    record = so.Simulator(
        scene, dt=0.02, time=so.EventDriven(), stop_restitution=0.2, law="cone"
    ).run(duration=1.0)
    assert record.penetrations.max() < 1e-9
    assert record.q[:, 1].min() > -1.2 - 1e-9
    assert ("lower", "lower limit") in {pair for event in record.log for pair in event.contacts}
    assert record.log[-1].kind == "stick"
    assert np.diff(record.energy).max() < 1e-8
    assert np.abs(record.v[-1]).max() < 1e-6  # at rest
    other = so.Simulator(scene, dt=1e-4, stop_restitution=0.2, law="cone").run(duration=1.0)
    assert np.abs(other.q[-1] - record.q[-1]).max() < 1e-4


def test_a_stop_that_is_just_grazed_is_not_missed():
    # q = t - 5 t^2 peaks at 0.05 within one step; the stop is a thousandth of a millimetre below
    # that.
    scene = slider(-np.inf, v=1.0, upper=0.05 - 1e-6)
    record = so.Simulator(scene, dt=0.2, time=so.EventDriven()).run(
        duration=0.2, controller=lambda time, state, contacts: np.array([-20.0])
    )
    event = record.log.of("impact")[0]
    assert event.speed == pytest.approx(np.sqrt(20.0 * 1e-6), rel=1e-6)


@pytest.mark.parametrize("own", ["no-slip", "frictionless", "viscous", "cone"])
def test_laws_of_pairs_between_events(own):
    # Two balls that cannot turn slide over one floor, one by the scene's law, one by its own.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    for k in range(2):
        builder.add_body(
            f"x{k}", joint=so.Joint("prismatic", axis="x"), inertia=so.Inertia.sphere(R, mass=1e-9)
        )
        builder.add_body(
            f"b{k}",
            parent=f"x{k}",
            joint=so.Joint("prismatic", axis="z"),
            inertia=so.Inertia.sphere(R, mass=1.0),
        )
    geoms = [so.Geom("floor", "world", HalfSpace(), friction=0.2)]
    geoms += [so.Geom(f"g{k}", f"b{k}", Sphere(R), friction=0.2) for k in range(2)]
    q, v = np.tile([0.0, R], 2), np.tile([1.0, 0.0], 2)
    pairs = [so.Pair(a="g0", b="floor", law=own)]
    scene = so.Scene(
        builder.build(), geoms, state=so.State(q, v), pair_laws=pairs, ignore=[("g0", "g1")]
    )
    record = so.Simulator(scene, dt=0.05, time=so.EventDriven()).run(duration=0.2)
    left = {
        "no-slip": 0.0,
        "frictionless": 1.0,
        "viscous": np.exp(-0.2 * 0.2),
        "cone": 1.0 - 0.2 * G * 0.2,
    }[own]
    assert record.v[-1, [0, 2]] == pytest.approx([left, 1.0 - 0.2 * G * 0.2], abs=1e-8)


def test_newton_and_propagated_impacts():
    # Three balls in a row, the first one strikes: one after the other, the last takes it all.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    for i in range(3):
        builder.add_body(f"ball{i}", joint=so.Joint("free"), inertia=so.Inertia.sphere(R, mass=1.0))
    model = builder.build()
    q, v = model.neutral(), np.zeros(18)
    q[[0, 7, 14]], v[3] = (-0.3, 0.2 * 1.0, 0.4), 1.0
    geoms = [
        so.Geom(f"ball{i}", f"ball{i}", Sphere(R), friction=0.0, restitution=1.0) for i in range(3)
    ]
    scene = so.Scene(model, geoms, state=so.State(q, v))
    for law in ("poisson", "newton"):
        sim = so.Simulator(
            scene, dt=0.5, time=so.EventDriven(), impacts="propagated", restitution=law
        )
        record = sim.run(duration=1.0)
        assert record.log[0].time == pytest.approx(0.3, abs=1e-12)
        assert record.v[-1, [3, 9, 15]] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


def test_full_certificates_between_events():
    # A block slides, sticks on a slope of 10 degrees after it fell on it; a law that lets it sink
    # is caught.
    slope = np.radians(10.0)
    builder = so.TreeBuilder(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    builder.add_body(
        "ball", joint=so.Joint("prismatic", axis="x"), inertia=so.Inertia.sphere(R, mass=1e-3)
    )
    builder.add_body(
        "b",
        parent="ball",
        joint=so.Joint("prismatic", axis="z"),
        inertia=so.Inertia.sphere(R, mass=1.0),
    )
    geoms = [
        so.Geom("floor", "world", HalfSpace(), friction=0.5),
        so.Geom("b", "b", Sphere(R), friction=0.5),
    ]
    scene = so.Scene(
        builder.build(), geoms, state=so.State(np.array([0.0, R + 0.02]), np.array([-0.5, 0.0]))
    )
    sim = so.Simulator(scene, dt=0.02, time=so.EventDriven(), certify="full")
    record = sim.run(duration=0.4)
    worst = record.certificate()
    assert worst.residual < 1e-8
    assert worst.momentum < 1e-9
    assert worst.approach < 1e-9
    assert {event.kind for event in record.log} >= {"impact", "stick"}
    _, info = sim.step(record.final)
    assert info.certificate.residual < 1e-8
    assert not np.isnan(info.certificate.closures)

    class Liar(so.contact.ConeCoulomb):
        promises = "approach", "complementarity"

        def solve(self, problem, warm_start=None):
            answer = super().solve(problem, warm_start)
            return dataclasses.replace(answer, impulses=1.001 * answer.impulses)

    with pytest.raises(ContactError, match="certificate"):
        so.Simulator(scene, dt=0.02, time=so.EventDriven(), law=Liar(), certify="full").run(
            duration=0.4
        )
