"""The impact driver stands on its battery."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.models.impact_driver import BOTTOM


def test_mass_and_balance():
    driver = so.models.impact_driver(mass=2.0)
    assert driver.mass == pytest.approx(2.0, rel=1e-12)
    center = so.center_of_mass(driver.model, driver.model.neutral())
    assert abs(center[1]) < 1e-12
    assert abs(center[0] - 0.010) < 0.05  # over the battery, which is 125 mm long
    moments = np.linalg.eigvalsh(so.mass_matrix(driver.model, driver.model.neutral())[:3, :3])
    assert moments[0] > 1e-3


@pytest.mark.compiled
def test_it_stands():
    driver = so.models.impact_driver()
    floor = so.Geom("bench", "world", so.HalfSpace(), friction=0.6)
    record = so.Simulator(driver.scene([floor]), dt=5e-4).run(duration=0.3, record_every=10)
    assert record.q[-1, 2] == pytest.approx(BOTTOM, abs=1e-6)
    assert np.abs(record.q[-1, [0, 1]]).max() < 1e-6
    assert np.abs(record.v[-1]).max() < 1e-8
    assert record.penetrations.max() < 1e-6


def test_bad_mass():
    with pytest.raises(ArgumentError, match="mass"):
        so.models.impact_driver(mass=-1.0)
