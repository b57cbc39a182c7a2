"""What gaps leave free: points of one face have speeds of one plane, and overlap pushes nothing."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.cases import CASES
from spatialops.bench.contacts.engines import Ours
from spatialops.bench.contacts.piles import boxes, dropped
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.common_plane import ONE
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim, central_impulses
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.faces import NEAR, flatten_drifts
from spatialops.simulation.stepping.gap_allowance import LEFT, allow_gaps
from tests.contact.newton.test_block_factors import tower
from tests.support.contact_rows import scratch_of

DT = 1e-3
SMALL = NEAR * 0.2 * np.sqrt(2.0) / DT  # m/s, of a face of 0.2 m


@pytest.fixture
def tables():
    """Tables of a box that stands on four points."""
    scene = boxes(1).scene
    stepping = so.Simulator(scene, dt=DT).stepping
    t = stepping.tables()
    load_state(t, scene.state, np.zeros(scene.model.nv), 1)
    t, _ = stepping.prepare(t)
    assert t.control[at.ACTING] == 4
    return t


@pytest.fixture
def face(tables):
    """What speeds of the four points of a box that stands become, and the planes over them."""
    t = tables

    def allowed(speeds):
        t.floats[:4, col.OPEN] = speeds
        allow_gaps(t, 0, 4)
        return t.floats[:4, col.OPEN].copy()

    points = t.floats[:4, col.POINT : col.POINT + 2]
    return allowed, np.column_stack([points - points.mean(axis=0), np.ones(4)])


def off_plane(planes, speeds):
    return np.abs(speeds - planes @ np.linalg.lstsq(planes, speeds, rcond=None)[0]).max()


def test_speeds_near_a_plane_are_put_on_it(face, rng):
    allowed, planes = face
    for _ in range(20):
        plane = planes @ np.array([*rng.normal(scale=1e-3, size=2), 1e-2])
        nearly = plane + rng.uniform(-0.5, 0.5, 4) * SMALL
        assert off_plane(planes, nearly) > 1e-3 * SMALL
        assert off_plane(planes, allowed(nearly)) < 1e-16
        assert np.abs(allowed(nearly) - nearly).max() <= SMALL


def test_speeds_on_a_plane_stay(face):
    allowed, planes = face
    plane = planes @ np.array([0.02, -0.01, 0.05])
    assert allowed(plane) == pytest.approx(plane, rel=1e-14)


def test_speeds_far_from_a_plane_stay(face):
    allowed, planes = face
    speeds = np.array([0.01, 0.02, 0.01, 0.03])
    assert off_plane(planes, speeds) > SMALL
    assert np.array_equal(allowed(speeds), speeds)


def test_a_small_overlap_is_given_to_all_but_the_highest(face):
    allowed, planes = face
    plane = planes @ np.array([5.0 * SMALL, 1.0 * SMALL, 0.0])
    for overlap in (1e-3, 0.9):
        given = plane - plane.min() - overlap * SMALL
        found = allowed(given)
        assert off_plane(planes, found) < 1e-15 * SMALL + 1e-18
        assert found.min() == 0.0
        assert found.max() == pytest.approx(given.max(), rel=1e-12)
        lifts = found - np.maximum(given, 0.0)
        assert lifts.min() >= -1e-12 * SMALL
        assert lifts.max() <= overlap * SMALL


def test_what_solvers_leave_of_gaps_is_none(face):
    allowed, planes = face
    left = LEFT * 0.3 / DT  # arms of a corner of a cube of 0.2 m
    assert np.array_equal(allowed(left * np.array([0.9, 0.0, 0.5, -0.3])), np.zeros(4))
    # Of an edge too, whose other side is open.
    open_side = planes @ np.array([SMALL / 0.2, 0.3 * left / 0.2, 0.0])
    found = allowed(open_side - open_side.min())
    assert np.sort(found)[:2] == pytest.approx(0.0, abs=1e-20)
    assert off_plane(planes, found) < 1e-15 * SMALL + 1e-18
    assert np.abs(found - (open_side - open_side.min())).max() < left


def test_a_large_overlap_pushes_nothing(face):
    allowed, planes = face
    plane = planes @ np.array([1.0, 0.0, 0.0])
    assert plane.min() < -SMALL
    assert allowed(plane) == pytest.approx(np.maximum(plane, 0.0), rel=1e-14)


def test_roundings_are_no_gap(face):
    allowed, _ = face
    assert np.array_equal(allowed(np.array([1e-15, -1e-9, 2e-15, 0.0])), np.zeros(4))


def test_drifts_of_a_face_become_those_of_one_motion(tables, rng):
    n = tables.floats[0, col.NORMAL : col.NORMAL + 3]
    arms = tables.floats[:4, col.POINT : col.POINT + 3]
    arms = arms - arms.mean(axis=0)
    shift, turn = rng.normal(size=3), rng.normal()
    tilt = np.cross(n, rng.normal(size=3))
    motion = shift + turn * np.cross(n, arms) + np.outer(arms @ tilt, n)
    noise = SMALL * rng.uniform(-0.1, 0.1, (4, 3))
    tables.floats[:4, col.DRIFT : col.DRIFT + 3] = motion + noise
    flatten_drifts(tables, 0, 4, False)
    found = tables.floats[:4, col.DRIFT : col.DRIFT + 3].copy()
    assert np.abs(found - motion).max() < SMALL
    flatten_drifts(tables, 0, 4, False)
    again = tables.floats[:4, col.DRIFT : col.DRIFT + 3]
    assert again == pytest.approx(found, abs=1e-14)
    far = motion + 100.0 * noise
    tables.floats[:4, col.DRIFT : col.DRIFT + 3] = far
    flatten_drifts(tables, 0, 4, False)
    assert np.array_equal(tables.floats[:4, col.DRIFT : col.DRIFT + 3], far)


@pytest.mark.compiled
def test_faces_of_a_heap_are_planes():
    loop = Ours(dropped(40, round_ones=False).scene, 2e-3)
    faces = 0
    for _ in range(300):
        loop.run(1)
        faces += count_faces(loop.tables)
    assert loop.residual <= 1e-9
    assert faces > 10


def count_faces(t):
    """Faces of four points whose gaps count as they are; they must be planes."""
    m, found = int(t.control[at.ACTING]), 0
    pairs = t.ints[:m, col.CONTACT_PAIR]
    for pair in np.unique(pairs):
        own = t.floats[:m][pairs == pair]
        normals, speeds = own[:, col.NORMAL : col.NORMAL + 3], own[:, col.OPEN]
        if len(own) < 4 or (normals @ normals[0]).min() < ONE or not speeds.min() > 0.0:
            continue
        arms = own[:, col.POINT : col.POINT + 3] - own[:, col.POINT : col.POINT + 3].mean(axis=0)
        planes = np.column_stack([arms @ np.linalg.svd(arms)[2][:2].T, np.ones(len(own))])
        off = off_plane(planes, speeds)
        assert off < 1e-13 or off > 1e-7
        found += 1
    return found


@pytest.mark.compiled
def test_a_wall_that_settles_is_not_wedged():
    """Bricks 0.1 um off their places creep: by what motion alone changes forces were wedged."""
    case = CASES["collapsing wall 100"]
    scene = case.make().scene
    q = scene.state.q.copy()
    q.reshape(-1, 7)[:, :3] += np.random.default_rng(1).uniform(-1e-7, 1e-7, (q.size // 7, 3))
    loop = Ours(so.Scene(scene.model, scene.geoms, state=so.State(q, scene.state.v)), case.dt)
    loop.run(3)
    assert loop.residual <= 1e-9
    assert loop.tables.control[at.PIVOTED] == 0
    assert loop.tables.control[at.PIVOTS] < 400


@pytest.mark.compiled
def test_why_faces_have_to_be_planes():
    """Off the plane by 1e-10 m/s, a tower takes ten times as many iterations, and other forces."""
    counts, largest = [], []
    for off in (0.0, 1e-10):
        rows = tower(30, 1e-4)
        rows.u[0::3] += off * np.tile([1.0, -1.0, -1.0, 1.0], 30)
        p = np.zeros(3 * rows.friction.size)
        aim = Aim(False, 1e-9, ALL_ATTEMPTS, False, False)
        count, residual = central_impulses(rows, 0.0, aim, p, scratch_of(rows))
        assert residual <= 1e-9
        counts.append(count)
        largest.append(p.max())
    assert counts[1] > 4 * counts[0]
    assert largest[1] > 1.4 * largest[0]  # two points of four bear a box, where four did
