"""Sine and cosine in one go, against the mathematical library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.trigonometry import sine_and_cosine


@kernel
def both(x: Array, out: Array) -> None:
    for i in range(x.size):
        out[i, 0], out[i, 1] = sine_and_cosine(x[i])


def differences(x: Array) -> Array:
    out = np.empty((x.size, 2))
    both(x, out)
    return np.abs(out - np.stack([np.sin(x), np.cos(x)], axis=1))


@pytest.mark.parametrize("reach", [1e-8, 1.0, 10.0, 1e3, 1e5, 1e9])
def test_as_exact_as_the_library(reach: float) -> None:
    x = np.random.default_rng(0).uniform(-reach, reach, 2000)
    assert differences(x).max() < 2.3e-16


def test_around_the_quarter_turns() -> None:
    """Next to a zero the result is small, and exact as far as three parts of pi / 2 reach."""
    quarters = 0.5 * math.pi * np.arange(-40, 41)
    x = np.concatenate([quarters, quarters + 1e-12, quarters - 1e-12, np.nextafter(quarters, 1e3)])
    exact = np.stack([np.sin(x), np.cos(x)], axis=1)
    assert (differences(x) <= 4e-16 * np.abs(exact) + 1e-32 * np.abs(x)[:, None]).all()


def test_zero_keeps_its_sign_and_bad_angles_stay_bad() -> None:
    out = np.empty((4, 2))
    both(np.array([0.0, math.nan, math.inf, -math.inf]), out)
    assert out[0].tolist() == [0.0, 1.0]
    assert np.isnan(out[1:]).all()
