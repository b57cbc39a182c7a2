"""Cases whose answer is a formula, which stands beside its test; time stepping throughout."""

import numpy as np
import pytest

import spatialops as so

GRAVITY = 9.81


def free_scene(
    name,
    inertia,
    geoms,
    *,
    q=None,
    v=None,
    others=(),
    gravity=(0.0, 0.0, -GRAVITY),
    joint="free",
    **options,
):
    """One body, its geoms and those of the world, at coordinates q and velocities v."""
    builder = so.TreeBuilder(gravity=gravity)
    builder.add_body(name, joint=so.Joint(joint), inertia=inertia)
    model = builder.build()
    q = model.neutral() if q is None else np.array(q, dtype=float)
    v = np.zeros(model.nv) if v is None else np.array(v, dtype=float)
    return so.Scene(model, [*others, *geoms], state=so.State(q, v), **options)


def ball_scene(radius=0.1, mass=2.0, *, height=0.0, velocity=(0.0,) * 6, **coefficients):
    geoms = [so.Geom("ball", "ball", so.Sphere(radius), **coefficients)]
    floor = so.Geom("floor", "world", so.HalfSpace(), **coefficients)
    q = [0.0, 0.0, radius + height, 0.0, 0.0, 0.0, 1.0]
    return free_scene(
        "ball", so.Inertia.sphere(radius, mass=mass), geoms, q=q, v=velocity, others=[floor]
    )


def world_velocity(scene, q, v):
    """[angular; linear] of the only body's origin in world axes."""
    body = scene.model.body_names[-1]
    return so.node_velocities(scene.model, q, v, [so.Node(body)])[0]


