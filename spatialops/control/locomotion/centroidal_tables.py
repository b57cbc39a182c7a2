"""What goes into a plan of forces, and what comes out of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops._compile.jit import inlined, merged
from spatialops.algebra.memory import matrix
from spatialops.control.locomotion.force_horizon import floats_of, ints_of


class Tables(NamedTuple):
    """What does not change from plan to plan, and room to work in."""

    numbers: Array  # (3,) dt, s, gravity, m/s^2, and the weight of forces
    weights: Array  # (2, 6) of coordinates and rates
    ahead: Array  # (2, n, n) X and V
    products: Array  # (2, n, n) their squares
    cone: Array  # (5, 3) rows
    bounds: Array  # (2, 5) of them
    floats: Array
    ints: IntArray


class Body(NamedTuple):
    """A robot as one body.

    Attributes
    ----------
    mass : float
        kg.
    inertia : (3, 3) array
        About the centre of mass, world axes, kg m^2.
    coordinates, rates : (6,) arrays
        (phi, c) now, rad and m, and their rates, of which those of phi are against the desired.
    """

    mass: float
    inertia: Array
    coordinates: Array
    rates: Array


class Horizon(NamedTuple):
    """What is wanted over n steps.

    Attributes
    ----------
    coordinates, rates : (n, 6) arrays
        Desired (phi, c) and their rates at the steps' ends.
    holds : (n, k) array of bool or int
        Which feet stand in each step.
    feet : (n, k, 3) array
        Where they do, m.
    """

    coordinates: Array
    rates: Array
    holds: BoolArray | IntArray
    feet: Array


class Wanted(NamedTuple):
    """A horizon as kernels take it."""

    coordinates: Array  # (n, 6)
    rates: Array  # (n, 6)
    feet: Array  # (n, k, 3)
    holds: IntArray  # (n, k)


class ForcePlan(NamedTuple):
    """Forces, and the motion that belongs to them.

    Attributes
    ----------
    forces : (n, k, 3) array
        On each foot in each step, world axes, N.
    coordinates, rates : (n + 1, 6) arrays
        (phi, c) and their rates, now and at the steps' ends.
    accelerations : (n, 6) array
        In each step, rad/s^2 and m/s^2.
    """

    forces: Array
    coordinates: Array
    rates: Array
    accelerations: Array


class Made(NamedTuple):
    """A program of p feet that stand in steps, 3 p = size."""

    inverse: Array  # (3, 3) m I^-1
    turns: Array  # (p, 3, 3) angular accelerations by forces
    drifts: Array  # (3, n, 6)
    H: Array  # (size, size) of which the upper triangle is filled
    c: Array  # (size,)
    x: Array  # (size,) forces, relative to the weight


@merged
def made_floats(p: int, n: int) -> int:
    """Numbers of `made_in`."""
    return 9 + 9 * p + 18 * n + 9 * p * p + 6 * p


def room_for(p: int, n: int, rows: int) -> tuple[Array, IntArray]:
    """Memory for plans of at most so many feet in n steps, with cones of so many rows."""
    floats = np.empty(int(made_floats(p, n)) + int(floats_of(3 * p)))
    return floats, np.empty(int(ints_of(3 * p, rows)), dtype=np.int64)


@inlined
def made_in(floats: Array, p: int, n: int) -> Made:
    """Name the parts of a buffer."""
    at = 9 + 9 * p
    size = 3 * p
    end = at + 18 * n + size * size
    return Made(
        matrix(floats, 0, 3, 3),
        floats[9:at].reshape((p, 3, 3)),
        floats[at : at + 18 * n].reshape((3, n, 6)),
        matrix(floats, at + 18 * n, size, size),
        floats[end : end + size],
        floats[end + size : end + 2 * size],
    )
