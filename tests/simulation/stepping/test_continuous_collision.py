"""Fast bodies and thin ones: the first crossing, however many pairs there is room for at once."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.collision import Box, HalfSpace, shape_inertia
from spatialops.collision._layout import INFINITE
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.continuous_collision import WAY_COLUMNS

DT = 1e-2
THIN = 0.01  # m, of the plates
APART = (0.9, 0.5, 0.7, 0.3)  # m, of bullets from their plates
SPEED = 80.0  # m/s


def bullets():
    """Boxes that would pass through plates in one step, each through its own."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = []
    q = []
    v = []
    small = Box((0.02, 0.02, 0.02))
    for i, gap in enumerate(APART):
        plate = so.Geom(f"plate{i}", "world", Box((THIN, 1.0, 1.0)), (0.0, 3.0 * i, 0.0))
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=shape_inertia(small, 1000.0))
        geoms += [plate, so.Geom(f"bullet{i}", f"b{i}", small)]
        q += [-gap - 0.5 * THIN - 0.01, 3.0 * i, 0.0, 0.0, 0.0, 0.0, 1.0]
        v += [0.0, 0.0, 0.0, SPEED, 0.0, 0.0]
    return so.Scene(builder.build(), geoms, state=so.State(np.array(q), np.array(v)))


@pytest.mark.parametrize("room", [1, 2, 3, 100])
def test_the_first_of_many_crossings_is_found(room):
    bench = Ours(bullets(), DT)
    t = bench.tables
    wide = WAY_COLUMNS * room
    few = t._replace(lcp_ints=t.lcp_ints[:room].copy(), D=t.D[:wide].copy())
    bench.loop.hold(few)
    bench.run(1)
    x = bench.state.q[0::7]
    arrived = np.array(APART) < SPEED * DT
    assert x[arrived] == pytest.approx(-0.5 * THIN - 0.01, abs=1e-7)  # at its plate
    assert x[~arrived] == pytest.approx(-0.5 * THIN - 0.01 - APART[0] + SPEED * DT, abs=1e-12)
    assert bench.state.v[3::6] == pytest.approx(np.where(arrived, 0.0, SPEED), abs=1e-9)
    bench.run(1)
    assert bench.state.q[0] == pytest.approx(-0.5 * THIN - 0.01, abs=1e-5)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_what_is_shot_off_within_a_step_meets_what_is_in_its_way(integrator):
    """It moves hardly at first: how much faster it becomes counts."""
    scene = bullets()
    v = scene.state.v.copy()
    v[3::6] = 0.1
    scene = so.Scene(scene.model, scene.geoms, state=so.State(scene.state.q, v))
    force = np.zeros(scene.model.nv)
    force[3::6] = 8e-3 * 2.0 * SPEED / DT  # of 8 g
    simulator = so.Simulator(scene, dt=DT, integrator=integrator)
    state, _ = simulator.step(scene.state, tau=force)
    gone = 0.5 * DT * (2.0 * SPEED) * (1.0 if integrator == "moreau" else 2.0)
    arrived = np.array(APART) < gone
    assert state.q[0::7][arrived] == pytest.approx(-0.5 * THIN - 0.01, abs=1e-5)
    assert arrived.sum() >= 3


def test_nothing_passes_a_half_space_unseen():
    small, floor = Box((0.02, 0.02, 0.02)), so.Geom("floor", "world", HalfSpace())
    builder = so.TreeBuilder()
    for i in range(2):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=shape_inertia(small, 1000.0))
    model = builder.build()
    boxes = [so.Geom(f"box{i}", f"b{i}", small) for i in range(2)]
    assert so.Scene(model, [*boxes, floor], ignore=[("box0", "box1")]).least_width == INFINITE
    assert so.Scene(model, [*boxes, floor]).least_width == pytest.approx(0.01, rel=0.5)
    q = model.neutral()
    q[2], q[7:10] = 0.5, (1.0, 0.0, 0.01)
    v = np.zeros(12)
    v[5] = -SPEED
    scene = so.Scene(model, [*boxes, floor], ignore=[("box0", "box1")], state=so.State(q, v))
    record = so.Simulator(scene, dt=DT).run(duration=2 * DT)
    assert record.q[-1, 2] == pytest.approx(0.01, abs=1e-5)


