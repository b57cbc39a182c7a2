"""Machine code on disk: found by what it is made of, and never run unless it is whole."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.errors import NumbaError

from spatialops._compile import digest, kept_code, turns
from spatialops._compile.beside import BESIDE
from spatialops._compile.held import _describe
from spatialops._compile.jit import kernel
from spatialops._compile.sealed import seal, unsealed
from spatialops.simulation.stepping.integrators.flow import smooth_step
from tests.support.corruptions import corruptions
from tests.support.other_turn import OtherTurn

pytestmark = pytest.mark.compiled

PATTERN = f"*{kept_code.SUFFIX}"


def add_twice(values, x):
    values[0] += 2.0 * x
    return values[0]


@pytest.fixture
def fresh(tmp_path: Path):
    """Makes the same kernel as another process would, without what this one has compiled."""

    def make():
        compiled = kernel(add_twice)
        compiled._cache = kept_code.KeptCode(add_twice, tmp_path, {})
        return compiled

    return make


def call(compiled) -> float:
    return compiled(np.ones(1), 3.0)


def test_it_is_compiled_once(fresh, tmp_path: Path) -> None:
    first = fresh()
    assert call(first) == 7.0
    assert not first.stats.cache_hits
    second = fresh()
    assert call(second) == 7.0
    assert second.stats.cache_hits
    assert len(list(tmp_path.glob(PATTERN))) == 1
    assert second.stats.cache_path == str(tmp_path)


def test_whatever_is_broken_is_compiled_again(fresh, tmp_path: Path) -> None:
    call(fresh())
    (path,) = tmp_path.glob(PATTERN)
    for broken in corruptions(path.read_bytes()):
        path.write_bytes(broken)
        assert unsealed(path) is None
    again = fresh()
    assert call(again) == 7.0
    assert not again.stats.cache_hits
    assert unsealed(path) is not None


def test_code_that_names_what_is_gone_is_compiled_again(fresh, tmp_path: Path) -> None:
    call(fresh())
    (path,) = tmp_path.glob(PATTERN)
    for gone in (b"cspatialops.nowhere\nTable\n.", b"cspatialops.errors\nNoError\n."):
        path.write_bytes(seal(gone))
        again = fresh()
        assert call(again) == 7.0
        assert not again.stats.cache_hits


def test_settings_that_change_the_code_are_told_apart(
    fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(fresh())
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    checked = fresh()
    call(checked)
    assert not checked.stats.cache_hits
    assert len(list(tmp_path.glob(PATTERN))) == 2


def test_names_of_fields_are_part_of_a_type() -> None:
    from typing import NamedTuple

    class Before(NamedTuple):
        mass: float
        length: float

    class After(NamedTuple):
        length: float
        mass: float

    kinds = [types.NamedUniTuple(types.float64, 2, table) for table in (Before, After)]
    assert digest.described_type(kinds[0]) != digest.described_type(kinds[1])


def test_a_full_disk_costs_only_time(
    fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert call(fresh()) == 7.0
    assert [path.name for path in tmp_path.iterdir()] == [turns.NAME]


def test_what_nobody_uses_is_forgotten(fresh, tmp_path: Path) -> None:
    call(fresh())
    (path,) = tmp_path.glob(PATTERN)
    kept_code.forget_unused(tmp_path)
    assert path.exists()
    os.utime(path, (0.0, time.time() - 61 * 24 * 3600.0))
    kept_code.forget_unused(tmp_path)
    assert not path.exists()


def test_being_used_is_remembered(fresh, tmp_path: Path) -> None:
    call(fresh())
    (path,) = tmp_path.glob(PATTERN)
    os.utime(path, (0.0, 0.0))
    call(fresh())
    assert path.stat().st_mtime > 0.0


def test_kernels_are_kept_so() -> None:
    assert isinstance(kernel(add_twice)._cache, kept_code.KeptCode)


def test_minutes_of_compiling_are_told_once_and_only_to_who_waits(monkeypatch, capsys) -> None:
    for waits in (False, True):
        notice = kept_code.Notice(after=2)
        monkeypatch.setattr(sys.stderr, "isatty", lambda waits=waits: waits, raising=False)
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
        for _ in range(5):
            notice.count()
        assert capsys.readouterr().err.count("a few minutes") == waits
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)  # of a process that was started without
        kept_code.Notice(after=1).count()
    silent = kept_code.Notice(after=1)
    silent.never()
    silent.count()
    assert not capsys.readouterr().err


_FROM_DISK = """
import sys
from pathlib import Path
import numba
import numpy as np
from spatialops._compile import kept_code

