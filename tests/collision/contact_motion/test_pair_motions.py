"""How contacts of two shapes move: against differences of the narrow phase and exact geometry."""

import numpy as np
import pytest
import scipy.optimize
from scipy.spatial.transform import Rotation

from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    ShapePair,
    Sphere,
)
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.contact_motion.pair_motions import pair_motions

LIMIT = 2e-3  # m: largest gap of a contact
DEEP = -1e-4
STEP = 3e-6
BARS = (-2, -1, 1, 2)

BOX = Box((0.4, 0.3, 0.2))
CAPSULE = Capsule(0.07, 0.4)
HULL = ConvexHull(np.random.default_rng(3).normal(size=(14, 3)) * 0.2)
HILLS = HeightField(0.05 * np.random.default_rng(1).normal(size=(7, 7)), (1.5, 1.5))
ROOF = Mesh(*HILLS.triangles())


def motions(pair, position, rotation, found):
    """Status; changes (6, k, 7) of normals, points and gaps; the table of contacts."""
    rows = np.zeros((len(found.gaps), by.COLUMNS))
    rows[:, by.GAP] = found.gaps
    rows[:, by.POINT : by.POINT + 3] = found.positions
    rows[:, by.NORMAL : by.NORMAL + 3] = found.normals
    pair._place(position, rotation, np.zeros(3), None)
    names = found.features.copy()
    status = pair_motions(pair._tables, pair._places, 0, 1, rows, pair._scratch, names)
    moves = rows[:, by.MOVES :].reshape(len(rows), 6, by.MOVE_COLUMNS).transpose(1, 0, 2)
    parts = (by.TURNS, 3), (by.MOVES_POINT, 3), (by.WIDENS, 1)
    return status, np.concatenate([moves[:, :, k : k + n] for k, n in parts], axis=2), rows


def moved(position, rotation, change, centre):
    """A pose after turning about the world's axes through `centre`, and moving."""
    turn = Rotation.from_rotvec(change[:3]).as_matrix()
    return centre + turn @ (position - centre) + change[3:], turn @ rotation


def differences(pair, position, rotation, found):
    """The same by differences of fourth order; None where other contacts are near."""
    names = [tuple(name) for name in found.features]
    centre = position + rotation @ pair._tables.floats[0, :3]
    changes = []
    for c in range(6):
        f = []
        for bar in BARS:
            change = bar * STEP * np.eye(6)[c]
            near = pair.contacts(*moved(position, rotation, change, centre), limit=2.0 * LIMIT)
            rows = {tuple(name): j for j, name in enumerate(near.features)}
            if set(rows) != set(names):
                return None
            order = [rows[name] for name in names]
            f.append(np.column_stack([near.normals, near.positions, near.gaps])[order])
        changes.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * STEP))
    return np.array(changes)


def touching(pair, rotation, way):
    """Where A overlaps B by `DEEP`, coming against `way`."""
    low, high = 0.0, 3.0
    surface = isinstance(pair.shapes[1], HalfSpace | Mesh | HeightField)

    def gap(s):
        if not surface:
            return pair.separation(s * way, rotation).distance
        return pair.contacts(s * way, rotation, limit=0.05).gaps.min(initial=1.0)

    if surface:
        high = 0.6
        while gap(high) > DEEP:
            high -= 4e-3
        low, high = high, high + 4e-3
    for _ in range(45):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if gap(middle) > DEEP else (middle, high)
    return high * way


def any_way(rng, surface):
    if surface:
        return np.array([0.05 * rng.normal(), 0.05 * rng.normal(), 1.0])
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def any_turn(rng):
    return Rotation.random(random_state=rng).as_matrix()


def leaning(rng):
    """Nearly flat."""
    turn = Rotation.from_euler("z", rng.uniform(0.0, 3.0))
    return (Rotation.from_rotvec(1e-2 * rng.normal(size=3)) * turn).as_matrix()


def lying(rng):
    """Nearly on its side."""
    about = Rotation.from_euler("z", rng.uniform(0.0, 3.0))
    return (about * Rotation.from_euler("y", 0.5 * np.pi + 2e-2 * rng.normal())).as_matrix()


@pytest.mark.compiled
@pytest.mark.parametrize("turn", [any_turn, leaning, lying])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (BOX, Box((0.3, 0.5, 0.25))),
        (HULL, BOX),
        (BOX, HULL),
        (Sphere(0.1), CAPSULE),
        (CAPSULE, Capsule(0.1, 0.4)),
        (CAPSULE, BOX),
        (BOX, CAPSULE),
        (HULL, CAPSULE),
        (Sphere(0.1), BOX),
        (Sphere(0.1), HULL),
        (BOX, HalfSpace()),
        (CAPSULE, HalfSpace()),
        (Cylinder(0.1, 0.3), HalfSpace()),
        (Cone(0.1, 0.3), HalfSpace()),
        (Ellipsoid((0.1, 0.2, 0.3)), HalfSpace()),
        (BOX, HILLS),
        (Sphere(0.1), HILLS),
        (CAPSULE, HILLS),
        (Cylinder(0.1, 0.3), HILLS),
        (HULL, ROOF),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_motions_are_those_of_the_narrow_phase(a, b, turn):
    rng = np.random.default_rng(11)
    pair, seen = ShapePair(a, b), 0
    for _ in range(16):
        rotation = turn(rng)
        way = any_way(rng, isinstance(b, HalfSpace | Mesh | HeightField))
        position = touching(pair, rotation, way)
        found = pair.contacts(position, rotation, limit=LIMIT)
        status, changes, rows = motions(pair, position, rotation, found)
        assert status != by.UNKNOWN
        expected = differences(pair, position, rotation, found)
        if status == by.KINK or expected is None or near_a_switch(rows):
            continue
        seen += 1
        largest = max(1.0, np.abs(expected).max())
        assert np.abs(changes - expected).max() < 1e-7 * largest
    assert seen > 2


