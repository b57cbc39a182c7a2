"""M^-1 times a matrix, eight columns at a time.

Either in O(N) a column by the innovations form of `dynamics/sweeps.py`, M^-1 = (I - H psi K)* D^-1
(I - H psi K), where every number of a vector is a register of eight columns; or, where M^-1 is
there, by a product, in O(N^2) a column: below some 64 links that is faster.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, load, load1, load3, store, store1, store3, zeros
from spatialops.algebra.vectors import cross, dot, plus, plus_scaled, vec3
from spatialops.derivatives.carried import AXIS, one_of_eight

EIGHTS = 3  # of columns that take turns: a link waits for the one before longer than it computes
PRODUCT = 64  # links up to which a product is faster than sweeps

# Rows of the scratch, a striped table of EIGHTS rows for each link.
MOMENT = 0  # 3: of what hangs on the link; then its angular
FORCE = 3  # 3: and linear acceleration
SIDE = 6  # the right-hand side, then the answer


@inlined
def gather_sweep(tree: IntArray, work: Array, table: Array, scratch: Array, eights: int) -> None:
    """Tips to base: u = D^-1 (x - H z), z(parent) += phi (z + U u)."""
    for k in range(tree.shape[0] - 1, -1, -1):
        parent, axis = tree[k, layout.PARENT], one_of_eight(table, k, AXIS)
        gain_m, gain_f = vec3(work, k, layout.GAIN_M), vec3(work, k, layout.GAIN_F)
        lever, d_inverse = vec3(work, k, layout.LEVER), work[k, layout.D_INVERSE]
        for i in range(eights):
            own = EIGHTS * k + i
            moment, force = load3(scratch, MOMENT, own), load3(scratch, FORCE, own)
            effort = dot(axis[0], moment) + dot(axis[1], force)
            u = (load1(scratch, SIDE, own) - effort) * d_inverse
            store1(scratch, SIDE, own, u)
            if parent >= 0:
                above = EIGHTS * parent + i
                force = plus_scaled(force, u, gain_f)
                moment = plus(plus_scaled(moment, u, gain_m), cross(lever, force))
                store3(scratch, MOMENT, above, plus(load3(scratch, MOMENT, above), moment))
                store3(scratch, FORCE, above, plus(load3(scratch, FORCE, above), force))


@inlined
def scatter_sweep(tree: IntArray, work: Array, table: Array, scratch: Array, eights: int) -> None:
    """Base to tips: a' = phi* a(parent), x = u - D^-1 U* a', a = a' + H* x."""
    nothing = zeros()
    for k in range(tree.shape[0]):
        parent, axis = tree[k, layout.PARENT], one_of_eight(table, k, AXIS)
        gain_m, gain_f = vec3(work, k, layout.GAIN_M), vec3(work, k, layout.GAIN_F)
        lever, d_inverse = vec3(work, k, layout.LEVER), work[k, layout.D_INVERSE]
        for i in range(eights):
            own, above = EIGHTS * k + i, EIGHTS * parent + i
            angular = (nothing, nothing, nothing)
            linear = (nothing, nothing, nothing)
            if parent >= 0:
                angular = load3(scratch, MOMENT, above)
                linear = plus(load3(scratch, FORCE, above), cross(angular, lever))
            pull = (dot(gain_m, angular) + dot(gain_f, linear)) * d_inverse
            x = load1(scratch, SIDE, own) - pull
            store1(scratch, SIDE, own, x)
            store3(scratch, MOMENT, own, plus_scaled(angular, x, axis[0]))
            store3(scratch, FORCE, own, plus_scaled(linear, x, axis[1]))


@inlined
def put_side(scratch: Array, row: int, sign: float, X: Array, k: int, first: int) -> None:
    """Row k of a right-hand side, eight columns from `first` on, zeros behind the last."""
    if first + WIDTH <= X.shape[1]:
        store1(scratch, SIDE, row, load(X, k, first) * sign)
        return
    for i in range(WIDTH):
        inside = first + i < X.shape[1]
        scratch[row, WIDTH * SIDE + i] = sign * X[k, first + i] if inside else 0.0


@inlined
def put_answer(scratch: Array, place: int, row: int, X: Array, k: int, first: int) -> None:
    """The same columns back, from number `place` of a row of the scratch."""
    if first + WIDTH <= X.shape[1]:
        store(X, k, first, load1(scratch, place, row))
        return
    for i in range(X.shape[1] - first):
        X[k, first + i] = scratch[row, WIDTH * place + i]


@inlined
def solve_columns(
    tree: IntArray, work: Array, table: Array, scratch: Array, sign: float, X: Array
) -> None:
    """X <- sign M^-1 X; factors must be in `work`, axes in `table`."""
    n, nothing = tree.shape[0], zeros()
    for first in range(0, n, EIGHTS * WIDTH):
        eights = min(EIGHTS, (n - first + WIDTH - 1) // WIDTH)
        for k in range(n):
            for i in range(eights):
                row = EIGHTS * k + i
                store3(scratch, MOMENT, row, (nothing, nothing, nothing))
                store3(scratch, FORCE, row, (nothing, nothing, nothing))
                put_side(scratch, row, sign, X, k, first + WIDTH * i)
        gather_sweep(tree, work, table, scratch, eights)
        scatter_sweep(tree, work, table, scratch, eights)
        for k in range(n):
            for i in range(eights):
                put_answer(scratch, SIDE, EIGHTS * k + i, X, k, first + WIDTH * i)


@inlined
def multiply_columns(inverse: Array, scratch: Array, sign: float, X: Array) -> None:
    """X <- sign M^-1 X, with M^-1 given; four rows at a time, so that sums do not wait."""
    n = X.shape[0]
    for first in range(0, n, WIDTH):
        for k in range(n):
            put_side(scratch, k, sign, X, k, first)
        for start in range(0, n, 4):
            k1 = min(start + 1, n - 1)
            k2 = min(start + 2, n - 1)
            k3 = min(start + 3, n - 1)
            x0 = x1 = x2 = x3 = zeros()
            for j in range(n):
                side = load1(scratch, SIDE, j)
                x0 = x0 + inverse[start, j] * side
                x1 = x1 + inverse[k1, j] * side
                x2 = x2 + inverse[k2, j] * side
                x3 = x3 + inverse[k3, j] * side
            store1(scratch, MOMENT, start, x0)
            store1(scratch, MOMENT, k1, x1)
            store1(scratch, MOMENT, k2, x2)
            store1(scratch, MOMENT, k3, x3)
        for k in range(n):
            put_answer(scratch, MOMENT, k, X, k, first)


@inlined
def solve_side(
    tree: IntArray, work: Array, table: Array, scratch: Array, inverse: Array, X: Array
) -> None:
    """X <- -M^-1 X by the faster way."""
    if tree.shape[0] <= PRODUCT:
        multiply_columns(inverse, scratch, -1.0, X)
    else:
        solve_columns(tree, work, table, scratch, -1.0, X)
