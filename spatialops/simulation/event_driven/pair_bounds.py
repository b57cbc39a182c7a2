"""How far apart all pairs of geoms are, and how fast they come together."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.collision import _layout as col
from spatialops.collision.detector import closing_speed, pair_gap
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.scratch import Scratch


@kernel
def put_gaps(
    geoms: GeomTables, pairs: IntArray, places: Array, scratch: Scratch, gaps: Array
) -> None:
    """Gaps (m) of pairs, but for those that are infinite already."""
    for p in range(gaps.size):
        if gaps[p] < col.INFINITE:
            gaps[p] = pair_gap(
                geoms.ints,
                geoms.floats,
                geoms.solids,
                geoms.lists,
                places,
                pairs[p, 0],
                pairs[p, 1],
                scratch.rows,
                scratch.ints,
            )


@kernel
def put_closing_speeds(
    geoms: GeomTables, pairs: IntArray, places: Array, work: Array, speeds: Array
) -> None:
    """Bounds (m/s) of how fast pairs come together."""
    for p in range(speeds.size):
        a, b = pairs[p, 0], pairs[p, 1]
        link_a, link_b = geoms.ints[a, col.GEOM_LINK], geoms.ints[b, col.GEOM_LINK]
        speeds[p] = closing_speed(geoms.floats, places, work, a, b, link_a, link_b)
