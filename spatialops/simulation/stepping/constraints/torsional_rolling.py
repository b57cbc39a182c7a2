"""Torsional and rolling friction in the loop's tables.

Moments stand behind the acting contacts as contacts of their own (see `contact.newton.rows`), so
that all that the loop does with impulses (velocities, energies, closures) it does with moments too:
first what resists the spin about the normal, then what resists rolling. A row has the point of its
contact and, in the place of tangents, the axes that it resists spins about: the normal and none, or
two across it, the first along the spin, as tangents of friction are along the slip; no normal.

Spins and moments are measured by a length, so that they are velocities and impulses like those of
the contacts, and answer each other as much: t.u, t.entries and t.impulses are so, and what tables
of contacts have of them, but for the impulses, which are N m s there.

Pairs of moments count from the end: -1 - pair of rolling, and as many pairs before it of torsion.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.vectors import (
    ZERO3,
    copy_into,
    cross,
    dot,
    minus,
    plus_scaled,
    put3,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.pair_coefficients import PairClasses, class_of_pair
from spatialops.collision.pair_runs import count_pairs
from spatialops.contact.newton._layout import FRICTIONLESS
from spatialops.contact.rows import START, SparseRows, square_of, width_of
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import n_of_geoms
from spatialops.simulation.stepping.tables import Tables

TORSION, ROLLING = 0, 1  # columns of `turning`
KINDS = 2
_SPINS = 1e-9  # rad/s below which there is no direction of rolling


def turning_of(torsion: Array, rolling: Array) -> Array:
    """(n, KINDS) coefficients of classes of pairs, m; no rows where none has any."""
    if not (torsion.any() or rolling.any()):
        return np.zeros((0, KINDS))
    return np.stack([torsion, rolling], axis=1)


def rows_each(turning: Array) -> int:
    """Rows that a contact may have: its own, and those of its moments."""
    return 1 + int(turning.any(axis=0).sum())


def pairs_of(codes: Array | IntArray, n_pairs: int) -> IntArray:
    """Pairs that contacts and moments are of."""
    pairs = np.asarray(codes, dtype=np.int64)
    return np.where(pairs < 0, (-1 - pairs) % max(n_pairs, 1), pairs)


@merged
def has_moments(t: Tables) -> bool:
    """Whether any pair of geoms has torsional or rolling friction, and the law any friction."""
    return t.turning.shape[0] > 0 and t.control[at.LAW] != FRICTIONLESS


@inlined
def is_torsion(t: Tables, i: int) -> bool:
    """Whether acting contact i, which is a moment, resists the spin about a normal."""
    return -1 - t.ints[i, col.CONTACT_PAIR] >= count_pairs(t.pair_runs)


@inlined
def first_moment(t: Tables) -> int:
    """The first of the acting contacts that is a moment."""
    return t.control[at.ACTING] - t.control[at.MOMENTS]


@merged
def spin_unit(t: Tables) -> float:
    """Length by which spins are measured at present, m."""
    unit = t.monitor[at.SPIN_UNIT]
    return unit if unit > 0.0 else 1.0


@kernel
def add_moments(t: Tables) -> None:
    """Moments of the acting contacts of geoms, whose frames and velocities are known, behind all.

    Velocities of links must be in `work`.
    """
    m, n = first_moment(t), n_of_geoms(t)
    count = m
    unit = spin_unit(t)
    for kind in range(KINDS):
        for i in range(n):
            coefficient = t.turning[class_of_contact(t, i), kind]
            if coefficient > 0.0:
                t.owners[count - m] = i
                put_moment(t, i, count, kind, unit)
                t.friction[count] = coefficient / unit
                count += 1
    t.control[at.ACTING], t.control[at.MOMENTS] = count, count - m


@inlined
def class_of_contact(t: Tables, i: int) -> int:
    """Class of the pair of acting contact i."""
    classes = PairClasses(t.class_values, t.own_pairs)
    return class_of_pair(classes, t.geom_ints, t.pair_runs, t.ints[i, col.CONTACT_PAIR])


@inlined
def put_moment(t: Tables, i: int, row: int, kind: int, unit: float) -> None:
    """A moment of contact i: its names, place, axes and spins."""
    copy_into(t.ints[row], t.ints[i])
    copy_into(t.floats[row], t.floats[i])
    code = -1 - t.ints[i, col.CONTACT_PAIR]
    t.ints[row, col.CONTACT_PAIR] = code - count_pairs(t.pair_runs) if kind == TORSION else code
    spin = relative_spin(t.work, t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B], layout.OMEGA)
    put3(t.floats, row, col.NORMAL, ZERO3)
    if kind == TORSION:
        put3(t.floats, row, col.TANGENT, vec3(t.floats, i, col.NORMAL))
        put3(t.floats, row, col.SECOND, ZERO3)
    else:
        turn_along(t, row, vec3(t.floats, i, col.NORMAL), spin)
    for j in range(3):
        speed = unit * dot(spin, vec3(t.floats, row, col.NORMAL + 3 * j))
        t.floats[row, col.APPROACH + j] = t.u[3 * row + j] = speed
    put3(t.floats, row, col.DRIFT, ZERO3)
    put3(t.floats, row, col.SLIP, ZERO3)
    t.floats[row, col.OPEN] = t.floats[row, col.MU] = t.floats[row, col.RESTITUTION] = 0.0
    t.prior[row] = t.dry[row] = 0.0


@inlined
def turn_along(t: Tables, row: int, normal: Vec3, spin: Vec3) -> None:
    """Axes of rolling, the first along the spin if there is any."""
    rolls = plus_scaled(spin, -dot(spin, normal), normal)
    length = math.sqrt(dot(rolls, rolls))
    if length > _SPINS:
        first = scaled(1.0 / length, rolls)
        put3(t.floats, row, col.TANGENT, first)
        put3(t.floats, row, col.SECOND, cross(normal, first))


@inlined
def relative_spin(work: Array, a: int, b: int, column: int) -> Vec3:
    """Angular velocity of link a against b, or what is in another column of `work`."""
    of_a = vec3(work, a, column) if a >= 0 else ZERO3
    of_b = vec3(work, b, column) if b >= 0 else ZERO3
    return minus(of_a, of_b)


@kernel
def measure_spins(t: Tables) -> None:
    """Choose the unit of spins, so that L's longest row is as long of them as of contacts.

    Rows of L of moments are those of spins in rad/s before.
    """
    m = first_moment(t)
    rows = SparseRows(t.entries, t.places)
    of_contacts = of_spins = 0.0
    for i in range(t.control[at.ACTING]):
        for j in range(3):
            square = square_of(rows, i, j)
            if i < m:
                of_contacts = max(of_contacts, square)
            else:
                of_spins = max(of_spins, square)
    unit = 1.0
    if of_contacts > 0.0 and of_spins > 0.0:
        unit = math.sqrt(of_contacts / of_spins)
    change = unit / spin_unit(t)
    t.monitor[at.SPIN_UNIT] = unit
    for i in range(m, t.control[at.ACTING]):
        t.friction[i] /= change
        for j in range(3):
            t.u[3 * i + j] *= change
            t.floats[i, col.APPROACH + j] *= change
        start = t.places[i, START]
        for k in range(start, start + 3 * width_of(t.places, i)):
            t.entries[k] *= unit
        for j in range(t.contact_parts.shape[1]):
            for k in range(3 * i, 3 * i + 3):
                t.contact_parts[k, j] *= unit


def put_moments(t: Tables, moments: Array) -> None:
    """Moments (m, 3) of the acting contacts along their frames, N m s, into the loop's impulses."""
    unit, first = spin_unit(t), first_moment(t)
    for row in range(first, int(t.control[at.ACTING])):
        owner = t.owners[row - first]
        along = axes_of(t, row) @ (moments[owner] @ axes_of(t, owner))
        t.impulses[3 * row : 3 * row + 3] = along / unit


def acting_moments(t: Tables, m: int) -> Array:
    """Moments (m, 3) of the first m acting contacts along their frames, N m s."""
    moments, first = np.zeros((m, 3)), first_moment(t)
    for row in range(first, int(t.control[at.ACTING])):
        owner = t.owners[row - first]
        own = t.floats[row, col.IMPULSE : col.IMPULSE + 3] @ axes_of(t, row)
        moments[owner] += axes_of(t, owner) @ own
    return moments


def axes_of(t: Tables, i: int) -> Array:
    """(3, 3) normal and tangents of acting contact i, or what a moment has in their place."""
    return t.floats[i, col.NORMAL : col.NORMAL + 9].reshape(3, 3)
