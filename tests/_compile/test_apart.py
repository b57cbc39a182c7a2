"""Kernels apart: compiled where they are first reached, once for all that call them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import types
from numba.core.errors import TypingError

from spatialops._arrays import Array
from spatialops._compile.apart import PLACE, VECTOR, late
from spatialops._compile.jit import kernel
from spatialops._compile.references import refer
from spatialops._compile.stage import entered, part_of, stage

pytestmark = pytest.mark.compiled


@late(VECTOR, types.int64, types.float64)
def scaled_sum(values: Array, count: int, factor: float) -> float:
    total = 0.0
    for i in range(count):
        total += factor * values[i]
    return total


@late(VECTOR)
def ends(values: Array) -> tuple[int, float]:
    return values.size, values[values.size - 1]


@late(VECTOR)
def says_something_else(values: Array) -> int:
    return values[0]


@kernel
def one_caller(values: Array, far: bool) -> float:
    return scaled_sum(values, 2, 0.5) if far else 0.0


@kernel
def other_caller(values: Array) -> float:
    count, last = ends(values)
    return scaled_sum(values, count, 2.0) + last


@kernel
def bad_caller(values: Array) -> int:
    return says_something_else(values)


class Tables(NamedTuple):
    values: Array


@stage
def goes_wrong(t: Tables, x: float, n: int) -> float:
    return t.values.no_such_thing + x + n


@stage
def with_numbers(t: Tables, x: float, n: int) -> float:
    return t.values[n] * x


@entered
def enter(t: Tables) -> float:
    r = refer(t)
    return with_numbers(r, 0.5, 1) if t.values[0] > 0.0 else goes_wrong(r, 0.5, 1)


def is_compiled(function: object) -> bool:
    return bool(part_of(function)._compiled)


def test_what_is_not_reached_is_not_compiled() -> None:
    values = np.array([1.0, 3.0, 5.0])
    assert one_caller(values, False) == 0.0
    assert not is_compiled(scaled_sum)
    assert one_caller(values, True) == 2.0
    assert is_compiled(scaled_sum)
    assert other_caller(values) == 23.0


def test_arrays_that_are_only_read_are_taken() -> None:
    values = np.array([1.0, 3.0, 5.0])
    values.flags.writeable = False
    assert other_caller(values) == 23.0


def test_python_calls_the_kernel() -> None:
    assert scaled_sum(np.array([1.0, 3.0, 5.0]), 3, 1.0) == 9.0
    assert ends(np.array([1.0, 3.0])) == (2, 3.0)


def test_what_keeps_it_from_being_compiled_comes_up() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="says_something_else returns float64"):
            bad_caller_from_python(np.ones(1))
    with pytest.raises(TypingError, match="no_such_thing"):
        enter(Tables(np.array([0.0, 3.0])))
    assert enter(Tables(np.array([1.0, 3.0]))) == 1.5


def bad_caller_from_python(values: Array) -> int:
    """As public functions call kernels that may reach kernels apart."""
    from spatialops._compile.apart import reaching

    return int(reaching(bad_caller, values))


def test_places_are_named_after_kernels() -> None:
    assert part_of(scaled_sum).name + PLACE == "tests._compile.test_apart.scaled_sum.place"


PROGRAM = """
import spatialops as so
from spatialops._compile.stage import part_of
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.simulation.stepping.contact_solver import solve_here
from spatialops.simulation.stepping.integrators.flow import smooth_step

so.Simulator(so.models.pendulum(3).scene(), dt=1e-3).run(duration=1e-3)
print([bool(part_of(one)._compiled) for one in (smooth_step, solve_here, pair_points)])
"""


def test_a_first_step_without_contacts_waits_for_none_of_their_kernels() -> None:
    run = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(run, env=os.environ, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "[True, False, False]\n"), done.stderr
