"""Every example runs, short, and its physics holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from examples import pendulum_collisions
from spatialops.simulation import load_record


@pytest.mark.compiled
def test_pendulum_collisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = pendulum_collisions.main(links=4, duration=0.6, out=tmp_path)
    facts, energy = record.summary(), record.energy
    assert facts["steps"] == 6000
    assert facts["collisions"] >= 1
    assert facts["residual_max"] <= 1e-9
    assert facts["penetration_max"] <= 1e-3
    assert facts["solver_fallbacks"] == 0
    # No impact and no contact brings energy in; in between it only drifts by what the integrator loses.
    assert facts["collision_energy_gain_max"] <= 1e-9 * energy[0]
    assert np.diff(energy).max() <= 1e-6 * energy[0]
    names = {"record.npz", "motion.png", "frames.png", "energy.png", "contacts.png", "replay.html"}
    assert {path.name for path in tmp_path.iterdir()} == names
    again = load_record(tmp_path / "record.npz")
    np.testing.assert_array_equal(again.q, record.q)
    printed = capsys.readouterr().out
    assert f"{facts['collisions']} collisions" in printed
    assert "impact at" in printed
