"""Every example runs, short, and its physics holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from examples import (
    compare_formulations,
    derivatives_at_switches,
    driver_handoff,
    dual_arm_wheel_removal,
    event_driven,
    four_bar,
    hopping,
    humanoid,
    identification,
    load_robot,
    lug_nuts,
    pendulum_collisions,
    pushing,
    shapes,
)
from spatialops.errors import MissingLibraryError
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
    # No impact and no contact brings energy in; in between it only drifts by what the integrator
    # loses.
    assert facts["collision_energy_gain_max"] <= 1e-9 * energy[0]
    assert np.diff(energy).max() <= 1e-6 * energy[0]
    names = {"record.npz", "motion.png", "frames.png", "energy.png", "contacts.png", "replay.html"}
    assert {path.name for path in tmp_path.iterdir()} == names
    again = load_record(tmp_path / "record.npz")
    np.testing.assert_array_equal(again.q, record.q)
    printed = capsys.readouterr().out
    assert f"{facts['collisions']} collisions" in printed
    assert "impact at" in printed


def test_compare_formulations(capsys: pytest.CaptureFixture[str]) -> None:
    velocities = compare_formulations.main()
    assert set(velocities) == {"nmc", "mc", "rmc", "os", "nmc/os", "trinkle"}
    for velocity in velocities.values():
        np.testing.assert_allclose(velocity, velocities["os"], rtol=0.0, atol=1e-9)
    # The free fall of a step, g dt, is stopped; friction mu g dt is lost from the sliding speed.
    assert abs(velocities["os"][5]) < 1e-9
    assert 0.0 < 1.0 - velocities["os"][3] <= 1.01 * 0.5 * 9.81e-3
    printed = capsys.readouterr().out
    assert "6 combinations are free" in printed
    assert "nmc/os" in printed


@pytest.mark.compiled
def test_four_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = four_bar.main(duration=2.0, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"swing.npz", "drive.npz", "fall.npz"}
    for record in records.values():
        assert record.closure_errors.max() <= 1e-12
    swing = records["swing"]
    drive = records["drive"]
    fall = records["fall"]
    assert np.abs(swing.energy - swing.energy[0]).max() < 1e-6 * np.ptp(swing.kinetic)
    crank = drive.scene.model.q_slice("crank")
    turned = drive.q[-1, crank] - drive.q[0, crank]
    np.testing.assert_allclose(turned, 3.0 * 2.0, atol=1e-10)
    assert fall.summary()["collisions"] >= 1
    assert np.diff(fall.energy).max() < 1e-4 * fall.energy[0]
    printed = capsys.readouterr().out
    assert "closed at knee: 5 rows" in printed or "closed at elbow: 5 rows" in printed
    assert "1 degree of freedom" in printed


@pytest.mark.compiled
def test_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = shapes.main(duration=1.0, out=tmp_path)
    facts = record.summary()
    assert facts["collisions"] >= 7  # everything lands
    assert facts["residual_max"] <= 1e-9
    assert facts["penetration_max"] <= 1e-3
    assert facts["energy_end"] < facts["energy_start"]
    assert np.all(
        record.q.reshape(len(record.times), 7, 7)[:, :, 2] > 0.0
    )  # nothing falls through the ground
    assert {path.name for path in tmp_path.iterdir()} == {"record.npz", "replay.html"}
    assert "contacts at once" in capsys.readouterr().out


@pytest.mark.compiled
def test_load_robot(capsys: pytest.CaptureFixture[str]) -> None:
    record = load_robot.main(duration=0.5)
    facts = record.summary()
    assert facts["contact_problems"] > 0
    assert facts["residual_max"] <= 1e-9
    assert facts["penetration_max"] <= 1e-3
    assert facts["closure_error_max"] <= 1e-8
    assert facts["energy_end"] < facts["energy_start"]
    printed = capsys.readouterr().out
    assert "nv = 9" in printed
    assert "1 closures" in printed


@pytest.mark.compiled
def test_event_driven(capsys: pytest.CaptureFixture[str]) -> None:
    records = event_driven.main(duration=1.5)
    bounces = [event.time for event in records["bounce"].log]
    fall = np.sqrt(2.0 / event_driven.GRAVITY)
    np.testing.assert_allclose(
        np.diff(bounces)[:3], 2.0 * fall * 0.5 ** np.arange(1, 4), rtol=0.0, atol=1e-9
    )
    assert bounces[-1] == pytest.approx(3.0 * fall, abs=1e-6)  # Zeno: fall (1 + e) / (1 - e)
    assert [event.kind for event in records["roll"].log] == ["stick"]
    assert records["roll"].log[0].time == pytest.approx(
        4.0 / (7.0 * 0.3 * event_driven.GRAVITY), abs=1e-8
    )
    assert records["ladder"].log[0].contacts == (("top", "wall"),)
    assert "ball on floor: slip -> stick" in capsys.readouterr().out


@pytest.mark.compiled
def test_dual_arm_wheel_removal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = dual_arm_wheel_removal.main(duration=0.5, out=tmp_path)
    record, controller = result["record"], result["controller"]
    assert record.penetrations.max() <= 1e-3
    assert record.residuals.max() <= 1e-9
    assert controller.script.phase.name == "approach"
    assert (
        np.abs(record.q[-1, 26:29] - record.q[0, 26:29]).max() < 1e-4
    )  # the wheel hangs where it hung
    assert {path.name for path in tmp_path.iterdir()} == {"record.npz", "replay.html"}
    assert "not over yet" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.compiled
def test_dual_arm_wheel_removal_to_its_end(tmp_path: Path) -> None:
    result = dual_arm_wheel_removal.main(out=tmp_path)
    record, controller = result["record"], result["controller"]
    assert controller.script.succeeded
    assert controller.script.passed[-1].name == "retract"
    assert record.q[0, 26] - record.q[-1, 26] >= 0.25
    assert record.penetrations.max() <= 1e-3


@pytest.mark.slow
@pytest.mark.compiled
def test_driver_handoff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = driver_handoff.main(out=tmp_path)
    assert all(run.succeeded for run in runs)
    assert capsys.readouterr().out.count("handed over") == 2


@pytest.mark.compiled
def test_lug_nuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = lug_nuts.main(limit=0.02, out=tmp_path)["verdict"]
    assert max(np.abs(verdict.turns)) < 1e-12  # nothing has touched them yet
    assert "the time was up" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"nuts.png", "nuts0.html", "nuts0.npz"}


def test_derivatives_at_switches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = derivatives_at_switches.main(points=11, out=tmp_path)
    slides = found["pushes"] > derivatives_at_switches.FRICTION * 9.81
    np.testing.assert_allclose(found["slopes"][slides], derivatives_at_switches.DT, rtol=1e-12)
    np.testing.assert_allclose(found["slopes"][~slides], 0.0, atol=1e-15)
    assert (found["speeds"][slides] > 0.0).all()
    assert "slides at no speed" in capsys.readouterr().out
    assert (tmp_path / "switch.png").exists()


@pytest.mark.slow
def test_identification() -> None:
    found = identification.main()
    assert set(found) == {"box", "bouncing box", "arm"}
    for errors in found.values():
        assert errors.max() < 0.01


@pytest.mark.slow
@pytest.mark.compiled
def test_hopping(tmp_path: Path) -> None:
    found = hopping.main(out=tmp_path)
    motion = found.motion
    assert found.costs[-1] < 0.02 * found.costs[0]
    goal = hopping.standing(hopping.FAR)
    assert np.abs(motion.states[-1, :4] - goal).max() < 5e-3
    assert np.abs(motion.states[-1, 4:]).max() < 0.05
    # It stands, flies and stands: nobody has told the search when.
    flies = [len(statuses) == 0 for statuses in motion.statuses]
    assert sum(flies) > 10
    assert not flies[0]
    assert not flies[-1]
    feet = np.array([hopping.joints_of(state)[2] for state in motion.states])
    assert feet[:, 1].max() > hopping.FOOT + 0.01
    # The forces alone do the same again.
    rollout = np.zeros((hopping.STEPS, 4))
    rollout[:, 2:] = motion.forces
    simulator = so.Simulator(hopping.leg(), dt=hopping.DT)
    state = so.State(hopping.standing(0.0), np.zeros(4))
    for tau in rollout:
        state, _ = simulator.step(state, tau)
    assert np.abs(state.q - motion.states[-1, :4]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.compiled
def test_pushing(tmp_path: Path) -> None:
    found = pushing.main(out=tmp_path)
    motion = found.motion
    assert found.costs[-1] < 0.02 * found.costs[0]
    x, y, turn = np.abs(motion.states[-1, [2, 3, 5]] - pushing.GOAL)
    assert max(x, y) < 5e-3
    assert turn < 0.03
    # It never tips, and the finger has found where to push: away from the middle.
    assert np.abs(motion.states[:, 6:8]).max() < 1e-3
    assert np.abs(motion.states[:, 1]).max() > 0.03
    assert {"sticking", "sliding"} <= {status for step in motion.statuses for status in step}


@pytest.mark.slow
@pytest.mark.compiled
def test_humanoid(tmp_path: Path) -> None:
    for name in ("daqp", "mujoco"):
        pytest.importorskip(name)
    try:
        found = humanoid.main(out=tmp_path)
    except MissingLibraryError as error:
        pytest.skip(str(error))
    assert len(found) == 3
    for made in found.values():
        assert not made.fell
        assert made.summary()["error_mean"] < 1e-3
        assert set(made.statuses) <= {"solved", "nearest"}
        assert not made.notes
        # Feet come and go without a jump of torques.
        assert made.summary()["torque_derivative"] < 5e3
    squat, steps, walk = found.values()
    height = squat.centers[:, 2]
    assert height[0] - height.min() == pytest.approx(0.1, abs=2e-3)
    assert height[-1] == pytest.approx(height[0], abs=2e-3)
    assert np.abs(steps.feet[:, :2] - squat.feet[:, :2]).max() < 5e-3
    ahead = walk.feet[:, 0] - squat.feet[:, 0]
    np.testing.assert_allclose(ahead, 0.9, atol=5e-3)
    assert (tmp_path / "humanoid.png").exists()
    troubled = humanoid.run(humanoid.humanoid(), humanoid.MOTIONS["20 steps"], "all, mu - 0.2")
    assert not troubled.fell
    assert troubled.summary()["error_mean"] < 1e-2
