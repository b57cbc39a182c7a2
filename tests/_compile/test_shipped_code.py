"""Machine code in a library: found, bound, with the same results; unused where it does not fit."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import llvmlite
import numba
import numpy as np
import pytest

from spatialops._compile import shipped_code
from spatialops._compile.dispatchers import Kernel
from spatialops._compile.jit import _kernel, inlined
from spatialops._compile.kept_code import KeptCode
from spatialops._compile.sealed import unsealed
from tests.support.corruptions import corruptions
from tools import machine_code

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(shutil.which("cc") is None, reason="cc links the library"),
]


ROOT = Path(__file__).parents[2]


@inlined
def half(x):
    return 0.5 * x


def halve(values):
    for i in range(len(values)):
        values[i] = half(values[i])
    return len(values)


function = halve
halve = _kernel(function, {"nopython": True, "_nrt": False})


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> shipped_code.Library:
    """A library of the kernel above, as if a wheel had brought it."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(halve, "_cache", KeptCode(function, cache, {}))
    monkeypatch.setattr(machine_code, "_kernel", lambda module, name: halve)
    halve.overloads.clear()
    halve.compile((numba.float64[::1],))
    index = machine_code.pack(cache, tmp_path / "objects", tmp_path / "shipped")
    assert len(index.entries) == 1
    library = shipped_code.Library(tmp_path / "shipped")
    monkeypatch.setattr(shipped_code, "library", lambda: library)
    return library


def fresh() -> Kernel:
    """The kernel as in a new process, with no cache but what was shipped."""
    made = _kernel(function, {"nopython": True, "_nrt": False})
    made._cache = KeptCode(function, None, {}, shipped=True)
    return made


def test_nothing_is_compiled(library) -> None:
    kernel = fresh()
    values = np.arange(3.0)
    assert kernel(values) == 3
    assert values.tolist() == [0.0, 0.5, 1.0]
    assert not kernel.stats.cache_misses
    [made] = kernel.overloads.values()
    assert made.library is library


def test_other_types_are_compiled(library) -> None:
    kernel = fresh()
    assert kernel(np.ones(4, dtype=np.float32)) == 4
    assert kernel.stats.cache_misses


def test_a_users_own_function_may_call_it(library) -> None:
    kernel = fresh()
    kernel(np.ones(1))

    @numba.njit
    def mine(values):
        return 10 * kernel(values)

    values = np.full(2, 8.0)
    assert mine(values) == 20
    assert values.tolist() == [4.0, 4.0]


@pytest.fixture
def beside(library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Says what keeps a library in the package's own folder from being used."""
    monkeypatch.setattr(shipped_code, "FOLDER", tmp_path / "shipped")
    monkeypatch.setattr(shipped_code.binding, "get_host_cpu_features", lambda: FITTING)
    for setting in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(numba.config, setting, None)

    def reason() -> str:
        shipped_code._read_index.cache_clear()
        return shipped_code.reason_against.__wrapped__()

    assert reason() == ""
    return reason


FITTING = dict.fromkeys(shipped_code._FEATURES, True)


def test_none_came(beside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped_code, "FOLDER", tmp_path)
    assert "none came" in beside()


@pytest.mark.parametrize(
    ("place", "name", "value", "told"),
    [
        (numba, "__version__", "0.0", "Numba"),
        (llvmlite, "__version__", "0.0", "llvmlite"),
        (numba.config, "BOUNDSCHECK", 1, "BOUNDSCHECK"),
        (numba.config, "OPT", 1, "OPT"),
        (numba.config, "CPU_NAME", "generic", "which processor"),
        (shipped_code.digest, "sources_digest", lambda package: "edited", "sources"),
        (shipped_code.binding, "get_host_cpu_features", lambda: {**FITTING, "fma": False}, "fma"),
    ],
)
def test_it_is_left_alone_where_it_does_not_fit(
    beside, monkeypatch: pytest.MonkeyPatch, place, name, value, told
) -> None:
    monkeypatch.setattr(place, name, value)
    assert told in beside()


def test_an_index_is_plain_data(library, tmp_path: Path) -> None:
    index = pickle.loads(unsealed(tmp_path / "shipped" / shipped_code.INDEX))
    [(name, entry)] = index.entries.items()
    assert name == f"{__name__}.halve(array(float64, 1d, C))"
    assert entry.returns == numba.int64


@pytest.mark.parametrize("name", [shipped_code.LIBRARY, shipped_code.INDEX])
def test_what_is_damaged_is_left_alone(beside, tmp_path: Path, name: str) -> None:
    path = tmp_path / "shipped" / name
    for broken in corruptions(path.read_bytes()):
        path.write_bytes(broken)
        assert "damaged" in beside()


PACK = """
import sys
from pathlib import Path
import spatialops as so
from spatialops._compile.cache import cache_directory
from tools import machine_code
model = so.models.pendulum(3).model
so.mass_matrix(model, [0.1, 0.2, 0.3])
folder, out = cache_directory(), Path(sys.argv[1])
index = machine_code.pack(folder, out / "objects", out / "shipped")
print(sorted(entry.partition("(")[0].rpartition(".")[2] for entry in index.entries))
"""

OPEN = """
import sys
from pathlib import Path
from spatialops._compile import shipped_code
shipped_code.FOLDER = Path(sys.argv[1]) / "shipped"
from numba.core import event
import numpy as np
import spatialops as so

class Compiled(event.Listener):
    def on_start(self, event):
        print("compiled", event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event): ...

model, q = so.models.pendulum(3).model, np.array([0.1, 0.2, 0.3])
event.register("numba:compile", Compiled())
first, out = so.mass_matrix(model, q), np.empty((3, 3))
assert so.mass_matrix(model, q, out=out) is out
assert (out == first).all() and (so.mass_matrix(model, q.tolist()) == first).all()
from spatialops.dynamics.composite_body import _CALL
assert type(_CALL.call).__name__ == "builtin_function_or_method"
print(shipped_code.reason_against() or "shipped")
"""


@pytest.mark.slow
def test_a_door_opens_to_shipped_code(tmp_path: Path) -> None:
    def said(code: str, cache: str) -> str:
        run = [sys.executable, "-c", code, str(tmp_path)]
        here = {**os.environ, "SPATIALOPS_CACHE_DIR": cache}
        done = subprocess.run(run, cwd=ROOT, env=here, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    packed = said(PACK, str(tmp_path / "cache"))
    assert packed == "['_entry', 'composite_body_kernel', 'enter_by_plan']"
    assert said(OPEN, "/dev/null/none") == "shipped"


def test_of_a_kernel_apart_what_it_is_reached_with_is_packed_and_nothing_else() -> None:
    """A cache has what it was reached with before tables had other fields, under the same name."""
    from spatialops._compile.stage import part_of
    from spatialops.contact.newton.refinement import refined

    part = part_of(refined)
    part.compile()
    [arguments] = part.kernel.overloads
    named = SimpleNamespace(modname="spatialops.contact.newton.refinement", qualname="refined")
    assert machine_code._is_reached(part.kernel, named, SimpleNamespace(args=arguments))
    assert not machine_code._is_reached(part.kernel, named, SimpleNamespace(args=arguments[:-1]))
    named = SimpleNamespace(modname=__name__, qualname="halve")
    assert machine_code._is_reached(halve, named, SimpleNamespace(args=()))
