"""Inelastic arrivals of many bodies within one step: met together, without loss of what is true."""

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.jit import COMPILED
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping import state_machine
from tests.simulation.linearization.test_linearize import check

RADIUS = 0.1
STEP = 1e-3


def balls(heights, velocities, *, restitutions=None, friction=0.5, gravity=-9.81):
    """Balls above a floor, in a row without touching each other."""
    n = len(heights)
    bounces = np.zeros(n) if restitutions is None else restitutions
    builder = so.TreeBuilder(gravity=(0.0, 0.0, gravity))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=friction, restitution=1.0)]
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    for i in range(n):
        inertia = so.Inertia.sphere(RADIUS, mass=1.0)
        builder.add_body(f"b{i}", joint="free", inertia=inertia)
        shape = so.Sphere(RADIUS)
        geoms.append(
            so.Geom(f"g{i}", f"b{i}", shape, friction=friction, restitution=float(bounces[i]))
        )
        q[i] = 0.0, i, RADIUS + heights[i], 0.0, 0.0, 0.0, 1.0
        v[i, 3:] = velocities[i]
    return so.Scene(builder.build(), geoms, state=so.State(q.ravel(), v.ravel()))


def scattered(n):
    """Gaps that close at times spread over one step, at 2 m/s."""
    return 2.0 * STEP * (np.arange(n) + 0.5) / n


def test_they_come_to_rest_on_the_floor_and_none_bounces():
    n = 12
    scene = balls(scattered(n), [(0.0, 0.0, -2.0)] * n)
    record = so.Simulator(scene, dt=STEP).run(duration=0.02)
    v, q = record.v.reshape(-1, n, 6), record.q.reshape(-1, n, 7)
    assert v[1:, :, 5].max() <= 1e-9  # nobody goes up, whenever in the step it arrived
    assert np.abs(v[3:]).max() <= 1e-8
    assert np.abs(q[-1, :, 2] - RADIUS).max() <= 1e-5
    assert record.penetrations.max() <= 1e-5
    assert record.residuals.max() <= 1e-9
    energy = record.kinetic + record.potential
    assert np.diff(energy).max() <= 1e-9


def test_they_take_the_work_of_one_step():
    n = 40
    scene = balls(scattered(n), [(0.0, 0.0, -2.0)] * n)
    record = so.Simulator(scene, dt=STEP).run(duration=STEP)
    assert record.metadata["contact_problems"] <= 3
    assert len(record.events) == 0


def test_few_are_still_met_at_their_time():
    scene = balls(scattered(2), [(0.0, 0.0, -2.0)] * 2)
    record = so.Simulator(scene, dt=STEP).run(duration=2.0 * STEP)
    arrivals = np.sort(record.events[:, 0])
    expected = np.array([scattered(2)[i] / 2.0 for i in range(2)])
    assert arrivals == pytest.approx(expected, abs=5e-6)  # gravity makes them a little earlier


@pytest.mark.parametrize(("feet", "cuts"), [(2, 2), (3, 1)])
def test_of_one_mechanism_two_are_met_at_their_time(feet, cuts):
    # Of three the first has its impulse at once, the others the rest of theirs as a step begins.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    along = so.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    builder.add_body("cart", joint=along, inertia=so.Inertia.sphere(1.0, mass=100.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace())]
    for i in range(feet):
        builder.add_body(
            f"b{i}",
            parent="cart",
            joint=so.Joint("prismatic", axis=(0.0, 0.0, 1.0)),
            position=(float(i), 0.0, 0.0),
            inertia=so.Inertia.sphere(RADIUS, mass=1.0),
        )
        geoms.append(so.Geom(f"g{i}", f"b{i}", so.Sphere(RADIUS)))
    q = np.concatenate([[0.0], RADIUS + scattered(feet)])
    v = np.concatenate([[0.0], np.full(feet, -2.0)])
    scene = so.Scene(builder.build(), geoms, state=so.State(q, v))
    record = so.Simulator(scene, dt=STEP).run(duration=2.0 * STEP)
    assert len(record.events) == cuts
    assert np.abs(record.v[-1]).max() <= 1e-9


