"""The wheel hangs on its hub, held by its shape, and comes off along the hub's axis only."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ModelError
from spatialops.models.wheel_on_hub import HALF_WIDTH, RADIUS


def test_mass_and_inertia():
    wheel = so.models.wheel_on_hub(mass=6.5)
    M = so.mass_matrix(wheel.model, wheel.model.neutral())
    assert wheel.mass == pytest.approx(6.5, rel=1e-12)
    assert np.allclose(M[:3, 3:], 0.0, atol=1e-12)  # its middle is its centre of mass
    axle, side, other = np.diag(M)[:3]
    assert side == pytest.approx(other, rel=1e-9)  # the same about y and z
    assert 0.5 * 6.5 * 0.1**2 < axle < 6.5 * RADIUS**2
    assert axle > side


def test_size():
    scene = so.models.wheel_on_hub().scene()
    points = np.concatenate(
        [geom.shape.vertices for geom in scene.geoms if geom.name.startswith("tyre")]
    )
    radii = np.hypot(points[:, 1], points[:, 2])
    assert np.abs(points[:, 0]).max() == pytest.approx(HALF_WIDTH)
    assert (
        RADIUS < radii.max() <= RADIUS / np.cos(np.pi / 12) + 1e-12
    )  # flats at the radius, corners beyond


@pytest.mark.compiled
def test_it_hangs_still():
    scene = so.models.wheel_on_hub().scene()
    record = so.Simulator(scene, dt=5e-4).run(duration=0.2, record_every=10)
    assert np.abs(record.q[-1] - record.q[0]).max() < 2e-5
    assert np.abs(record.v[-1]).max() < 1e-9
    assert record.penetrations.max() < 1e-9
    names = {
        name
        for pair in np.unique(record.contact_records[:, 1])
        for name in scene.pair_names(int(pair))
    }
    assert names == {"pilot", "spoke0", "spoke1"}


def _pushed(direction, duration=0.15, **options):
    """Where the wheel goes from rest under twice its weight along a direction, rows (n, 3)."""
    wheel = so.models.wheel_on_hub()
    tau = np.zeros(6)
    tau[3:] = 2.0 * 9.81 * wheel.mass * np.asarray(direction)
    simulator = so.Simulator(wheel.scene(**options), dt=5e-4)
    record = simulator.run(duration=duration, controller=lambda *_: tau)
    assert record.penetrations.max() <= 1e-3
    assert record.residuals.max() <= 1e-9
    return record.q[:, :3] - record.q[0, :3]


@pytest.mark.compiled
@pytest.mark.parametrize(
    "direction", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, -0.6, -0.8), (1.0, 0.0, 0.0)]
)
def test_the_hub_holds_it_sideways_and_behind(direction):
    assert np.abs(_pushed(direction)).max() < 3e-3  # clearances of bore, studs and flange


@pytest.mark.compiled
def test_it_comes_off_along_the_axis():
    """Friction is all that holds it: mu m g on the seat, whose flats lean by 45 degrees."""
    moved = _pushed((-1.0, 0.0, 0.0), duration=0.04)
    t, mu = 0.04, 0.2
    drag = mu * np.sqrt(2.0)  # two flats at 45 degrees carry sqrt 2 of the weight
    assert -moved[-1, 0] == pytest.approx(0.5 * (2.0 - drag) * 9.81 * t * t, rel=0.05)
    assert moved[-1, 0] < -0.01


def test_bad_wheels():
    with pytest.raises(ArgumentError, match="mass"):
        so.models.wheel_on_hub(mass=0.0)
    with pytest.raises(ModelError, match="clearance"):
        so.models.wheel_on_hub(clearance=2e-3)
