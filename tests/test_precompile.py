"""Compiling ahead: everything once, then nothing until a source changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from spatialops import _marks, precompile
from spatialops._compile import beside, cache
from spatialops._compile.beside import LOOP, LOOP_AND_PICTURES


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the tasks that ran, in place of the real ones."""
    done: list[str] = []
    jobs: list[Any] = [(name, lambda name=name: done.append(name)) for name in ("first", "second")]
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(precompile, "tasks", lambda: jobs)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    return done


def test_done_once_and_remembered(
    calls: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not precompile.is_warm()
    assert precompile.precompile() == 2
    assert "compiling kernels" in capsys.readouterr().err
    assert precompile.is_warm()
    assert precompile.precompile() == 0
    assert precompile.precompile(force=True, progress=False) == 2
    assert calls == ["first", "second"] * 2
    assert len(list(tmp_path.iterdir())) == 1


def test_the_loop_alone(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile, "_loop_tasks", lambda: [("loop", lambda: calls.append("loop"))])
    assert not precompile.is_warm(loop_only=True)
    assert precompile.precompile(progress=False, loop_only=True) == 1
    assert precompile.is_warm(loop_only=True)
    assert not precompile.is_warm()
    assert precompile.precompile(progress=False, loop_only=True) == 0
    assert precompile.precompile(progress=False) == 2
    assert precompile.is_warm()
    assert calls == ["loop", "first", "second"]


def test_another_processor_compiles_again(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    precompile.precompile(progress=False)
    monkeypatch.setattr(_marks, "_processor", lambda: "another one")
    assert not precompile.is_warm()


def test_another_clone_of_the_same_sources_has_nothing_to_do(
    calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path.with_name("clone") / "spatialops"
    shutil.copytree(Path(_marks.__file__).parent, clone, copy_function=shutil.copyfile)
    precompile.precompile(progress=False)
    monkeypatch.setattr(_marks, "__file__", str(clone / "_marks.py"))
    assert precompile.is_warm()
    with open(clone / "errors.py", "a") as file:
        file.write("# more\n")
    assert not precompile.is_warm()


def test_a_failure_leaves_no_mark(
    calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(precompile, "tasks", lambda: [("bad", fail)])
    with pytest.raises(RuntimeError):
        precompile.precompile(progress=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_marked_is_no_error(calls: list[str], tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert precompile.precompile(progress=False) == 2


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_the_stages_of_the_loop_are_found() -> None:
    labels = [label for label, _ in precompile.tasks()]
    last = ["watched steps", "batches", "eight at once", "threads that meet", "commands"]
    assert labels[-7:] == [*last, "parts of the other process", "stepping loop"]
    assert {
        "Newton-Euler",
        "articulated body",
        "compliance, recursion",
        "geom contacts",
        "project positions",
    } <= set(labels)


def test_nothing_to_do_without_compilation(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert precompile.is_warm()
    assert precompile.precompile(force=True) == 0
    assert calls == []


def test_two_processes_go_through_each_list_from_both_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []
    done: list[str] = []
    lists: list[Any] = [
        [(name, lambda name=name: done.append(name)) for name in names] for names in ("abc", "de")
    ]
    simulator: Any = SimpleNamespace(run=lambda duration: done.append("loop"))
    part: Any = SimpleNamespace(compile=lambda: done.append("part"))
    last: list[Any] = [("last", lambda: done.append("last"))]
    shared = precompile._Shared(simulator, lists, "everything", [part], last)
    monkeypatch.setattr(precompile.BESIDE, "begin", begun.append)
    for _, compile_it in precompile._tasks_of(shared):
        compile_it()
    assert (begun, done) == (["everything"], [*"abcde", "part", "loop"])
    done.clear()
    monkeypatch.setattr(precompile._Shared, "everything", lambda: shared)
    precompile.compile_beside("everything")
    assert done == [*"cbaed", "last"]


def test_the_second_process_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(precompile, "compile_beside", told.append)
    exec(beside._DOES.format(tasks=LOOP))
    assert told == [LOOP]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_tasks_have_names_of_their_own() -> None:
    for name in ("everything", LOOP, LOOP_AND_PICTURES):
        labels = [label for label, _ in getattr(precompile._Shared, name)().backwards()]
        assert len(set(labels)) == len(labels)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("free", [True, False])
def test_what_another_process_is_at_is_left_to_it(free: bool) -> None:
    done: list[object] = []
    kept = SimpleNamespace(is_free=lambda arguments, context: free)
    part: Any = SimpleNamespace(
        expected=lambda: ("kinds",),
        compile_for=done.append,
        kernel=SimpleNamespace(_cache=kept, targetctx=None),
    )
    precompile._compile_free(part)
    assert done == ([("kinds",)] if free else [])


def test_what_is_drawn_comes_after_the_loop() -> None:
    labels = [label for label, _ in precompile._picture_tasks()]
    assert labels == ["positions of nodes", "velocities of nodes", "poses of bodies"]