def test_those_that_a_step_was_cut_at_count_too():
    # A foot and one end of a rod arrive; the impact turns the rod, whose other end would have come
    # in the next step.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    down = so.Joint("prismatic", axis=(0.0, 0.0, 1.0))
    along = so.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    builder.add_body("cart", joint=along, inertia=so.Inertia.sphere(1.0, mass=100.0))
    ball = so.Inertia.sphere(RADIUS, mass=1.0)
    builder.add_body("foot", parent="cart", joint=down, inertia=ball)
    slide = so.Inertia.sphere(RADIUS, mass=1e-6)
    builder.add_body("slide", parent="cart", joint=down, position=(2.0, 0.0, 0.0), inertia=slide)
    turn = so.Joint("revolute", axis=(0.0, 1.0, 0.0))
    rod = so.Inertia.box((1.0, 0.01, 0.01), mass=1.0)
    builder.add_body("rod", parent="slide", joint=turn, inertia=rod)
    lower, higher = (0.5, 0.0, -0.6e-3), (-0.5, 0.0, 0.85e-3)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace()),
        so.Geom("foot", "foot", so.Sphere(RADIUS)),
        so.Geom("lower", "rod", so.Sphere(RADIUS), position=lower),
        so.Geom("higher", "rod", so.Sphere(RADIUS), position=higher),
    ]
    q = np.array([0.0, RADIUS + 0.4e-3, RADIUS + 1.2e-3, 0.0])
    scene = so.Scene(builder.build(), geoms, state=so.State(q, np.array([0.0, -2.0, -2.0, 0.0])))
    record = so.Simulator(scene, dt=STEP).run(duration=5.0 * STEP)
    times = record.events[:, 0]
    assert times[times < STEP] == pytest.approx([0.2e-3, 0.3e-3], abs=1e-6)
    assert np.abs(record.v[-1, 1:]).max() <= 1e-9
    assert record.penetrations.max() <= 1e-5


def test_the_first_of_an_island_has_its_impulse_at_once():
    n = 5
    scene = balls(scattered(n), [(0.3, 0.0, -2.0)] * n, friction=0.02)
    record = so.Simulator(scene, dt=STEP).run(duration=STEP)
    v = record.v[-1].reshape(n, 6)[:, 3:]
    slip = np.linalg.norm(v, axis=1)  # in the axes of bodies that have turned
    assert slip == pytest.approx(np.full(n, 0.3 - 0.02 * 2.0), abs=1e-3)
    assert record.q[-1].reshape(n, 7)[:, 2] == pytest.approx(np.full(n, RADIUS), abs=1e-5)


