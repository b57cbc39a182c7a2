"""Contacts of two shapes whose points and normals follow faces, edges, corners and curved sides.

`collision/contact_motion` says how those of a pair move with six motions of A in B's axes, and what
coordinates do to A and B makes these.
"""

from __future__ import annotations

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, cross, minus, plus, plus_scaled, put3, vec3
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.contact_motion.pair_motions import pair_motions
from spatialops.collision.detector import place_geoms
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.scratch import Scratch
from spatialops.collision.pair_runs import sides_of
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Touched


@kernel
def put_motions(touched: Touched, room: Room, work: Array, which: int) -> int:
    """How contacts of other shapes move LATE or EARLY, given poses there; a status."""
    place_geoms(touched.geom_ints, touched.geoms, work, room.places)
    done = -1
    for k in range(room.results[of.COUNT]):
        kind, owner = room.point_ints[k, of.KIND], room.point_ints[k, of.OWNER]
        pair = room.point_ints[k, of.PAIR]
        if kind != of.SHAPED or owner >= 0 or pair == done:
            continue
        done = pair
        first, count = gather(touched, room, k, which)
        status = by.KNOWN
        if count > 0:
            status = motions_of_pair(touched, room, pair, count)
        if status == by.UNKNOWN:
            room.results[of.FAULTY] = room.point_ints[k, of.ROW]
            return of.NOT_KNOWN
        for j in range(k, room.results[of.COUNT]):
            if room.point_ints[j, of.PAIR] == pair and room.point_ints[j, of.OWNER] < 0:
                take(room, j, first, which)
                a, _ = sides_of(touched.geom_ints, touched.pair_runs, pair)
                place = vec3(room.places, a, col.PLACE)
                put3(room.motions[which], j, of.PLACED, place)
                if status == by.KINK and which == of.LATE:
                    room.point_ints[j, of.NOTES] += of.AT_KINK
    return of.KNOWN


@inlined
def gather(touched: Touched, room: Room, k: int, which: int) -> tuple[int, int]:
    """All contacts of the pair of point k there, from which row on, and how many."""
    pair, count = room.point_ints[k, of.PAIR], 0
    first = -1
    late = which == of.LATE
    for i in range(touched.contacts if late else touched.known):
        names = touched.ints[i] if late else touched.before_ints[i]
        if names[col.CONTACT_PAIR] != pair or count == room.of_pair.shape[0]:
            continue
        first = i if first < 0 else first
        table, row = room.of_pair, touched.floats[i] if late else touched.before[i]
        table[count, by.GAP] = row[col.GAP if late else col.KNOWN_GAP]
        for j in range(3):
            table[count, by.POINT + j] = row[(col.POINT if late else col.KNOWN_POINT) + j]
            table[count, by.NORMAL + j] = row[(col.NORMAL if late else col.KNOWN_NORMAL) + j]
        room.names_of_pair[count, 0] = names[col.CONTACT_FEATURE_A]
        room.names_of_pair[count, 1] = names[col.CONTACT_FEATURE_B]
        count += 1
    return first, count


@inlined
def motions_of_pair(touched: Touched, room: Room, pair: int, count: int) -> int:
    """How the contacts of a pair move that were gathered; a status of `contact_motion`."""
    geoms = GeomTables(touched.geom_ints, touched.geoms, touched.solids, touched.lists)
    a, b = sides_of(touched.geom_ints, touched.pair_runs, pair)
    scratch = Scratch(touched.shape_rows, touched.shape_ints, touched.shape_rows[:0])
    table, names = room.of_pair[:count], room.names_of_pair[:count]
    return pair_motions(geoms, room.places, a, b, table, scratch, names)


@inlined
def take(room: Room, k: int, first: int, which: int) -> None:
    """What was gathered as that of point k; EARLY what was not there stays where it is LATE."""
    motions = room.motions[which]
    row = room.point_ints[k, of.ROW] if which == of.LATE else room.point_ints[k, of.BEFORE]
    if row < 0:
        for j in range(of.MOTION_COLUMNS):
            motions[k, j] = room.motions[of.LATE, k, j]
        return
    table, i = room.of_pair, row - first
    for j in range(of.PLACED):
        motions[k, j] = table[i, by.MOVES + j]
    put3(motions, k, of.MOVING_POINT, vec3(table, i, by.POINT))
    put3(motions, k, of.MOVING_NORMAL, vec3(table, i, by.NORMAL))


@inlined
def three(row: Array, at: int) -> Vec3:
    return row[at], row[at + 1], row[at + 2]


@inlined
def point_there(motion: Array) -> Vec3:
    return three(motion, of.MOVING_POINT)


@inlined
def normal_there(motion: Array) -> Vec3:
    return three(motion, of.MOVING_NORMAL)


@inlined
def moved_shape(motion: Array, w: Vec3, u: Vec3) -> tuple[Vec3, Vec3, float]:
    """How point, normal and gap change where A turns by w and moves by u at the point, B stands."""
    u = plus(u, cross(w, minus(three(motion, of.PLACED), point_there(motion))))
    moved = turned = ZERO3
    widens = 0.0
    for c in range(6):
        share = w[c] if c < 3 else u[c - 3]
        at = by.MOVE_COLUMNS * c
        moved = plus_scaled(moved, share, three(motion, at + by.MOVES_POINT))
        turned = plus_scaled(turned, share, three(motion, at + by.TURNS))
        widens += share * motion[at + by.WIDENS]
    return moved, turned, widens
