"""What gaps leave free: points of one face have speeds of one plane, and overlap pushes nothing."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.bench.contacts.piles import boxes, dropped
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.common_plane import ONE
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim, central_impulses
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.gap_allowance import LEFT, NEAR, allow_gaps
from tests.contact.newton.test_block_factors import tower
from tests.support.contact_rows import scratch_of

DT = 1e-3
SMALL = NEAR * 0.2 * np.sqrt(2.0) / DT  # m/s, of a face of 0.2 m


@pytest.fixture
def face():
    """What speeds of the four points of a box that stands become, and the planes over them."""
    scene = boxes(1).scene
    stepping = so.Simulator(scene, dt=DT).stepping
    t = stepping.tables()
    load_state(t, scene.state, np.zeros(scene.model.nv), 1)
    t, _ = stepping.prepare(t)
    assert t.control[at.ACTING] == 4

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


def test_a_small_overlap_is_given_to_all(face):
    allowed, planes = face
    plane = planes @ np.array([5.0 * SMALL, 0.0, 0.0])
    for overlap in (2.0 * LEFT, 0.9):
        given = plane - plane.min() - overlap * SMALL
        found = allowed(given)
        assert found == pytest.approx(plane - plane.min(), rel=1e-12, abs=1e-20)
        assert found.min() == 0.0
    given = plane - plane.min() - 0.5 * LEFT * SMALL
    assert allowed(given) == pytest.approx(np.maximum(given, 0.0), rel=1e-12, abs=1e-20)


def test_a_large_overlap_pushes_nothing(face):
    allowed, planes = face
    plane = planes @ np.array([1.0, 0.0, 0.0])
    assert plane.min() < -SMALL
    assert np.array_equal(allowed(plane), np.maximum(plane, 0.0))


def test_roundings_are_no_gap(face):
    allowed, _ = face
    assert np.array_equal(allowed(np.array([1e-15, -1e-9, 2e-15, 0.0])), np.zeros(4))


@pytest.mark.compiled
def test_faces_of_a_heap_are_planes():
    loop = Ours(dropped(30, round_ones=False).scene, 2e-3)
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
