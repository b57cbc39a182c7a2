"""What touched under the same name, elsewhere on the shape, has not touched."""

import numpy as np
import pytest

import spatialops as so

RADIUS, LENGTH = 0.2, 0.1
TILT, TURNING = 2e-3, 5.0  # rad, rad/s


def slamming():
    """A coin that stands on its rim and slams down onto the opposite side of it."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.cylinder(RADIUS, LENGTH, mass=1.0)
    builder.add_body("coin", joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2] = 0.5 * LENGTH * np.cos(TILT) + RADIUS * np.sin(TILT)
    q[3], q[6] = np.sin(0.5 * TILT), np.cos(0.5 * TILT)
    v[0] = -TURNING  # about its lowest point, at y = -RADIUS
    v[4:] = 0.5 * LENGTH * TURNING, -RADIUS * TURNING
    coin = so.Geom("coin", "coin", so.Cylinder(RADIUS, LENGTH))
    scene = so.Scene(model, [so.Geom("floor", "world", so.HalfSpace()), coin])
    scene.state = so.State(q, v)
    return scene


@pytest.mark.parametrize("law", ["frictionless", "coulomb"])
def test_a_coin_that_slams_onto_the_other_side_of_its_rim_arrives_there(law):
    # The lowest point of the rim has one name, wherever it is: what came down was taken for what
    # had touched, and was 9 mm too deep at the end of a step of 10 ms.
    simulators = [so.Simulator(slamming(), law=law, dt=dt) for dt in (0.01, 0.001)]
    coarse, fine = (simulator.run(duration=0.01) for simulator in simulators)
    assert coarse.impact_counts.sum() == fine.impact_counts.sum() > 0
    assert coarse.penetrations.max() < 1e-9
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=1e-7)
    np.testing.assert_allclose(coarse.v[-1], fine.v[-1], atol=1e-9)
