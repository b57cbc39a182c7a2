"""What is used of Numba's and NumPy's insides is still there; a failure names what broke.

Raise Numba's upper bound in pyproject.toml when these, and the suite, pass with its next version.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import compiler, types
from numba.core.caching import _Cache
from numba.core.typing.templates import AttributeTemplate

from spatialops._compile import fast_call
from spatialops._compile.jit import _OPTIONS

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_this_version_is_within_the_bounds() -> None:
    """Python's own comparison of versions is enough: both are numbers with points."""
    listed = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    [bounds] = [item for item in listed if item.startswith("numba")]
    lowest, below = re.fullmatch(r"numba>=([\d.]+),<([\d.]+)", bounds).groups()
    here = parsed(numba.__version__)
    assert parsed(lowest) <= here < parsed(below), "pyproject.toml: this Numba is not tried"


def parsed(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.match(r"[\d.]+", version)[0].strip(".").split("."))


@pytest.mark.compiled
def test_kernels_do_without_the_run_time_that_counts_references() -> None:
    """The private option `_nrt`: a kernel that allocates must not compile."""

    def allocates(n):
        return np.zeros(n)

    with pytest.raises(numba.TypingError):
        numba.jit(**_OPTIONS)(allocates)(3)
    assert numba.njit(allocates)(3).shape == (3,)


@pytest.mark.compiled
def test_a_dispatcher_asks_its_cache() -> None:
    """`Dispatcher._cache` is what `jit.py` puts in place of Numba's own."""
    asked = []

    class Asked(_Cache):
        cache_path = property(lambda self: "nowhere")

        def load_overload(self, sig, target_context):
            asked.append("load")

        def save_overload(self, sig, data):
            asked.append("save")

        def enable(self): ...

        def disable(self): ...

        def flush(self): ...

    twice = numba.njit(lambda x: 2.0 * x)
    twice._cache = Asked()
    assert twice(1.5) == 3.0
    assert asked == ["load", "save"]


def test_compiled_code_can_be_put_away_and_taken_back() -> None:
    assert {"_reduce", "_rebuild"} <= set(dir(compiler.CompileResult))
    taken = inspect.signature(compiler.CompileResult._rebuild).parameters
    assert next(iter(taken)) == "target_context"


def test_types_are_made_as_stages_and_fast_calls_make_them() -> None:
    array = types.Array(types.float64, 2, "C")
    assert fast_call.Arguments((array,)).name == "Arguments(array(float64, 2d, C))"
    assert hasattr(AttributeTemplate, "generic_resolve")