# --------------------------------------------------------------------------------- sliding, rolling


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_a_sliding_sphere_rolls_after_two_sevenths(law):
    # Slip v - w r falls at mu g (1 + 5/2): rolling from t = 2 v0 / (7 mu g) on, at 5/7 v0, after 12
    # v0^2 / (49 mu g).
    speed = 0.7
    mu = 0.4
    dt = 1e-3
    scene = ball_scene(velocity=(0.0, 0.0, 0.0, speed, 0.0, 0.0), friction=mu)
    record = so.Simulator(scene, law=law, dt=dt).run(duration=0.1)
    motion = np.array([world_velocity(scene, q, v) for q, v in zip(record.q, record.v)])
    slip = motion[:, 3] - 0.1 * motion[:, 1]
    begins = 2.0 * speed / (7.0 * mu * GRAVITY)
    assert slip == pytest.approx(
        np.maximum(speed - 3.5 * mu * GRAVITY * record.times, 0.0), abs=1e-9
    )
    assert motion[record.times > begins + dt, 3] == pytest.approx(5.0 / 7.0 * speed, rel=1e-9)
    i = np.searchsorted(record.times, begins + dt)
    rolled = record.q[i, 0] - 5.0 / 7.0 * speed * (record.times[i] - begins)
    assert rolled == pytest.approx(
        12.0 * speed**2 / (49.0 * mu * GRAVITY), abs=mu * GRAVITY * dt**2
    )


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_stopping_distance(law):
    # v0^2 / (2 mu g), on feet under the centre of mass, where nothing tips
    speed = 0.5
    mu = 0.5
    dt = 1e-3
    feet = [
        so.Geom(f"f{x}{y}", "block", so.Sphere(0.02), (x, y, 0.0), friction=mu)
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    scene = free_scene(
        "block", so.Inertia.box((1.0, 1.0, 0.1), mass=3.0), feet, q=[0, 0, 0.02, 0, 0, 0, 1],
        v=[0, 0, 0, 0.6 * speed, 0.8 * speed, 0],
        others=[so.Geom("floor", "world", so.HalfSpace(), friction=mu)],
    )  # fmt: skip
    record = so.Simulator(scene, law=law, dt=dt).run(duration=0.12)
    distance = np.hypot(*record.q[-1, :2])
    assert distance == pytest.approx(speed**2 / (2.0 * mu * GRAVITY), abs=mu * GRAVITY * dt**2)
    assert np.abs(record.v[-1]).max() < 1e-9


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_a_spinning_ball_is_stopped_by_torsional_friction(law):
    # I w' = -torsion m g: stands still after I w0 / (torsion m g)
    torsion = 0.01
    spin = 5.0
    radius = 0.1
    scene = ball_scene(
        radius, velocity=(0.0, 0.0, spin, 0.0, 0.0, 0.0), friction=0.5, torsion=torsion
    )
    record = so.Simulator(scene, law=law, dt=2e-3).run(duration=0.24)
    slows = torsion * GRAVITY / (0.4 * radius**2)
    assert spin / slows < 0.21
    assert record.v[:, 2] == pytest.approx(np.maximum(spin - slows * record.times, 0.0), abs=1e-9)
    assert np.abs(record.v[-1]).max() < 1e-9
    assert record.moments[:5, 12] == pytest.approx(-torsion * 2.0 * GRAVITY * 2e-3, rel=1e-9)


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_a_rolling_ball_is_stopped_by_rolling_friction(law, heading):
    # (m + I / r^2) v' = -rolling m g / r: stops after 7/5 v0 r / (rolling g), on a straight line
    rolling = 0.004
    speed = 0.05
    radius = 0.1
    along = np.array([np.cos(heading), np.sin(heading)])
    spin = speed / radius * np.array([-along[1], along[0], 0.0])
    scene = ball_scene(
        radius, velocity=(*spin, *(speed * along), 0.0), friction=0.5, rolling=rolling
    )
    record = so.Simulator(scene, law=law, dt=5e-3).run(duration=0.2)
    motion = np.array([world_velocity(scene, q, v) for q, v in zip(record.q, record.v)])
    slows = rolling * GRAVITY / (1.4 * radius)
    assert motion[:, 3:5] @ along == pytest.approx(
        np.maximum(speed - slows * record.times, 0.0), abs=1e-9
    )
    assert np.abs(motion[:, 3:5] @ [-along[1], along[0]]).max() < 1e-9


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_an_impact_takes_spin_by_torsional_friction(law):
    # I (w - w0) = -torsion P with P = m (1 + e) v
    torsion = 0.01
    e = 0.5
    fall = 1.0
    scene = ball_scene(
        velocity=(0.0, 0.0, 5.0, 0.0, 0.0, -fall), friction=0.5, restitution=e, torsion=torsion
    )
    state, info = so.Simulator(scene, law=law, dt=1e-4).step(scene.state)
    assert state.v[2] == pytest.approx(5.0 - torsion * (1.0 + e) * fall / (0.4 * 0.1**2), rel=1e-9)
    assert info.events[0, 4] < info.events[0, 3]
    assert info.events[0, 1] == 1


# ------------------------------------------------------------------------------------------ balance


@pytest.mark.parametrize("law", ["coulomb", "cone", "no-slip"])
@pytest.mark.parametrize("beyond", [-0.01, 0.01])
def test_a_box_on_a_slope_tips_where_its_weight_leaves_its_base(law, beyond):
    # Width a, height h: tips where tan(slope) > a / h; about the edge, I_edge w' = m g (h sin - a
    # cos) / 2.
    a = 0.1
    h = 0.3
    mass = 1.5
    dt = 1e-3
    slope = np.arctan(a / h) * (1.0 + beyond)
    gravity, box = (
        GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)]),
        so.collision.Box((a, a, h)),
    )
    scene = free_scene(
        "box", so.Inertia.box((a, a, h), mass=mass), [so.Geom("box", "box", box, friction=2.0)],
        q=[0, 0, h / 2, 0, 0, 0, 1], gravity=gravity,
        others=[so.Geom("floor", "world", so.HalfSpace(), friction=2.0)],
    )  # fmt: skip
    record = so.Simulator(scene, law=law, dt=dt).run(duration=5 * dt)
    edge = mass * (a**2 + h**2) / 12.0 + mass * (a**2 + h**2) / 4.0
    turns = max(mass * GRAVITY * (h * np.sin(slope) - a * np.cos(slope)) / 2.0 / edge, 0.0)
    assert record.v[:, 1] == pytest.approx(turns * record.times, abs=1e-6)


