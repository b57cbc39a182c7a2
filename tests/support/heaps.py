"""Heaps of rigid bodies as cone problems, made of points, normals and masses alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from spatialops.contact import ConeProblem

GROUND = -1


def frame(normal):
    """(3, 3) rows: unit normal and two tangents."""
    normal = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    other = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.7 else np.array([0.0, 1.0, 0.0])
    first = np.cross(normal, other)
    first /= np.linalg.norm(first)
    return np.stack([normal, first, np.cross(normal, first)])


def jacobian(contacts, centers, size):
    """G (3 m, 6 size): velocities of A against B along the frames from the bodies' [v; omega]."""
    rows = []
    columns = []
    values = []
    for c, (a, b, point, normal) in enumerate(contacts):
        axes = frame(normal)
        for body, sign in ((a, 1.0), (b, -1.0)):
            if body == GROUND:
                continue
            arm = np.asarray(point) - centers[body]
            block = sign * np.hstack([axes, np.cross(arm, axes)])
            for i in range(3):
                rows += [3 * c + i] * 6
                columns += list(range(6 * body, 6 * body + 6))
                values += list(block[i])
    return sp.csr_array((values, (rows, columns)), shape=(3 * len(contacts), 6 * size))


def problem_of(contacts, centers, masses, radii, velocity, mu, *, dense=None):
    """Cone problem of spheres' inertias 0.4 m r^2 that move with `velocity` (size, 6)."""
    G = jacobian(contacts, np.asarray(centers, dtype=float), len(masses))
    inverse = np.empty((len(masses), 6))
    inverse[:, :3] = 1.0 / np.asarray(masses)[:, None]
    inverse[:, 3:] = 1.0 / (0.4 * np.asarray(masses) * np.asarray(radii) ** 2)[:, None]
    W = sp.csr_array(G @ sp.diags_array(inverse.ravel()) @ G.T)
    dense = len(contacts) <= 60 if dense is None else dense
    return ConeProblem(
        W.toarray() if dense else W, G @ np.asarray(velocity, dtype=float).ravel(), mu
    )


def falling(size, dt=1e-2, speed=0.0):
    """(size, 6) velocities after a step of gravity, and sideways."""
    velocity = np.zeros((size, 6))
    velocity[:, 2], velocity[:, 0] = -9.81 * dt, speed
    return velocity


def box_on_plane(
    m, *, velocity=(0.0, 0.0, -0.0981), spin=(0.0, 0.0, 0.0), mu=0.5, mass=1.0, tilt=0.0
):
    """A box with m contacts in a ring around its base, the plane tilted about y."""
    angles = 2.0 * np.pi * np.arange(m) / m + np.pi / 4.0
    points = np.stack([0.5 * np.cos(angles), 0.5 * np.sin(angles), np.full(m, -0.2)], axis=1)
    turn = np.array(
        [[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]]
    )
    contacts = [(0, GROUND, turn @ point, turn[:, 2]) for point in points]
    return problem_of(contacts, [np.zeros(3)], [mass], [0.5], [[*velocity, *spin]], mu)


def box_stack(height, *, mu=0.5, ratio=1.0, speed=0.0, mass=1.0):
    """Boxes on each other, four contacts a face, each `ratio` times heavier than the one below."""
    contacts, centers = [], []
    for k in range(height):
        centers.append([0.0, 0.0, 0.5 + k])
        for x in (-0.5, 0.5):
            contacts += [
                (k, k - 1 if k else GROUND, [x, y, float(k)], [0.0, 0.0, 1.0]) for y in (-0.5, 0.5)
            ]
    masses = mass * ratio ** np.arange(height)
    return problem_of(
        contacts, centers, masses, np.full(height, 0.6), falling(height, speed=speed), mu
    )


def brick_wall(width, height, *, mu=0.5, speed=0.0):
    """Bricks 2 x 1 x 1 laid in bond: each rests on two, with more contacts than are needed."""
    contacts = []
    centers = []
    names = {}
    for row in range(height):
        for place in range(width):
            names[row, place] = len(centers)
            centers.append([2.0 * place + (row % 2), 0.0, row + 0.5])
    for (row, _), brick in names.items():
        left = centers[brick][0]
        for start in (left - 1.0, left):
            below = GROUND
            if row:
                found = [
                    b
                    for b in range(len(centers))
                    if centers[b][2] == row - 0.5 and abs(centers[b][0] - start - 0.5) == 0.5
                ]
                if not found:
                    continue
                below = found[0]
            for x in (start, start + 1.0):
                contacts += [
                    (brick, below, [x, y, float(row)], [0.0, 0.0, 1.0]) for y in (-0.5, 0.5)
                ]
    size = len(centers)
    return problem_of(
        contacts, centers, np.ones(size), np.full(size, 0.8), falling(size, speed=speed), mu
    )


