"""Vectors and matrices of three as tuples: one-line helpers that Numba turns into registers.

A vector is a tuple of 3, a matrix a tuple of 3 rows, a symmetric matrix the tuple (xx, xy, xz, yy,
yz, zz).
"""

from __future__ import annotations

from spatialops._arrays import Array, Mat3, Sym3, Vec3
from spatialops._compile.jit import inlined

ZERO3: Vec3 = (0.0, 0.0, 0.0)


@inlined
def vec3(table: Array, row: int, column: int) -> Vec3:
    return table[row, column], table[row, column + 1], table[row, column + 2]


@inlined
def put3(table: Array, row: int, column: int, a: Vec3) -> None:
    table[row, column], table[row, column + 1], table[row, column + 2] = a


@inlined
def add3(table: Array, row: int, column: int, a: Vec3) -> None:
    table[row, column] += a[0]
    table[row, column + 1] += a[1]
    table[row, column + 2] += a[2]


@inlined
def mat3(table: Array, row: int, column: int) -> Mat3:
    return vec3(table, row, column), vec3(table, row, column + 3), vec3(table, row, column + 6)


@inlined
def put_mat3(table: Array, row: int, column: int, m: Mat3) -> None:
    put3(table, row, column, m[0])
    put3(table, row, column + 3, m[1])
    put3(table, row, column + 6, m[2])


@inlined
def sym3(table: Array, row: int, column: int) -> Sym3:
    a, b = vec3(table, row, column), vec3(table, row, column + 3)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@inlined
def put_sym3(table: Array, row: int, column: int, s: Sym3) -> None:
    put3(table, row, column, (s[0], s[1], s[2]))
    put3(table, row, column + 3, (s[3], s[4], s[5]))


@inlined
def column_of(table: Array, row: int, start: int, column: int) -> Vec3:
    """Column of the row-major 3x3 matrix that starts at `start`."""
    return (
        table[row, start + column],
        table[row, start + 3 + column],
        table[row, start + 6 + column],
    )


@inlined
def plus(a: Vec3, b: Vec3) -> Vec3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def minus(a: Vec3, b: Vec3) -> Vec3:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def scaled(s: float, a: Vec3) -> Vec3:
    return s * a[0], s * a[1], s * a[2]


@inlined
def plus_scaled(a: Vec3, s: float, b: Vec3) -> Vec3:
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@inlined
def dot(a: Vec3, b: Vec3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vec3, b: Vec3) -> Vec3:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def rotate(m: Mat3, a: Vec3) -> Vec3:
    """Matrix times vector."""
    return dot(m[0], a), dot(m[1], a), dot(m[2], a)


@inlined
def rotate_back(m: Mat3, a: Vec3) -> Vec3:
    """Transposed matrix times vector."""
    return (
        m[0][0] * a[0] + m[1][0] * a[1] + m[2][0] * a[2],
        m[0][1] * a[0] + m[1][1] * a[1] + m[2][1] * a[2],
        m[0][2] * a[0] + m[1][2] * a[1] + m[2][2] * a[2],
    )


@inlined
def times(a: Mat3, b: Mat3) -> Mat3:
    """Product of two matrices."""
    return rotate_back(b, a[0]), rotate_back(b, a[1]), rotate_back(b, a[2])


@inlined
def sym_times(s: Sym3, a: Vec3) -> Vec3:
    """Symmetric matrix times vector."""
    return (
        s[0] * a[0] + s[1] * a[1] + s[2] * a[2],
        s[1] * a[0] + s[3] * a[1] + s[4] * a[2],
        s[2] * a[0] + s[4] * a[1] + s[5] * a[2],
    )


@inlined
def sym_plus(a: Sym3, b: Sym3) -> Sym3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inlined
def sym_minus_outer(s: Sym3, f: float, a: Vec3) -> Sym3:
    """S - f a a^T."""
    x = f * a[0]
    y = f * a[1]
    z = f * a[2]
    return (
        s[0] - x * a[0],
        s[1] - x * a[1],
        s[2] - x * a[2],
        s[3] - y * a[1],
        s[4] - y * a[2],
        s[5] - z * a[2],
    )


@inlined
def mat_minus_outer(m: Mat3, f: float, a: Vec3, b: Vec3) -> Mat3:
    """M - f a b^T."""
    return (
        plus_scaled(m[0], -f * a[0], b),
        plus_scaled(m[1], -f * a[1], b),
        plus_scaled(m[2], -f * a[2], b),
    )


@inlined
def sym_rotated(r: Mat3, s: Sym3) -> Sym3:
    """R S R^T."""
    x = sym_times(s, r[0])
    y = sym_times(s, r[1])
    z = sym_times(s, r[2])
    return dot(r[0], x), dot(r[0], y), dot(r[0], z), dot(r[1], y), dot(r[1], z), dot(r[2], z)


@inlined
def rotation_from_quaternion(x: float, y: float, z: float, w: float) -> Mat3:
    """Rotation of a quaternion of any length but zero."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


@inlined
def copy_into(target: Array, source: Array) -> None:
    """target[:source.size] = source, without the temporary that slices would take."""
    for i in range(source.size):
        target[i] = source[i]


@inlined
def is_finite(values: Array) -> bool:
    """Whether a vector has neither NaN nor infinity: x - x is 0 for finite x only."""
    total = 0.0
    for i in range(values.size):
        total += values[i] - values[i]
    return total == 0.0