@pytest.mark.parametrize("law", ["coulomb", "cone", "no-slip", "frictionless", "max-dissipation"])
def test_four_legs_carry_the_weight(law):
    # Sum of normal forces m g; moments about the centre vanish, however the legs share.
    mass, dt = 4.0, 1e-3
    corners = [(x, y, -0.4) for x in (-0.5, 0.3) for y in (-0.3, 0.3)]
    legs = [so.Geom(f"leg{i}", "table", so.Sphere(0.02), place) for i, place in enumerate(corners)]
    scene = free_scene(
        "table", so.Inertia.box((1.0, 0.6, 0.05), mass=mass), legs, q=[0, 0, 0.42, 0, 0, 0, 1],
        others=[so.Geom("floor", "world", so.HalfSpace())],
    )  # fmt: skip
    _, info = so.Simulator(scene, law=law, dt=dt).step(scene.state)
    forces = info.contacts.world_impulses / dt
    assert forces.sum(axis=0) == pytest.approx(
        [0.0, 0.0, mass * GRAVITY], abs=1e-9 * mass * GRAVITY
    )
    arms = info.contacts.positions - [0.0, 0.0, 0.42]
    assert np.abs(np.cross(arms, forces).sum(axis=0)).max() < 1e-9 * mass * GRAVITY
    assert forces[:, 2].min() >= 0.0


@pytest.mark.compiled
def test_a_ladder_leaves_the_wall_at_two_thirds_of_its_height():
    # Frictionless: L phi'^2 / 3 = g (sin phi0 - sin phi), wall force ~ (3 sin phi - 2 sin phi0) cos
    # phi.
    length = 2.0
    radius = 0.01
    dt = 5e-4
    begin = np.radians(60.0)
    ends = [
        so.Geom(f"end{s}", "rod", so.Sphere(radius), (s * length / 2.0, 0.0, 0.0), friction=0.0)
        for s in (-1, 1)
    ]
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=0.0)
    wall = so.Geom("wall", "world", so.HalfSpace((-1.0, 0.0, 0.0)), friction=0.0)
    inertia = so.Inertia(1.0, np.zeros(3), np.diag([1e-3, length**2 / 12.0, length**2 / 12.0]))
    q = [-radius - length / 2.0 * np.cos(begin), 0.0, radius + length / 2.0 * np.sin(begin)]
    turn = [0.0, -np.sin(begin / 2.0), 0.0, np.cos(begin / 2.0)]
    scene = free_scene("rod", inertia, ends, q=[*q, *turn], others=[floor, wall])
    record = so.Simulator(scene, dt=dt).run(duration=1.2)
    sine = (record.q[:, 2] - radius) / (length / 2.0)
    rate = np.sqrt(3.0 * GRAVITY / length * np.maximum(np.sin(begin) - sine, 0.0))
    on_wall = [p for p in range(scene.n_pairs) if "wall" in scene.pair_names(p)]
    pressing = np.isin(record.contact_records[:, 1], on_wall) & (
        np.abs(record.contact_records[:, 10]) > 1e-12
    )
    last = record.contact_records[pressing, 0].max()
    i = np.searchsorted(record.times, last)
    assert np.abs(np.abs(record.v[1:i, 1]) - rate[1:i]).max() < 2e-3 * rate[i]
    assert sine[i] == pytest.approx(2.0 / 3.0 * np.sin(begin), abs=3.0 * rate[i] * dt)
    assert (
        record.q[-1, 0] + length / 2.0 * np.sqrt(1.0 - sine[-1] ** 2) < -2.0 * radius
    )  # it did leave


# ------------------------------------------------------------------------------------------ impacts


