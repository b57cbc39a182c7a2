"""Sweeps that apply psi, phi and their adjoints to vectors of all links, in O(N)."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops._layout import PARENT
from spatialops.algebra.vectors import add3, cross, dot, plus, plus_scaled, vec3
from spatialops.dynamics.compliance.upsilon import put_upsilon


@kernel
def gather_kernel(tree: IntArray, levers: Array, axes: Array, gains: Array, X: Array) -> None:
    """X(parent) += phi(parent, k) (1 - G H) X(k), tips to base.

    That is psi, or phi where the gains are zero.

    X holds the rows of all links for one vector after the other.
    """
    n = tree.shape[0]
    for start in range(0, X.shape[0], n):
        for k in range(n - 1, -1, -1):
            parent = tree[k, PARENT]
            if parent < 0:
                continue
            moment, force = vec3(X, start + k, 0), vec3(X, start + k, 3)
            effort = dot(vec3(axes, k, 0), moment) + dot(vec3(axes, k, 3), force)
            moment = plus_scaled(moment, -effort, vec3(gains, k, 0))
            force = plus_scaled(force, -effort, vec3(gains, k, 3))
            add3(X, start + parent, 0, plus(moment, cross(vec3(levers, k, 0), force)))
            add3(X, start + parent, 3, force)


@kernel
def scatter_kernel(tree: IntArray, levers: Array, axes: Array, gains: Array, X: Array) -> None:
    """X(k) += (1 - H* G*) phi*(parent, k) X(parent), base to tips.

    That is psi*, or phi* where the gains are zero.
    """
    n = tree.shape[0]
    for start in range(0, X.shape[0], n):
        for k in range(n):
            parent = tree[k, PARENT]
            if parent < 0:
                continue
            angular = vec3(X, start + parent, 0)
            linear = plus(vec3(X, start + parent, 3), cross(angular, vec3(levers, k, 0)))
            rate = dot(vec3(gains, k, 0), angular) + dot(vec3(gains, k, 3), linear)
            add3(X, start + k, 0, plus_scaled(angular, -rate, vec3(axes, k, 0)))
            add3(X, start + k, 3, plus_scaled(linear, -rate, vec3(axes, k, 3)))


@kernel
def upsilon_kernel(tree: IntArray, links: Array, work: Array, ups: Array) -> None:
    """Upsilon of all links, base to tips ([J] 68); factors must be in `work`."""
    for k in range(tree.shape[0]):
        put_upsilon(tree, links, work, ups, k)
