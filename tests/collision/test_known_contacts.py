"""Contacts that are taken over from an earlier look: those that a fresh look would find."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.collision import Box, HalfSpace
from spatialops.collision import _layout as col
from spatialops.collision.known_contacts import (
    KnownContacts,
    first_of_pair,
    note_moved,
    nothing_known,
    stands,
)
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.detection_stage import detect_contacts
from tests.support.contact_rows import plain

EPS = float(np.finfo(np.float64).eps)


def places(*positions):
    found = np.zeros((len(positions), col.PLACE_COLUMNS))
    found[:, :3] = positions
    found[:, col.TURN : col.TURN + 9] = np.eye(3).ravel()
    return found


def bounded(count, bound=0.5):
    geoms = np.zeros((count, col.GEOM_COLUMNS))
    geoms[:, col.GEOM_BOUND] = bound
    return geoms


@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
def test_pairs_are_found_from_any_guess(rng, count):
    table = np.zeros((count, col.CONTACT_INTS), dtype=np.int64)
    pairs = np.sort(rng.integers(0, count + 1, count))
    table[:, col.CONTACT_PAIR] = pairs
    for pair in range(-1, count + 2):
        found = {first_of_pair(table, count, pair, guess) for guess in range(count + 3)}
        assert found == {np.searchsorted(pairs, pair)}


def test_who_moves_is_noted_and_nobody_else():
    geoms, here = bounded(3), places((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    stood = np.zeros((3, col.STOOD_COLUMNS))
    note_moved(geoms, here, stood, 1)
    assert stood[:, col.SINCE].tolist() == [1, 1, 1]
    here[1, 0] += 1e-12
    here[2, col.TURN + 1] += 1e-12
    note_moved(geoms, here, stood, 2)
    assert stood[:, col.SINCE].tolist() == [1, 2, 2]
    assert (stood[:, : col.PLACE_COLUMNS] == here).all()


def test_roundings_do_not_add_up():
    geoms, here = bounded(1), places((1.0, 0.0, 0.0))
    stood = np.zeros((1, col.STOOD_COLUMNS))
    note_moved(geoms, here, stood, 1)
    for look in range(2, 40):
        here[0, 0] += EPS
        note_moved(geoms, here, stood, look)
        assert abs(here[0, 0] - stood[0, 0]) <= 6.0 * EPS
    assert stood[0, col.SINCE] > 30


def test_what_is_not_a_number_does_not_stand():
    geoms, here = bounded(1), places((np.nan, 0.0, 0.0))
    assert not plain(stands)(geoms, here, np.zeros((1, col.STOOD_COLUMNS)), 0)


def test_nothing_is_known_at_first():
    known = nothing_known()
    assert known.look == 0
    assert isinstance(known, KnownContacts)


def stack(count=3, tilt=0.0):
    size, builder = (0.2, 0.3, 0.1), so.TreeBuilder()
    for i in range(count):
        builder.add_body(f"box{i}", joint=so.Joint("free"), inertia=so.Inertia.box(size, mass=1.0))
    model = builder.build()
    geoms = [so.Geom("floor", "world", HalfSpace(), friction=0.5)]
    geoms += [so.Geom(f"box{i}", f"box{i}", Box(size), friction=0.5) for i in range(count)]
    q = model.neutral()
    for i in range(count):
        q[7 * i : 7 * i + 3] = 1.0 + 0.001 * i, 0.7, 0.05 + 0.1 * i
        q[7 * i + 5 : 7 * i + 7] = np.sin(0.3 + tilt * i), np.cos(0.3 + tilt * i)
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


@pytest.mark.compiled
def test_what_rests_is_not_looked_at_again():
    ours = Ours(stack(), 1e-3, sleep=False)
    ours.run(300)
    looks = ours.tables.control[at.LOOKS]
    moved = 0
    for _ in range(300):
        before = ours.tables.stood[:, col.SINCE].copy()
        ours.run(1)
        moved += int((ours.tables.stood[:, col.SINCE] != before).sum())
    assert ours.tables.control[at.LOOKS] == looks + 600
    assert moved < 20  # of 4 x 600: roundings


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_what_is_taken_over_is_what_a_fresh_look_finds(tilt):
    scene = stack(tilt=tilt)
    ours = Ours(scene, 1e-3)
    ours.run(20)
    fresh = Ours(so.Scene(scene.model, scene.geoms, state=ours.state), 1e-3).tables
    detect_contacts(fresh)
    count = fresh.control[at.SEEN]
    assert ours.tables.control[at.SEEN] == count > 0
    assert (ours.tables.seen_ints[:count] == fresh.seen_ints[:count]).all()
    columns = [col.GAP, *range(col.POINT, col.POINT + 3), *range(col.NORMAL, col.NORMAL + 3)]
    apart = ours.tables.seen[:count, columns] - fresh.seen[:count, columns]
    assert np.abs(apart).max() < 20.0 * EPS