def rods(n, gap):
    """Rods of four lengths that slant and slip, each a body by itself, above a floor."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.4)]
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    for i in range(n):
        length = 0.5 + 0.1 * i
        inertia = so.Inertia.box((length, 0.05, 0.03), mass=1.0)
        builder.add_body(f"r{i}", joint="free", inertia=inertia)
        tip = (0.5 * length, 0.1, 0.0)
        geoms.append(so.Geom(f"r{i}", f"r{i}", so.Sphere(0.01), position=tip, friction=0.4))
        turn = np.array([0.0, np.sin(0.3), 0.0, np.cos(0.3)])
        height = 0.01 + 0.5 * length * np.sin(0.6) + gap * (0.1 + 0.8 * i / n)
        q[i] = np.concatenate([[0.0, 2.0 * i, height], turn])
        v[i] = 1.0, 0.2, 0.5, 0.1, 0.3, -2.0
    return so.Scene(builder.build(), geoms, state=so.State(q.ravel(), v.ravel()))


def test_friction_of_those_that_arrive_together_converges():
    n, time = 4, 8e-3
    exact = so.Simulator(rods(n, 4e-3), dt=5e-5).run(duration=time)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        record = so.Simulator(rods(n, 4e-3), dt=dt).run(duration=time)
        errors.append(np.abs(record.v[-1] - exact.v[-1]).max())
    assert errors[0] > 1e-4
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < 0.7 * errors[1]


@pytest.mark.parametrize("options", [{"impacts": "propagated"}, {"law": "no-slip"}])
def test_some_options_cut_the_step_however_many_arrive(options):
    n = 5
    scene = balls(scattered(n), [(0.0, 0.0, -2.0)] * n)
    record = so.Simulator(scene, dt=STEP, **options).run(duration=2.0 * STEP)
    assert len(record.events) == n


@pytest.mark.parametrize("parts", [1, 4])
def test_balls_that_land_with_a_slip_end_rolling_at_five_sevenths(parts):
    n, speed = 6, 0.3
    dt = STEP / parts
    scene = balls(scattered(n) / parts, [(speed, 0.0, -2.0)] * n, friction=1.0)
    record = so.Simulator(scene, dt=dt).run(duration=0.02)
    along = record.v[-1].reshape(n, 6)[:, 3:]  # in the axes of bodies that have turned
    rolling = np.full(n, 5.0 / 7.0 * speed)
    assert np.linalg.norm(along, axis=1) == pytest.approx(rolling, rel=2.0 * dt)  # order 1


def test_what_is_elastic_bounces_among_them():
    n = 6
    bounces = np.zeros(n)
    bounces[2] = 1.0
    scene = balls(scattered(n), [(0.0, 0.0, -2.0)] * n, restitutions=bounces, gravity=0.0)
    record = so.Simulator(scene, dt=STEP).run(duration=5.0 * STEP)
    up = record.v[-1].reshape(n, 6)[:, 5]
    assert up[2] == pytest.approx(2.0, rel=1e-9)
    assert np.abs(np.delete(up, 2)).max() <= 1e-9


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_cut_beside_what_has_arrived_leaves_nobody_below_the_floor(share):
    # The elastic one cuts the step, of which the others were 0.5 mm beyond the floor in the middle.
    n = 8
    heights, bounces = np.full(n, 1e-6), np.zeros(n)
    heights[-1], bounces[-1] = 2.0 * STEP * share, 1.0
    scene = balls(heights, [(0.0, 0.0, -2.0)] * n, restitutions=bounces)
    state, info = so.Simulator(scene, dt=STEP).step(scene.state)
    assert info.penetration <= 1e-9
    speeds = state.v.reshape(n, 6)[:, 5]
    assert np.abs(speeds[:-1]).max() <= 1e-9
    assert speeds[-1] == pytest.approx(2.0, abs=1e-2)


@pytest.mark.parametrize("gap", [1e-5, 2e-4, 1e-3])
def test_a_row_that_is_pushed_together_ends_so_however_many_there_are(gap):
    # Each of them meets the next one by what the ones before have done: the third 3.5 mm too late.
    n, step = 14, 5e-3
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = []
    for i in range(n):
        joint = so.Joint("prismatic", axis="x")
        ball = so.Inertia.sphere(RADIUS, mass=1.0)
        place = (i * (2.0 * RADIUS + gap), 0.0, 0.0)
        builder.add_body(f"b{i}", joint=joint, inertia=ball, position=place)
        geoms.append(so.Geom(f"g{i}", f"b{i}", so.Sphere(RADIUS)))
    state = so.State(np.zeros(n), np.eye(n)[0] * 5.0)
    record = so.Simulator(so.Scene(builder.build(), geoms), dt=step).run(state, duration=0.05)
    assert record.penetrations.max() <= 5e-4  # five times the margin
    assert record.v[-1] == pytest.approx(np.full(n, 5.0 / n), rel=1e-9)
    assert np.diff(record.kinetic).max() <= 1e-12


def pushed_rows(n):
    """Rows of two balls and a wall: the first one pushes the second one against it in one step."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    wall = so.HalfSpace((-1.0, 0.0, 0.0))
    geoms = [so.Geom("wall", "world", wall, position=(0.5, 0.0, 0.0))]
    q, v = np.zeros((2 * n, 7)), np.zeros((2 * n, 6))
    for i in range(n):
        for k, place in ((0, 0.2 - 4e-4), (1, 0.4 - 2e-4)):
            name = f"{i}{k}"
            builder.add_body(
                name, joint="free", inertia=so.Inertia.sphere(RADIUS, mass=10.0 - 9.0 * k)
            )
            geoms.append(so.Geom(name, name, so.Sphere(RADIUS)))
            q[2 * i + k, :2], q[2 * i + k, 6] = (place, float(i)), 1.0
        v[2 * i, 3] = 2.0
    return so.Scene(builder.build(), geoms, state=so.State(q.ravel(), v.ravel()))


