"""Helpers are parts of kernels, and Python functions to Python; kernels work in users' own code."""

from __future__ import annotations

import gc

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from spatialops._compile import dispatchers
from spatialops._compile.jit import inlined, kernel

pytestmark = pytest.mark.compiled


@inlined
def half(x):
    return 0.5 * x


@kernel
def halve(values):
    for i in range(len(values)):
        values[i] = half(values[i])
    return len(values)


def test_a_helper_is_compiled_into_a_kernel_and_python_to_python() -> None:
    values = np.arange(3.0)
    assert halve(values) == 3
    assert values.tolist() == [0.0, 0.5, 1.0]
    assert half(3) == 1.5
    half.compile((numba.float64,))  # it may not be yet, where `halve` was kept from another run
    [made] = half.overloads.values()
    assert isinstance(made.library, dispatchers._HelperLibrary)


@kernel
def quarter(values):
    halve(values)
    return halve(values)


def test_a_kernel_in_a_kernel_is_copied_as_helpers_are() -> None:
    """No machine code, no way from Python and no entry in the cache for what is called within."""
    before = len(halve.overloads)
    values = np.full(2, 8.0)
    quarter.compile((numba.float64[::1],))
    assert quarter(values) == 2
    assert values.tolist() == [2.0, 2.0]
    assert len(halve.overloads) == before
    assert isinstance(halve._copied, dispatchers.Helper)


def test_a_users_own_function_may_call_both() -> None:
    @numba.njit
    def mine(values):
        return halve(values) + half(1.0)

    values = np.full(2, 8.0)
    assert mine(values) == 2.5
    assert values.tolist() == [4.0, 4.0]


def test_garbage_is_collected_seldom_while_something_is_compiled(monkeypatch) -> None:
    before = gc.get_threshold()
    seen = []
    compiled = CPUDispatcher.compile

    def watched(self, sig):
        seen.append(gc.get_threshold())
        return compiled(self, sig)

    monkeypatch.setattr(CPUDispatcher, "compile", watched)
    assert halve(np.ones(2, dtype=np.float32)) == 2
    assert seen
    assert all(threshold == dispatchers._SELDOM for threshold in seen)
    assert gc.get_threshold() == before


@inlined
def shifted(values, first, pair):
    return values[first] + pair[0] * pair[1]


@kernel
def shifts(values, at):
    return (
        shifted(values, 0, (1.0, 2)) + shifted(values, 1, (2.0, at)) + shifted(values, at, (3.0, 0))
    )


def test_a_helper_is_compiled_once_whatever_constants_it_is_given() -> None:
    assert shifts(np.arange(3.0), 2) == 9.0
    shifts._copied.compile((numba.float64[::1], numba.int64))  # it may not be, as above
    assert len(shifted.overloads) == 1
