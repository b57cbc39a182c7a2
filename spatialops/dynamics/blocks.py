"""What spatial operators are made of: axes, inertias and shifts as arrays of one block a link."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray

SYMMETRIC = np.array(
    [[0, 1, 2], [1, 3, 4], [2, 4, 5]]
)  # where (xx, xy, xz, yy, yz, zz) stand in a matrix


def joint_axes(tree: IntArray, links: Array, work: Array) -> Array:
    """H* of all links, (n, 6): their spatial velocities at unit rate."""
    rotations = work[:, layout.ROTATION : layout.ROTATION + 9].reshape(-1, 3, 3)
    axis = rotations[np.arange(len(tree)), :, tree[:, layout.AXIS]]
    motion = tree[:, layout.MOTION]
    turning = np.where(motion == layout.LINEAR, 0.0, 1.0)
    sliding = np.where(
        motion == layout.LINEAR,
        1.0,
        np.where(motion == layout.ROTARY, 0.0, links[:, layout.PITCH]),
    )
    return np.concatenate([axis * turning[:, None], axis * sliding[:, None]], axis=1)


def link_inertias(links: Array, work: Array) -> Array:
    """Spatial inertias (n, 6, 6) of the links, world axes, about their origins."""
    rotations = work[:, layout.ROTATION : layout.ROTATION + 9].reshape(-1, 3, 3)
    inertia = rotations @ links[:, layout.INERTIA + SYMMETRIC] @ rotations.transpose(0, 2, 1)
    x, y, z = (
        rotations
        @ (links[:, layout.MASS, None] * links[:, layout.COM : layout.COM + 3])[:, :, None]
    )[:, :, 0].T
    o = np.zeros_like(x)
    moment = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=1).reshape(-1, 3, 3)
    return _blocks(inertia, moment, links[:, layout.MASS, None, None] * np.eye(3))


def articulated_inertias(work: Array) -> Array:
    """Articulated inertias P (n, 6, 6) of the links, from the factors in `work`."""
    corner = work[:, layout.ART_B : layout.ART_B + 9].reshape(-1, 3, 3)
    return _blocks(work[:, layout.ART_J + SYMMETRIC], corner, work[:, layout.ART_C + SYMMETRIC])


def gyroscopic_forces(inertias: Array, work: Array) -> Array:
    """Forces (n, 6) that a link needs to go on spinning, [w x I w; w x (w x m c)]."""
    omega = work[:, layout.OMEGA : layout.OMEGA + 3]
    # Of the blocks [[I, m c~], [-m c~, m 1]]: -m c~ w = w x m c.
    spin = np.einsum("kij,kj->ki", inertias[:, :3, :3], omega)
    swing = np.einsum("kij,kj->ki", inertias[:, 3:, :3], omega)
    return np.concatenate([np.cross(omega, spin), np.cross(omega, swing)], axis=1)


def _blocks(upper: Array, corner: Array, lower: Array) -> Array:
    """Symmetric (n, 6, 6) matrices [[upper, corner], [corner^T, lower]]."""
    return np.block([[upper, corner], [corner.transpose(0, 2, 1), lower]])


def shifted(X: Array, levers: Array) -> Array:
    """Phi: forces (..., 6) at levers (..., 3) from the point that they are taken to."""
    out = X.copy()
    out[..., :3] += np.cross(levers, X[..., 3:])
    return out


def moved(X: Array, levers: Array) -> Array:
    """Phi*: velocities (..., 6) of the points at levers (..., 3)."""
    out = X.copy()
    out[..., 3:] += np.cross(X[..., :3], levers)
    return out


def add_at(out: Array, links: IntArray, X: Array) -> None:
    """out[:, links] += X, where links may repeat."""
    np.add.at(out.swapaxes(0, 1), links, X.swapaxes(0, 1))


def upsilon_blocks(ups: Array) -> Array:
    """(n, 6, 6) matrices of the rows of Upsilon."""
    corner = ups[:, layout.UPS_F : layout.UPS_F + 9].reshape(-1, 3, 3)
    return _blocks(ups[:, layout.UPS_E + SYMMETRIC], corner, ups[:, layout.UPS_G + SYMMETRIC])
