"""The compliance of contacts W = G M^-1 G^T, and M^-1 G^T p, against dense algebra."""

import numpy as np
import pytest

import spatialops as so
from spatialops._layout import PARENT, WORK_COLUMNS
from spatialops.collision import _layout as col
from spatialops.contact.delassus import contact_rows, velocity_change
from spatialops.contact.rows import PLACE_COLUMNS, SparseRows, multiply_rows, place_rows
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.kinematics import axis_of, poses_kernel, velocities_kernel
from spatialops.tree.loops import Loops
from spatialops.tree.tree_columns import columns_of_trees
from tests.support.contact_rows import dense_entries
from tests.support.trees import random_rotation, relative_error


def random_contacts(rng, model, count):
    """Tables of contacts between random bodies, or with the world, at random points and frames."""
    ints, floats = (
        np.zeros((count, col.CONTACT_INTS), dtype=np.int64),
        np.zeros((count, col.CONTACT_COLUMNS)),
    )
    bodies = []
    for i in range(count):
        a = int(rng.integers(model.n_bodies))
        b = int(rng.integers(-1, model.n_bodies))
        bodies.append((a, b))
        ints[i, col.CONTACT_A] = model.body_links[a]
        ints[i, col.CONTACT_B] = model.body_links[b] if b >= 0 else -1
        floats[i, col.POINT : col.POINT + 3] = rng.normal(size=3)
        floats[i, col.NORMAL : col.NORMAL + 9] = random_rotation(rng).ravel()
    return bodies, ints, floats


def contact_jacobian(model, q, bodies, floats):
    """G: velocities of A against B along the frames, from Jacobians of two nodes at the point."""
    poses, rows = so.body_poses(model, q), []
    for (a, b), row in zip(bodies, floats):
        point, frame = (
            row[col.POINT : col.POINT + 3],
            row[col.NORMAL : col.NORMAL + 9].reshape(3, 3),
        )
        G = np.zeros((3, model.nv))
        for body, sign in ((a, 1.0), (b, -1.0)):
            if body >= 0:
                local = poses.rotations[body].T @ (point - poses.positions[body])
                G += sign * frame @ so.jacobian(model, q, [so.Node(body, local)])[3:]
        rows.append(G)
    return np.concatenate(rows)


@pytest.fixture(params=[1, 4, 40])
def case(request, model, state, rng):
    """Kernels' tables and the dense Jacobian of some contacts."""
    q, v = state[0], state[1]
    bodies, ints, floats = random_contacts(rng, model, request.param)
    if request.param > 8:  # as the loop has them: in the order of pairs
        order = np.lexsort((ints[:, col.CONTACT_A], ints[:, col.CONTACT_B]))
        bodies = [bodies[i] for i in order]
        ints, floats = ints[order], floats[order]
        turned = slice(0, 5)
        bodies[turned] = [(b, a) for a, b in bodies[turned]]
        ints[turned, col.CONTACT_A], ints[turned, col.CONTACT_B] = (
            ints[turned, col.CONTACT_B].copy(),
            ints[turned, col.CONTACT_A].copy(),
        )
    work = np.zeros((model.nv, WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    velocities_kernel(model.tree, model.links, v, work)
    factor_kernel(model.tree, model.links, work)
    return work, rows_of(model, work, ints, floats), contact_jacobian(model, q, bodies, floats)


def rows_of(model, work, ints, floats):
    """Rows of L of all contacts."""
    count = len(ints)
    rows = SparseRows(
        np.full(3 * count * model.nv, np.nan), np.zeros((count, PLACE_COLUMNS), dtype=np.int64)
    )
    place_rows(*columns_of_trees(model, Loops(model, [])), ints, count, rows.places)
    contact_rows(model.tree, model.links, work, ints, floats, count, rows)
    return rows


def test_compliance(case, model, state):
    _, rows, G = case
    size = len(G)
    W = np.full((size, size), np.nan)
    multiply_rows(rows, size // 3, W)
    left = np.linalg.solve(np.linalg.cholesky(so.mass_matrix(model, state[0])), G.T)
    assert relative_error(W, left.T @ left) < 1e-12
    assert np.array_equal(W, W.T)


def test_velocity_change(case, model, state, rng):
    work, rows, G = case
    L = dense_entries(rows, model.nv)
    impulses, dv = rng.normal(size=len(L)), np.full(model.nv, np.nan)
    impulses[0] = 0.0
    velocity_change(model.tree, model.links, work, rows, impulses, dv)
    expected = np.linalg.solve(so.mass_matrix(model, state[0]), G.T @ impulses)
    assert relative_error(dv, expected) < 1e-12
    # What the contacts see of it is W p.
    assert relative_error(G @ dv, L @ (L.T @ impulses)) < 1e-12


def test_contact_of_a_body_with_itself_moves_nothing(rng, model):
    q = model.random(rng)
    _, ints, floats = random_contacts(rng, model, 1)
    ints[0, col.CONTACT_B] = ints[0, col.CONTACT_A]
    work = np.zeros((model.nv, WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    factor_kernel(model.tree, model.links, work)
    rows = rows_of(model, work, ints, floats)
    assert np.abs(dense_entries(rows, model.nv)).max() < 1e-12


def test_joints_among_contacts_answer_their_own_unit_force(model, state, rng):
    """Stops and dry friction of all joints in turns, between contacts of their links."""
    q = state[0]
    bodies, ints, floats = random_contacts(rng, model, 3 * model.nv)
    work = np.zeros((model.nv, WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    factor_kernel(model.tree, model.links, work)
    G = contact_jacobian(model, q, bodies, floats).reshape(-1, 3, model.nv)
    for k in range(model.nv):
        i = 3 * k + 1 if k % 3 else 3 * k + 2
        kind = col.DRY if k % 2 else col.STOP
        ints[i, [col.CONTACT_A, col.CONTACT_B]] = k, model.tree[k, PARENT]
        ints[i, col.CONTACT_FEATURE_A] = kind
        j, side = (1, 1.0) if kind == col.DRY else (0, -1.0)
        floats[i, col.NORMAL : col.NORMAL + 9] = 0.0
        first = col.NORMAL + 3 * j
        floats[i, first : first + 3] = side * np.array(axis_of(model.tree, work, k))
        G[i] = 0.0
        G[i, j, k] = side
    L = dense_entries(rows_of(model, work, ints, floats), model.nv)
    left = np.linalg.solve(np.linalg.cholesky(so.mass_matrix(model, q)), G.reshape(-1, model.nv).T)
    assert relative_error(L @ L.T, left.T @ left) < 1e-12
