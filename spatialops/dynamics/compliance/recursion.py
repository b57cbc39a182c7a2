"""Lambda by the virtual tree: rows of Omega from Upsilon ([J] 69), in O(N) + O(n_c^2).

Upsilon is wanted at the vertices of the virtual tree only. From one to the next, [J] 67 along the
links k between them adds up to

    Upsilon(v) = psi* Upsilon(above) psi + sum over k of e_k* D_k^-1 e_k,    e_k = H_k psi(k, v),

psi being that of the whole edge. e_k is what the joint takes of unit forces at v that are carried
to the base, which psi is made by as well: one sweep from the tips has both, with the articulated
inertias that it needs. No link keeps more than its pose: of trees that are larger than the cache
a sweep costs what it moves through memory.

On a long edge that bends psi goes to zero in most directions, below what is a normal number after a
thousand links. Subnormal ones cost a hundred times as much on some processors and add nothing.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Sym3, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import load, spread, store
from spatialops.algebra.vectors import (
    mat3,
    minus,
    plus,
    put_mat3,
    put_sym3,
    scaled,
    sym3,
    sym_plus,
    vec3,
)
from spatialops.dynamics.articulated_body import (
    NO_INERTIA,
    about_parent,
    joint_gain,
    minus_gain,
    rigid_inertia,
)
from spatialops.dynamics.compliance.omega import clear_world, fill_omega
from spatialops.dynamics.compliance.upsilon import motion_axis
from spatialops.dynamics.compliance.virtual_tree import (
    ABOVE,
    BELOW,
    EDGE_COLUMNS,
    LINK,
    NODE,
    UP,
    UPSILON,
    VERTEX,
    assign_slots,
    is_vertex,
    number_vertices,
)
from spatialops.dynamics.kinematics import finite_status, place_link

# Of a link: its pose, in the columns that the workspace has it in, and behind these
_MET = 15  # one more than the row of what branches leave at it, 0 where none does
POSE_COLUMNS = 16  # two lines of the cache
_MET_B, _MET_C = 6, 15
MET_COLUMNS = 21
_FORCES = 24  # of psi in an edge's row, after its moments
_TAKEN = EDGE_COLUMNS - 8  # the last e
_ROWS = 8  # between rows of six numbers

_NEGLIGIBLE = 1e-100  # beside 1: its square is still a normal number after `_OFTEN` more links
_OFTEN = 64


@inlined
def recursion_size(m: int) -> int:
    """How many numbers the recursion needs for m nodes, with at most m - 1 branch points."""
    return EDGE_COLUMNS * 2 * m + (12 * m + 8) ** 2


@inlined
def place(tree: IntArray, links: Array, q: Array, poses: Array) -> int:
    """Poses of all links, at which no branches have met."""
    for k in range(tree.shape[0]):
        place_link(tree, links, q, poses, k)
        poses[k, _MET] = 0.0
    return finite_status(q)


@inlined
def recursion_kernel(
    tree: IntArray,
    links: Array,
    node_links: IntArray,
    points: Array,
    poses: Array,
    plan: IntArray,
    vertices: IntArray,
    met: Array,
    rest: Array,
    out: Array,
) -> int:
    """Lambda by Upsilon and rows of Omega; `poses` and `plan` must be filled.

    `met` has room for inertias where branches meet, `rest` for the edges of the vertices, and rows
    of Omega where `out` has none.
    """
    count = number_vertices(node_links, plan, vertices)
    start = EDGE_COLUMNS * count
    edges = rest[:start].reshape(count, EDGE_COLUMNS)
    begin_edges(edges)
    if sweep_edges(tree, links, poses, plan, met, edges) != layout.OK:
        return layout.SINGULAR
    add_up(vertices, edges)
    for j in range(count):
        refer_to_nodes(vertices, points, poses, edges, j)
    size, width = 6 * node_links.size, 6 * assign_slots(vertices, count, node_links.size)
    omega, in_place = out, width == size
    if not in_place:
        width = (width + 7) // 8 * 8  # rows of whole registers are swept 1.3 times faster
        omega = rest[start : start + width * width].reshape(width, width)
    fill_omega(vertices, edges, omega)
    if not in_place:
        for row in range(size):
            for c in range(size):
                out[row, c] = omega[row, c]
    clear_world(node_links, out)
    return layout.OK


@inlined
def reference_lever(vertices: IntArray, points: Array, poses: Array, j: int) -> Vec3:
    """From the origin of vertex j's link to its reference point, its node or that origin."""
    origin = vec3(poses, vertices[j, LINK], layout.ORIGIN)
    node = vertices[j, NODE]
    return minus(vec3(points, node, 0) if node >= 0 else origin, origin)