def spheres_in_box(side, *, mu=0.5, speed=0.0, hexagonal=False):
    """side^3 spheres of diameter 1 in an open box that just holds them.

    In columns every sphere touches up to six; staggered, those of a layer lie in the hollows of the
    one below.
    """
    rise = np.sqrt(0.5) if hexagonal else 1.0
    grid = [(x, y, z) for z in range(side) for y in range(side) for x in range(side)]
    centers = np.array([[x, y, 0.5 + rise * z] for x, y, z in grid], dtype=float)
    if hexagonal:
        centers[:, :2] += 0.5 * (np.array(grid)[:, 2:] % 2)
    contacts = [
        (a, GROUND, [*c[:2], 0.0], [0.0, 0.0, 1.0]) for a, c in enumerate(centers) if c[2] < 0.6
    ]
    low, high = centers.min(axis=0), centers.max(axis=0)
    for a, c in enumerate(centers):
        for axis in (0, 1):
            for wall, sign in ((low[axis], 1.0), (high[axis], -1.0)):
                if abs(c[axis] - wall) < 1e-9:
                    normal = sign * np.eye(3)[axis]
                    contacts.append((a, GROUND, c - 0.5 * normal, normal))
        for b in range(a):
            between = c - centers[b]
            if abs(np.linalg.norm(between) - 1.0) < 1e-9:
                contacts.append((a, b, centers[b] + 0.5 * between, between))
    size = len(centers)
    return problem_of(
        contacts, centers, np.ones(size), np.full(size, 0.5), falling(size, speed=speed), mu
    )


def pile(rng, size, *, mu=0.5, spread=1.0, speed=1.0, extra=2.0, dense=None):
    """Spheres in a heap, some moving: contacts between near ones, masses over `spread` decades."""
    side = max(2.0, (size / extra) ** (1.0 / 3.0) * 1.7)
    centers = rng.uniform([0.0, 0.0, 0.4], [side, side, 0.5 + side / 2.0], (size, 3))
    contacts = []
    for a in range(size):
        if centers[a, 2] < 1.0:
            contacts.append((a, GROUND, [*centers[a, :2], 0.0], [0.0, 0.0, 1.0]))
        for b in range(a):
            gap = centers[a] - centers[b]
            if np.linalg.norm(gap) < 1.0:
                contacts.append((a, b, (centers[a] + centers[b]) / 2.0, gap))
    masses = 10.0 ** rng.uniform(-spread / 2.0, spread / 2.0, size)
    velocity = (
        falling(size) + speed * rng.normal(size=(size, 6)) * (rng.random(size) < 0.5)[:, None]
    )
    if not contacts:
        contacts = [(0, GROUND, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0])]
    return problem_of(contacts, centers, masses, np.full(size, 0.5), velocity, mu, dense=dense)


def random_cone_problem(rng, m, *, rank=None, mu=None):
    """W = G G^T of a rank (default 3 m), mu in 0 .. 2, and b so that sticking is possible."""
    rank = 3 * m if rank is None else rank
    G = rng.normal(size=(3 * m, rank))
    mu = rng.uniform(0.0, 2.0, m) * (rng.random(m) < 0.9) if mu is None else mu
    return ConeProblem(G @ G.T, G @ rng.normal(size=rank), mu)


def permuted(problem, order):
    """The same contacts in another order."""
    dim = problem.dim
    rows = (np.asarray(order)[:, None] * dim + np.arange(dim)).ravel()
    return changed(problem, W=problem.W[rows][:, rows], b=problem.b[rows], order=order)


def changed(problem, *, W=None, b=None, mu=None, order=None):
    """The problem with other data."""
    order = np.arange(problem.n_contacts) if order is None else order
    kinds = {
        k: getattr(problem, k)[order]
        for k in ("torsion", "rolling")
        if getattr(problem, k) is not None
    }
    return ConeProblem(
        problem.W if W is None else W,
        problem.b if b is None else b,
        (problem.mu if mu is None else np.broadcast_to(mu, problem.mu.shape))[order],
        dim=problem.dim,
        elliptic=problem.elliptic,
        **kinds,
    )


def rescaled(problem, scales):
    """Each contact in units of its own: W -> S W S, b -> S b."""
    S = sp.diags_array(np.repeat(scales, problem.dim))
    W = sp.csr_array(S @ sp.csr_array(problem.W) @ S)
    return changed(problem, W=W if sp.issparse(problem.W) else W.toarray(), b=S @ problem.b)


def natural_residual(problem, r):
    """max |r - P_K(r - rho (u + mu |u_t| n))| / (rho max |b|), rho = 1 / max diag W."""
    u = problem.W @ r + problem.b
    rho, dim = 1.0 / np.abs(problem.W.diagonal()).max(), problem.dim
    r, u = r.reshape(-1, dim), u.reshape(-1, dim)
    x = r - rho * u
    x[:, 0] -= rho * problem.mu * np.linalg.norm(u[:, 1:], axis=1)
    size = np.linalg.norm(x[:, 1:], axis=1)
    inside, polar = size <= problem.mu * x[:, 0], problem.mu * size <= -x[:, 0]
    normal = (x[:, 0] + problem.mu * size) / (1.0 + problem.mu**2)
    side = (problem.mu * normal / np.where(size > 0.0, size, 1.0))[:, None] * x[:, 1:]
    edge = np.hstack([normal[:, None], side])
    projected = np.where(inside[:, None], x, np.where(polar[:, None], 0.0, edge))
    scale = float(np.abs(problem.b).max())
    return float(np.abs(r - projected).max() / rho / (scale if scale > 0.0 else 1.0))


def check_solved(problem, solution, tolerance=1e-9):
    """Solved, and so by a residual of our own; for one kind of friction."""
    assert solution.solved, (
        solution.status,
        solution.residual,
        solution.scale_free,
        solution.solver,
    )
    assert natural_residual(problem, solution.r) <= tolerance
    assert solution.residual <= tolerance
    assert np.allclose(
        solution.u,
        problem.W @ solution.r + problem.b,
        rtol=0.0,
        atol=1e-12 * np.abs(problem.b).max(),
    )