def row_of_balls(count, moving, *, e=1.0, radius=0.1):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = []
    for i in range(count):
        builder.add_body(
            f"b{i}", joint=so.Joint("free"), inertia=so.Inertia.sphere(radius, mass=1.0)
        )
        geoms.append(so.Geom(f"b{i}", f"b{i}", so.Sphere(radius), restitution=e))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[0::7] = 2.0 * radius * np.arange(count)
    v[3 : 6 * moving : 6] = 1.0
    return so.Scene(model, geoms, state=so.State(q, v))


@pytest.mark.parametrize("restitution", ["poisson", "newton"])
@pytest.mark.parametrize(("count", "moving"), [(3, 1), (5, 1), (5, 2), (5, 4)])
def test_newtons_cradle(restitution, count, moving):
    # Propagated: as many leave as came. Simultaneous: all contacts compress and open together, v+ =
    # 2 mean(v) - v.
    scene = row_of_balls(count, moving)
    option = {"restitution": restitution, "dt": 1e-2}
    state, info = so.Simulator(scene, impacts="propagated", **option).step(scene.state)
    leaving = np.zeros(count)
    leaving[count - moving :] = 1.0
    assert state.v[3::6] == pytest.approx(leaving, abs=1e-12)
    assert info.events[0, 4] == pytest.approx(info.events[0, 3], rel=1e-12)
    state, info = so.Simulator(scene, impacts="simultaneous", **option).step(scene.state)
    mean = moving / count
    assert state.v[3::6] == pytest.approx(2.0 * mean - scene.state.v[3::6], abs=1e-12)
    assert info.events[0, 4] == pytest.approx(info.events[0, 3], rel=1e-12)


def test_a_propagated_impact_with_losses():
    # Ball by ball, v_i+ = (1 + e) / 2 v_{i-1}: the last of n leaves with ((1 + e) / 2)^(n - 1) v0.
    e, count = 0.6, 4
    scene = row_of_balls(count, 1, e=e)
    state, _ = so.Simulator(scene, impacts="propagated", dt=1e-3).step(scene.state)
    v = state.v[3::6]
    assert v[-1] == pytest.approx((0.5 * (1.0 + e)) ** (count - 1), rel=1e-12)
    assert v.sum() == pytest.approx(1.0, rel=1e-12)
    assert np.diff(v).min() > -0.01  # nothing approaches faster than the threshold


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
def test_a_rod_that_strikes_with_its_end(restitution, law):
    # A tip that sticks. Newton: W p = (0, -e u_n) - u. Poisson: W p_c = -u, then e p_c along the
    # normal.
    e = 0.5
    angle = np.radians(50.0)
    length = 1.0
    mu = 3.0
    inertia = so.Inertia(1.0, np.zeros(3), np.diag([1e-3, length**2 / 12.0, length**2 / 12.0]))
    tip = so.Geom(
        "tip", "rod", so.Sphere(1e-3), (length / 2.0, 0.0, 0.0), friction=mu, restitution=e
    )
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=mu, restitution=e)
    turn = [0.0, np.sin(angle / 2.0), 0.0, np.cos(angle / 2.0)]  # tip down
    q = [0.0, 0.0, length / 2.0 * np.sin(angle) + 1e-3, *turn]
    rotation = np.array(
        [[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]]
    )
    scene = free_scene(
        "rod",
        inertia,
        [tip],
        q=q,
        v=[0, 0, 0, *(rotation.T @ [0.3, 0, -1.0])],
        others=[floor],
        gravity=(0, 0, 0),
    )
    state, info = so.Simulator(scene, law=law, restitution=restitution, dt=1e-6).step(scene.state)
    arm = rotation @ [length / 2.0, 0.0, 0.0] + [0.0, 0.0, -1e-3]
    J = np.array(
        [[1.0, 0.0, arm[2]], [0.0, 1.0, -arm[0]]]
    )  # tip's x and z from (x, z, angle about y)
    W, u = J @ np.diag([1.0, 1.0, 12.0 / length**2]) @ J.T, np.array([0.3, -1.0])
    if restitution == "newton":
        p = np.linalg.solve(W, np.array([0.0, e]) - u)
        after = np.array([0.0, e])
        assert abs(p[0]) < mu * p[1]
    else:
        compression = np.linalg.solve(W, -u)
        given = np.array([0.0, e * compression[1]])
        decompression = np.array([-W[0, 1] * given[1] / W[0, 0], 0.0])
        p = compression + given + decompression
        assert abs(decompression[0]) < mu * given[1]
        assert abs(compression[0]) < mu * compression[1]
        after = u + W @ p
    linear = so.node_velocities(
        scene.model, state.q, state.v, [so.Node("rod", (length / 2.0, 0.0, 0.0))]
    )[0]
    contact = linear[3:] + np.cross(linear[:3], [0.0, 0.0, -1e-3])
    assert contact[[0, 2]] == pytest.approx(after, abs=1e-4)
    assert info.events[0, 4] <= info.events[0, 3] * (1.0 + 1e-12)


