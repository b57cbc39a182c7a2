"""Engines of others join by name, by file, or by an entry point; who is missing is named."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.bench.contacts import mechanisms, piles
from spatialops.bench.engines import measure, registry, scene
from spatialops.bench.engines.command import engines
from spatialops.bench.engines.engine import FLOOR, Motion
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.probes import impact, table
from spatialops.bench.engines.registry import ENGINES
from spatialops.bench.engines.world import Body, Hinge, World, ball, box
from spatialops.bench.measure import BenchError
from tests.bench.engines.toy import Flight

TOY = "tests.bench.engines.toy"


@pytest.fixture
def joined(monkeypatch):
    """As if a package with these entry points were installed."""
    points = EntryPoints(
        [
            EntryPoint("flight", f"{TOY}:Flight", ENGINES.group),
            EntryPoint("absent", f"{TOY}:Absent", ENGINES.group),
            EntryPoint("broken", f"{TOY}:NoSuchClass", ENGINES.group),
        ]
    )
    monkeypatch.setattr(registry, "entry_points", lambda **which: points.select(**which))


def test_an_engine_joins_by_an_entry_point(joined):
    assert "flight" in ENGINES.names()
    assert ENGINES.field(["flight"]).entrants == {"flight": Flight}
    assert registry.version_of(Flight) == np.__version__


def test_an_engine_joins_by_its_file():
    assert ENGINES.field([f"{TOY}:Flight"]).entrants == {"flight": Flight}


def test_who_is_missing_is_named_with_the_reason(joined):
    field = ENGINES.field()
    assert {"spatialops", "flight"} <= set(field.entrants)
    assert field.left_out["absent"] == "not installed: pip install an-engine-that-nobody-has"
    assert field.left_out["broken"].startswith("its file cannot be loaded")
    with pytest.raises(BenchError, match="there is no 'physx'; there are spatialops, mujoco"):
        ENGINES.field(["physx"])


def test_a_toy_engine_is_measured_and_its_gaps_are_named():
    probes = table.chosen(["Dzhanibekov*", "sliding block"])
    results = list(measure.run({"flight": Flight}, probes, [0.01], runs=1))
    notes = {(result.probe, result.metric): result.note for result in results}
    assert notes["sliding block", "distance"] == "only free flight"
    found = {result.metric: result.error for result in results if not result.note}
    # It never turns: its momentum is right, and its spin along its axes is not.
    assert found["energy"] == pytest.approx(0.0, abs=1e-12)
    assert found["spin along body axes"] > 0.5


def test_what_is_not_finite_is_no_error():
    class Lost(Flight):
        def motion(self) -> Motion:
            return Motion(*(np.full_like(part, np.nan) for part in self.now))

    (probe,) = [impact.cradle(0.0)]
    (result,) = measure.run({"lost": Lost}, [probe], [0.01], runs=1)
    assert result.note == "not finite"
    assert measure.plain(result)["error"] is None


def test_an_engine_that_fails_is_noted_and_the_others_go_on():
    class Breaks(Flight):
        def step(self, count: int) -> None:
            if count > 1:
                raise RuntimeError("no convergence")

    (probe,) = table.chosen(["Dzhanibekov*"])
    results = list(measure.run({"breaks": Breaks, "flight": Flight}, [probe], [0.01], runs=2))
    notes = {result.engine: result.note for result in results}
    assert notes == {"breaks": "fails: RuntimeError: no convergence", "flight": ""}
    assert all(np.isnan(result.cost) == bool(result.note) for result in results)


def test_the_command_writes_tables_data_and_plots(tmp_path):
    out = tmp_path / "out"
    arguments = [
        "--engine", f"{TOY}:Flight", "--engine", f"{TOY}:Absent", "--json", "--quick",
        "--only", "probes", "--probe", "*cradle*", "--probe", "sliding block",
        "--dt", "0.01", "--out", str(out),
    ]  # fmt: skip
    ran = CliRunner().invoke(engines, arguments)
    assert ran.exit_code == 0, ran.output
    data = json.loads(ran.output)
    assert f"{TOY}:Absent" in data["left_out"]
    assert {row["engine"] for row in data["probes"]} == {"flight"}
    text = (out / "engines.md").read_text()
    assert "|  | flight |" in text
    assert "- flight: only free flight (sliding block)" in text
    assert (out / "probes.csv").read_text().startswith("engine,probe,metric,dt,error,cost,note\n")
    assert (out / "work_precision.png").stat().st_size > 1000
    assert json.loads((out / "engines.json").read_text()) == data


def test_what_libraries_print_does_not_mix_with_the_json(capfd):
    command = ["--engine", f"{TOY}:Chatty", "--json", "--quick", "--only", "probes"]
    with pytest.raises(SystemExit, match="0"):
        engines([*command, "--probe", "*apart*", "--dt", "0.01"])
    out, err = capfd.readouterr()
    assert json.loads(out)["probes"][0]["engine"] == "chatty"
    assert "from Python\n" in err
    assert "from C\n" in err


def test_the_command_refuses_what_it_does_not_know():
    for arguments, message in (
        (["--engine", "physx"], "there is no 'physx'; there are spatialops, mujoco"),
        (
            ["--solver", "knitro"],
            "there is no 'knitro'; there are spatialops-auto",
        ),
        (["--probe", "*moon*"], "none is called '*moon*'"),
        (["--dt", "0.03", "--engine", f"{TOY}:Flight"], "does not divide"),
    ):
        ran = CliRunner().invoke(engines, arguments)
        assert ran.exit_code == 1
        assert message in ran.output


def test_a_world_becomes_our_scene_with_the_same_motion():
    turn = (0.5, 0.5, 0.5, 0.5)
    free = Body(2.0, (1.0, 2.0, 2.5), (0.1, 0.2, 0.3), None, turn, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    hinge = Hinge((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    # At 2 rad/s about y through the hinge, 0.5 m off along x.
    hung = Body(
        1.0, (0.1, 0.2, 0.3), (0.5, 0.0, 1.0), None, turn, (0.0, 2.0, 0.0), (0.0, 0.0, -1.0), hinge
    )
    world = World((free, hung), floor=False)
    made = scene.scene_of(world)
    motion = scene.motion_of(world, made, made.state)
    assert motion.positions == pytest.approx(np.array([free.position, hung.position]))
    assert motion.spins == pytest.approx(np.array([free.spin, hung.spin]))
    assert motion.velocities == pytest.approx(np.array([free.velocity, hung.velocity]))
    assert np.abs(motion.quaternions) == pytest.approx(np.array([turn, turn]))


def test_plain_scenes_come_back_as_they_were():
    world = World((ball(0.1, 2.0, (0.0, 0.0, 0.1)), box((0.1, 0.2, 0.3), 1.0, (1.0, 0.0, 0.15))))
    back = scene.world_of(scene.scene_of(world))
    assert back.friction == world.friction
    for body, other in zip(world.bodies, back.bodies, strict=True):
        assert body.shape == other.shape
        assert body.moments == pytest.approx(other.moments)
        assert body.position == pytest.approx(other.position)
    assert len(scene.world_of(piles.tower(5).scene).bodies) == 5
    with pytest.raises(LeftOut, match="only free bodies"):
        scene.world_of(mechanisms.lying_chain(3).scene)
    assert FLOOR == -1
