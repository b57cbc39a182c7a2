"""How what bears the weight of bodies changes: its force stays, its arm turns with the body.

A wrench on body b of the force f at the arm r from its origin is [r x f; f]. Derivatives of inverse
dynamics keep these components in the world. With w(j) the spin of joint j, r changes by w(j) x r,
and the joint forces by w(i) . ((w(j) x r) x f) for all joints i and j that carry b.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import cross, dot, mat3, rotate, scaled, vec3
from spatialops.derivatives.carried import axis_motion
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Made, Room


@kernel
def add_borne_weight(made: Made, compensation: Array, room: Room) -> None:
    """Add it to PULL_BY_Q, by the poses in the room's `factors`."""
    tree, links = made.tree, made.links
    work = room.factors
    pulls = room.squares[of.PULL_BY_Q]
    for k in range(tree.shape[0]):
        b = tree[k, layout.BODY]
        if b < 0 or compensation[b, 0] == 0.0:
            continue
        force = scaled(-compensation[b, 0], vec3(links, 0, layout.GRAVITY))
        arm = rotate(mat3(work, k, layout.ROTATION), vec3(compensation, b, 1))
        j = k
        while j >= 0:
            moment = cross(cross(axis_motion(tree, links, work, j)[0], arm), force)
            i = k
            while i >= 0:
                pulls[i, j] += dot(axis_motion(tree, links, work, i)[0], moment)
                i = tree[i, layout.PARENT]
            j = tree[j, layout.PARENT]