def near_a_switch(rows):
    """Whether steps of differences reach where the other side of a patch is the flatter one, or a
    gap that bounds the way to the common plane is none."""
    normals = rows[:, by.NORMAL : by.NORMAL + 3]
    for n in normals:
        patch = rows[normals @ n > 1.0 - 1e-12]
        spreads = [np.ptp(patch[:, side : side + 3] @ n) for side in (by.ON_A, by.ON_B)]
        if len(patch) > 1 and abs(spreads[0] - spreads[1]) < 4.0 * STEP:
            return True
    return np.abs(rows[:, by.GAP]).min() < 4.0 * STEP


def farthest(shape, d):
    """Point of a smooth shape, or of a rim, that lies farthest along d."""
    if isinstance(shape, Sphere):
        return shape.radius * d
    if isinstance(shape, Ellipsoid):
        axes = np.array(shape.semi_axes)
        return axes**2 * d / np.linalg.norm(axes * d)
    across = np.hypot(d[0], d[1])
    if isinstance(shape, Capsule):
        return np.array([0.0, 0.0, np.copysign(0.5 * shape.length, d[2])]) + shape.radius * d
    rim = shape.radius * d[:2] / across
    if isinstance(shape, Cylinder):
        return np.array([*rim, np.copysign(0.5 * shape.length, d[2])])
    tip = shape.length * d[2] > shape.radius * across
    end = 0.5 * shape.length
    return np.array([0.0, 0.0, end]) if tip else np.array([*rim, -end])


def exactly(a, b, position, rotation, near):
    """Normal, middle and gap of the nearest points; None where they are not found to rounding."""
    first = np.cross(near, np.eye(3)[np.argmin(np.abs(near))])
    first /= np.linalg.norm(first)
    second = np.cross(near, first)

    def sides(x):
        n = near + x[0] * first + x[1] * second
        n /= np.linalg.norm(n)
        on_a = position + rotation @ farthest(a, rotation.T @ -n)
        return n, on_a, farthest(b, n)

    def across(x):
        n, on_a, on_b = sides(x)
        line = on_a - on_b - ((on_a - on_b) @ n) * n
        return line @ first, line @ second

    x, told, _, _ = scipy.optimize.fsolve(across, np.zeros(2), xtol=1e-14, full_output=True)
    n, on_a, on_b = sides(x)
    if np.abs(told["fvec"]).max() > 1e-13:
        return None
    return np.array([*n, *(0.5 * (on_a + on_b)), (on_a - on_b) @ n])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Ellipsoid((0.1, 0.2, 0.3)), Ellipsoid((0.3, 0.2, 0.15))),
        (Ellipsoid((0.1, 0.2, 0.3)), Sphere(0.1)),
        (Ellipsoid((0.1, 0.2, 0.3)), Capsule(0.1, 0.3)),
        (Cylinder(0.1, 0.3), Ellipsoid((0.3, 0.2, 0.15))),
        (Cylinder(0.1, 0.3), Sphere(0.1)),
        (Cone(0.1, 0.3), Ellipsoid((0.3, 0.2, 0.15))),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_curved_shapes_move_as_exact_geometry_has_it(a, b):
    """The narrow phase finds their normals to 2e-4 rad: it cannot be differenced."""
    rng = np.random.default_rng(5)
    pair, seen = ShapePair(a, b), 0
    step = 1e-4
    for _ in range(60):
        rotation = any_turn(rng)
        position = touching(pair, rotation, any_way(rng, surface=False))
        near = pair.separation(position, rotation).normal
        there = exactly(a, b, position, rotation, near)
        if there is None or abs(there[6] - DEEP) > 1e-5:
            continue  # flat sides and edges touch
        f = np.array(
            [
                exactly(a, b, *moved(position, rotation, bar * step * e, position), there[:3])
                for e in np.eye(6)
                for bar in BARS
            ]
        ).reshape(6, 4, 7)
        expected = (f[:, 0] - 8.0 * f[:, 1] + 8.0 * f[:, 2] - f[:, 3]) / (12.0 * step)
        rows = pair.contacts(position, rotation, limit=LIMIT)
        found = rows._replace(
            positions=there[None, 3:6],
            normals=there[None, :3],
            gaps=there[6:],
            features=np.zeros((1, 2), dtype=np.int64),
        )
        status, changes, _ = motions(pair, position, rotation, found)
        assert status == by.KNOWN
        seen += 1
        assert np.abs(changes[:, 0] - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())
    assert seen > 5
