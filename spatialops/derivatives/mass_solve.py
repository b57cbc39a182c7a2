"""M^-1 times matrices, eight columns at a time: every number of a vector is a register of eight.

Up to 64 links from the mass matrix itself, M = L* D L with L a unit lower triangle: tips come
first, and so L has entries of links and their ancestors only, as M has. Beyond, in O(N) a column,
by the innovations form of `dynamics/sweeps.py`, M^-1 = (I - H psi K)* D^-1 (I - H psi K).

References
----------
R. Featherstone, Efficient factorization of the joint-space inertia matrix for branched kinematic
trees, 2005.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, load, load1, load3, store, store1, store3, zeros
from spatialops.algebra.vectors import cross, dot, plus, plus_scaled, put3, scaled, vec3
from spatialops.derivatives.carried import AXIS, one_of_eight

EIGHTS = 3  # of columns that take turns: a link waits for the one before longer than it computes
FACTORED = 64  # links up to which a mass matrix is factored, which then is faster than sweeps
ROW = FACTORED + WIDTH  # of its factor: were it 64, stores would seem to meet loads 8 rows on
# Columns of what sweeps read of a link.
ANGULAR = 0  # 3: S,
LINEAR = 3  # 3
GAIN_M = 6  # 3
GAIN_F = 9  # 3
LEVER = 12  # 3
D_INVERSE = 15
LINK_COLUMNS = 16

# Rows of the scratch, a striped table of EIGHTS rows for each link.
MOMENT = 0  # 3: of what hangs on the link; then its angular
FORCE = 3  # 3: and linear acceleration
SIDE = 6  # the right-hand side, then the answer


@inlined
def put_links(work: Array, table: Array, links: Array) -> None:
    """All that sweeps need of links into two cache lines each, of which the next level holds many.

    What is written may stand where the table of motions does, from its first row on.
    """
    for k in range(links.shape[0]):
        axis, lever = one_of_eight(table, k, AXIS), vec3(work, k, layout.LEVER)
        put3(links, k, ANGULAR, axis[0])
        put3(links, k, LINEAR, axis[1])
        put3(links, k, GAIN_M, vec3(work, k, layout.GAIN_M))
        put3(links, k, GAIN_F, vec3(work, k, layout.GAIN_F))
        put3(links, k, LEVER, lever)
        links[k, D_INVERSE] = work[k, layout.D_INVERSE]


@inlined
def gather_sweep(tree: IntArray, links: Array, scratch: Array, eights: int) -> None:
    """Tips to base: u = D^-1 (x - H z), z(parent) += phi (z + U u)."""
    for k in range(tree.shape[0] - 1, -1, -1):
        parent, axis = tree[k, layout.PARENT], (vec3(links, k, ANGULAR), vec3(links, k, LINEAR))
        gain_m, gain_f = vec3(links, k, GAIN_M), vec3(links, k, GAIN_F)
        lever, d_inverse = vec3(links, k, LEVER), links[k, D_INVERSE]
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
def scatter_sweep(tree: IntArray, links: Array, scratch: Array, eights: int) -> None:
    """Base to tips: a' = phi* a(parent), x = u - D^-1 U* a', a = a' + H* x."""
    nothing = zeros()
    for k in range(tree.shape[0]):
        parent, axis = tree[k, layout.PARENT], (vec3(links, k, ANGULAR), vec3(links, k, LINEAR))
        gain_m, gain_f = vec3(links, k, GAIN_M), vec3(links, k, GAIN_F)
        lever, d_inverse = vec3(links, k, LEVER), links[k, D_INVERSE]
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
def put_answer(scratch: Array, row: int, X: Array, k: int, first: int) -> None:
    """The same columns back."""
    if first + WIDTH <= X.shape[1]:
        store(X, k, first, load1(scratch, SIDE, row))
        return
    for i in range(X.shape[1] - first):
        X[k, first + i] = scratch[row, WIDTH * SIDE + i]


