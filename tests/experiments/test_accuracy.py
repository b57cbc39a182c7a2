"""Physical truth of the defaults, and that the references for it are right themselves."""

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.cli import main
from spatialops.experiments.accuracy import disc_in_air, impacts, rolling, spinning
from spatialops.experiments.accuracy.measures import Figure, order, swing, trend
from spatialops.experiments.accuracy.references import GRAVITY


@pytest.mark.parametrize("made", [rolling.rattleback(), rolling.disc()], ids=lambda m: m.name)
def test_the_reference_of_rolling_keeps_its_energy(made):
    body = made.reference
    times = np.linspace(0.0, made.duration, 50)
    gamma, omega = body.path(made.rotation[2], made.omega, times)
    assert np.linalg.norm(gamma, axis=1) == pytest.approx(1.0, abs=1e-10)
    levers = np.array([body.surface.lever(g) for g in gamma])
    speeds = np.cross(omega, levers)
    kinetic = 0.5 * np.einsum("ti,ij,tj->t", omega, body.inertia, omega)
    kinetic += 0.5 * body.mass * np.einsum("ti,ti->t", speeds, speeds)
    potential = body.mass * GRAVITY * np.einsum("ti,ti->t", gamma, levers)
    energy = kinetic + potential
    assert swing(energy, kinetic[0]) < 1e-9


@pytest.mark.parametrize("made", [rolling.rattleback(), rolling.disc()], ids=lambda m: m.name)
def test_slopes_of_surfaces_are_derivatives(made):
    surface, gamma = made.reference.surface, np.array([0.3, -0.5, 0.8])
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        found = (surface.lever(gamma + step) - surface.lever(gamma - step)) / 2e-6
        assert surface.slope(gamma)[:, k] == pytest.approx(found, abs=1e-8)


def test_a_rolling_body_begins_without_slip():
    made = rolling.disc()
    scene = made.scene()
    lever = made.reference.surface.lever(made.rotation[2])
    slip = scene.state.v[3:] - np.cross(scene.state.v[:3], lever)
    assert np.abs(slip).max() < 1e-15


def test_figures_say_whether_they_hold():
    assert Figure("p", "c", 1.0, "1", 1.0).passed
    assert not Figure("p", "c", float("nan"), "1", 1.0).passed
    assert order([4.0, 2.0, 0.5]) == pytest.approx(2.0)
    assert trend(np.sin(np.linspace(0.0, 200.0, 4001)), 1.0) < 0.02 < swing(np.arange(3.0), 1.0)


@pytest.mark.compiled
def test_elastic_impacts():
    for figure in (impacts.billiards(), impacts.cradle(), impacts.elastic_gas(3, 0.2)):
        assert figure.passed, figure


@pytest.mark.slow
@pytest.mark.compiled
def test_spinning_bodies_keep_their_energy():
    missed = [figure for figure in spinning.run() if not figure.passed]
    assert not missed


@pytest.mark.slow
@pytest.mark.compiled
def test_rolling_bodies_follow_the_equations_of_rolling():
    missed = [figure for figure in rolling.run() if not figure.passed]
    assert not missed


@pytest.mark.slow
@pytest.mark.compiled
def test_eulers_disc_stops_by_moffatts_law():
    missed = [figure for figure in disc_in_air.run() if not figure.passed]
    assert not missed


def test_the_reference_of_the_disc_in_air_loses_what_the_air_takes():
    """By the equations of rolling, which know nothing of the law: the power, and the cube root."""
    made = disc_in_air.in_air(rolling.disc(1.0, np.radians(5.0)), 5e-6)
    body, times = made.reference, np.linspace(0.0, 1.0, 2001)
    gamma, omega = body.path(made.rotation[2], made.omega, times)
    levers = np.array([body.surface.lever(g) for g in gamma])
    speeds = np.cross(omega, levers)
    energy = 0.5 * np.einsum("ti,ij,tj->t", omega, body.inertia, omega)
    energy += 0.5 * body.mass * np.einsum("ti,ti->t", speeds, speeds)
    energy += body.mass * GRAVITY * np.einsum("ti,ti->t", gamma, levers)
    inclination = np.arccos(gamma[:, 2])
    work = np.trapezoid(5e-6 / inclination**2, times)
    assert energy[0] - energy[-1] == pytest.approx(work, rel=1e-6)


@pytest.mark.slow
@pytest.mark.compiled
def test_two_hundred_elastic_balls():
    assert impacts.elastic_gas(6, 10.0).passed


@pytest.mark.compiled
def test_the_command_prints_figures_and_exits_by_them(monkeypatch, tmp_path):
    monkeypatch.setattr(impacts, "run", lambda count, duration: iter([impacts.billiards()]))
    result = CliRunner().invoke(main, ["accuracy", "--only", "impacts", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "1 of 1 bars met" in result.output
    assert (tmp_path / "accuracy.json").exists()
    missed = Figure("probe", "case", 2.0, "1", 1.0)
    monkeypatch.setattr(impacts, "run", lambda count, duration: iter([missed]))
    result = CliRunner().invoke(main, ["accuracy", "--only", "impacts", "--check"])
    assert result.exit_code == 1
    assert "MISS" in result.output
