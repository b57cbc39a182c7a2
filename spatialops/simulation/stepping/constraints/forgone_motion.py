"""What contacts are not asked for: drifts that leave a problem without an answer, or make energy.

Where bodies hold one another, as cups do that stand in one another, there are forces p in the
cones of friction with W p = 0. Velocities u = G v have p.u = 0, and gaps add to it: then Lemke's
method ends at an answer for certain, and without slip v = 0 is allowed. Drifts may take away from
p.u, and such forces then grow without bound. Given up is an order, in this piece.

Where W p is next to nothing there is an answer, but impulses of 1e4 N s and more. With drifts d it
has p.u = -p.W p, and bodies gain the energy

    p.(G v) + p.W p / 2 = -p.d - p.W p / 2,    u = G v + d,

of which nothing is left that bodies have not got where d = 0. Closures that open in the middle at
rates r count as d do, by |p| r at most.
"""

from __future__ import annotations

from spatialops._compile.jit import kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import ZERO3, dot, put3, vec3
from spatialops.collision import _layout as col
from spatialops.contact.newton._layout import UNSOLVED
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import (
    has_loops,
    middle_of_piece,
    opens_in_middle,
    put_missing_rates,
)
from spatialops.simulation.stepping.constraints.torsional_rolling import first_moment
from spatialops.simulation.stepping.tables import Tables

# W_ii p^2 of a contact that wedges, relative to p.W p of all: next to none of p moves anything.
_WEDGED = 1e6
_SHARE = 0.1  # of p.W p, that motion alone may add


@merged
def asks_too_much(t: Tables) -> bool:
    """Whether motion alone asks for what has no answer, or makes energy."""
    if t.control[at.CODE] == at.UNSOLVED:
        return asks_for_motion(t)
    return t.control[at.CODE] == 0 and makes_energy(t)


@merged
def asks_for_motion(t: Tables) -> bool:
    """Whether drifts ask contacts without an answer to part or to slip, or closures open yet."""
    if has_loops(t) and opens_in_middle(t):
        return True
    for i in range(first_moment(t)):
        drift = vec3(t.floats, i, col.DRIFT)
        along = dot(drift, vec3(t.floats, i, col.NORMAL))
        asked = t.floats[i, col.OPEN] + along < 0.0 or dot(drift, drift) > along * along
        if asked and t.statuses[i] == UNSOLVED:
            return True
    return False


@stage
def makes_energy(t: Tables) -> bool:
    """Whether drifts of contacts that wedge make energy; those are UNSOLVED then."""
    work = 0.0
    for i in range(3 * t.control[at.ACTING]):
        work -= t.impulses[i] * t.u[i]
    least = _WEDGED * abs(work)
    wedged = 0.0
    gained = 0.0
    for i in range(first_moment(t)):
        if is_wedged(t, i, least):
            for j in range(3):
                p = t.impulses[3 * i + j]
                drift = vec3(t.floats, i, col.DRIFT)
                wedged += abs(p)
                gained -= p * dot(drift, vec3(t.floats, i, col.NORMAL + 3 * j))
    if wedged > 0.0 and has_loops(t):
        gained += wedged * put_missing_rates(t, middle_of_piece(t))
    if not gained > _SHARE * abs(work):
        return False
    for i in range(first_moment(t)):
        if is_wedged(t, i, least):
            t.statuses[i] = UNSOLVED
    return True


@merged
def is_wedged(t: Tables, i: int, least: float) -> bool:
    """Whether impulses of acting contact i are such that they would do more work than `least`."""
    square = 0.0
    for j in range(3 * i, 3 * i + 3):
        square += t.impulses[j] * t.impulses[j]
    return t.monitor[at.MOST_COMPLIANT] * square > least


@kernel
def forgo_drift(t: Tables) -> None:
    """Let contacts without an answer obey their laws with velocities in the middle of the piece."""
    for i in range(first_moment(t)):
        if t.statuses[i] != UNSOLVED:
            continue
        along = dot(vec3(t.floats, i, col.DRIFT), vec3(t.floats, i, col.NORMAL))
        t.floats[i, col.OPEN] = max(t.floats[i, col.OPEN] + along, 0.0)
        put3(t.floats, i, col.DRIFT, ZERO3)
