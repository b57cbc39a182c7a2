"""Impulses of the step before, kept under the names of their contacts: where the next step begins.

A contact of geoms keeps its force as a world vector, since its tangents turn with the slip; it is
projected on the new frame. Rows of joints keep it along their axes. Forces, not impulses, are kept:
impacts cut steps into long and short pieces.
"""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops.algebra.vectors import dot, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint
from spatialops.simulation.stepping.tables import Tables


@merged
def remembered(t: Tables, i: int) -> int:
    """Row of the memory of acting contact i; -1 where it did not act in this step or the last."""
    p = t.ints[i, col.CONTACT_PAIR]
    for s in range(t.slots[p], t.slots[p + 1]):
        same_a = t.memory[s, at.MEMORY_FEATURE_A] == t.ints[i, col.CONTACT_FEATURE_A]
        same_b = t.memory[s, at.MEMORY_FEATURE_B] == t.ints[i, col.CONTACT_FEATURE_B]
        if same_a and same_b and t.memory[s, at.MEMORY_STEP] >= t.control[at.STEP]:
            return s
    return -1


@merged
def load_impulses(t: Tables) -> int:
    """Impulses that the last forces would have in this piece; how many contacts have any."""
    known = 0
    for i in range(t.control[at.ACTING]):
        s = remembered(t, i)
        force = (0.0, 0.0, 0.0)
        if s >= 0:
            known += 1
            force = scaled(t.monitor[at.PIECE], vec3(t.forces, s, 0))
            if not of_joint(t, t.ints[i, col.CONTACT_PAIR]):
                force = (
                    dot(force, vec3(t.floats, i, col.NORMAL)),
                    dot(force, vec3(t.floats, i, col.TANGENT)),
                    dot(force, vec3(t.floats, i, col.SECOND)),
                )
        for j in range(3):
            t.impulses[3 * i + j] = force[j]
    return known


@merged
def store_impulses(t: Tables) -> None:
    """Keep the forces of the acting contacts for this step and the next."""
    last = -1
    for i in range(t.control[at.ACTING]):
        p = t.ints[i, col.CONTACT_PAIR]
        if p != last:
            for s in range(t.slots[p], t.slots[p + 1]):
                t.memory[s, at.MEMORY_STEP] = -1
            last = p
        s = t.slots[p] + t.ints[i, col.CONTACT_SLOT]
        force = (t.impulses[3 * i], t.impulses[3 * i + 1], t.impulses[3 * i + 2])
        if not of_joint(t, p):
            along, across = scaled(force[0], vec3(t.floats, i, col.NORMAL)), force
            along = plus_scaled(along, across[1], vec3(t.floats, i, col.TANGENT))
            force = plus_scaled(along, across[2], vec3(t.floats, i, col.SECOND))
        put3(t.forces, s, 0, scaled(1.0 / t.monitor[at.PIECE], force))
        t.memory[s, at.MEMORY_FEATURE_A] = t.ints[i, col.CONTACT_FEATURE_A]
        t.memory[s, at.MEMORY_FEATURE_B] = t.ints[i, col.CONTACT_FEATURE_B]
        t.memory[s, at.MEMORY_STEP] = t.control[at.STEP] + 1