def test_what_contacts_push_against_a_wall_is_met_too():
    n = 5
    scene = pushed_rows(n)
    record = so.Simulator(scene, dt=STEP).run(duration=10.0 * STEP)
    places = record.q.reshape(-1, 2 * n, 7)[:, 1::2, 0]
    assert places.max() <= 0.4 + 1e-5
    assert np.abs(record.v[-1]).max() <= 1e-8
    assert record.penetrations.max() <= 1e-5


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_what_falls_far_in_the_step_is_not_left_out_where_others_were_not_foreseen(integrator):
    # A force pushes x and y, which touch, against z: the step is stated anew, with f and g in it,
    # which come together at 1 m/s in 0.7 of it.
    step = 1e-2
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    along = so.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    geoms = []
    places = {"a": (0.0, 0.0), "b": (0.2001, 0.0), "x": (0.0, 1.0), "y": (0.2, 1.0)}
    places |= {"z": (0.4003, 1.0), "f": (0.0, 2.0), "g": (0.207, 2.0)}
    for name, (x, y) in places.items():
        ball = so.Inertia.sphere(RADIUS, mass=1.0)
        builder.add_body(name, joint=along, inertia=ball, position=(x, y, 0.0))
        geoms.append(so.Geom(name, name, so.Sphere(RADIUS)))
    scene = so.Scene(builder.build(), geoms)
    state = so.State(np.zeros(7), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]))
    simulator = so.Simulator(scene, dt=step, integrator=integrator)
    tau = np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.0, 0.0])
    state, info = simulator.step(state, tau)
    assert info.penetration <= 1e-9
    assert state.q[6] + 0.007 - state.q[5] >= -1e-9  # g is still ahead of f
    assert simulator.step(state, tau)[0].v[5:] == pytest.approx([0.5, 0.5], abs=1e-9)


def planks(high):
    """Planks that come down on one end, the other one so high: it slams down within the step."""
    n, length = 3, 0.4
    low = 5e-4
    angle = (high - low) / length
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace())]
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    size = (length, 0.1, 0.02)
    for i in range(n):
        builder.add_body(f"b{i}", joint="free", inertia=so.Inertia.box(size, mass=1.0))
        geoms.append(so.Geom(f"g{i}", f"b{i}", so.Box(size)))
        q[i, 1], q[i, 2] = float(i), 0.5 * (high + low + size[2])
        q[i, 4], q[i, 6] = np.sin(0.5 * angle), np.cos(0.5 * angle)
        v[i, 3], v[i, 5] = 2.0 * np.sin(angle), -2.0 * np.cos(angle)
    return so.Scene(builder.build(), geoms, state=so.State(q.ravel(), v.ravel()))


@pytest.mark.parametrize(("high", "problems", "depth"), [(2.6e-3, 2, 1e-9), (2.7e-3, 1, 1e-4)])
def test_an_end_that_slams_down_is_met_where_it_would_be_deep(high, problems, depth):
    record = so.Simulator(planks(high), dt=STEP).run(duration=STEP)
    assert record.metadata["contact_problems"] == problems
    assert record.metadata["position_projections"] == 2 - problems
    assert record.penetrations.max() <= depth


@pytest.mark.parametrize(("n", "events"), [(100, 1), (150, 0)])
def test_what_falls_on_a_pile_cuts_no_problem_of_all_its_contacts(n, events):
    still, falling = (0.0, 0.0, 0.0), (0.0, 0.0, -2.0)
    scene = balls(np.append(np.zeros(n), STEP), [still] * n + [falling])
    record = so.Simulator(scene, dt=STEP).run(duration=3.0 * STEP)
    assert len(record.events) == events
    assert np.abs(record.v[-1]).max() <= 1e-9
    assert record.penetrations.max() <= 1e-9


def test_order_of_bodies_does_not_matter():
    n = 8
    gaps = scattered(n)
    turned = np.random.default_rng(0).permutation(n)
    first = so.Simulator(balls(gaps, [(0.2, 0.0, -2.0)] * n), dt=STEP).run(duration=0.01)
    other = so.Simulator(balls(gaps[turned], [(0.2, 0.0, -2.0)] * n), dt=STEP).run(duration=0.01)
    a, b = first.q[-1].reshape(n, 7)[turned], other.q[-1].reshape(n, 7)
    assert np.abs(a[:, [0, 2]] - b[:, [0, 2]]).max() <= 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("angle", [0.1, 0.4])
def test_tilted_boxes_end_as_with_steps_ten_times_shorter(angle):
    scene = tilted_boxes(angle)
    coarse = so.Simulator(scene, dt=STEP).run(duration=0.05)
    fine = so.Simulator(scene, dt=0.1 * STEP).run(duration=0.05)
    assert np.abs(coarse.q[-1] - fine.q[-1]).max() <= 5.0 * STEP * 2.0  # order 1, at 2 m/s
    assert coarse.residuals.max() <= 1e-9
    gained = np.diff(coarse.kinetic + coarse.potential)
    assert gained.max() <= 1e-6


