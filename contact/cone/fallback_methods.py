"""The methods that the ladder tries, cheap ones first.

Sweeps and Newton solve nearly everything; the interior point and proximal points what is badly
conditioned or rank deficient; other steps rho of the projection, other starts and smaller friction
what is left; and paths around turning points the heaps on which all of these stall. All budgets are
counts of iterations, so that the same problem always has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.homotopy import Homotopy
from spatialops.contact.cone.interior import interior
from spatialops.contact.cone.low_rank import DIVERGED
from spatialops.contact.cone.newton import TARGET, newton
from spatialops.contact.cone.projection import ALART_CURNIER, DE_SAXCE
from spatialops.contact.cone.proximal import Proximal
from spatialops.contact.cone.scaled_problem import ScaledProblem

Attempt = tuple[str, Array, int]  # method, impulses of the system, iterations

_SETTLED = 1e-12  # |F| from which on proximal points are not worth their steps
_LSTSQ_RANK = 1e-15  # singular values, relative to the largest, that count as zero
# Steps rho of the projection, for impulses far from size one.
_LARGE_STEPS = (1e2, 1e4, 1e6)
_SMALL_STEP = 1e-2
_FRICTION = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)  # parts of mu on the way to all of it
_FRICTION_WEIGHT = 1e-2  # first weight of proximal points on that way
_ROUNDING = 0.1  # of the second path, whose beginning is of size one
_CLOSE = 1e-6  # first weight of proximal points that begin near a solution
_FEW = 600  # rows up to which a least-squares solution is cheap


def climb(system: ScaledProblem, start: Array | None) -> Iterator[Attempt]:
    """One method after the other with the impulses that it found, until the caller stops."""
    if start is not None:
        yield _newton(system, "warm start", start, ALART_CURNIER, 15)
    swept = np.zeros(system.b.size)
    sweep(system, swept, 30)
    if not np.abs(swept).max() < DIVERGED:
        swept[:] = 0.0
    yield _newton(system, "newton", swept, DE_SAXCE, 25)
    yield _newton(system, "newton on discs", swept, ALART_CURNIER, 25)
    if system.mu.shape[1] == 1:
        inner, _ = interior(system)
        yield _newton(system, "interior, newton", inner, ALART_CURNIER, 40)
        yield _proximal(system, "interior, proximal", inner, Proximal(ALART_CURNIER, _CLOSE))
    yield _proximal(system, "proximal on discs", swept, Proximal(ALART_CURNIER))
    yield _proximal(system, "proximal", swept, Proximal(DE_SAXCE))
    if system.mu.shape[1] == 1:
        convex, _ = interior(system, exact=False)
        yield _newton(system, "convex, newton", convex, DE_SAXCE, 40)
        yield _proximal(system, "convex, proximal", convex, Proximal(DE_SAXCE, _CLOSE))
        for rho in _LARGE_STEPS:
            yield _other_newton(system, "convex", convex, rho)
    for rho in (*_LARGE_STEPS, _SMALL_STEP):
        yield _other_step(system, swept, rho)
    if system.dense and system.b.size <= _FEW:
        stick = np.asarray(-np.linalg.lstsq(system.W, system.b, rcond=_LSTSQ_RANK)[0], np.float64)
        for rho in (1.0, *_LARGE_STEPS):
            yield _other_newton(system, "sticking", stick, rho)
        for rho in _LARGE_STEPS[:2]:
            yield _other_step(system, stick, rho)
    yield _less_friction(system)
    yield _other_step(system, swept, _LARGE_STEPS[0], DE_SAXCE)
    yield _proximal(
        system, "long proximal", swept, Proximal(ALART_CURNIER, steps=200, inner=50, budget=4000)
    )
    if system.mu.shape[1] == 1:
        yield from _paths(system)


def _paths(system: ScaledProblem) -> Iterator[Attempt]:
    """Paths from two beginnings, and Newton's method from their ends.

    What they lead to is near a solution, but not yet one where contacts hardly press.
    """
    for path in (Homotopy(), Homotopy(impulse=1.0, speed=1.0, rounding=_ROUNDING)):
        end, taken = path.follow(system)
        yield "homotopy", end, taken
        yield _newton(system, "homotopy, newton", end, ALART_CURNIER, 60)
        yield _newton(system, "homotopy, newton", end, DE_SAXCE, 60)
        yield _proximal(system, "homotopy, proximal", end, Proximal(ALART_CURNIER, inner=50))


def _newton(system: ScaledProblem, name: str, start: Array, which: int, limit: int) -> Attempt:
    r = start.copy()
    steps, _ = newton(system, r, which, limit, TARGET)
    return name, r, steps


def _proximal(system: ScaledProblem, name: str, start: Array, method: Proximal) -> Attempt:
    r = start.copy()
    return name, r, method.improve(system, r)


def _other_newton(system: ScaledProblem, name: str, start: Array, rho: float) -> Attempt:
    """Newton on both maps with projections of r - rho u: for impulses far from size one."""
    other = replace(system, W=system.W * rho)
    best = start
    least = np.inf
    taken = 0
    for which in (DE_SAXCE, ALART_CURNIER):
        r = start / rho
        steps, reached = newton(other, r, which, 100, TARGET)
        taken += steps
        if reached < least:
            best, least = rho * r, reached
    return f"{name}, step {rho:g}", best, taken


def _other_step(
    system: ScaledProblem, start: Array, rho: float, which: int = ALART_CURNIER
) -> Attempt:
    """Newton and proximal points with projections of r - rho u: for impulses far from size one."""
    other, r = replace(system, W=system.W * rho), start / rho
    steps, reached = newton(other, r, which, 40, TARGET)
    if reached > _SETTLED:
        r = start / rho
        steps += Proximal(which, inner=50).improve(other, r)
    return f"step {rho:g}", rho * r, steps


def _less_friction(system: ScaledProblem) -> Attempt:
    """Follow the solution from little friction to all of it."""
    r, steps = np.zeros(system.b.size), 0
    for part in _FRICTION:
        less = replace(system, mu=part * system.mu)
        steps += Proximal(ALART_CURNIER, eps=_FRICTION_WEIGHT, budget=400).improve(less, r)
    return "less friction", r, steps
