"""Sweeps: every result once, to the bit, whoever computed it and whatever was killed on the way."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import spatialops as so
from spatialops.errors import ArgumentError, RecordError
from spatialops.sweeps import workers
from tests.sweeps import functions
from tests.sweeps.killed import killed

GRID = {"base": [1.5, 2.0], "exponent": [1, 2, 3]}


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_a_grid_comes_back_in_order(threads):
    results = so.sweep(functions.power, GRID, executor=threads)
    assert [one.parameters for one in results][:2] == [
        {"base": 1.5, "exponent": 1},
        {"base": 1.5, "exponent": 2},
    ]
    assert [row["power"] for row in results.rows] == [1.5, 2.25, 3.375, 2.0, 4.0, 8.0]
    assert results[5].value["base"] == [2.0, 2.0]


def test_processes_give_what_threads_give(threads, tmp_path):
    ours = so.sweep(functions.power, GRID, folder=tmp_path)
    assert list(ours) == list(so.sweep(functions.power, GRID, executor=threads))


def test_errors_are_values(threads):
    results = so.sweep(functions.refuses, [{"number": n} for n in range(4)], executor=threads)
    assert [one.error for one in results] == [None, None, "ValueError: not two", None]
    assert "1 failed" in repr(results)
    (odd,) = so.sweep(functions.unkeepable, [{"number": 1}], executor=threads)
    assert "got object" in odd.error


def test_what_is_in_the_folder_is_not_computed_again(threads, tmp_path, monkeypatch):
    first = so.sweep(functions.power, {"base": [2.0], "exponent": [3]}, folder=tmp_path)
    asked = []
    monkeypatch.setattr(workers.Job, "run", lambda self, tasks: asked.append(tasks))
    assert list(so.sweep(functions.power, [first[0].parameters], folder=tmp_path)) == list(first)
    assert asked == []


def test_seeds_follow_from_the_task(threads):
    tasks = [{"number": 1}, {"number": 2}]
    once, again = (so.sweep(functions.seeded, tasks, executor=threads, seed=5) for _ in range(2))
    other = so.sweep(functions.seeded, tasks, executor=threads, seed=6)
    assert list(once) == list(again)
    seeds = [one.value[1] for one in (*once, *other)]
    assert len(set(seeds)) == 4


def test_short_tasks_go_in_groups(threads, tmp_path):
    results = so.sweep(
        functions.power,
        {"base": list(range(3000)), "exponent": [1]},
        executor=threads,
        folder=tmp_path,
    )
    assert [row["power"] for row in results.rows] == list(range(3000))
    assert len(list(tmp_path.glob("*.json"))) < 200


def test_a_worker_that_dies_is_replaced(tmp_path):
    tasks = {"number": [0, 1, 2], "marks": [str(tmp_path)]}
    results = so.sweep(functions.dies, tasks, folder=tmp_path / "kept")
    assert [one.value for one in results] == [0, 1, 2]
    assert (tmp_path / "1").stat().st_size == 3


@pytest.mark.slow
def test_a_task_that_always_kills_its_worker_is_an_error():
    results = so.sweep(functions.always_dies, {"number": [0, 1, 2]})
    assert "worker ended" in results[1].error


def test_what_it_refuses(threads, tmp_path):
    with pytest.raises(ArgumentError, match="function"):
        so.sweep(3, [])
    with pytest.raises(ArgumentError, match="index 1"):
        so.sweep(functions.power, [{"base": 1.0}, {"base": object()}], executor=threads)
    with pytest.raises(ArgumentError, match="expected dicts"):
        so.sweep(functions.power, [1.0], executor=threads)
    (tmp_path / "other.json").write_text("{")
    with pytest.raises(RecordError, match="not results"):
        so.sweep(functions.power, GRID, executor=threads, folder=tmp_path)


def test_two_sweeps_do_not_share_a_folder(threads, tmp_path):
    def inner(number):
        so.sweep(functions.power, GRID, executor=ThreadPoolExecutor(1), folder=tmp_path)

    (one,) = so.sweep(inner, [{"number": 1}], executor=threads, folder=tmp_path)
    assert "another sweep" in one.error


def test_nothing_to_do_is_no_error(threads):
    assert len(so.sweep(functions.power, [], executor=threads)) == 0


@pytest.mark.slow
@pytest.mark.compiled
def test_killed_again_and_again_every_result_is_there_once(tmp_path):
    """`python -m tests.sweeps.killed` does it with 10 000 tasks."""
    kills = 3
    found = killed(tmp_path, tasks=300, kills=kills)
    assert found.results == 300
    assert (found.lost, found.failed, found.differing) == (0, 0, 0)
    assert found.masters > 0
    assert found.workers > 0
    assert found.written <= 300 + 50 * kills  # what was under way, done again


def test_tables_of_pandas_and_xarray(threads):
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    results = so.sweep(functions.power, GRID, executor=threads)
    frame = results.to_pandas()
    assert frame.power.tolist() == [row["power"] for row in results.rows]
    grid = {"length": [1.0, 2.0], "angle": [0.1, 0.2, 0.3]}
    found = so.sweep(functions.product, grid, executor=threads).to_xarray()
    assert found.trace.dims == ("task", "trace_0")
    unstacked = found.set_index(task=["length", "angle"]).unstack("task")
    assert unstacked.area.sel(length=2.0, angle=0.3) == 0.6
    failed = so.sweep(functions.refuses, {"number": [1, 2]}, executor=threads).to_xarray()
    assert failed.value.values[0] == 1
    assert failed.value.isnull().values.tolist() == [False, True]
