"""Small matrices, and how the gyroscopic term F(w) = h k(w) w x I w of lone bodies changes."""

from __future__ import annotations

import math

from spatialops._arrays import Mat3, Sym3, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    plus_scaled,
    rotate_back,
    scaled,
    sym_times,
)
from spatialops.simulation.stepping.integrators.lone_bodies import (
    solve_three,
    spin_slope,
    tangent_over,
)

_SERIES = 1e-4  # rad^2 below which the series of three terms is exact


@inlined
def added(a: Mat3, f: float, b: Mat3) -> Mat3:
    """Matrix a + f b."""
    return plus_scaled(a[0], f, b[0]), plus_scaled(a[1], f, b[1]), plus_scaled(a[2], f, b[2])


@inlined
def times(f: float, a: Mat3) -> Mat3:
    """Matrix f a."""
    return scaled(f, a[0]), scaled(f, a[1]), scaled(f, a[2])


@inlined
def transposed(a: Mat3) -> Mat3:
    return (
        (a[0][0], a[1][0], a[2][0]),
        (a[0][1], a[1][1], a[2][1]),
        (a[0][2], a[1][2], a[2][2]),
    )


@inlined
def product(a: Mat3, b: Mat3) -> Mat3:
    """Matrix a b."""
    return rotate_back(b, a[0]), rotate_back(b, a[1]), rotate_back(b, a[2])


@inlined
def slope_of_tangent(x: float) -> float:
    """Derivative of tan(x) / x by x, over x."""
    square = x * x
    if square < _SERIES:
        return 2.0 / 3.0 + square * (8.0 / 15.0 + square * (34.0 / 105.0))
    tangent = math.tan(x)
    return (1.0 + tangent * tangent - tangent / x) / square


@inlined
def gyroscopic_slope(inertia: Sym3, w: Vec3, s: float) -> Mat3:
    """F' of the equation of spins."""
    x = 0.5 * s * math.sqrt(dot(w, w))
    swing = cross(w, sym_times(inertia, w))
    by_size = scaled(0.25 * s * s * s * slope_of_tangent(x), w)
    alone = spin_slope(inertia, ZERO3, 0.0)
    turned = added(spin_slope(inertia, w, s * tangent_over(x)), -1.0, alone)
    return (
        plus_scaled(turned[0], swing[0], by_size),
        plus_scaled(turned[1], swing[1], by_size),
        plus_scaled(turned[2], swing[2], by_size),
    )


@inlined
def solved(a: Mat3, b: Mat3) -> Mat3:
    """Matrix a^-1 b."""
    columns = transposed(b)
    return transposed(
        (solve_three(a, columns[0]), solve_three(a, columns[1]), solve_three(a, columns[2]))
    )