@inlined
def begin_edges(edges: Array) -> None:
    """Unit forces at the origins of the vertices' links, and nothing that they have met."""
    for j in range(edges.shape[0]):
        for c in range(EDGE_COLUMNS):
            edges[j, c] = 0.0
        for c in range(6):
            edges[j, (_ROWS + 1) * c] = 1.0


@inlined
def add_up(vertices: IntArray, edges: Array) -> None:
    """Upsilon about the links' origins, parents first: psi* Upsilon(above) psi and the edge's."""
    for j in range(edges.shape[0]):
        above = vertices[j, ABOVE]
        for c in range(6):
            if above >= 0:
                for row in range(6):
                    edges[j, _TAKEN + row] = 0.0
                    for i in range(6):
                        known = edges[above, UPSILON + _ROWS * row + i]
                        edges[j, _TAKEN + row] += known * edges[j, _ROWS * i + c]
                for row in range(c, 6):
                    for i in range(6):
                        carried = edges[j, _ROWS * i + row] * edges[j, _TAKEN + i]
                        edges[j, UPSILON + _ROWS * row + c] += carried
            for row in range(c, 6):
                edges[j, UPSILON + _ROWS * c + row] = edges[j, UPSILON + _ROWS * row + c]


@inlined
def refer_to_nodes(vertices: IntArray, points: Array, poses: Array, edges: Array, j: int) -> None:
    """Upsilon and psi of vertex j about its reference point and that of its virtual parent.

    Last of all: about points far from their links the terms of Upsilon are large and cancel."""
    r = reference_lever(vertices, points, poses, j)
    take_forces_at(edges, j, 0, r)
    take_forces_at(edges, j, UPSILON, r)
    for c in range(6):  # phi* Upsilon phi: its rows as its columns
        x = edges[j, UPSILON + c]
        y = edges[j, UPSILON + _ROWS + c]
        z = edges[j, UPSILON + 2 * _ROWS + c]
        edges[j, UPSILON + 3 * _ROWS + c] += y * r[2] - z * r[1]
        edges[j, UPSILON + 4 * _ROWS + c] += z * r[0] - x * r[2]
        edges[j, UPSILON + 5 * _ROWS + c] += x * r[1] - y * r[0]
    above = vertices[j, ABOVE]
    if above >= 0:
        lever = reference_lever(vertices, points, poses, above)
        shift_edge(edges, j, scaled(-1.0, lever))


@inlined
def take_forces_at(edges: Array, j: int, first: int, r: Vec3) -> None:
    """A x phi for a block A of an edge: columns of forces at the lever r from the origin."""
    for row in range(6):
        at = first + _ROWS * row
        x = edges[j, at]
        y = edges[j, at + 1]
        z = edges[j, at + 2]
        edges[j, at + 3] += y * r[2] - z * r[1]
        edges[j, at + 4] += z * r[0] - x * r[2]
        edges[j, at + 5] += x * r[1] - y * r[0]


@inlined
def shift_edge(edges: Array, j: int, r: Vec3) -> None:
    """Shift by phi: moments n + r x f of all columns of psi."""
    fx = load(edges, j, _FORCES)
    fy = load(edges, j, _FORCES + _ROWS)
    fz = load(edges, j, _FORCES + 2 * _ROWS)
    store(edges, j, 0, load(edges, j, 0) + (r[1] * fz - r[2] * fy))
    store(edges, j, _ROWS, load(edges, j, _ROWS) + (r[2] * fx - r[0] * fz))
    store(edges, j, 2 * _ROWS, load(edges, j, 2 * _ROWS) + (r[0] * fy - r[1] * fx))


