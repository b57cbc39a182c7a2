"""Momenta of floating trees of eight environments that nothing touches."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.lane_arrays import LaneArray, lanes_of
from spatialops.algebra.lane_logic import less, where
from spatialops.algebra.vectors import add3, cross, minus, put3, scaled, vec3
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.stepping.integrators.floating_trees import (
    Floating,
    correct_root,
    momentum_of,
    outer_forces,
)


@merged
def tree_of(e: Eight, i: int) -> Floating:
    """Floating tree i of each."""
    return Floating(e.links, lanes_of(e.work), e.root_of, e.roots[i], i)


@kernel
def take_momenta_eight(e: Eight) -> None:
    """As `take_momenta`; poses and velocities of those that have come are put into `work`.

    Of the others only the places of roots are needed, which the step before has left there.
    """
    work, monitor = lanes_of(e.work), lanes_of(e.monitor)
    floating, expected = lanes_of(e.floating), lanes_of(e.expected)
    all_known = monitor[of.FRESH] == 0.0
    if not all_known:
        poses_kernel(e.tree, e.links, lanes_of(e.q), work)
        velocities_kernel(e.tree, e.links, lanes_of(e.v), work)
        monitor[of.FRESH] = 0.0
    for i in range(e.roots.size):
        origin, about = vec3(work, e.roots[i], layout.ORIGIN), vec3(floating, i, at.ABOUT)
        angular, linear = vec3(floating, i, at.MOMENTUM), vec3(floating, i, at.MOMENTUM + 3)
        angular = minus(angular, cross(minus(origin, about), linear))
        right = less(0.0, floating[i, at.PUT_RIGHT])
        own_angular, own_linear = angular, linear
        all_right = where(right, 0.0, monitor[of.INSIDE]) == 0.0
        if not all_right:
            own_angular, own_linear = momentum_of(tree_of(e, i), origin)
        put3(expected, i, at.ABOUT, origin)
        for j in range(3):
            expected[i, at.MOMENTUM + j] = where(right, angular[j], own_angular[j])
            expected[i, at.MOMENTUM + 3 + j] = where(right, linear[j], own_linear[j])
        expected[i, at.PUT_RIGHT] = 0.0


@kernel
def expect_momenta_eight(e: Eight, s: float) -> None:
    """As `expect_momenta`, where no wrenches act."""
    expected, tau = lanes_of(e.expected), lanes_of(e.tau)
    for i in range(e.roots.size):
        turn, push = outer_forces(tree_of(e, i), expected, tau)
        add3(expected, i, at.MOMENTUM, scaled(s, turn))
        add3(expected, i, at.MOMENTUM + 3, scaled(s, push))


@kernel
def put_right_eight(e: Eight, v_x: LaneArray) -> None:
    """As `put_right`, of trees that nothing touches; of those that are free."""
    free = lanes_of(e.monitor)[of.FREE]
    floating, expected = lanes_of(e.floating), lanes_of(e.expected)
    for i in range(e.roots.size):
        correct_root(tree_of(e, i), expected, v_x)
        expected[i, at.PUT_RIGHT] = 1.0
        for c in range(at.FLOATING_COLUMNS):
            floating[i, c] = where(free, expected[i, c], floating[i, c])
