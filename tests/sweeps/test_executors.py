"""Dask and MPI for real, through the command: two workers of this machine."""

import csv
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from tests.sweeps import functions

SPEC = """function = "tests.sweeps.functions:where"
[parameters]
number = {from = 0, to = 199, count = 200}
"""


def rows(out):
    with (out / "table.csv").open() as file:
        return list(csv.DictReader(file))


def check(out):
    """All results, once and in order, of two processes that are not the one that asked."""
    found = rows(out)
    assert [float(row["number"]) for row in found] == list(range(200))
    assert [float(row["value"]) for row in found] == [
        functions.where(float(n))["value"] for n in range(200)
    ]
    assert {row["error"] for row in found} == {""}
    assert len({row["process"] for row in found}) == 2


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def scheduler():
    """A Dask scheduler with two workers; its address."""
    pytest.importorskip("distributed")
    begun = []

    def begin(*command):
        begun.append(
            subprocess.Popen(
                [sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True, cwd=os.getcwd()
            )
        )
        return begun[-1]

    try:
        master = begin(
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--no-jupyter",
        )
        address = next(
            found[1]
            for line in master.stderr
            if (found := re.search(r"Scheduler at:\s+tcp://(\S+)", line))
        )
        for _ in range(2):
            begin(
                "distributed.cli.dask_worker",
                f"tcp://{address}",
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
            )
        yield address
    finally:
        for process in reversed(begun):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_dask(spec, tmp_path, scheduler):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "spatialops", "sweep", str(spec), "--out", str(out)]
    command += ["--executor", f"dask://{scheduler}", "--no-progress"]
    begin = time.perf_counter()
    while len({row["process"] for row in rows(out)} if out.exists() else ()) < 2:
        assert time.perf_counter() - begin < 60.0  # the second worker may come late
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run(command, check=True, timeout=100)
    check(out)


@pytest.mark.slow
def test_mpi(spec, tmp_path):
    pytest.importorskip("mpi4py")
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    mpiexec = beside if os.path.exists(beside) else shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    out = tmp_path / "out"
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", "-m", "spatialops"]
    command += ["sweep", str(spec), "--out", str(out), "--executor", "mpi", "--no-progress"]
    subprocess.run(command, check=True, timeout=100)
    check(out)