@inlined
def pass_edge(
    axis: tuple[Vec3, Vec3], f: float, gain: tuple[Vec3, Vec3], r: Vec3, edges: Array, j: int
) -> None:
    """Carry the columns of psi past a joint to the parent, and add e* D^-1 e to Upsilon.

    `f` is D^-1, and U is about the link's own origin, at the lever r from the parent's."""
    s_w, s_v = axis
    u_m, u_f = gain
    mx = load(edges, j, 0)
    my = load(edges, j, _ROWS)
    mz = load(edges, j, 2 * _ROWS)
    fx = load(edges, j, _FORCES)
    fy = load(edges, j, _FORCES + _ROWS)
    fz = load(edges, j, _FORCES + 2 * _ROWS)
    e = (s_w[0] * mx + s_w[1] * my + s_w[2] * mz) + (s_v[0] * fx + s_v[1] * fy + s_v[2] * fz)
    store(edges, j, _TAKEN, e)
    g = f * e
    fx = fx - u_f[0] * g
    fy = fy - u_f[1] * g
    fz = fz - u_f[2] * g
    store(edges, j, _FORCES, fx)
    store(edges, j, _FORCES + _ROWS, fy)
    store(edges, j, _FORCES + 2 * _ROWS, fz)
    store(edges, j, 0, mx - u_m[0] * g + (r[1] * fz - r[2] * fy))
    store(edges, j, _ROWS, my - u_m[1] * g + (r[2] * fx - r[0] * fz))
    store(edges, j, 2 * _ROWS, mz - u_m[2] * g + (r[0] * fy - r[1] * fx))
    for row in range(6):
        at = UPSILON + _ROWS * row
        store(edges, j, at, load(edges, j, at) + spread(edges, j, _TAKEN + row) * g)


@inlined
def drop_negligible(edges: Array, j: int) -> None:
    """Zero for what has become negligible of psi."""
    for c in range(UPSILON):
        if abs(edges[j, c]) < _NEGLIGIBLE:
            edges[j, c] = 0.0


@inlined
def inertia_at(links: Array, poses: Array, met: Array, k: int) -> tuple[Sym3, Mat3, Sym3]:
    """Inertia of link k with what branches have left at it, added up as `factor_link` does."""
    row = int(poses[k, _MET]) - 1
    if row < 0:
        return rigid_inertia(links, poses, k)
    return sym3(met, row, 0), mat3(met, row, _MET_B), sym3(met, row, _MET_C)


@inlined
def leave_at(
    links: Array, poses: Array, met: Array, k: int, used: int, up: tuple[Sym3, Mat3, Sym3]
) -> int:
    """Add to link k what a branch hands to it; returns how many rows of `met` are in use."""
    J, B, C = inertia_at(links, poses, met, k)
    row = int(poses[k, _MET]) - 1
    if row < 0:
        row = used
        used = used + 1
        poses[k, _MET] = float(used)
    J_up, B_up, C_up = up
    put_sym3(met, row, 0, sym_plus(J, J_up))
    B = plus(B[0], B_up[0]), plus(B[1], B_up[1]), plus(B[2], B_up[2])
    put_mat3(met, row, _MET_B, B)
    put_sym3(met, row, _MET_C, sym_plus(C, C_up))
    return used


@inlined
def sweep_edges(
    tree: IntArray, links: Array, poses: Array, plan: IntArray, met: Array, edges: Array
) -> int:
    """Articulated inertias, tips to base, and past each joint the edge that goes up from it.

    Inertias stay in registers where the parent comes next, and else wait in `met`.
    """
    status = layout.OK
    used = 0
    J_up, B_up, C_up = NO_INERTIA
    for k in range(tree.shape[0] - 1, -1, -1):
        J, B, C = inertia_at(links, poses, met, k)
        B = plus(B[0], B_up[0]), plus(B[1], B_up[1]), plus(B[2], B_up[2])
        J, C = sym_plus(J, J_up), sym_plus(C, C_up)
        gain_m, gain_f, d = joint_gain(tree, links, poses, k, J, B, C)
        if not d > 0.0:
            status = layout.SINGULAR
        f, parent = 1.0 / d, plan[k, UP]
        if plan[k, BELOW] > 0:
            j = plan[k, VERTEX] - 1
            axis, r = motion_axis(tree, links, poses, k), vec3(poses, k, layout.LEVER)
            # U about the parent's origin takes r x U, which `pass_edge` has in its shift.
            pass_edge(axis, f, (gain_m, gain_f), r, edges, j)
            if k % _OFTEN == 0:
                drop_negligible(edges, j)
            if parent >= 0 and not is_vertex(plan, parent):
                plan[parent, VERTEX] = j + 1
        J, B, gain_m = about_parent(tree, poses, k, J, B, C, gain_m, gain_f)
        J_up, B_up, C_up = minus_gain(J, B, C, f, gain_m, gain_f)
        if parent == k - 1:
            continue
        if parent >= 0:
            used = leave_at(links, poses, met, parent, used, (J_up, B_up, C_up))
        J_up, B_up, C_up = NO_INERTIA
    return status
