"""Which contacts were there as the piece began, by their names and where they are.

The lowest point of a rim keeps its name while a coin rolls. Where the coin slams down from one side
onto the other, that name is half a turn away within a piece: what lands there has not touched, it
arrives, and is met by an impact of its own.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, minus, plus_scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.detector import is_simple, relative_velocity
from spatialops.collision.known_contacts import row_of_same
from spatialops.collision.pair_runs import sides_of
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint
from spatialops.simulation.stepping.tables import Tables


@inlined
def row_before(t: Tables, i: int) -> int:
    """The row of acting contact i as the piece began; negative: it was not seen then."""
    return row_at_start(t, t.ints, t.floats, i)


@inlined
def has_touched(t: Tables, i: int) -> bool:
    """Whether seen contact i touched as the piece began."""
    if row_of_same(t.touching, t.control[at.TOUCHING], t.seen_ints, i) < 0:
        return False
    return t.control[at.SCHEME] != at.MOREAU or row_at_start(t, t.seen_ints, t.seen, i) >= 0


@inlined
def row_at_start(t: Tables, ints: IntArray, floats: Array, i: int) -> int:
    """The row of contact i as the piece began; negative: it was not seen then."""
    j = row_of_same(t.before_ints, t.control[at.BEFORE], ints, i)
    return -1 if j >= 0 and jumped(t, ints, floats, i, j) else j


@kernel
def jumped(t: Tables, ints: IntArray, floats: Array, i: int, j: int) -> bool:
    """Whether contact i at the middle, approaching fast, is elsewhere on a shape than row j was.

    Velocities at V_E must be in `work`, which have led there since row j of `before` was seen.
    """
    if floats[i, col.APPROACH] >= -t.settings[at.THRESHOLD] or ints[i, col.CONTACT_FEATURE_A] < 0:
        return False
    a, b = sides_of(t.geom_ints, t.pair_runs, ints[i, col.CONTACT_PAIR])
    return jumped_on(t, a, floats, i, j) or jumped_on(t, b, floats, i, j)


@inlined
def jumped_on(t: Tables, g: int, floats: Array, i: int, j: int) -> bool:
    """Whether its point has gone farther than the size of geom g, seen from the geom's middle."""
    middle, link = vec3(t.centers, g, col.PLACE), t.geom_ints[g, col.GEOM_LINK]
    way = minus(vec3(floats, i, col.POINT), vec3(t.before, j, col.KNOWN_POINT))
    half = 0.5 * t.monitor[at.PIECE]
    way = plus_scaled(way, -half, relative_velocity(t.work, link, -1, middle))
    size = size_across(t, g)
    return dot(way, way) > size * size


@inlined
def size_across(t: Tables, g: int) -> float:
    """Radius of the rims of geom g, or of a ball about it."""
    shape = t.geom_ints[g, col.GEOM_SHAPE]
    has_rim = shape == col.CYLINDER or shape == col.CONE
    return t.geoms[g, col.GEOM_SIZE if has_rim else col.GEOM_BOUND]


@inlined
def has_one_point(t: Tables, p: int) -> bool:
    """Whether a pair is the stop of a joint, or never touches in more than one point."""
    if of_joint(t, p):
        return True
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    return is_simple(t.geom_ints, a, b)