@inlined
def solve_columns(tree: IntArray, links: Array, scratch: Array, sign: float, X: Array) -> None:
    """X <- sign M^-1 X of what `put_links` has put together."""
    n, nothing = tree.shape[0], zeros()
    for first in range(0, n, EIGHTS * WIDTH):
        eights = min(EIGHTS, (n - first + WIDTH - 1) // WIDTH)
        for k in range(n):
            for i in range(eights):
                row = EIGHTS * k + i
                store3(scratch, MOMENT, row, (nothing, nothing, nothing))
                store3(scratch, FORCE, row, (nothing, nothing, nothing))
                put_side(scratch, row, sign, X, k, first + WIDTH * i)
        gather_sweep(tree, links, scratch, eights)
        scatter_sweep(tree, links, scratch, eights)
        for k in range(n):
            for i in range(eights):
                put_answer(scratch, EIGHTS * k + i, X, k, first + WIDTH * i)


@inlined
def factor_mass(tree: IntArray, mass: Array, U: Array) -> None:
    """U = D L of M = L* D L, with 1 / D on its diagonal; what is above that means nothing."""
    n = tree.shape[0]
    for k in range(n):
        put_row(U, mass, k)
    for k in range(n - 1, -1, -1):
        d_inverse = 1.0 / U[k, k]
        i = tree[k, layout.PARENT]
        while i >= 0:
            factor = U[k, i] * d_inverse
            for j in range(0, i + 1, WIDTH):
                store(U, i, j, load(U, i, j) - factor * load(U, k, j))
            i = tree[i, layout.PARENT]
        U[k, k] = d_inverse


@inlined
def put_row(U: Array, mass: Array, k: int) -> None:
    """Row k of the mass matrix."""
    n = mass.shape[0]
    whole = n - n % WIDTH
    for j in range(0, whole, WIDTH):
        store(U, k, j, load(mass, k, j))
    for j in range(whole, n):
        U[k, j] = mass[k, j]


@inlined
def to_base(tree: IntArray, U: Array, X: Array, place: int) -> None:
    """X <- L*^-1 X, tips to base, of three registers of columns from number `place` on.

    A link whose parent is the one before goes with it: ancestors are met by two at a time.
    """
    k = tree.shape[0] - 1
    while k >= 0:
        x = scaled(-U[k, k], load3(X, place, k))
        i = tree[k, layout.PARENT]
        if i < 0 or i != k - 1:
            while i >= 0:
                store3(X, place, i, plus_scaled(load3(X, place, i), U[k, i], x))
                i = tree[i, layout.PARENT]
            k -= 1
            continue
        above = plus_scaled(load3(X, place, i), U[k, i], x)
        store3(X, place, i, above)
        y = scaled(-U[i, i], above)
        i = tree[i, layout.PARENT]
        while i >= 0:
            both = plus_scaled(load3(X, place, i), U[k, i], x)
            store3(X, place, i, plus_scaled(both, U[k - 1, i], y))
            i = tree[i, layout.PARENT]
        k -= 2


@inlined
def to_tips(tree: IntArray, U: Array, X: Array, place: int) -> None:
    """X <- (D L)^-1 X, base to tips, in the same way."""
    k, n = 0, tree.shape[0]
    while k < n:
        x = load3(X, place, k)
        i = tree[k, layout.PARENT]
        if k + 1 == n or tree[k + 1, layout.PARENT] != k:
            while i >= 0:
                x = plus_scaled(x, -U[k, i], load3(X, place, i))
                i = tree[i, layout.PARENT]
            store3(X, place, k, scaled(U[k, k], x))
            k += 1
            continue
        y = load3(X, place, k + 1)
        while i >= 0:
            above = load3(X, place, i)
            x = plus_scaled(x, -U[k, i], above)
            y = plus_scaled(y, -U[k + 1, i], above)
            i = tree[i, layout.PARENT]
        x = scaled(U[k, k], x)
        store3(X, place, k, x)
        store3(X, place, k + 1, scaled(U[k + 1, k + 1], plus_scaled(y, -U[k + 1, k], x)))
        k += 2


@inlined
def solve_side_by_side(tree: IntArray, mass: Array, U: Array, X: Array) -> None:
    """X <- M^-1 X of a multiple of 24 columns; U (n, 72) is scratch."""
    factor_mass(tree, mass, U)
    for place in range(0, X.shape[1] // WIDTH, 3):
        to_base(tree, U, X, place)
        to_tips(tree, U, X, place)


@inlined
def take_columns(X: Array, first: int, sign: float, out: Array) -> None:
    """Square matrix `out` <- sign times the columns of X from number `first` on."""
    n = out.shape[0]
    whole = n - n % WIDTH
    for k in range(n):
        for j in range(0, whole, WIDTH):
            store(out, k, j, load(X, k, first + j) * sign)
        for j in range(whole, n):
            out[k, j] = sign * X[k, first + j]


@inlined
def width_of(n: int) -> int:
    """Columns that a matrix of n columns takes beside others, in whole registers."""
    return (n + WIDTH - 1) // WIDTH * WIDTH