def tilted_boxes(angle):
    n = 4
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.6)]
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    height = 0.1 * (np.cos(angle) + np.sin(angle))
    for i in range(n):
        size = (0.2, 0.2, 0.2)
        builder.add_body(f"b{i}", joint="free", inertia=so.Inertia.box(size, mass=1.0))
        geoms.append(so.Geom(f"g{i}", f"b{i}", so.Box(size), friction=0.6))
        q[i, 1], q[i, 2] = float(i), height + scattered(n)[i]
        q[i, 4], q[i, 6] = np.sin(0.5 * angle), np.cos(0.5 * angle)
        v[i, 5] = -2.0
    return so.Scene(builder.build(), geoms, state=so.State(q.ravel(), v.ravel()))


def plates(n, speed):
    """Tilted plates that fall fast on a large box, each a little later than the one before."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    size, tilt = (0.1, 0.1, 0.01), 0.05
    geoms = [so.Geom("floor", "world", so.Box((20.0, 20.0, 1.0)), position=(0.0, 0.0, -0.5))]
    q, v = np.zeros((n, 7)), np.zeros((n, 6))
    for i in range(n):
        builder.add_body(f"p{i}", joint="free", inertia=so.Inertia.box(size, mass=0.1))
        geoms.append(so.Geom(f"g{i}", f"p{i}", so.Box(size)))
        height = 0.005 + 0.004 * (i + 1) + 0.05 * np.sin(tilt)
        q[i] = 0.3 * i, 0.0, height, np.sin(0.5 * tilt), 0.0, 0.0, np.cos(0.5 * tilt)
        v[i, 5] = -speed
    return so.Scene(builder.build(), geoms, state=so.State(q.ravel(), v.ravel()))


@pytest.mark.parametrize("dt", [5e-3, 2.5e-3])
def test_those_that_are_thin_for_their_speed_are_met_once(dt):
    # Their impulses were found, and then the step was cut where the first would have passed into
    # the floor before it: the others went on with theirs, and stood 1.7 cm in it.
    n = 6
    record = so.Simulator(plates(n, 10.0), dt=dt).run(duration=0.02)
    assert record.penetrations.max() <= 1e-4
    assert np.abs(record.q[-1].reshape(n, 7)[:, 2] - 0.005).max() <= 1e-4
    energy = record.kinetic + record.potential
    assert np.diff(energy).max() <= 1e-6 * energy[0]  # by what is projected


def test_linearize_says_that_it_does_not_know_such_steps():
    n = 5
    scene = balls(scattered(n), [(0.0, 0.0, -2.0)] * n)
    with pytest.raises(ContactError, match="met together"):
        so.Simulator(scene, dt=STEP).linearize(scene.state)


@pytest.mark.compiled
def test_linearize_knows_those_of_semi_implicit_steps():
    """Balls that spin and arrive at different times within the step, and stick."""
    n = 7
    scene = balls(3e-4 * np.arange(1, n + 1), [(0.3, -0.2, -0.9)] * n)
    scene.state.v.reshape(n, 6)[:, :3] = 0.3, -0.2, 0.4
    options = {"dt": 5e-3, "integrator": "semi-implicit", "time": so.TimeStepping(settled=1e-13)}
    simulator = so.Simulator(scene, **options)
    found = check(simulator, scene.state, np.zeros(6 * n), (1e-6, 1e-5, 1e-2))
    assert found.statuses == ("sticking",) * n


@pytest.mark.skipif(COMPILED, reason="compiled code cannot be made to fail")
@pytest.mark.parametrize("arrive", [True, False])
def test_a_problem_that_is_not_solved_is_halved_in_time(monkeypatch, arrive):
    solve, tries = state_machine.solve_here, []

    def fails_once(t, warm):
        solve(t, warm)
        tries.append(t.monitor[at.PIECE])
        if len(tries) == 1:
            t.control[at.CODE] = at.UNSOLVED

    monkeypatch.setattr(state_machine, "solve_here", fails_once)
    n = 4
    scene = balls(scattered(n) if arrive else np.zeros(n), [(0.0, 0.0, -2.0 * arrive)] * n)
    state, info = so.Simulator(scene, dt=STEP).step(scene.state)
    assert tries[:2] == pytest.approx([STEP, 0.5 * STEP])
    assert info.residual <= 1e-9
    assert state.v.reshape(n, 6)[:, 5].max() <= 1e-9
