"""Bodies alone: energy and momentum to rounding, at spins that no other rule takes."""

import numpy as np
import pytest

import spatialops as so
from spatialops.experiments.accuracy.spinning import momenta

INERTIA = so.Inertia.box((0.3, 0.2, 0.1), mass=2.0).shifted((0.05, -0.02, 0.1))


def spun(speed, gravity=(0.0, 0.0, -9.81)):
    """A box whose origin is not its centre of mass."""
    model = (
        so.TreeBuilder(gravity=gravity)
        .add_body("box", joint=so.Joint("free"), inertia=INERTIA)
        .build()
    )
    v = np.concatenate([speed * np.array([0.3, 0.9, -0.3]), [1.0, -2.0, 3.0]])
    return so.Scene(model, state=so.State(model.neutral(), v))


@pytest.mark.parametrize(("speed", "dt"), [(3.0, 1e-3), (100.0, 1e-3), (100.0, 2e-2)])
def test_energy_and_momentum_are_kept(speed, dt):
    record = so.Simulator(spun(speed, (0.0, 0.0, 0.0)), dt=dt, certify="off").run(duration=50 * dt)
    assert np.abs(record.energy / record.energy[0] - 1.0).max() < 1e-12
    found = momenta(record)
    assert np.abs(found[:, :3] - found[0, :3]).max() < 1e-12 * np.linalg.norm(found[0, :3])
    assert np.abs(found[:, 3:] - found[0, 3:]).max() < 1e-12 * np.linalg.norm(found[0, 3:])


def test_the_centre_of_mass_flies_a_parabola():
    scene = spun(30.0)
    record = so.Simulator(scene, dt=2e-3, certify="off").run(duration=0.1)
    centers = np.array(
        [
            so.node_positions(scene.model, q, [so.Node("box", (0.05, -0.02, 0.1))])[0]
            for q in record.q
        ]
    )
    t = record.times[:, None]
    start = momenta(record)[0, 3:] / 2.0
    path = centers[0] + t * start - 0.5 * t * t * [0.0, 0.0, 9.81]
    assert np.abs(centers - path).max() < 1e-13


def test_attitudes_are_of_second_order():
    scene = spun(20.0)
    motion = so.smooth_motion(scene.model, scene.state, 0.1)
    errors = []
    for dt in (4e-3, 2e-3):
        record = so.Simulator(scene, dt=dt, certify="off").run(duration=0.1)
        errors.append(np.abs(so.difference(scene.model, motion(0.1).q, record.q[-1])).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
