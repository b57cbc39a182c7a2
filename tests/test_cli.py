"""The command line: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from matplotlib.figure import Figure

from spatialops import _marks, cli, precompile
from spatialops._compile.beside import BESIDE, LOOP_AND_PICTURES
from spatialops.cli import accuracy, aghili, runs
from spatialops.errors import AssetError, ContactError
from spatialops.simulation.records.loading import load_record
from spatialops.simulation.records.record import Record
from spatialops.simulation.simulator import INTEGRATORS, Simulator
from spatialops.view import record as record_views
from spatialops.view.record import KINDS

SHORT = ["pendulum", "--links", "3", "--duration", "0.4", "--dt", "5e-4", "--no-progress"]
FILES = {
    "record.npz",
    "motion.png",
    "height.png",
    "frames.png",
    "energy.png",
    "contacts.png",
    "forces.png",
    "replay.html",
}

# Only what a run needs is compiled, and only where it is not yet.
CODE = """
import spatialops._marks as m
m.is_warm = lambda **_: True
from spatialops.cli import main
main(prog_name='spatialops')
"""
PROCESS = [sys.executable, "-c", CODE]

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, with the kernels compiled as they are needed."""
    monkeypatch.setattr(_marks, "is_warm", lambda **_: True)
    # click before 8.2 mixes the two streams unless told otherwise.
    options: dict[str, Any] = (
        {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    )
    runner = CliRunner(**options)

    def invoke(*arguments: str) -> Result:
        return runner.invoke(cli.main, list(arguments))

    return invoke


def test_help_names_every_command(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name in ("pendulum", "precompile", "replay", "plot", "bench", "inspect", "simulate"):
        assert f"\n  {name} " in result.output
        assert "..." not in result.output.split(f"\n  {name} ")[1].splitlines()[0]
    assert max(map(len, result.output.splitlines())) <= 80


def test_version(run: Run) -> None:
    assert run("--version").output.startswith("spatialops, version 0.")


def test_help_loads_neither_plots_nor_benchmarks() -> None:
    code = (
        "import sys; from spatialops.cli import main; "
        "main(['--help'], standalone_mode=False); print(list(sys.modules))"
    )
    text = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "Commands:" in text
    for module in (
        "matplotlib",
        "spatialops.view",
        "spatialops.bench.command",
        "spatialops.precompile",
        "tqdm",
    ):
        assert f"'{module}'" not in text


def test_choices_are_those_of_the_library() -> None:
    assert set(runs.INTEGRATORS) == set(INTEGRATORS)
    assert runs.KINDS == tuple(KINDS)


@pytest.mark.compiled
def test_pendulum_writes_everything_and_says_so(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    result = run(*SHORT, "--out", str(out))
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} == FILES
    for word in (
        "steps per second",
        "collisions",
        "contacts",
        "penetration",
        " mm",
        " J ",
        "residual",
        *FILES,
    ):
        assert word in result.output
    assert "-0" not in result.output.replace(str(out), "").replace("e-0", "")
    assert "Pendulum of 3 links" in (out / "replay.html").read_text()
    assert load_record(out / "record.npz").summary()["steps"] == 800


@pytest.mark.compiled
def test_pendulum_json_is_all_there_is_on_standard_output(run: Run, tmp_path: Path) -> None:
    result = run(
        *SHORT, "--json", "--out", str(tmp_path), "--integrator", "rk4", "--directions", "6"
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["steps"] == 800
    assert data["links"] == 3
    assert (data["integrator"], data["n_f"]) == ("rk4", 6)
    assert data["steps_per_second"] > 0
    assert data["residual_max"] <= 1e-9
    assert data["energy_end"] <= data["energy_start"]
    assert set(data["files"]) == FILES
    assert "-0.0," not in result.stdout


@pytest.mark.compiled
def test_pendulum_without_out_writes_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*SHORT)
    assert result.exit_code == 0
    assert "--out DIR" in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.compiled
def test_plot_and_replay_from_a_saved_record(run: Run, tmp_path: Path) -> None:
    assert run(*SHORT, "--out", str(tmp_path)).exit_code == 0
    saved = str(tmp_path / "record.npz")
    for kind in KINDS:
        target = tmp_path / "again" / f"{kind}.svg"
        assert run("plot", saved, "--kind", kind, "--out", str(target)).exit_code == 0
        assert target.stat().st_size > 1000
    page = tmp_path / "again" / "a.html"
    result = run("replay", saved, "--rate", "10", "--out", str(page), "--json")
    assert json.loads(result.stdout) == {"file": str(page), "bytes": page.stat().st_size}
    video = tmp_path / "a.gif"
    assert run("replay", saved, "--rate", "2", "--video", str(video)).exit_code == 0
    assert video.read_bytes()[:6] == b"GIF89a"
    for wrong in ((), ("--out", str(page), "--video", str(video))):
        result = run("replay", saved, *wrong)
        assert result.exit_code == 2
        assert "one of --out FILE.html and --video FILE.mp4" in result.stderr


@pytest.mark.parametrize(
    "line", ["grasp", "compare", "reproduce aghili", "reproduce zapolsky --figure 14"]
)
def test_what_cannot_be_drawn_is_not_begun(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(*line.split(), "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "spatialops[plots]" in result.stderr
    assert not result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--links", "0"], "0 is not in the range x>=1"),
        (["--links", "many"], "'many' is not a valid integer"),
        (["--duration", "-1"], "-1.0 is not in the range x>=0"),
        (["--duration", "nan"], "duration: expected a number >= 0, got nan"),
        (["--dt", "0"], "0.0 is not in the range x>0"),
        (["--dt", "nan"], "dt: expected a number > 0, got nan"),
        (["--integrator", "euler"], "'euler' is not one of"),
        (["--n-f", "3"], "n_f: expected an even number of friction directions"),
        (["--record-every", "0"], "0 is not in the range x>=1"),
        (["--speed", "3"], "--speed"),
    ],
)
def test_wrong_options_are_named(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run("pendulum", "--no-progress", *arguments, "--out", str(tmp_path / "out"))
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_out_that_is_a_file_is_refused(run: Run, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    result = run(*SHORT, "--out", str(taken))
    assert result.exit_code == 2
    assert "is a file" in result.stderr
    assert run(*SHORT, "--out", str(taken / "below")).exit_code == 1
    assert taken.read_text() == "mine"


@pytest.mark.parametrize("command", ["accuracy", "reproduce aghili"])
def test_nothing_is_measured_for_a_folder_that_cannot_be(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "file").write_text("")
    measured: list[str] = []
    monkeypatch.setattr(accuracy, "GROUPS", {"group": lambda quick: measured.append("a") or ()})
    plan = {"one": (lambda: measured.append("b") or {"series": []}, bool)}
    monkeypatch.setattr(aghili, "_plan", lambda quick: plan)
    result = run(*command.split(), "--out", str(tmp_path / "file" / "out"))
    assert result.exit_code == 1
    assert result.stderr.startswith("Error:")
    assert not measured


@pytest.mark.parametrize("content", [None, b"", b"not a record", b"PK\x03\x04 broken"])
@pytest.mark.parametrize("command", ["plot", "replay"])
def test_unreadable_records_are_one_line(
    run: Run, tmp_path: Path, command: str, content: bytes | None
) -> None:
    path, target = tmp_path / "record.npz", tmp_path / "out.html"
    if content is not None:
        path.write_bytes(content)
    result = run(command, str(path), "--out", str(target))
    assert result.exit_code in (1, 2)
    assert str(path) in result.stderr
    assert "Traceback" not in result.stderr
    assert not target.exists()


def test_failures_are_one_line_and_leave_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ContactError("certificate failed\nby t = 1 s")

    monkeypatch.setattr(Simulator, "run", fail)
    result = run(*SHORT, "--out", str(tmp_path / "deep" / "out"))
    assert (result.exit_code, result.stderr) == (1, "Error: certificate failed by t = 1 s\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.compiled
@pytest.mark.parametrize("failing", [AssetError("no space left"), MemoryError()])
def test_a_record_is_kept_where_its_pictures_cannot_be(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise failing

    monkeypatch.setattr(record_views, "replay_record", fail)
    out = tmp_path / "new" / "out"
    result = run(*SHORT, "--out", str(out))
    assert result.exit_code == 1
    why = str(failing) or "MemoryError"
    assert result.stderr == f"Error: {why}; kept in {out}: record.npz\n"
    assert [path.name for path in out.iterdir()] == ["record.npz"]
    assert load_record(out / "record.npz").summary()["steps"] == 800


@pytest.mark.compiled
def test_interruption_leaves_the_old_files(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "record.npz").write_text("old")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Record, "plot", interrupt)
    result = run(*SHORT, "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["record.npz"]
    assert (tmp_path / "record.npz").read_text() == "old"


def test_precompile_reports(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[bool] = []

    def compile_all(*, progress: bool, force: bool) -> int:
        done.append(force)
        return 7

    monkeypatch.setattr(precompile, "precompile", compile_all)
    assert json.loads(run("precompile", "--json", "--force").stdout)["compiled"] == 7
    assert "7 parts compiled" in run("precompile").output
    assert done == [True, False]


def test_cold_kernels_are_announced(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(_marks, "is_warm", lambda **_: False)
    monkeypatch.setattr(BESIDE, "begin", begun.append)
    monkeypatch.setattr(precompile, "precompile", lambda **_: 3)

    def stop(*_: Any, **__: Any) -> None:
        raise ContactError("far enough")

    monkeypatch.setattr(Simulator, "run", stop)
    assert "Compiling the kernels" in run(*SHORT).stderr
    assert begun == [LOOP_AND_PICTURES] * 2  # before this process has read its modules, and after


def test_bench_has_its_own_help(run: Run) -> None:
    pytest.importorskip("spatialops.bench.command")
    result = run("bench", "--help")
    assert result.exit_code == 0
    assert "--quick" in result.output


ROBOT = """<robot name="ball"><link name="ball"><inertial><mass value="1"/>
<inertia ixx="0.004" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.004"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="rod"><inertial><origin xyz="0 0 0.2"/><mass value="0.1"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
<joint name="pin" type="revolute"><parent link="ball"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="3" velocity="4"/></joint><transmission/></robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    return path


def test_inspect_shows_the_tree_and_what_is_left_out(run: Run, robot: Path, tmp_path: Path) -> None:
    result = run("inspect", str(robot), "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    for words in (
        "1.1 kg",
        "rod: revolute 'pin' in [-1, 2] rad, 0.1 kg",
        "sphere",
        "<transmission> is not read",
    ):
        assert words in result.output
    assert (tmp_path / "out" / "robot.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("typed", "meant"), [("pendulm", "pendulum"), ("simulat", "simulate"), ("plots", "plot")]
)
def test_a_slip_is_told_what_was_meant(run: Run, typed: str, meant: str) -> None:
    result = run(typed)
    assert result.exit_code == 2
    assert f"No such command '{typed}'; did you mean '{meant}'?" in result.output
    assert "did you mean" not in run("zzz").output


def test_inspect_says_what_is_free(run: Run, robot: Path) -> None:
    assert "\n  ball: fixed" in run("inspect", str(robot)).output
    freed = run("inspect", str(robot), "--floating-base").output
    assert "\n  ball: free" in freed
    assert "rod: revolute" in freed


def test_the_picture_of_a_robot_has_the_mass_of_the_text(
    run: Run, robot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []
    monkeypatch.setattr(Figure, "suptitle", lambda _, text: titles.append(text))
    assert "1.1 kg" in run("inspect", str(robot), "--out", str(tmp_path / "out")).output
    assert titles == ["ball: 2 bodies, 1 moving, 1.1 kg"]


def test_inspect_json_is_all_there_is(run: Run, robot: Path) -> None:
    data = json.loads(run("inspect", str(robot), "--floating-base", "--json").stdout)
    assert (data["name"], data["nv"], data["moving_bodies"]) == ("ball", 7, 2)
    assert data["joints"][0]["upper"] == 2.0
    assert data["shapes"] == {"sphere": 1}
    assert data["warnings"] == []


def test_inspect_of_a_thing_that_does_not_move(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "thing.urdf"
    path.write_text('<robot name="t"><link name="a"/></robot>')
    result = run("inspect", str(path))
    assert result.exit_code == 0
    assert "nothing moves" in result.output


@pytest.mark.parametrize("command", ["inspect", "simulate"])
def test_damaged_robots_are_one_line(run: Run, tmp_path: Path, command: str) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT.replace('type="revolute"', 'type="hinge"'))
    result = run(command, str(path), "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert f"{path}:6: joint 'pin': type 'hinge' is unknown" in result.stderr
    assert not (tmp_path / "out").exists()
    assert run(command, str(path), "--package", "x").exit_code == 2


@pytest.mark.compiled
def test_simulate_drops_a_robot(run: Run, robot: Path, tmp_path: Path) -> None:
    options = ["--duration", "0.3", "--no-progress", "--json", "--out", str(tmp_path / "out")]
    result = run("simulate", str(robot), *options)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["steps"] == 300
    assert data["contacts_max"] == 1
    assert data["penetration_max"] <= 1e-3
    assert data["energy_end"] < data["energy_start"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


@pytest.mark.compiled
@pytest.mark.skipif(os.name != "posix", reason="closes streams by a shell")
def test_streams_that_are_closed_lead_nowhere(robot: Path, tmp_path: Path) -> None:
    command = [*PROCESS, "simulate", str(robot), "--duration", "0.01", "--out", str(tmp_path / "a")]
    line = f"{shlex.join(command)} <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", line], timeout=300)
    assert done.returncode == 0
    assert (tmp_path / "a" / "record.npz").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("words", ["--help", "--version", "plot --help"])
def test_a_full_disk_is_one_line_to_those_who_ask_for_help(words: str) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "spatialops", *words.split()]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "Error: No space left on device\n"


@pytest.mark.compiled
def test_real_process(tmp_path: Path) -> None:
    command = [*PROCESS, *SHORT, "--json", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 800
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    command = [sys.executable, "-m", "spatialops", "plot", "nowhere.npz", "--out", "a.png"]
    bad = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert bad.returncode == 2
    assert "nowhere.npz" in bad.stderr
    assert "Traceback" not in bad.stderr
