"""Which tables a step takes over from the step before; the others are what it works in.

Tables that are cleared step as new ones do, to the bit, and many can share what they work in.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.remembered import forget_all
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.memory_places import clear_places

# Of fixed shape, zero where time begins.
WHOLE = (
    "q",
    "v",
    "tau",
    "ctrl",
    "activation",
    "pulls",
    "wrenches",
    "monitor",
    "vectors",
    "work",
    "centers",
    "kept",
    "stood",
    "remembered",
    "floating",
    "loops",
    "loops_start",
    "closure_vectors",
    "joint_sums",
)
# Those of which a part counts, by numbers in `control`.
COUNTED = (
    "control",
    "memory",
    "memory_places",
    "forces",
    "near",
    "seen_ints",
    "seen",
    "before_ints",
    "before",
    "ints",
    "floats",
    "resting",
)
# Controls that say how the loop runs.
_SCENE_CONTROLS = (
    at.EXTERNAL,
    at.SCHEME,
    at.DAMPED,
    at.EVERY,
    at.WRENCHED,
    at.LAW,
    at.UNWEIGHED,
)
STAYS_ZERO = ("dry",)  # where there are no rows of joints; else written before it is read
# What follows from the scene.
CONSTANT = (
    "tree",
    "links",
    "damped",
    "lone",
    "roots",
    "root_of",
    "joint_ints",
    "joint_floats",
    "element_ints",
    "elements",
    "element_joints",
    "arms",
    "rest_ctrl",
    "compensation",
    "geom_ints",
    "geoms",
    "solids",
    "lists",
    "pair_runs",
    "class_values",
    "own_pairs",
    "sweep_order",
    "settings",
    "tree_of",
    "trees",
    "facets",
    "covers",
    "loop_ints",
    "ratios",
    "term_ints",
    "terms",
    "mechanisms",
    "mechanism_of",
)
# What is written before it is read.
SCRATCH = tuple(
    name for name in Tables._fields if name not in (*WHOLE, *COUNTED, *CONSTANT, *STAYS_ZERO)
)


def sibling(t: Tables) -> Tables:
    """Tables of the same scene with a past of their own, which work in those of `t`."""
    return t._replace(**{name: getattr(t, name).copy() for name in (*WHOLE, *COUNTED, *STAYS_ZERO)})


def working_in(t: Tables, other: Tables) -> Tables:
    """Tables of a like scene that work in those of another, as far as these have room for it."""
    shared = {
        name: getattr(other, name)
        for name in SCRATCH
        if getattr(other, name).shape == getattr(t, name).shape
    }
    return t._replace(**shared)


@stage
def clear(t: Tables) -> None:
    """Make tables as if they were new; frames of closures are put in where a run begins."""
    for vector in (t.q, t.v, t.tau, t.monitor, t.activation):
        zero(vector)
    copy_into(t.ctrl, t.rest_ctrl)
    for table in (t.vectors, t.work, t.centers, t.kept):
        zero_rows(table)
    for table in (t.pulls, t.wrenches):
        zero_rows(table)
    for table in (t.stood, t.floating, t.closure_vectors, t.joint_sums):
        zero_rows(table)
    for i in range(3):
        t.centers[t.centers.shape[0] - 1, col.TURN + 4 * i] = 1.0
    t.near[t.near.shape[0] - 1, col.NEAR_PAIR] = -1
    forget_all(t.remembered)
    clear_places(t.memory_places)
    for i in range(at.CONTROLS):
        if i not in _SCENE_CONTROLS:
            t.control[i] = 0


@kernel
def zero(values: Array) -> None:
    for i in range(values.size):
        values[i] = 0.0


@kernel
def zero_rows(values: Array) -> None:
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = 0.0