def test_what_rests_stays_while_what_is_fast_is_looked_at():
    heavy, small = Box((0.2, 0.2, 0.2)), Box((0.02, 0.02, 0.02))
    builder = so.TreeBuilder()
    builder.add_body("rests", joint=so.Joint("free"), inertia=shape_inertia(heavy, 1000.0))
    builder.add_body("flies", joint=so.Joint("free"), inertia=shape_inertia(small, 1000.0))
    box, bullet = so.Geom("box", "rests", heavy), so.Geom("bullet", "flies", small)
    model = builder.build()
    q, v = model.neutral(), np.zeros(12)
    q[2], q[7:10] = 0.1, (5.0, 0.0, 500.0)
    v[11] = SPEED
    floor = so.Geom("floor", "world", HalfSpace())
    scene = so.Scene(model, [box, bullet, floor], state=so.State(q, v))
    assert SPEED * 1e-3 > scene.least_width
    record = so.Simulator(scene, dt=1e-3).run(duration=0.1)
    assert np.array_equal(record.q[50, :7], record.q[-1, :7])
    assert not record.v[-1, :6].any()


def rolling_rods(n):
    """Thin rods beside one another that roll at 300 rad/s, nearer than they are long."""
    rod, builder = Box((0.01, 0.01, 0.5)), so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = []
    for i in range(n):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=shape_inertia(rod, 1000.0))
        geoms.append(so.Geom(f"rod{i}", f"b{i}", rod, friction=0.0))
    model = builder.build()
    q, v = model.neutral(), np.zeros(6 * n)
    q[0::7], v[2::6] = 0.02 * np.arange(n), 300.0
    return so.Scene(model, geoms, state=so.State(q, v))


def test_rods_that_roll_beside_one_another_pass_through_nothing():
    """Their ends would sweep 75 m/s if they turned otherwise, 7.5 times their width in a step."""
    bench = Ours(rolling_rods(5), 1e-3)
    bench.run(5)
    assert bench.tables.control[at.PIECES] <= 1
    assert bench.state.v[2::6] == pytest.approx(300.0, rel=1e-12)


def gliding_boxes(gap, approach):
    """A box that glides fast over a plate, this far above it, and comes down so slowly."""
    small, plate = Box((0.02, 0.02, 0.02)), Box((1.0, 1.0, THIN))
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("b", joint=so.Joint("free"), inertia=shape_inertia(small, 1000.0))
    geoms = [so.Geom("plate", "world", plate), so.Geom("box", "b", small, friction=0.0)]
    height = 0.5 * THIN + 0.01 + gap
    state = so.State(
        np.array([-0.1, 0.0, height, 0.0, 0.0, 0.0, 1.0]),
        np.array([0.0, 0.0, 0.0, 20.0, 0.0, -approach]),
    )
    return so.Scene(builder.build(), geoms, state=state)


@pytest.mark.parametrize("approach", [0.005, 0.5])
def test_what_comes_down_slowly_as_it_flies_past_needs_no_cut(approach):
    """Only the fast one is cut where it meets; the other goes in by what half a step takes it."""
    scene = gliding_boxes(1e-6, approach)
    bench = Ours(scene, 1e-3)
    bench.run(1)
    assert bench.depth <= (1e-8 if approach == 0.5 else 0.5e-3 * approach)
    assert bench.state.v[3] == pytest.approx(20.0)
    assert abs(bench.state.v[5]) <= approach
    slow = approach < bench.tables.settings[at.THRESHOLD]
    assert (bench.tables.control[at.PIECES] == 0) == slow
