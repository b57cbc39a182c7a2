"""What arrives within a step is met when it arrives, also at shapes that touch already."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.simulation import _layout as at

HALF = (0.1, 0.06, 0.04)
DT = 2e-3


def tumbling(count, rng):
    """Boxes, each by itself, that fall on a floor tilted, and rock until they lie."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.5)]
    inertia = so.Inertia.box(tuple(2.0 * h for h in HALF), mass=1.0)
    for i in range(count):
        place = (0.5 * i, 0.0, 0.12)
        builder.add_body(f"box{i}", joint=so.Joint("free"), inertia=inertia, position=place)
        geoms.append(so.Geom(f"box{i}", f"box{i}", so.Box(HALF), friction=0.5))
    model = builder.build()
    turn = np.zeros((count, 6))
    turn[:, :3] = 0.3 * rng.standard_normal((count, 3))
    q = so.integrate(model, model.neutral(), turn.ravel())
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


@pytest.mark.compiled  # for its length
def test_a_corner_that_comes_down_is_met_once(rng):
    # The corner on which a box rocks sinks by what a step leaves, and so did the distance of the
    # pair: steps were cut up to sixty times where it had sunk, and corners met 0.5 mm too deep.
    engine = Ours(tumbling(8, rng), DT)
    for _ in range(300):
        before = engine.tables.control.copy()
        engine.run(1)
        done = engine.tables.control - before
        assert done[at.SOLVES] <= 6 * done[at.IMPACTS] + 6
    assert engine.depth < 2e-5
    assert engine.residual <= 1e-9