@pytest.mark.compiled
def test_event_times_of_a_bouncing_ball():
    # First at sqrt(2 h / g), then after 2 v e^k / g each
    height, e = 0.5, 0.7
    record = so.Simulator(ball_scene(height=height, restitution=e, friction=0.0), dt=1e-3).run(
        duration=1.6
    )
    speed = np.sqrt(2.0 * GRAVITY * height)
    flights = 2.0 * speed / GRAVITY * e ** np.arange(1, len(record.events))
    times = speed / GRAVITY + np.concatenate([[0.0], np.cumsum(flights)])
    assert len(times) >= 6
    assert record.events[:, 0] == pytest.approx(times, abs=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "no-slip"])
def test_speed_of_a_rimless_wheel(law):
    # Spokes l, angle 2 a between them, on a slope s. A spoke's fall: w-^2 = w+^2 + 4 m g l sin a
    # sin s / (I + m l^2); at the next w+ = eta w-, eta = (I + m l^2 cos 2a) / (I + m l^2). Steady:
    # w-^2 (1 - eta^2) = the gain.
    spokes = 8
    length = 0.5
    mass = 2.0
    central = 0.05
    slope = np.radians(8.0)
    half, tip = np.pi / spokes, 5e-3
    geoms = []
    for k in range(spokes):
        angle = half + 2.0 * half * k
        place = (length * np.sin(angle), 0.0, -length * np.cos(angle))
        geoms += [
            so.Geom(
                f"s{k}{side}",
                "wheel",
                so.Sphere(tip),
                (place[0], side * 0.2, place[2]),
                friction=3.0,
            )
            for side in (-1, 1)
        ]
    gravity = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    reach = length * np.cos(half) + tip
    inertia = so.Inertia(mass, np.zeros(3), np.diag([0.1, central, 0.1]))
    others = [so.Geom("floor", "world", so.HalfSpace(), friction=3.0)]
    pivot = central + mass * length**2
    eta = (central + mass * length**2 * np.cos(2.0 * half)) / pivot
    gain = 4.0 * mass * GRAVITY * length * np.sin(half) * np.sin(slope) / pivot
    steady = np.sqrt(gain / (1.0 - eta**2))
    # It stands on two spokes and begins at the steady speed after an impact, about the front one.
    spin = eta * steady
    velocity = np.array([spin * length * np.cos(half), 0.0, spin * length * np.sin(half)])
    q = [0.0, 0.0, reach, 0.0, 0.0, 0.0, 1.0]
    scene = free_scene(
        "wheel", inertia, geoms, q=q, v=[0, spin, 0, *velocity], others=others, gravity=gravity
    )
    record = so.Simulator(scene, law=law, dt=2e-4).run(duration=1.5)
    strong = record.events[record.events[:, 4] < 0.95 * record.events[:, 3]]
    assert len(strong) >= 3
    speeds = np.sqrt(2.0 * strong[:, 3:5] / pivot)
    # The spheres at the tips (1 % of a spoke) roll a little: that is what the tolerance is for.
    assert speeds[:, 1] / speeds[:, 0] == pytest.approx(eta, rel=0.01)
    assert speeds[:, 0] == pytest.approx(steady, rel=0.02)


