"""The complementarity problems of free bodies as dense matrices, [J] 27 and section 8.

Rows are made by the kernels of `contact.formulations`, in memory that is there, for a loop that
states a problem in every step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import merged
from spatialops.algebra.vectors import dot, vec3
from spatialops.contact.body_columns import response
from spatialops.contact.body_rows import (
    BODY,
    ROW,
    add_up,
    combine_rows,
    list_by,
    put_hinges,
    put_later_axes,
    put_terms,
)
from spatialops.contact.maximal import invert_blocks, largest_response, multiply, put_bodies
from spatialops.dynamics.joint_split import (
    JOINT_COLUMNS,
    list_joints,
    put_levers,
    put_motion,
    split_joints,
)
from spatialops.tree.model import Model


class FreeBodies(NamedTuple):
    """Bodies, and rows on them; as long as m contacts with n_f directions may need."""

    parents: IntArray  # (n,)
    body_links: IntArray  # (n,)
    joints: IntArray  # as in `joint_split`, down to `triangle`
    carried: IntArray
    motion: Array
    split: Array
    levers: Array
    triangle: Array
    work: Array  # (nv, WORK_COLUMNS): a loop's own has factors where inertias go
    blocks: Array  # (6 n, 6) inertias
    inverse: Array  # and theirs
    velocity: Array  # (n, 6)
    places: IntArray  # entries of rows, as they are found,
    values: Array
    more: IntArray  # along all directions of friction,
    sums: Array
    by_row: IntArray
    kept: IntArray  # and those of one row and body added up, as in `BodyRows`
    total: Array
    starts: IntArray
    by_body: IntArray
    speeds: Array  # (n_rows,) of the rows without impulses


def free_bodies(model: Model, m: int, n_f: int) -> FreeBodies:
    """Memory for problems of up to m contacts."""
    n, nv = model.n_bodies, model.nv
    few = 2 * (6 * n - nv) + 66 * m
    many = max(n_f, 1) * few
    rows = 6 * n - nv + m * (n_f + 1)
    whole = np.int64
    return FreeBodies(
        parents=model.body_parents,
        body_links=model.body_links,
        joints=np.empty((n, JOINT_COLUMNS), whole),
        carried=np.empty(nv, whole),
        motion=np.empty((nv, 6)),
        split=np.empty((6 * n, 6)),
        levers=np.empty((n, 3)),
        triangle=np.empty((6, 6)),
        work=np.empty((nv, layout.WORK_COLUMNS)),
        blocks=np.empty((6 * n, 6)),
        inverse=np.empty((6 * n, 6)),
        velocity=np.empty((n, 6)),
        places=np.empty((few, 2), whole),
        values=np.empty((few, 6)),
        more=np.empty((many, 2), whole),
        sums=np.empty((many, 6)),
        by_row=np.empty(rows + 1 + many, whole),
        kept=np.empty((many, 2), whole),
        total=np.empty((many, 6)),
        starts=np.empty(rows + 1, whole),
        by_body=np.empty(n + 1 + many, whole),
        speeds=np.empty(rows),
    )


@merged
def state_rows(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    terms: Array,
    facets: Array,
    free: FreeBodies,
) -> int:
    """Bodies as they stand and move, hinges and contacts as their rows; the number of rows."""
    n = free.parents.size
    for k in range(work.shape[0]):
        for column in range(work.shape[1]):
            free.work[k, column] = work[k, column]
    put_bodies(links, free.work, free.body_links, free.blocks, free.velocity)
    list_joints(tree, free.parents, free.joints, free.carried)
    put_motion(tree, links, free.work, free.body_links, free.carried, free.motion)
    put_levers(free.work, free.body_links, free.joints, free.levers)
    split_joints(free.joints, free.motion, free.split, free.triangle)
    n_hinges = 6 * n - tree.shape[0]
    start = put_hinges(free.joints, free.split, free.levers, free.places, free.values)
    places, values = free.places[start:], free.values[start:]
    put_terms(free.work, free.body_links, free.carried, ints, terms, n_hinges, places, values)
    count = start + put_later_axes(
        free.joints, free.carried, free.motion, free.split, free.levers, ints, places, values
    )
    found = combine_rows(
        free.places[:count], free.values[:count], n_hinges, facets, free.more, free.sums
    )
    rows = n_hinges + (facets.shape[0] + 1) * (ints.shape[0] // 3)
    entries = add_up(
        free.more[:found],
        free.sums[:found],
        free.by_row[: rows + 1 + found],
        free.starts[: rows + 1],
        free.kept,
        free.total,
    )
    list_by(free.kept[:entries], BODY, n, free.by_body)
    speeds = free.speeds[:rows]
    velocity = free.velocity.reshape(6 * n)
    multiply(free.kept, free.total, free.starts[: rows + 1], velocity, speeds)
    return rows


@merged
def put_descriptor_matrix(free: FreeBodies, rows: int, unit: float, A: Array, b: Array) -> None:
    """[M / unit, -G*; G, 0] into zeros, and -M V / unit."""
    n = free.parents.size
    for i in range(6 * n):
        first = 6 * (i // 6)
        b[i] = 0.0
        for a in range(6):
            A[i, first + a] = free.blocks[i, a] / unit
            b[i] -= A[i, first + a] * free.velocity[i // 6, a]
    for e in range(free.starts[rows]):
        row, column = 6 * n + free.kept[e, ROW], 6 * free.kept[e, BODY]
        for a in range(6):
            A[row, column + a] = free.total[e, a]
            A[column + a, row] = -free.total[e, a]


@merged
def put_compliance_matrix(free: FreeBodies, rows: int, first: int, A: Array) -> float:
    """G M^-1 G* over the largest of the contacts' diagonal, into zeros; that scale, 0 for none.

    It is NaN where a body has no inertia of its own. The contacts' rows begin at `first`.
    """
    if invert_blocks(free.blocks, free.triangle, free.inverse) >= 0:
        return np.nan
    starts, by_body = free.starts[: rows + 1], free.by_body
    scale = largest_response(free.kept, free.total, starts, free.inverse, first)
    for row in range(rows):
        for e in range(starts[row], starts[row + 1]):
            body = free.kept[e, BODY]
            turning, sliding = response(free.inverse, 6 * body, free.total, e)
            for i in range(by_body[body], by_body[body + 1]):
                other = by_body[i]
                along = dot(vec3(free.total, other, 0), turning)
                along += dot(vec3(free.total, other, 3), sliding)
                A[free.kept[other, ROW], row] += along / scale
    return scale
