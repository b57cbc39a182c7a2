"""Which tables a step takes over from the step before; the others are what it works in.

Tables that are cleared step as new ones do, to the bit, and many can share what they work in.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

# Of fixed shape, zero where time begins.
WHOLE = (
    "q",
    "v",
    "tau",
    "monitor",
    "vectors",
    "work",
    "centers",
    "kept",
    "forces",
    "floating",
    "loops",
    "loops_start",
    "closure_vectors",
    "joint_sums",
)
# Those of which a part counts, by numbers in `control`.
COUNTED = ("control", "memory", "near", "seen_ints", "seen", "ints", "floats")
# What follows from the scene.
_CONSTANT = (
    "tree",
    "links",
    "damped",
    "lone",
    "roots",
    "root_of",
    "joint_ints",
    "joint_floats",
    "geom_ints",
    "geoms",
    "solids",
    "lists",
    "pairs",
    "pair_values",
    "pair_rows",
    "slots",
    "settings",
    "tree_of",
    "trees",
    "facets",
    "covers",
    "loop_ints",
    "ratios",
    "term_ints",
    "terms",
)
_SCRATCH = tuple(set(Tables._fields) - set(WHOLE) - set(COUNTED) - set(_CONSTANT))


def clear(t: Tables, frames: Array) -> None:
    """Make tables as if they were new, with the frames of closures as they begin."""
    for name in WHOLE:
        getattr(t, name).fill(0.0)
    t.centers[-1, col.TURN : col.TURN + 9 : 4] = 1.0
    t.loops[:] = t.loops_start[:] = frames
    t.memory.fill(0)
    t.memory[:, at.MEMORY_STEP] = -1
    t.near[-1] = -1
    t.control.fill(0)


def sibling(t: Tables) -> Tables:
    """Tables of the same scene with a past of their own, which work in those of `t`."""
    return t._replace(**{name: getattr(t, name).copy() for name in (*WHOLE, *COUNTED)})


def working_in(t: Tables, other: Tables) -> Tables:
    """Tables of a like scene that work in those of another, as far as these have room for it."""
    shared = {
        name: getattr(other, name)
        for name in _SCRATCH
        if getattr(other, name).shape == getattr(t, name).shape
    }
    return t._replace(**shared)
