"""What pairs remember from look to look changes nothing but time."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts import robots
from spatialops.bench.contacts.engines import Ours
from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Sphere,
    shape_inertia,
)

STEPS = 40
# Apart from what its box overlaps: looks go to the end.
SLANTED = ConvexHull(0.3 * np.vstack([np.eye(3), -np.eye(3)]))
FLYING = [
    Sphere(0.05),
    Capsule(0.05, 0.1),
    Cylinder(0.05, 0.1),
    Cone(0.05, 0.1),
    Ellipsoid((0.05, 0.04, 0.03)),
    Box((0.1, 0.08, 0.06)),
    ConvexHull([(0.05, 0, 0), (-0.05, 0, 0), (0, 0.04, 0), (0, 0, 0.04), (0, -0.04, -0.04)]),
]


@pytest.mark.compiled
@pytest.mark.parametrize("shape", FLYING, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("first", [True, False])
def test_what_comes_from_afar_is_met(shape, first):
    """What looks have found to be apart is not so for ever, of any shape, as A or as B."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("flies", joint=so.Joint("free"), inertia=shape_inertia(Sphere(0.05), 1000.0))
    geoms = [so.Geom("flying", "flies", shape), so.Geom("slanted", "world", SLANTED)]
    state = so.State([-0.6, 0.1, 0.1, 0, 0, 0, 1.0], [0, 0, 0, 1.0, 0.0, 0.0])
    scene = so.Scene(builder.build(), geoms if first else geoms[::-1], state=state)
    loop = Ours(scene, 1e-3)
    loop.run(550)
    assert np.abs(loop.state.v[3:] - (1.0, 0.0, 0.0)).max() > 0.1
    assert loop.depth < 1e-3


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["go2", "talos"])
def test_robots_that_touch_themselves_move_as_if_nothing_were_remembered(name):
    setting = robots.limp(name, self_collision=True)
    if setting is None:
        pytest.skip("example-robot-data is not installed")
    loops = [Ours(setting.scene, 1e-3) for _ in range(2)]
    told, asked = loops
    for _ in range(STEPS):
        told.run(1)
        asked.tables.remembered[:, 0] = 0.0
        asked.run(1)
    rows = told.tables.remembered
    assert np.count_nonzero(rows[:, 0]) >= 2
    assert max(loop.residual for loop in loops) <= 1e-9
    np.testing.assert_allclose(told.state.q, asked.state.q, atol=1e-7)
