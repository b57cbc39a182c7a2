"""`spatialops sweep`: results in a folder and one table; resumed; errors in one line."""

import csv
import json

import pytest
from click.testing import CliRunner

from spatialops.cli import main
from tests.sweeps import functions

SPEC = 'function = "tests.sweeps.functions:{name}"\n[parameters]\n{parameters}\n'


def run(folder, name, parameters, *options):
    path = folder / "sweep.toml"
    path.write_text(SPEC.format(name=name, parameters=parameters))
    return CliRunner().invoke(main, ["sweep", str(path), "--no-progress", *options])


def test_a_table_is_written_and_the_sweep_resumed(tmp_path):
    out = tmp_path / "out"
    parameters = "base = [2.0, 3.0]\nexponent = [1, 2]"
    first = run(tmp_path, "power", parameters, "--out", str(out), "--json")
    assert first.exit_code == 0, first.output
    found = json.loads(first.stdout)
    assert (found["tasks"], found["failed"]) == (4, 0)
    with (out / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["power"]) for row in rows] == [2.0, 4.0, 3.0, 9.0]
    files = {path: path.stat().st_mtime_ns for path in (out / "results").iterdir()}
    again = run(tmp_path, "power", parameters, "--out", str(out))
    assert "4 tasks, 0 failed" in again.output
    assert files == {path: path.stat().st_mtime_ns for path in (out / "results").iterdir()}


def test_tasks_that_fail_are_named_and_set_the_exit_status(tmp_path):
    found = run(tmp_path, "refuses", "number = [1, 2]")
    assert found.exit_code == 1
    assert "ValueError: not two" in found.output
    assert functions.refuses(1) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--executor", "threads"], "expected 'processes'"),
        (["--executor", "dask://"], "Dask|distributed"),
        (["--executor", "mpi"], "mpi"),
    ],
)
def test_executors_that_are_not_there(tmp_path, options, words):
    found = run(tmp_path, "power", "base = [2.0]\nexponent = [1]", *options)
    assert found.exit_code == 1
    assert found.output.startswith("Error:")
    assert any(word in found.output for word in words.split("|"))
