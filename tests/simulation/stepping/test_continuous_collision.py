"""Fast bodies and thin ones: the first crossing, however many pairs there is room for at once."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.collision import Box, HalfSpace, shape_inertia
from spatialops.collision._layout import INFINITE

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
    few = t._replace(lcp_ints=t.lcp_ints[:room].copy(), lcp_vectors=t.lcp_vectors[:room].copy())
    bench.loop.hold(few)
    bench.run(1)
    x = bench.state.q[0::7]
    arrived = np.array(APART) < SPEED * DT
    assert x[arrived] == pytest.approx(-0.5 * THIN - 0.01, abs=1e-5)  # at its plate
    assert x[~arrived] == pytest.approx(-0.5 * THIN - 0.01 - APART[0] + SPEED * DT, abs=1e-12)
    assert bench.state.v[3::6] == pytest.approx(np.where(arrived, 0.0, SPEED), abs=1e-9)
    bench.run(1)
    assert bench.state.q[0] == pytest.approx(-0.5 * THIN - 0.01, abs=1e-5)


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