def halves(values):
    if values.size == 0:
        raise ValueError("nothing to halve")
    return 0.5 * values, [x for x in values]

compiled = numba.njit(halves)
compiled._cache = kept_code.KeptCode(halves, Path(sys.argv[1]), {})
arrays, items = compiled(np.arange(3.0))
assert list(arrays) == [0.0, 0.5, 1.0] and items == [0.0, 1.0, 2.0]
try:
    compiled(np.empty(0))
except ValueError as error:
    assert "nothing to halve" in str(error)
else:
    raise AssertionError
hits = sum(compiled.stats.cache_hits.values())
awake = "numba.np.linalg" in sys.modules
assert compiled(np.arange(2)) is not None  # other types: the compiler wakes
print(hits, awake)
"""


def test_what_is_on_disk_runs_without_the_compiler(tmp_path: Path) -> None:
    """Memory, lists and errors of Numba's run-time included; what is new is compiled after all."""
    (tmp_path / "script.py").write_text(_FROM_DISK)
    (tmp_path / "kept").mkdir(mode=0o700)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "kept")]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert first.split() == ["0", "True"]
    assert second.split() == ["1", "False"]


@pytest.mark.parametrize("leaves_it", [True, False])
def test_what_another_process_compiles_is_waited_for(
    fresh, tmp_path: Path, leaves_it: bool
) -> None:
    """And compiled here where that process has ended without."""
    call(fresh())
    (path,) = tmp_path.glob(PATTERN)
    content = path.read_bytes()
    path.unlink()
    compiled = fresh()
    with OtherTurn(tmp_path, path.name) as other:
        assert other.has_it

        def ends() -> None:
            assert not compiled.overloads
            if leaves_it:
                path.write_bytes(content)
            other.process.kill()

        later = threading.Timer(0.2, ends)
        later.start()
        assert call(compiled) == 7.0
        later.join()
    assert bool(compiled.stats.cache_hits) == leaves_it
    assert path.read_bytes()


def test_a_kernel_is_free_until_it_is_there_or_another_process_is_at_it(
    fresh, tmp_path: Path
) -> None:
    compiled = fresh()
    arguments, context = (types.Array(types.float64, 1, "C"),), compiled.targetctx
    path = compiled._cache.path(arguments, context.codegen())
    for _ in range(2):  # asking takes no turn
        assert compiled._cache.is_free(arguments, context)
    with OtherTurn(tmp_path, path.name) as other:
        assert other.has_it
        assert not compiled._cache.is_free(arguments, context)
    path.write_bytes(b"")
    assert not compiled._cache.is_free(arguments, context)
    nowhere = kept_code.KeptCode(add_twice, None, {})
    assert nowhere.is_free(arguments, context)


def test_a_kernel_that_cannot_be_compiled_keeps_nobody_waiting(tmp_path: Path) -> None:
    def fails(values):
        return values + no_such_name  # noqa: F821

    compiled = kernel(fails)
    compiled._cache = kept_code.KeptCode(fails, tmp_path, {})
    with pytest.raises(NumbaError):
        compiled(np.ones(1))
    arguments = (types.Array(types.float64, 1, "C"),)
    path = compiled._cache.path(arguments, compiled.targetctx.codegen())
    with OtherTurn(tmp_path, path.name) as other:
        assert other.has_it


def test_where_a_kernel_is_missing_somebody_is_told(tmp_path: Path) -> None:
    told: list[bool] = []
    for times in (1, 0):
        compiled = kernel(add_twice)
        missing = functools.partial(told.append, True)
        compiled._cache = kept_code.KeptCode(add_twice, tmp_path, {}, missing=missing)
        call(compiled)
        assert len(told) == times
        told.clear()


def test_a_second_process_begins_where_kernels_of_steps_are_missing() -> None:
    for made in (smooth_step.stage.kernel, _describe):
        assert made._cache._missing == BESIDE.begin
    assert kernel(add_twice)._cache._missing is None
