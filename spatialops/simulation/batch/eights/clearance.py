"""Geoms of eight environments, and whether any of them might meet."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._compile.jit import kernel
from spatialops.algebra.lane_arrays import lanes_of
from spatialops.algebra.lane_logic import less, where
from spatialops.algebra.vectors import mat3, plus, put3, put_mat3, rotate, times, vec3
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import bound_gap
from spatialops.collision.detector import closing_speed
from spatialops.collision.pair_runs import count_pairs, sides_of
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight

_CLEAR = 1e-9  # m: what is nearer to the margin than this is left to the loop


@kernel
def keep_clear(e: Eight, horizon: float) -> None:
    """Leave to the loop what has geoms that might meet, now or within the horizon.

    By the balls about them, where the links in `work` are, and at their speeds. As `find_contacts`,
    which sees no contact of what is clear.
    """
    monitor, work = lanes_of(e.monitor), lanes_of(e.work)
    places = lanes_of(e.places)
    free = monitor[of.FREE]
    for g in range(e.geom_ints.shape[0] - 1):  # the last row is no geom
        k, offset = e.geom_ints[g, col.GEOM_LINK], vec3(e.geoms, g, col.GEOM_OFFSET)
        if k >= 0:
            turned = rotate(mat3(work, k, layout.ROTATION), offset)
            put3(places, g, col.PLACE, plus(vec3(work, k, layout.ORIGIN), turned))
            turn = times(mat3(work, k, layout.ROTATION), mat3(e.geoms, g, col.GEOM_TURN))
            put_mat3(places, g, col.TURN, turn)
        else:
            put3(places, g, col.PLACE, offset)
    for p in range(count_pairs(e.pair_runs)):
        a, b = sides_of(e.geom_ints, e.pair_runs, p)
        own = max(e.geoms[a, col.GEOM_MARGIN], e.geoms[b, col.GEOM_MARGIN])
        reach = e.settings[at.MARGIN] + own + _CLEAR
        gap = bound_gap(e.geom_ints, e.geoms, places, a, b)
        if horizon > 0.0:
            link_a, link_b = e.geom_ints[a, col.GEOM_LINK], e.geom_ints[b, col.GEOM_LINK]
            gap -= horizon * closing_speed(e.geoms, places, work, a, b, link_a, link_b)
        free = where(less(reach, gap), free, 0.0)
    monitor[of.FREE] = free


@kernel
def keep_slow(e: Eight) -> None:
    """Leave to the loop what might pass through something within a step, as `may_cross`."""
    if e.settings[at.WIDTH] >= col.INFINITE:
        return
    monitor, work = lanes_of(e.monitor), lanes_of(e.work)
    places = lanes_of(e.places)
    free = monitor[of.FREE]
    most = 0.25 * e.settings[at.WIDTH]
    for g in range(e.geom_ints.shape[0] - 1):
        k = e.geom_ints[g, col.GEOM_LINK]
        if k >= 0:
            way = e.settings[at.DT] * closing_speed(e.geoms, places, work, g, g, k, -1)
            free = where(less(most, way), 0.0, free)
    monitor[of.FREE] = free
