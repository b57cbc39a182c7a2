"""Sweeps that apply psi, phi and their adjoints to vectors of all links, in O(N)."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops._layout import PARENT
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    dot,
    plus,
    plus_scaled,
    put3,
    scaled,
    vec3,
)
from spatialops.dynamics.compliance.upsilon import motion_axis, put_upsilon


@kernel
def factors_kernel(
    tree: IntArray,
    links: Array,
    work: Array,
    levers: Array,
    axes: Array,
    gains: Array,
    D_inverse: Array,
) -> None:
    """What the sweeps below take of a workspace with factors: levers, H*, G and D^-1."""
    for k in range(tree.shape[0]):
        d_inverse = work[k, layout.D_INVERSE]
        s_w, s_v = motion_axis(tree, links, work, k)
        put3(levers, k, 0, vec3(work, k, layout.LEVER))
        put3(axes, k, 0, s_w)
        put3(axes, k, 3, s_v)
        put3(gains, k, 0, scaled(d_inverse, vec3(work, k, layout.GAIN_M)))
        put3(gains, k, 3, scaled(d_inverse, vec3(work, k, layout.GAIN_F)))
        D_inverse[k] = d_inverse


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
def gather_blocks_kernel(parents: IntArray, steps: Array, X: Array) -> None:
    """X(parent) += step(parent, k) X(k), tips to base, for one vector after the other."""
    n = parents.size
    for start in range(0, X.shape[0], n):
        for k in range(n - 1, -1, -1):
            if parents[k] < 0:
                continue
            for row in range(6):
                for c in range(6):
                    X[start + parents[k], row] += steps[k, row, c] * X[start + k, c]


@kernel
def scatter_blocks_kernel(parents: IntArray, steps: Array, X: Array) -> None:
    """X(k) += step(parent, k)* X(parent), base to tips."""
    n = parents.size
    for start in range(0, X.shape[0], n):
        for k in range(n):
            if parents[k] < 0:
                continue
            for row in range(6):
                for c in range(6):
                    X[start + k, c] += steps[k, row, c] * X[start + parents[k], row]


@kernel
def solve_mass_kernel(
    tree: IntArray,
    levers: Array,
    axes: Array,
    gains: Array,
    D_inverse: Array,
    scratch: Array,
    X: Array,
) -> None:
    """x <- M^-1 x = (1 - H psi K)* D^-1 (1 - H psi K) x for the rows x of X, one sweep each way.

    Tips to base u = x - H z, z(parent) += phi (z + G u); base to tips a' = phi* a(parent),
    dv = D^-1 u - G* a', a = a' + H* dv. `gains` are G = P H* D^-1, `scratch` is (n, 6).
    """
    n = tree.shape[0]
    for row in range(X.shape[0]):
        scratch[:, :] = 0.0
        for k in range(n - 1, -1, -1):
            moment, force = vec3(scratch, k, 0), vec3(scratch, k, 3)
            X[row, k] -= dot(vec3(axes, k, 0), moment) + dot(vec3(axes, k, 3), force)
            parent = tree[k, PARENT]
            if parent < 0:
                continue
            moment = plus_scaled(moment, X[row, k], vec3(gains, k, 0))
            force = plus_scaled(force, X[row, k], vec3(gains, k, 3))
            add3(scratch, parent, 0, plus(moment, cross(vec3(levers, k, 0), force)))
            add3(scratch, parent, 3, force)
        for k in range(n):
            parent = tree[k, PARENT]
            angular = ZERO3
            linear = ZERO3
            if parent >= 0:
                angular = vec3(scratch, parent, 0)
                linear = plus(vec3(scratch, parent, 3), cross(angular, vec3(levers, k, 0)))
            pull = dot(vec3(gains, k, 0), angular) + dot(vec3(gains, k, 3), linear)
            X[row, k] = D_inverse[k] * X[row, k] - pull
            put3(scratch, k, 0, plus_scaled(angular, X[row, k], vec3(axes, k, 0)))
            put3(scratch, k, 3, plus_scaled(linear, X[row, k], vec3(axes, k, 3)))


@kernel
def upsilon_kernel(tree: IntArray, links: Array, work: Array, ups: Array) -> None:
    """Upsilon of all links, base to tips ([J] 68); factors must be in `work`."""
    for k in range(tree.shape[0]):
        put_upsilon(tree, links, work, ups, k, tree[k, PARENT], k)