# ----------------------------------------------------------------------------------- Painleve's rod


def painleve(mu, angle, speed):
    """A thin rod that slides on its lower end along +x, leaning `angle` to the floor.

    Its centre is behind the tip.
    """
    length = 2.0
    inertia = so.Inertia(1.0, np.zeros(3), np.diag([1e-3, length**2 / 12.0, length**2 / 12.0]))
    tip = so.Geom("tip", "rod", so.Sphere(1e-6), (length / 2.0, 0.0, 0.0), friction=mu)
    q = [
        0.0,
        0.0,
        length / 2.0 * np.sin(angle) + 1e-6,
        0.0,
        np.sin(angle / 2.0),
        0.0,
        np.cos(angle / 2.0),
    ]
    rotation = np.array(
        [[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]]
    )
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=mu)
    return free_scene(
        "rod", inertia, [tip], q=q, v=[0, 0, 0, *(rotation.T @ [speed, 0, 0])], others=[floor]
    )


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_a_rod_that_slides_as_painleve_had_it(law, way):
    # N (1 + 3 cos^2 - 3 s mu sin cos) = m g at rest of rotation, s = 1 where it slides tip first:
    # tip ahead of centre.
    mu = 0.6
    angle = np.radians(50.0)
    dt = 1e-6
    scene = painleve(mu, angle, way * 1.0)
    _, info = so.Simulator(scene, law=law, dt=dt).step(scene.state)
    s, c = np.sin(angle), np.cos(angle)
    assert info.contacts.impulses[0, 0] / dt == pytest.approx(
        GRAVITY / (1.0 + 3.0 * c**2 - way * 3.0 * mu * s * c), rel=1e-4
    )


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_painleves_paradox_ends_in_an_impact_without_collision(law):
    # mu above (1 + 3 cos^2) / (3 sin cos): no force fits. The impulse that does, whatever the step,
    # jams the tip: W p = -u with u = (0, speed).
    angle = np.radians(60.0)
    speed = 1.0
    dt = 1e-6
    s, c = np.sin(angle), np.cos(angle)
    mu = 1.3 * (1.0 + 3.0 * c**2) / (3.0 * s * c)
    scene = painleve(mu, angle, speed)
    state, info = so.Simulator(scene, law=law, dt=dt).step(scene.state)
    W = np.array(
        [[1.0 + 3.0 * c**2, 3.0 * s * c], [3.0 * s * c, 1.0 + 3.0 * s**2]]
    )  # normal, along +x
    p = np.linalg.solve(W, [0.0, -speed])
    assert abs(p[1]) < mu * p[0]
    assert info.contacts.world_impulses[0] == pytest.approx([p[1], 0.0, p[0]], abs=1e-4)
    assert so.energy(scene.model, state.q, state.v).kinetic <= so.energy(
        scene.model, scene.state.q, scene.state.v
    ).kinetic * (1.0 + 1e-6)


# --------------------------------------------------------------------------------------- gyroscopes


