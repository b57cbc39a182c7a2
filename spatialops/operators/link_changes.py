"""How what operators are made of changes along a direction of motion: axes, levers, inertias."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.derivatives.articulated_inertia import articulated_change_kernel
from spatialops.dynamics.blocks import articulated_inertias, joint_axes, link_inertias
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.operators.stacked_trees import StackedTrees


class LinkChanges(NamedTuple):
    """Derivatives by the length of a step along a direction, one row a link.

    Parameters
    ----------
    spins : (n, 3) array
        Angular velocities of the links' frames; what follows changes by turning, and by
    levers : (n, 3) array
        the levers' changes.
    axes : (n, 6) array
        H*.
    inertias, articulated : (n, 6, 6) arrays
        M and P.
    D : (n,) array
        D.
    gains : (n, 6) array
        G.
    """

    spins: Array
    levers: Array
    axes: Array
    inertias: Array
    articulated: Array
    D: Array
    gains: Array


def link_changes(stack: StackedTrees, direction: Array) -> LinkChanges:
    """Differentiate along a velocity (n,) of all joints of the stack."""
    spins, levers = _frames(stack, direction)
    at_rest = joint_axes(stack.tree, stack.links, stack.work)
    axes = _turned(spins, at_rest[:, None])[:, 0]
    turned = _turned(spins, link_inertias(stack.links, stack.work))
    inertias = turned + turned.transpose(0, 2, 1)  # W M - M W, of a symmetric M
    work = stack.work
    D = 1.0 / work[:, layout.D_INVERSE]
    gains = work[:, layout.GAIN_M : layout.GAIN_M + 6] / D[:, None]
    passed = articulated_inertias(work) - D[:, None, None] * gains[:, :, None] * gains[:, None]
    arms = np.stack([work[:, layout.LEVER : layout.LEVER + 3], levers], axis=1)
    motions = np.stack([at_rest, axes, gains], axis=1)
    result = LinkChanges(
        spins, levers, axes, inertias, inertias.copy(), np.empty_like(D), np.empty_like(gains)
    )
    articulated_change_kernel(
        stack.tree,
        arms,
        motions,
        D,
        passed,
        result.articulated,
        result.D,
        result.gains,
        np.empty((6, 6)),
    )
    return result


def _frames(stack: StackedTrees, direction: Array) -> tuple[Array, Array]:
    """Angular velocities of the links' frames, and rates of their levers.

    All links of a ball or free joint have the frame of its last one.
    """
    tree, motion = stack.tree, stack.work.copy()
    velocities_kernel(tree, stack.links, direction, motion)
    frames = motion[_last_links(tree)]
    velocities = frames[:, layout.VELOCITY : layout.VELOCITY + 3]
    parents = tree[:, layout.PARENT]
    carried = np.where(parents[:, None] >= 0, velocities[parents], 0.0)
    return frames[:, layout.OMEGA : layout.OMEGA + 3], velocities - carried


def _last_links(tree: IntArray) -> IntArray:
    first = tree[:, layout.FRAME] != layout.SAME
    last = np.where(first, np.arange(len(tree)) + tree[:, layout.GROUP] - 1, 0)
    return np.asarray(np.maximum.accumulate(last))


def _turned(spins: Array, rows: Array) -> Array:
    """W x for all rows x of (n, m, 6), W turning moments (or velocities) and forces alike."""
    halves = rows.reshape(*rows.shape[:2], 2, 3)
    return np.cross(spins[:, None, None], halves).reshape(rows.shape)
