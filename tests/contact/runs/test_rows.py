"""Rows of L among the columns of runs, against those of all joints."""

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.collision import _layout as col
from spatialops.contact.delassus import contact_rows, velocity_change
from spatialops.contact.rows import PLACE_COLUMNS, SparseRows, multiply_rows, place_rows
from spatialops.contact.runs.columns import COLUMNS, TOP, new_runs
from spatialops.contact.runs.rows import change_through_runs, put_run_rows
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.kinematics import axis_of, poses_kernel
from spatialops.tree.loops import Loops
from spatialops.tree.tree_columns import columns_of_trees
from tests.support.trees import random_inertia, random_joint, random_rotation, relative_error

KINDS = ("revolute", "revolute", "prismatic", "screw", "ball")
# A free chain, a branch from halfway and one from its end, and a free body beside them.
PARENTS = (-1, *range(199), 100, *range(200, 299), 199, *range(300, 399), -1)
# Bodies of contacts, of which -1 is the world.
BETWEEN = ((0, -1), (70, -1), (199, -1), (-1, 299), (299, 399), (399, 60), (400, 250), (250, 400))


def branched(rng):
    """A tree of long branches and a lone body."""
    builder = so.TreeBuilder()
    for i, parent in enumerate(PARENTS):
        kind = str(rng.choice(KINDS))
        builder.add_body(
            f"b{i}",
            parent=f"b{parent}" if parent >= 0 else "world",
            joint=random_joint(rng, kind) if parent >= 0 else so.Joint("free"),
            inertia=random_inertia(rng),
            position=0.3 * rng.normal(size=3),
        )
    return builder.build()


def planar(rng):
    """A free chain in a plane, which three numbers of a wrench do not bend, but for rounding."""
    builder = so.TreeBuilder()
    for i in range(401):
        builder.add_body(
            f"b{i}",
            parent=f"b{i - 1}" if i else "world",
            joint=so.Joint("revolute") if i else so.Joint("free"),
            inertia=so.Inertia.box((0.2, 0.1, 0.1), mass=1.0),
            position=(0.2, 0.0, 0.0),
        )
    return builder.build()


@pytest.fixture(params=[branched, planar])
def model(request, rng):
    return request.param(rng)


@pytest.fixture
def work(model, rng):
    """Poses and factors."""
    work = np.zeros((model.nv, layout.WORK_COLUMNS))
    q = so.integrate(model, model.neutral(), 0.2 * rng.normal(size=model.nv))
    poses_kernel(model.tree, model.links, q, work)
    factor_kernel(model.tree, model.links, work)
    return work


@pytest.fixture
def contacts(model, work, rng):
    """Tables of contacts, a stop, dry friction of a joint, and a moment of the last contact."""
    count = len(BETWEEN) + 3
    ints = np.zeros((count, col.CONTACT_INTS), dtype=np.int64)
    floats = np.zeros((count, col.CONTACT_COLUMNS))
    for i, pair in enumerate((*BETWEEN, BETWEEN[5])):
        links = [model.body_links[body] if body >= 0 else -1 for body in pair]
        ints[i, [col.CONTACT_A, col.CONTACT_B]] = links
        floats[i, col.POINT : col.POINT + 3] = work[max(links), layout.ORIGIN : layout.ORIGIN + 3]
        floats[i, col.POINT : col.POINT + 3] += 0.1 * rng.normal(size=3)
        floats[i, col.NORMAL : col.NORMAL + 9] = random_rotation(rng).ravel()
    ints[len(BETWEEN), col.CONTACT_PAIR] = -1
    for i, (body, kind) in enumerate(((120, col.STOP), (30, col.DRY)), len(BETWEEN) + 1):
        k = model.body_links[body]
        ints[i, [col.CONTACT_A, col.CONTACT_B]] = k, model.tree[k, layout.PARENT]
        ints[i, col.CONTACT_FEATURE_A] = kind
        along = col.TANGENT if kind == col.DRY else col.NORMAL
        floats[i, along : along + 3] = axis_of(model.tree, work, k)
    return ints, floats


def rows_of(model, work, contacts):
    """Rows of all joints' columns, and of runs, with these."""
    ints, floats = contacts
    of = columns_of_trees(model, Loops(model, []))
    made = []
    for _ in range(2):
        places = np.zeros((len(ints), PLACE_COLUMNS), dtype=np.int64)
        made.append(SparseRows(np.full(3 * len(ints) * model.nv, np.nan), places))
    place_rows(*of, ints, len(ints), made[0].places)
    contact_rows(model.tree, model.links, work, ints, floats, len(ints), made[0])
    runs = new_runs(of[1])
    mechanism = model.tree, model.links, work
    assert put_run_rows(*of, *mechanism, ints, floats, len(ints), runs, made[1])
    return (*made, runs)


def test_compliance_is_the_same(model, work, contacts):
    m = len(contacts[0])
    full, short, runs = rows_of(model, work, contacts)
    expected, W = np.empty((3 * m, 3 * m)), np.empty((3 * m, 3 * m))
    multiply_rows(full, m, expected)
    multiply_rows(short, m, W)
    sizes = np.sqrt(np.maximum(np.diag(expected), 1e-12 * np.diag(expected).max()))
    assert np.abs((W - expected) / np.outer(sizes, sizes)).max() < 1e-12
    assert 4 * runs.trees[-1] <= model.nv
    assert runs.links[runs.links[:, TOP] >= 0, COLUMNS].sum() == runs.trees[-1]


def test_velocity_change_is_the_same(model, work, contacts, rng):
    full, short, runs = rows_of(model, work, contacts)
    impulses = rng.normal(size=3 * len(contacts[0]))
    expected, dv = np.empty(model.nv), np.full(model.nv, np.nan)
    velocity_change(model.tree, model.links, work, full, impulses, expected)
    change_through_runs(model.tree, model.links, work, short, runs, impulses, dv)
    assert relative_error(dv, expected) < 1e-11


def test_many_contacts_keep_all_columns(model, work, contacts):
    """Runs that are hardly longer than their columns cost more than they spare."""
    bodies = np.arange(0, model.n_bodies, 4)
    ints = np.zeros((len(bodies), col.CONTACT_INTS), dtype=np.int64)
    ints[:, col.CONTACT_A], ints[:, col.CONTACT_B] = model.body_links[bodies], -1
    floats = np.zeros((len(bodies), col.CONTACT_COLUMNS))
    of = columns_of_trees(model, Loops(model, []))
    runs = new_runs(of[1])
    places = np.zeros((len(bodies), PLACE_COLUMNS), dtype=np.int64)
    rows = SparseRows(np.zeros(3 * len(bodies) * model.nv), places)
    mechanism = model.tree, model.links, work
    assert not put_run_rows(*of, *mechanism, ints, floats, len(bodies), runs, rows)
    assert np.array_equal(runs.trees, of[1])


def test_short_trees_have_none():
    assert len(new_runs(np.arange(0, 600, 6)).links) == 0
    assert len(new_runs(np.array([0, 99])).links) == 0
    assert len(new_runs(np.array([0, 500]), closed=True).links) == 0
