"""What the problem of a piece left out: the piece is stated anew with it, or as a shorter one.

A piece looks for contacts where it is evaluated, with velocities that know nothing of impulses.
What contacts themselves push against something is not seen there:

- inelastic arrivals (`arrivals`);
- what touches as the piece begins, and leaves: a stop is not near where it is evaluated, and the
  joint goes as far beyond it as forces and other contacts push it, a dog's ankle by 0.1 rad in
  5 ms. It has touched already and is none to cut the piece at.

Seen is then all that is as near as what was left out has come. Where that brings others a few
times, the piece becomes a shorter one.
"""

from __future__ import annotations

from spatialops._compile.jit import inlined, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into, dot, vec3
from spatialops.collision import _layout as col
from spatialops.collision.detector import relative_velocity
from spatialops.collision.known_contacts import row_of_same
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import (
    arrive_together,
    came_in,
    meet_together,
    of_others,
    of_pair,
    share_over,
)
from spatialops.simulation.stepping.constraints.same_contacts import has_one_point
from spatialops.simulation.stepping.tables import Tables

_MOST_ANEW = 2  # times that a piece is stated anew at its length
_DEEP = 5.0  # times the margin: what is not left to the projection of positions
_NEARLY_ALL = 0.99  # of a piece: it is cut where it ends
_SHORTEST = 1.0 / 256.0  # of a step: pieces are not made shorter than that


@merged
def keep_reach(t: Tables, reach: float, anew: int) -> None:
    """How far the next piece looks for what may be pushed against something."""
    t.monitor[at.REACH] = reach
    t.control[at.ANEW] = anew


@inlined
def is_met(t: Tables, i: int, m: int) -> bool:
    """Whether seen contact i is one of the m acting ones, or of a pair that acts and shallow.

    What lands on one corner turns and slams down on others, whose contacts have other names then.
    Stating the piece anew meets few of them; what is no deeper than what counts as near is left to
    the projection of positions.
    """
    if row_of_same(t.ints, m, t.seen_ints, i) >= 0:
        return True
    acts = of_pair(t.ints, m, t.seen_ints[i, col.CONTACT_PAIR], i)
    return acts and t.seen[i, col.GAP] >= -t.settings[at.MARGIN]


@merged
def met_unforeseen(t: Tables) -> bool:
    """Whether the piece is to be stated anew, for inelastic arrivals that its problem left out.

    Contacts at its end are seen.
    """
    fastest = deepest = 0.0
    inelastic, last = 0, -1
    m = t.control[at.ACTING] if arrive_together(t) else 0
    for i in range(t.control[at.SEEN]):
        if not came_in(t, i):
            continue
        if t.seen[i, col.RESTITUTION] > 0.0:
            return False
        if is_met(t, i, m):
            continue
        inelastic += of_others(t, i, last)
        last = i
        fastest = max(fastest, -t.seen[i, col.APPROACH])
        deepest = max(deepest, -t.seen[i, col.GAP])
    meet_together(t, inelastic, t.control[at.MET])
    if inelastic == 0 or not arrive_together(t):
        return False
    if t.control[at.ANEW] == _MOST_ANEW:
        return deepest > _DEEP * t.settings[at.MARGIN] and shorten(t, 0.5)
    copy_into(t.vectors[at.V_ANEW, : t.v.size], t.vectors[at.V_X, : t.v.size])
    keep_reach(t, max(fastest * t.monitor[at.PIECE], t.monitor[at.REACH]), t.control[at.ANEW] + 1)
    return True


@stage
def is_pushed_back(t: Tables) -> bool:
    """Whether the piece is to be stated anew for what touched, and what its problem left out.

    Contacts are seen where the piece ends, or is cut. Shapes with faces are cut there at the points
    that come in.
    """
    if t.control[at.ANEW] == _MOST_ANEW:
        return False
    fastest = 0.0
    for i in range(t.control[at.SEEN]):
        if came_in(t, i) and is_left_out(t, i):
            fastest = max(fastest, -t.seen[i, col.APPROACH])
    if fastest == 0.0:
        return False
    copy_into(t.vectors[at.V_ANEW, : t.v.size], t.vectors[at.V_X, : t.v.size])
    keep_reach(t, max(fastest * t.monitor[at.PIECE], t.monitor[at.REACH]), t.control[at.ANEW] + 1)
    return True


@merged
def is_left_out(t: Tables, i: int) -> bool:
    """Whether seen contact i is of a pair with one point, which touched and does not act."""
    pair = t.seen_ints[i, col.CONTACT_PAIR]
    touched = of_pair(t.touching, t.control[at.TOUCHING], pair, i)
    if not touched or not has_one_point(t, pair):
        return False
    return not of_pair(t.ints, t.control[at.ACTING], pair, i)


@merged
def shall_end_at(t: Tables, x: float) -> bool:
    """Whether the piece, which is cut at x, is to be stated anew as one that ends there.

    What arrives together is at the surface where its piece ends, and beyond it on the way.
    """
    if x >= _NEARLY_ALL or not arrive_together(t):
        return False
    for k in range(t.v.size):
        if t.vectors[at.LATE, k] > 0.0:
            return shorten(t, x)
    return False


@merged
def shorten(t: Tables, x: float) -> bool:
    """Leave so much of the piece, which is to be stated anew; False where it were too short.

    Pieces grow by twice at most from one to the next, and little goes far in so short a time.
    """
    left = x * t.monitor[at.PIECE]
    if left < _SHORTEST * t.settings[at.DT]:
        return False
    t.monitor[at.LONGEST] = left
    return True


@merged
def drop_far(t: Tables) -> None:
    """Of acting contacts within the reach, keep those that the first answer or free motion closes.

    Velocities at V_E must be in `work`, and are left there.
    """
    h, margin = t.monitor[at.PIECE], t.settings[at.MARGIN]
    over = share_over(t)
    velocities_kernel(t.tree, t.links, t.vectors[at.V_ANEW, : t.v.size], t.work)
    kept = 0
    for i in range(t.control[at.ACTING]):
        gap, speed = t.floats[i, col.GAP], t.floats[i, col.APPROACH]
        a, b = t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B]
        closed = min(gap, gap + (1.0 - over) * h * speed)
        if t.ints[i, col.CONTACT_FEATURE_A] >= 0:
            velocity = relative_velocity(t.work, a, b, vec3(t.floats, i, col.POINT))
            end = dot(vec3(t.floats, i, col.NORMAL), velocity)
            closed = min(closed, gap + h * (end - over * speed))
        if closed <= margin or t.ints[i, col.CONTACT_FEATURE_A] < 0:
            copy_into(t.ints[kept], t.ints[i])
            copy_into(t.floats[kept], t.floats[i])
            kept += 1
    t.control[at.ACTING] = kept
    velocities_kernel(t.tree, t.links, t.vectors[at.V_E, : t.v.size], t.work)