@pytest.mark.compiled
def test_a_ball_on_a_turntable_goes_round_in_two_sevenths_of_its_turns():
    # Rolling without slip on a plate that turns with W: v' = 2/7 W x v, a circle wherever it is; a
    # = 2/5 m r^2.
    turn = 3.0
    radius = 0.05
    place = 0.4
    speed = 0.3
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(
        "plate",
        joint=so.Joint("revolute", axis=(0, 0, 1)),
        inertia=so.Inertia(1e6, np.zeros(3), np.eye(3) * 1e6),
    )
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(radius, mass=0.2))
    model = builder.build()
    geoms = [
        so.Geom("plate", "plate", so.collision.Box((4.0, 4.0, 0.2)), (0.0, 0.0, -0.1)),
        so.Geom("ball", "ball", so.Sphere(radius)),
    ]
    q, v = model.neutral(), np.zeros(model.nv)
    q[model.q_slice("plate")], v[model.v_slice("plate")] = 0.0, turn
    q[model.q_slice("ball")] = [place, 0.0, radius, 0.0, 0.0, 0.0, 1.0]
    # No slip: v + w x (-r z) = W z x place, so that w = z x (v - W z x place) / r.
    slide = np.array([0.0, speed, 0.0]) - turn * place * np.array([0.0, 1.0, 0.0])
    v[model.v_slice("ball")] = [*(np.cross([0.0, 0.0, 1.0], slide) / radius), 0.0, speed, 0.0]
    scene = so.Scene(model, geoms, state=so.State(q, v), include=[("plate", "ball")])
    rate = 2.0 / 7.0 * turn
    ends, size = [], speed / rate
    for steps in (250, 500):
        simulator = so.Simulator(scene, law="no-slip", dt=np.pi / rate / steps, margin=1e-3)
        record = simulator.run(duration=np.pi / rate, record_every=steps // 50)
        along = record.q[:, model.q_slice("ball")][:, :2]
        circle = [place - size, 0.0] + size * np.column_stack(
            [np.cos(rate * record.times), np.sin(rate * record.times)]
        )
        ends.append(along - circle)
    assert np.abs(ends[1]).max() < 1e-4 * size
    assert (
        np.abs(4.0 * ends[1] - ends[0]).max() < 1e-5 * size
    )  # second order in dt, and nothing else


def tippe_top(torsion):
    """A sphere with a low centre of mass, its axis tilted, that turns fast about the vertical."""
    radius = 0.02
    offset = 0.3 * 0.02
    mass = 0.02
    inertia = so.Inertia(mass, np.zeros(3), mass * radius**2 * np.diag([0.4, 0.4, 0.42]))
    geom = so.Geom(
        "top", "top", so.Sphere(radius), (0.0, 0.0, offset), friction=0.3, torsion=torsion
    )
    tilt, spin = 0.1, 150.0
    turn = [np.sin(tilt / 2.0), 0.0, 0.0, np.cos(tilt / 2.0)]
    rotation = np.array(
        [[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]]
    )
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=0.3, torsion=torsion)
    q = [0.0, 0.0, radius - offset * np.cos(tilt), *turn]
    v = [*(rotation.T @ [0.0, 0.0, spin]), 0, 0, 0]
    return free_scene("top", inertia, [geom], q=q, v=v, others=[floor])


def jellett(scene, q, v, offset, radius):
    """J = L . rho, rho from the floor to the centre of mass."""
    R = so.body_poses(scene.model, q).rotations[0]
    spin = R @ v[:3]
    inertia = R @ (0.02 * 0.02**2 * np.diag([0.4, 0.4, 0.42])) @ R.T
    return (inertia @ spin) @ (radius * np.array([0.0, 0.0, 1.0]) - offset * R[:, 2])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("law", "torsion"),
    [
        ("coulomb", 0.0),
        *(pytest.param(law, 2e-5, marks=pytest.mark.slow) for law in ("coulomb", "cone")),
    ],
)
def test_a_tippe_top_turns_over(law, torsion):
    # Whatever the sliding friction, Jellett's J = L . rho is kept (rho from the floor to the centre
    # of mass); torsional friction M about the vertical takes dJ/dt = M rho_z, M = -torsion N.
    radius, offset = 0.02, 0.3 * 0.02
    scene = tippe_top(torsion)
    record = so.Simulator(scene, law=law, dt=2e-4).run(duration=1.5)
    J = np.array([jellett(scene, q, v, offset, radius) for q, v in zip(record.q, record.v)])
    heights = record.q[:, 2]
    assert heights[0] < radius - 0.9 * offset
    assert heights[-1] > radius + 0.9 * offset  # upside down
    taken = np.zeros(len(J))
    for time, moment in zip(record.moments[:, 0], record.moments[:, 12]):
        taken[np.searchsorted(record.times, time) :] += moment * np.interp(
            time, record.times, heights
        )
    assert (taken[-1] < -0.01 * J[0]) == (torsion > 0.0)
    assert J - J[0] == pytest.approx(taken, abs=1e-3 * J[0])  # dt adds 8e-4
