"""Accelerations of the tree as every integrator evaluates them.

A free body's linear velocity has components along its turning axes. It is kept fixed in the world
while the body turns (`transport`), and its acceleration is taken without the -w x v that those axes
add: spinning bodies fly straight.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import cross
from spatialops.dynamics.articulated_body import body_inertia_and_bias, sweep_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.forces.passive import add_passive_forces


@kernel
def add_convection(tree: IntArray, v: Array, a: Array, sign: float) -> None:
    """Add sign * (w x v) to the linear accelerations of free bodies."""
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] == layout.POSE:
            x, y, z = cross((v[k], v[k + 1], v[k + 2]), (v[k + 3], v[k + 4], v[k + 5]))
            a[k + 3] += sign * x
            a[k + 4] += sign * y
            a[k + 5] += sign * z


@kernel
def accelerations(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    forces: Array,
    a: Array,
) -> int:
    """Accelerations under `tau` and the joints' damping.

    Leaves poses, velocities and factors in `work`.
    """
    poses_kernel(tree, links, q, work)
    velocities_kernel(tree, links, v, work)
    return placed_accelerations(tree, links, v, tau, external, work, forces, a)


@kernel
def placed_accelerations(
    tree: IntArray,
    links: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    forces: Array,
    a: Array,
) -> int:
    """The same where poses and velocities are in `work`; damping is that of the velocity `v`."""
    add_passive_forces(links, v, tau, forces)
    body_inertia_and_bias(links, work)
    return sweep_kernel(tree, links, forces, external, work, a)
