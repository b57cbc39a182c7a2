"""Physics with a closed form: bounces, friction, rolling, free flight, energy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import spatialops as so
from spatialops.collision import HalfSpace, Sphere
from tests.support.trees import random_tree

GRAVITY, RADIUS = 9.81, 0.1
INTEGRATORS = ("moreau", "semi-implicit", "rk4")


def balls(
    places,
    velocities,
    *,
    gravity=GRAVITY,
    radii=None,
    masses=None,
    friction=0.0,
    restitution=1.0,
    floor=True,
):
    """Free balls at world positions with linear velocities (3,) or [angular.

    Linear] velocities (6,).
    """
    n = len(places)
    radii, masses = radii or [RADIUS] * n, masses or [1.0] * n
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -gravity))
    pair = {"friction": friction, "restitution": restitution}
    geoms = [so.Geom("floor", "world", HalfSpace(), **pair)] if floor else []
    for i, (radius, mass) in enumerate(zip(radii, masses)):
        builder.add_body(
            f"ball{i}", joint=so.Joint("free"), inertia=so.Inertia.sphere(radius, mass=mass)
        )
        geoms.append(so.Geom(f"ball{i}", f"ball{i}", Sphere(radius), **pair))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    for i, (place, velocity) in enumerate(zip(places, velocities)):
        q[7 * i : 7 * i + 3] = place
        v[6 * i + 6 - len(velocity) : 6 * i + 6] = velocity
    return so.Scene(model, geoms, state=so.State(q, v))


# ----------------------------------------------------------------------------------------- bouncing


def apexes(record):
    """Heights of flights between impacts, by the parabola through the three highest samples."""
    edges, heights = np.concatenate([[0.0], record.events[:, 0]]), []
    z = record.q[:, 2] - RADIUS
    for begin, end in pairwise(edges):
        inside = np.flatnonzero((record.times > begin) & (record.times < end))
        if begin == 0.0:
            heights.append(z[0])  # dropped from rest
        elif len(inside) >= 5:
            i = np.clip(inside[np.argmax(z[inside])], inside[1], inside[-2])
            a, b, c = z[i - 1 : i + 2]
            heights.append(b - (c - a) ** 2 / (8.0 * (a - 2.0 * b + c)))
    return np.array(heights)


@pytest.mark.compiled
@pytest.mark.parametrize("dt", [4e-3, 2e-3, 5e-4, 1e-4])
@pytest.mark.parametrize("e", [0.3, 0.8, 1.0])
def test_bouncing_ball(e, dt):
    scene = balls([(0.0, 0.0, RADIUS + 1.0)], [(0.0, 0.0, 0.0)], restitution=e)
    record = so.Simulator(scene, dt=dt).run(duration=3.0)
    kinetic = record.events[:, 3:5]
    assert len(kinetic) >= 3
    assert np.abs(np.sqrt(kinetic[:, 1] / kinetic[:, 0]) / e - 1.0).max() < 1e-3
    heights = apexes(record)
    assert len(heights) >= 3
    assert np.abs(np.sqrt(heights[1:] / heights[:-1]) / e - 1.0).max() < 1e-3
    assert record.events[0, 0] == pytest.approx(np.sqrt(2.0 / GRAVITY), abs=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("dt", [4e-3, 2e-3, 5e-4, 1e-4])
def test_a_ball_without_restitution_stays_down(dt):
    scene = balls([(0.0, 0.0, RADIUS + 1.0)], [(0.0, 0.0, 0.0)], restitution=0.0)
    record = so.Simulator(scene, dt=dt).run(duration=1.0)
    assert len(record.events) == 1
    assert record.events[0, 3] == pytest.approx(GRAVITY, rel=1e-6)
    assert record.events[0, 4] < 1e-12
    after = record.times > record.events[0, 0] + dt
    assert np.abs(record.v[after]).max() < 1e-9
    assert np.abs(record.q[after, 2] - RADIUS).max() < 1e-5


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_restitution_does_not_depend_on_the_integrator(integrator):
    scene = balls([(0.0, 0.0, RADIUS + 1.0)], [(0.0, 0.0, 0.0)], restitution=0.8)
    record = so.Simulator(scene, dt=1e-3, integrator=integrator).run(duration=2.0)
    kinetic = record.events[:, 3:5]
    assert np.abs(np.sqrt(kinetic[:, 1] / kinetic[:, 0]) / 0.8 - 1.0).max() < 1e-3


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_tangential_change_of_a_sliding_ball_that_bounces(e):
    # It slides throughout: the tangential impulse is mu times the normal one, and it spins the
    # ball.
    mu, fall = 0.2, 2.0
    scene = balls(
        [(0.0, 0.0, RADIUS)], [(3.0, 4.0, -fall)], gravity=0.0, friction=mu, restitution=e
    )
    state, info = so.Simulator(scene, dt=1e-4).step(scene.state)
    change = mu * (1.0 + e) * fall
    along = np.array([0.6, 0.8])
    linear = so.node_velocities(scene.model, state.q, state.v, [so.Node("ball0")])[0]
    assert len(info.events) == 1
    assert linear[3:5] == pytest.approx((5.0 - change) * along, rel=1e-12)
    assert linear[5] == pytest.approx(e * fall, abs=1e-12)
    spin = 2.5 * change / RADIUS
    assert linear[:2] == pytest.approx([-0.8 * spin, 0.6 * spin], rel=1e-12)
    assert linear[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("speeds", [(1.0, -2.0), (3.0, 0.0), (2.0, 1.0)])
def test_equal_balls_exchange_their_velocities(speeds):
    gap = 1e-3
    places = [(0.0, 0.0, 0.0), (2.0 * RADIUS + gap, 0.0, 0.0)]
    velocities = [(speeds[0], 0.0, 0.0), (speeds[1], 0.0, 0.0)]
    scene = balls(places, velocities, gravity=0.0, friction=0.5, floor=False)
    record = so.Simulator(scene, dt=1e-3).run(duration=5e-3)
    assert len(record.events) == 1
    assert record.events[0, 0] == pytest.approx(gap / (speeds[0] - speeds[1]), abs=1e-8)
    assert record.v[-1, [3, 9]] == pytest.approx(speeds[::-1], rel=1e-12)
    # Each flies on from where they met.
    flown = record.q[-1, [0, 7]] - record.q[0, [0, 7]]
    met = record.events[0, 0]
    assert flown[0] == pytest.approx(speeds[0] * met + speeds[1] * (5e-3 - met), abs=1e-12)


@pytest.mark.compiled
def test_momentum_is_kept_in_free_collisions(rng):
    # Five balls in a cloud without gravity: many impacts, with friction and spin, until all fly
    # apart.
    n, collisions = 5, 0
    for _ in range(4):
        places = [np.array([0.5 * i, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, 3) for i in range(n)]
        velocities = [
            np.concatenate([rng.normal(size=3) * 5.0, -2.0 * p + rng.normal(size=3) * 0.1])
            for p in places
        ]
        scene = balls(
            places,
            velocities,
            gravity=0.0,
            radii=list(rng.uniform(0.12, 0.2, n)),
            masses=list(rng.uniform(0.5, 2.0, n)),
            friction=0.4,
            restitution=0.6,
            floor=False,
        )
        model = scene.model
        record = so.Simulator(scene, dt=1e-3).run(duration=0.6)
        collisions += len(record.events)
        before = np.asarray(so.momentum(model, record.q[0], record.v[0]))
        after = np.asarray(so.momentum(model, record.q[-1], record.v[-1]))
        assert np.allclose(after, before, rtol=0.0, atol=1e-10)
        assert np.all(np.diff(record.kinetic) <= 1e-12)
    assert collisions >= 8


# ----------------------------------------------------------------------------------------- friction


def block_on_slope(angle, *, mu=0.5):
    """A plate on four spheres, at rest on a slope that falls towards +x."""
    model = (
        so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
        .add_body(
            "block", joint=so.Joint("free"), inertia=so.Inertia.box((1.0, 0.8, 0.1), mass=3.0)
        )
        .build()
    )
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    feet = [
        so.Geom(
            f"foot{i}{j}", "block", Sphere(RADIUS), position=(0.5 * i, 0.4 * j, -0.05), friction=mu
        )
        for i in (-1, 1)
        for j in (-1, 1)
    ]
    q = model.neutral()
    q[:3] = (RADIUS + 0.05) * normal
    q[3:] = 0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)
    slope = so.Geom("slope", "world", HalfSpace(normal), friction=mu)
    return so.Scene(model, [*feet, slope], state=so.State(q, np.zeros(6)))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("dt", [4e-3, 1e-3])
def test_a_block_on_a_gentle_slope_stays(dt, integrator):
    scene = block_on_slope(np.radians(20.0))
    record = so.Simulator(scene, dt=dt, integrator=integrator).run(duration=2.0)
    assert record.contact_counts[1:].min() == 4
    assert np.abs(record.v).max() < 1e-9
    assert np.abs(record.q - record.q[0]).max() < 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("dt", [4e-3, 1e-3])
def test_a_block_on_a_steep_slope_slides_as_coulomb_says(dt, integrator):
    angle, mu = np.radians(45.0), 0.5
    scene = block_on_slope(angle, mu=mu)
    record = so.Simulator(scene, dt=dt, integrator=integrator).run(duration=1.0)
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    speed = (
        so.node_velocities(scene.model, record.q[-1], record.v[-1], [so.Node("block")])[0, 3:]
        @ down
    )
    acceleration = speed / record.times[-1]
    effective = np.tan(angle) - acceleration / (GRAVITY * np.cos(angle))
    assert abs(effective / mu - 1.0) < 2e-3
    assert np.abs(record.v[:, :3]).max() < 1e-9  # it does not turn
    assert record.penetrations.max() <= 1e-5


def puck_on_a_slope(angle, mu):
    """A thin plate that slides across a slope, which falls towards +x."""
    pull = GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    builder = so.TreeBuilder(gravity=pull)
    builder.add_body(
        "puck", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.002), mass=1.0)
    )
    plate = so.Geom("plate", "puck", so.Box((0.2, 0.2, 0.002)), friction=mu)
    floor = so.Geom("floor", "world", HalfSpace(), friction=mu)
    model = builder.build()
    q = model.neutral()
    q[2] = 0.001
    return so.Scene(model, [plate, floor], state=so.State(q, [0.0, 0.0, 0.0, 0.02, 1.0, 0.0]))


def path_of_a_puck(angle, mu, start, duration):
    """Its place and velocity along and across the slope: mu g cos(angle) against v."""
    rub = mu * GRAVITY * np.cos(angle)

    def rates(_, y):
        along = y[2:] / np.hypot(*y[2:])
        return [*y[2:], GRAVITY * np.sin(angle) - rub * along[0], -rub * along[1]]

    solved = solve_ivp(rates, (0.0, duration), [0.0, 0.0, *start], rtol=1e-12, atol=1e-14)
    return solved.y[:, -1]


@pytest.mark.compiled
def test_a_puck_curves_down_a_slope_to_the_second_order():
    duration = 0.4
    scene = puck_on_a_slope(angle=0.2, mu=0.3)
    wanted = path_of_a_puck(0.2, 0.3, (0.02, 1.0), duration)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        record = so.Simulator(scene, dt=dt).run(duration=duration)
        found = np.concatenate([record.q[-1, :2], record.v[-1, 3:5]])
        errors.append(np.abs(found - wanted).max())
    assert errors[2] < 2e-6
    for coarse, fine in pairwise(errors):
        assert fine < 0.3 * coarse


@pytest.mark.compiled
@pytest.mark.parametrize("dt", [4e-3, 1e-3, 1e-4])
@pytest.mark.parametrize("heading", [0.0, 0.7, 2.5])
def test_a_sliding_ball_ends_rolling_at_five_sevenths(dt, heading):
    speed, mu = 2.0, 0.3
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    scene = balls([(0.0, 0.0, RADIUS)], [speed * along], friction=mu, restitution=0.0)
    record = so.Simulator(scene, dt=dt).run(duration=0.4)
    velocity = [
        so.node_velocities(scene.model, q, v, [so.Node("ball0")])[0]
        for q, v in zip(record.q, record.v)
    ]
    rolling = np.array(velocity)
    # While it slides: dv/dt = -mu g.
    sliding = record.times < 0.9 * 2.0 * speed / (7.0 * mu * GRAVITY)
    expected = speed - mu * GRAVITY * record.times[sliding]
    assert np.allclose(rolling[sliding, 3:] @ along, expected, rtol=0.0, atol=1e-8)
    assert np.allclose(rolling[-1, 3:], 5.0 / 7.0 * speed * along, rtol=0.0, atol=1e-8)
    spin = np.cross([0.0, 0.0, 1.0], along) * 5.0 / 7.0 * speed / RADIUS
    assert np.allclose(rolling[-1, :3], spin, rtol=0.0, atol=1e-6)


# -------------------------------------------------------------------------------------- free flight


BOX = so.Inertia.box((0.1, 0.3, 0.5), mass=2.0)


def spinning_box(dt, integrator):
    model = so.TreeBuilder().add_body("box", joint=so.Joint("free"), inertia=BOX).build()
    state = so.State(model.neutral(), np.array([3.0, -2.0, 5.0, 1.0, 2.0, 3.0]))
    return model, so.Simulator(so.Scene(model, state=state), dt=dt, integrator=integrator).run(
        duration=1.0
    )


def angular_momenta(model, record):
    turns = [so.body_poses(model, q).rotations[0] for q in record.q]
    return np.array([R @ BOX.tensor @ v[:3] for R, v in zip(turns, record.v)])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("integrator", "tolerance"), [("moreau", 1e-11), ("semi-implicit", 1e-11), ("rk4", 1e-8)]
)
def test_a_spinning_body_flies_a_parabola(integrator, tolerance):
    # To rounding, but for RK4, which turns the axes of the velocity to fourth order.
    _, record = spinning_box(2e-3, integrator)
    t = record.times[:, None]
    path = t * [1.0, 2.0, 3.0] + 0.5 * t * t * [0.0, 0.0, -GRAVITY]
    if integrator == "semi-implicit":  # its parabola is that of first order: g dt t / 2 lower
        path[:, 2] -= 0.5 * GRAVITY * 2e-3 * record.times
    assert np.allclose(record.q[:, :3], path, rtol=0.0, atol=tolerance)
    assert np.allclose(np.linalg.norm(record.q[:, 3:], axis=1), 1.0, rtol=0.0, atol=1e-14)


@pytest.mark.compiled
@pytest.mark.parametrize(("integrator", "order"), [("semi-implicit", 1), ("rk4", 4)])
def test_angular_momentum_of_a_spinning_body(integrator, order):
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        momenta = angular_momenta(*spinning_box(dt, integrator))
        errors.append(np.abs(momenta - momenta[0]).max() / np.linalg.norm(momenta[0]))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes.min() > order - 0.2
    assert errors[-1] < (1e-9 if integrator == "rk4" else 1e-2)


# ------------------------------------------------------------------------------------------- energy


@pytest.mark.compiled
@pytest.mark.parametrize(("integrator", "order"), [("semi-implicit", 1), ("moreau", 2), ("rk4", 4)])
def test_energy_error_falls_with_the_order(integrator, order):
    pendulum, errors = so.models.pendulum(3), []
    for dt in (8e-3, 4e-3, 2e-3, 1e-3):
        scene = so.Scene(pendulum.model, state=pendulum.state)
        energy = so.Simulator(scene, dt=dt, integrator=integrator).run(duration=1.0).energy
        errors.append(np.abs(energy - energy[0]).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes.min() > order - 0.2
    if integrator == "semi-implicit":
        assert slopes.max() < order + 0.3


def check_impact(scene):
    """One step from a state of touching contacts.

    Kinetic energy does not grow, nothing approaches afterwards.
    """
    sim = so.Simulator(scene, dt=1e-9, certify="off")
    _, info = sim.step(scene.state)
    assert info.residual <= 1e-9
    for event in info.events:
        assert event[4] <= event[3] * (1.0 + 1e-12)
        assert 0.0 <= event[5] <= 1.0
    return info.events


@pytest.mark.compiled
def test_impacts_of_touching_balls_never_gain_energy(rng):
    contacts = 0
    for _ in range(30):
        radii, places = list(rng.uniform(0.1, 0.3, 4)), []
        for i, radius in enumerate(
            radii
        ):  # a chain of touching balls, kinked at random, all clear of one another
            while True:
                line = rng.normal(size=3)
                line /= np.linalg.norm(line)
                place = places[-1] + (radii[i - 1] + radius) * line if places else np.zeros(3)
                if all(np.linalg.norm(place - p) >= radius + r for p, r in zip(places[:-1], radii)):
                    break
            places.append(place)
        velocities = [rng.normal(size=6) * 3.0 for _ in radii]
        scene = balls(
            places, velocities, radii=radii, masses=list(10.0 ** rng.uniform(-2, 1, 4)), floor=False
        )
        mixed = [
            so.Geom(
                g.name,
                g.body,
                g.shape,
                friction=rng.uniform(0.0, 1.5),
                restitution=rng.uniform(0.0, 1.0),
            )
            for g in scene.geoms
        ]
        events = check_impact(so.Scene(scene.model, mixed, state=scene.state))
        contacts += events[:, 1].max(initial=0)
    assert contacts > 30


@pytest.mark.compiled
@pytest.mark.parametrize("equal", [True, False])
def test_impacts_of_mechanisms_never_gain_energy(rng, equal):
    # Random trees whose spheres touch planes in random directions: joints couple all contacts.
    impacts = 0
    for _ in range(30):
        model = random_tree(rng, 5, kinds=("revolute", "ball", "prismatic", "free"), branching=0.4)
        q, geoms = model.random(rng), []
        for i in range(int(rng.integers(2, 6))):
            body = model.body_names[int(rng.integers(model.n_bodies))]
            place, normal = rng.uniform(-0.3, 0.3, 3), rng.normal(size=3)
            normal /= np.linalg.norm(normal)
            center = so.node_positions(model, q, [so.Node(body, place)])[0]
            law = {
                "friction": rng.uniform(0.0, 1.2),
                "restitution": 1.0 if equal else rng.uniform(0.0, 1.0),
            }
            geoms.append(so.Geom(f"tip{i}", body, Sphere(0.05), position=place, **law))
            plane = HalfSpace(normal)
            geoms.append(
                so.Geom(f"wall{i}", "world", plane, position=center - 0.05 * normal, **law)
            )
        tips = [g.name for g in geoms if g.name.startswith("tip")]
        walls = [g.name for g in geoms if g.name.startswith("wall")]
        ignore = [(tip, wall) for tip in tips for wall in walls if tip[3:] != wall[4:]]
        ignore += [(a, b) for a in tips for b in tips if a < b]
        scene = so.Scene(
            model, geoms, state=so.State(q, rng.normal(size=model.nv) * 3.0), ignore=ignore
        )
        impacts += len(check_impact(scene))
    assert impacts > 20


@pytest.mark.compiled
def test_energy_never_rises_without_drive(rng):
    # A handful of balls dropped on the floor and on each other; Moreau's rule is exact in free
    # flight.
    places = [(0.02 * i, 0.01 * i, 0.15 + 0.35 * i) for i in range(4)]
    scene = balls(places, [rng.normal(size=6) * 0.5 for _ in places], friction=0.4, restitution=0.7)
    record = so.Simulator(scene, dt=1e-3).run(duration=2.0)
    assert len(record.events) > 10
    assert np.diff(record.energy).max() <= 1e-4 * record.energy[0]
    assert record.penetrations.max() <= 1e-3
