"""Stages: compiled apart, called through their symbols, read from the cache in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from spatialops._arrays import Array
from spatialops._compile.references import refer
from spatialops._compile.stage import below, called, entered, stage

pytestmark = pytest.mark.compiled


class Tables(NamedTuple):
    values: Array
    grid: Array


@stage
def entry(t: Tables, factor: float) -> float:
    return factor * t.values[int(t.grid[1, 2])]


@stage
def doubled(t: Tables) -> float:
    t.grid[0, 0] += 1.0
    return 2.0 * entry(t, 0.5)


@stage
def note(t: Tables) -> None:
    t.grid[0, 1] = entry(t, 1.0)


@entered
def both(t: Tables) -> float:
    r = refer(t)
    note(r)
    return doubled(r)


def tables(which: float = 1.0) -> Tables:
    grid = np.zeros((2, 3))
    grid[1, 2] = which
    return Tables(np.array([3.0, 4.0, 5.0]), grid)


def test_a_stage_reads_and_writes_the_tables_of_its_caller():
    t = tables()
    assert both(t) == 4.0
    assert both(t) == 4.0
    assert t.grid[0].tolist() == [2.0, 4.0, 0.0]


def test_other_tables_of_the_same_kind_need_nothing_compiled():
    assert both(tables()) == 4.0
    assert both(tables(2.0)) == 5.0


def test_stages_are_found_behind_those_that_call_them():
    assert {made.py_func.__name__ for made in called(both.py_func)} == {"note", "doubled"}
    assert [made.py_func.__name__ for made in called(next(called(both.py_func)).py_func)] == [
        "entry"
    ]


def test_what_is_called_comes_before_its_callers_and_once():
    assert [made.label for made in below(both, both)] == ["entry", "note", "doubled"]


PROGRAM = (
    "from tests._compile.test_stage import both, tables; "
    "print(both(tables()), both(tables({which})))"
)


def run(tmp_path, which, **settings):
    """The program in a process of its own, which keeps its kernels in a folder of its own."""
    environment = {**os.environ, "SPATIALOPS_CACHE_DIR": str(tmp_path), **settings}
    program = [sys.executable, "-c", PROGRAM.format(which=which)]
    return subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300)


def test_callers_read_from_the_cache_find_their_stages(tmp_path):
    for _ in range(2):
        done = run(tmp_path, 2.0)
        assert (done.returncode, done.stdout) == (0, "4.0 5.0\n"), done.stderr


def test_an_index_out_of_bounds_comes_up_through_all_stages(tmp_path):
    done = run(tmp_path, 7.0, NUMBA_BOUNDSCHECK="1")
    assert done.returncode == 1
    assert "IndexError" in done.stderr
