"""Copies of a tree at several configurations, as one forest: what batches of operators work on.

Sweeps over links know a tree by its parents only, so that copies below each other, parents counted
along, are swept in one go; an operator of the forest is block diagonal over the configurations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    IntArray,
    all_finite,
    array,
    dimensions,
    not_finite,
    vector,
)
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.nodes import node_points
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import NodeLike


class StackedTrees(NamedTuple):
    """B copies of a tree of n links.

    Parameters
    ----------
    tree : (B n, ...) int array
        Structure; columns in `_layout`, as those of
    links : (B n, ...) array
        constants and
    work : (B n, ...) array
        poses, velocities, velocity-dependent accelerations and articulated factors.
    batch : tuple of int
        (B,), or () where one configuration was given as a vector.
    """

    tree: IntArray
    links: Array
    work: Array
    batch: tuple[int, ...]

    @property
    def copies(self) -> int:
        """B, 1 of a single configuration."""
        return self.batch[0] if self.batch else 1


def node_arms(
    model: Model, stack: StackedTrees, nodes: Sequence[NodeLike]
) -> tuple[IntArray, Array]:
    """Links of nodes in every copy (-1: the world), and levers (m, 3) of those on moving ones."""
    links, offsets = model.resolve(nodes)
    firsts = model.nv * np.repeat(np.arange(stack.copies), links.size)
    links = np.tile(links, stack.copies)
    links = np.where(links < 0, links, links + firsts)
    points = np.empty((links.size, 3))
    node_points(links, np.tile(offsets, (stack.copies, 1)), stack.work, points)
    levers = points - stack.work[links, layout.ORIGIN : layout.ORIGIN + 3]
    return links, levers[links >= 0]


def checked_coordinates(
    model: Model, q: ArrayLike, v: ArrayLike | None
) -> tuple[Array, Array | None]:
    """Copies of q, (nq,) or (B, nq), and of v, (nv,) or (B, nv), which fit and are finite."""
    if type(model) is not Model:
        raise not_a_model(model)
    batch = () if dimensions(q, "q") < 2 else (len(np.asarray(q)),)
    if batch == (0,):
        raise ArgumentError("q: expected at least one configuration, got none")
    q = (array(q, (*batch, model.nq), "q") if batch else vector(q, model.nq, "q")).copy()
    v = None if v is None else array(v, (*batch, model.nv), "v").copy()
    if not (all_finite(q) and (v is None or all_finite(v))):
        raise not_finite(q=q, v=v)
    return q, v


def stacked_trees(model: Model, q: Array, v: Array | None) -> StackedTrees:
    """Place and factor a model at checked coordinates.

    Raises
    ------
    ModelError
        If the mass matrix is singular.
    """
    batch = q.shape[:-1]
    count, n = (batch[0] if batch else 1), model.nv
    rates = None if v is None else v.reshape(count, n)
    work = np.empty((count * n, layout.WORK_COLUMNS))
    for i, q_i in enumerate(q.reshape(count, -1)):
        _place(model, q_i, None if rates is None else rates[i], work[i * n : (i + 1) * n])
    if count == 1:
        return StackedTrees(model.tree, model.links, work, batch)
    tree = np.tile(model.tree, (count, 1))
    hung = tree[:, layout.PARENT] >= 0
    tree[hung, layout.PARENT] += (n * (np.arange(count * n) // n))[hung]
    return StackedTrees(tree, np.tile(model.links, (count, 1)), work, batch)


def _place(model: Model, q: Array, v: Array | None, work: Array) -> None:
    poses_kernel(model.tree, model.links, q, work)
    if v is None:
        work[:, layout.OMEGA : layout.ACCEL + 3] = 0.0
    else:
        velocities_kernel(model.tree, model.links, v, work)
    if factor_kernel(model.tree, model.links, work) != layout.OK:
        raise singular_joint(model, work)
