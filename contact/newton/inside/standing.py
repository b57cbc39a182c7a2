"""What stands and could fall goes on standing.

From rest Coulomb's law can have several answers: forces that hold a pyramid of balls, and others
with which balls roll off one another, both to rounding. Nature keeps what can be kept at rest. Of
contacts that open as they slide, see `interior_point`, the answer has the least energy of all. If
that is less than the energy of an answer that is found otherwise, and the answer obeys Coulomb's
law, it is taken. Of what moves already it is not asked: to stop it at once would be a blow.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.inside.interior_point import STANDING, interior_impulses
from spatialops.contact.newton.proximal import proximal_steps
from spatialops.contact.newton.residual import residual_at
from spatialops.contact.newton.rows import (
    PROBLEM,
    SCRATCH,
    NewtonScratch,
    Problem,
    is_one_tree,
)
from spatialops.contact.newton.statuses import find_statuses

_NEAR = 1e-5  # residual of the interior point, above which nothing stands
_TERM = 1e-3  # proximal, of s, and iterations from there
_IN_ALL, _ABOUT_ONE = 40, 25
_STILL = 1e-6  # velocity relative to the scale: held
_LESS = 1e-6  # of the energy: as much is the same motion


@late(PROBLEM, types.boolean, types.float64, types.float64, VECTOR, SCRATCH)
def kept_standing(
    problem: Problem,
    warm: bool,
    tolerance: float,
    residual: float,
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Impulses with less motion than those at p, of this residual, where there are any.

    Returns iterations and the residual. Where forces of a step before lead to an answer that holds
    all contacts, it is kept.
    """
    rows = problem.rows
    solved = residual <= tolerance
    residual_at(problem, p, scratch)
    if solved and warm and holds(problem, p, scratch):
        return 0, residual
    least = energy(problem, p, scratch) if solved else INFINITE
    kept = scratch.vectors[at.KEPT]
    copy_into(kept, p)
    for i in range(p.size):
        p[i] = 0.0
    total = interior_impulses(rows, problem.s, problem.scale, STANDING, p, scratch)
    standing = residual_at(problem, p, scratch)
    if standing <= _NEAR:
        limits = (_IN_ALL, _ABOUT_ONE, is_one_tree(rows))
        count, standing = proximal_steps(problem, _TERM, 1.0, limits, False, tolerance, p, scratch)
        total += count
        residual_at(problem, p, scratch)
    if standing <= tolerance and energy(problem, p, scratch) < least - _LESS * abs(least):
        return total, standing
    copy_into(p, kept)
    residual_at(problem, p, scratch)
    find_statuses(rows, 0.0, 1.0, p, scratch)
    scratch.factored[at.UNKNOWNS] = 0.0
    return total, residual


@inlined
def holds(problem: Problem, p: Array, scratch: NewtonScratch) -> bool:
    """Whether contacts that press do not move; velocities of p must be in the scratch."""
    v = scratch.vectors[at.VELOCITY]
    fastest = 0.0
    for i in range(p.size // 3):
        for j in range(3 if p[3 * i] > 0.0 else 0):
            fastest = max(fastest, abs(v[3 * i + j]))
    return fastest <= _STILL * problem.scale


@inlined
def energy(problem: Problem, p: Array, scratch: NewtonScratch) -> float:
    """Kinetic energy with impulses p less that without: p . (u + v) / 2."""
    u, v = problem.rows.u, scratch.vectors[at.VELOCITY]
    twice = 0.0
    for i in range(p.size):
        twice += p[i] * (u[i] + v[i])
    return 0.5 * twice
