"""Impulses of the step before, kept under the names of their contacts: where the next step begins.

A contact of geoms keeps its force as a world vector, since its tangents turn with the slip; it is
projected on the new frame. So do moments. Rows of joints keep it along their axes. Forces, not
impulses, are kept: impacts cut steps into long and short pieces.

The contacts of a pair are a block of rows, whose first row is noted under its number. A pair with
more contacts than its block has rows is given a new one behind all others; where there is no room,
the blocks of what acted long ago are dropped first. So there are as many rows as contacts act, not
as could act.
"""

from __future__ import annotations

from spatialops._compile.jit import inlined, merged
from spatialops.algebra.vectors import dot, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint
from spatialops.simulation.stepping.constraints.torsional_rolling import spin_unit
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.memory_places import clear_places, place_of, put_places


@merged
def is_of(t: Tables, p: int, s: int) -> bool:
    """Whether row s of the memory is in use, and of pair p."""
    return s < t.control[at.MEMORY_ROWS] and t.memory[s, at.MEMORY_PAIR] == p


@merged
def block_of(t: Tables, p: int) -> int:
    """The first row of pair p; behind all rows in use where it has none."""
    first = t.memory_places[place_of(t.memory_places, t.memory, p)] - 1
    return first if first >= 0 else t.control[at.MEMORY_ROWS]


@merged
def remembered(t: Tables, i: int) -> int:
    """Row of the memory of acting contact i; -1 where it did not act in this step or the last."""
    p = t.ints[i, col.CONTACT_PAIR]
    s = block_of(t, p)
    while is_of(t, p, s):
        same_a = t.memory[s, at.MEMORY_FEATURE_A] == t.ints[i, col.CONTACT_FEATURE_A]
        same_b = t.memory[s, at.MEMORY_FEATURE_B] == t.ints[i, col.CONTACT_FEATURE_B]
        if same_a and same_b and t.memory[s, at.MEMORY_STEP] >= t.control[at.STEP]:
            return s
        s += 1
    return -1


@merged
def unit_of(t: Tables, i: int) -> float:
    """What impulses of acting contact i are measured by: of moments a length."""
    return spin_unit(t) if t.ints[i, col.CONTACT_PAIR] < 0 else 1.0


@inlined
def load_impulses(t: Tables) -> int:
    """Impulses that the last forces would have in this piece; how many contacts have any."""
    known = 0
    for i in range(t.control[at.ACTING]):
        s = remembered(t, i)
        force = (0.0, 0.0, 0.0)
        t.statuses[i] = -1
        if s >= 0:
            known += 1
            t.statuses[i] = t.memory[s, at.MEMORY_STATUSES]
            force = scaled(t.monitor[at.PIECE] / unit_of(t, i), vec3(t.forces, s, 0))
            if not of_joint(t, t.ints[i, col.CONTACT_PAIR]):
                force = (
                    dot(force, vec3(t.floats, i, col.NORMAL)),
                    dot(force, vec3(t.floats, i, col.TANGENT)),
                    dot(force, vec3(t.floats, i, col.SECOND)),
                )
        for j in range(3):
            t.impulses[3 * i + j] = force[j]
    return known


@inlined
def store_impulses(t: Tables) -> None:
    """Keep the forces of the acting contacts for this step and the next."""
    last, s = -1, -1
    for i in range(t.control[at.ACTING]):
        p = t.ints[i, col.CONTACT_PAIR]
        s = block_for(t, i) if p != last else s + 1
        last = p
        force = (t.impulses[3 * i], t.impulses[3 * i + 1], t.impulses[3 * i + 2])
        if not of_joint(t, p):
            along, across = scaled(force[0], vec3(t.floats, i, col.NORMAL)), force
            along = plus_scaled(along, across[1], vec3(t.floats, i, col.TANGENT))
            force = plus_scaled(along, across[2], vec3(t.floats, i, col.SECOND))
        put3(t.forces, s, 0, scaled(unit_of(t, i) / t.monitor[at.PIECE], force))
        t.memory[s, at.MEMORY_PAIR] = p
        t.memory[s, at.MEMORY_FEATURE_A] = t.ints[i, col.CONTACT_FEATURE_A]
        t.memory[s, at.MEMORY_FEATURE_B] = t.ints[i, col.CONTACT_FEATURE_B]
        t.memory[s, at.MEMORY_STEP] = t.control[at.STEP] + 1
        t.memory[s, at.MEMORY_STATUSES] = t.statuses[i]


@merged
def keep_forces(t: Tables) -> None:
    """Keep for the next step what is known of the acting contacts, all of whose forces held."""
    for i in range(t.control[at.ACTING]):
        t.memory[remembered(t, i), at.MEMORY_STEP] = t.control[at.STEP] + 1


@inlined
def block_for(t: Tables, i: int) -> int:
    """First of as many rows as the pair of acting contact i, its first one, has contacts."""
    p = t.ints[i, col.CONTACT_PAIR]
    count = 1
    while i + count < t.control[at.ACTING] and t.ints[i + count, col.CONTACT_PAIR] == p:
        count += 1
    first = block_of(t, p)
    have = 0
    while is_of(t, p, first + have):
        t.memory[first + have, at.MEMORY_STEP] = -1
        have += 1
    if have >= count:
        return first
    if t.control[at.MEMORY_ROWS] + count > t.memory.shape[0]:
        drop_outdated(t)
    if t.control[at.MEMORY_ROWS] + count > t.memory.shape[0]:
        # More act in the pieces of two steps than there is room for: what did not act in this one
        # begins without.
        t.control[at.MEMORY_ROWS] = 0
        clear_places(t.memory_places)
    first = t.control[at.MEMORY_ROWS]
    t.control[at.MEMORY_ROWS] = first + count
    t.memory_places[place_of(t.memory_places, t.memory, p)] = first + 1
    return first


@merged
def drop_outdated(t: Tables) -> None:
    """Close the gaps that contacts of earlier steps leave."""
    kept = 0
    for s in range(t.control[at.MEMORY_ROWS]):
        if t.memory[s, at.MEMORY_STEP] < t.control[at.STEP]:
            continue
        for j in range(at.MEMORY_COLUMNS):
            t.memory[kept, j] = t.memory[s, j]
        put3(t.forces, kept, 0, vec3(t.forces, s, 0))
        kept += 1
    t.control[at.MEMORY_ROWS] = kept
    put_places(t.memory_places, t.memory, kept)
