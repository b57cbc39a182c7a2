"""Fast bodies and thin ones: the first crossing, however many pairs there is room for at once."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.collision import Box, shape_inertia

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
