"""The methods that the ladder tries, cheap ones first.

Sweeps and Newton solve nearly everything; the interior point and proximal points what is badly conditioned or rank
deficient; other steps rho of the projection, other starts and smaller friction what is left; and paths around turning
points the heaps on which all of these stall. All budgets are counts of iterations, so that the same problem always has
the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.homotopy import Homotopy
from spatialops.contact.cone.interior import interior
from spatialops.contact.cone.newton import newton
from spatialops.contact.cone.projection import DISCS, NATURAL
from spatialops.contact.cone.proximal import Proximal
from spatialops.contact.cone.system import System

Rung = tuple[str, Array, int]  # method, impulses of the system, iterations

_TARGET = 1e-14
_FEW = 600  # rows up to which a least-squares solution is cheap


def climb(system: System, start: Array | None) -> Iterator[Rung]:
    """One method after the other, each with the impulses that it found; the caller stops when they hold."""
    if start is not None:
        yield _newton(system, "warm start", start, DISCS, 15)
    swept = np.zeros(system.b.size)
    sweep(system, swept, 30)
    if not np.abs(swept).max() < 1e8:
        swept[:] = 0.0
    yield _newton(system, "newton", swept, NATURAL, 25)
    yield _newton(system, "newton on discs", swept, DISCS, 25)
    if system.mu.shape[1] == 1:
        inner, _ = interior(system)
        yield _newton(system, "interior, newton", inner, DISCS, 40)
        yield _proximal(system, "interior, proximal", inner, Proximal(DISCS, 1e-6))
    yield _proximal(system, "proximal on discs", swept, Proximal(DISCS))
    yield _proximal(system, "proximal", swept, Proximal(NATURAL))
    if system.mu.shape[1] == 1:
        convex, _ = interior(system, exact=False)
        yield _newton(system, "convex, newton", convex, NATURAL, 40)
        yield _proximal(system, "convex, proximal", convex, Proximal(NATURAL, 1e-6))
        for rho in (1e2, 1e4, 1e6):
            yield _other_newton(system, "convex", convex, rho)
    for rho in (1e2, 1e4, 1e6, 1e-2):
        yield _other_step(system, swept, rho)
    if system.dense and system.b.size <= _FEW:
        stick = -np.linalg.lstsq(system.W, system.b, rcond=1e-15)[0]
        for rho in (1.0, 1e2, 1e4, 1e6):
            yield _other_newton(system, "sticking", stick, rho)
        for rho in (1e2, 1e4):
            yield _other_step(system, stick, rho)
    yield _less_friction(system)
    yield _other_step(system, swept, 1e2, NATURAL)
    yield _proximal(system, "long proximal", swept, Proximal(DISCS, steps=200, inner=50, budget=4000))
    if system.mu.shape[1] == 1:
        yield from _paths(system)


def _paths(system: System) -> Iterator[Rung]:
    """Paths from two beginnings; what they lead to is near a solution, but not yet one where contacts hardly press."""
    for path in (Homotopy(), Homotopy(impulse=1.0, speed=1.0, rounding=0.1)):
        end, taken = path.follow(system)
        yield "homotopy", end, taken
        yield _newton(system, "homotopy, newton", end, DISCS, 60)
        yield _newton(system, "homotopy, newton", end, NATURAL, 60)
        yield _proximal(system, "homotopy, proximal", end, Proximal(DISCS, inner=50))


def _newton(system: System, name: str, start: Array, which: int, limit: int) -> Rung:
    r = start.copy()
    steps, _ = newton(system, r, which, limit, _TARGET)
    return name, r, steps


def _proximal(system: System, name: str, start: Array, method: Proximal) -> Rung:
    r = start.copy()
    return name, r, method.improve(system, r)


def _other_newton(system: System, name: str, start: Array, rho: float) -> Rung:
    """Newton on both maps with projections of r - rho u: for impulses far from size one."""
    other, best, least, taken = replace(system, W=system.W * rho), start, np.inf, 0
    for which in (NATURAL, DISCS):
        r = start / rho
        steps, reached = newton(other, r, which, 100, _TARGET)
        taken += steps
        if reached < least:
            best, least = rho * r, reached
    return f"{name}, step {rho:g}", best, taken


def _other_step(system: System, start: Array, rho: float, which: int = DISCS) -> Rung:
    """Newton and proximal points with projections of r - rho u: for impulses far from size one."""
    other, r = replace(system, W=system.W * rho), start / rho
    steps, reached = newton(other, r, which, 40, _TARGET)
    if reached > 1e-12:
        r = start / rho
        steps += Proximal(which, inner=50).improve(other, r)
    return f"step {rho:g}", rho * r, steps


def _less_friction(system: System) -> Rung:
    """Follow the solution from little friction to all of it."""
    r, steps = np.zeros(system.b.size), 0
    for part in (0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0):
        less = replace(system, mu=part * system.mu)
        steps += Proximal(DISCS, eps=1e-2, budget=400).improve(less, r)
    return "less friction", r, steps
