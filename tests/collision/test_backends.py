"""Coal and FCL behind `ShapePair`: the same answers as ours, proven, and clear errors."""

import numpy as np
import pytest

from spatialops.collision import Box, ConvexHull, Cylinder, HalfSpace, ShapePair, Sphere
from spatialops.collision.backends import Nearest, Pose, proven
from spatialops.collision.extents import reach
from spatialops.errors import ArgumentError, ContactError, MissingLibraryError, ShapeError
from tests.collision.test_shape_pair import PAIRS, SHAPES, pose_at


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("backend", ["coal", "fcl"])
def test_other_backends_agree_wherever_they_are_right(rng, backend, first, second):
    """Depth within 1e-6 m and normal within 0.1 degree where theirs bears itself out to 1e-7 m.

    Else depth within 1e-5 m.
    """
    pytest.importorskip(backend)
    own = ShapePair(SHAPES[first], SHAPES[second])
    other, compared = ShapePair(SHAPES[first], SHAPES[second], backend=backend), 0
    for target in rng.uniform(-0.08, 0.2, 12):
        place, turns = pose_at(own, rng, target)
        want = own.separation(place, turns[0], rotation_b=turns[1])
        try:
            got = other.separation(place, turns[0], rotation_b=turns[1])
        except ContactError:
            continue  # refused, as it must be
        assert got.distance == pytest.approx(want.distance, abs=1e-5)
        n = got.normal
        along = (
            place @ n
            - reach(SHAPES[first], -turns[0].T @ n)
            - reach(SHAPES[second], turns[1].T @ n)
        )
        if abs(along - got.distance) < 1e-7:  # FCL stops earlier for round shapes
            compared += 1
            assert got.distance == pytest.approx(want.distance, abs=1e-6)
            assert np.degrees(np.linalg.norm(np.cross(got.normal, want.normal))) < 0.1
    assert compared >= 6 or backend == "fcl"


@pytest.mark.parametrize("backend", ["coal", "fcl"])
def test_the_manifold_about_another_distance_is_ours(backend):
    pytest.importorskip(backend)
    places = {"position": (0.02, 0.01, 0.35 - 1e-3), "limit": 1e-2}
    for shape in (
        Box((0.2, 0.2, 0.3)),
        Cylinder(0.1, 0.3),
        ConvexHull(SHAPES["box"].size * (np.mgrid[:2, :2, :2].reshape(3, -1).T - 0.5)),
    ):
        height = reach(shape, np.array([0.0, 0.0, 1.0]))
        places["position"] = (0.02, 0.01, 0.2 + height - 1e-3)
        want = ShapePair(shape, Box((1.0, 1.0, 0.4))).contacts(**places)
        got = ShapePair(shape, Box((1.0, 1.0, 0.4)), backend=backend).contacts(**places)
        assert len(got.gaps) == len(want.gaps) == 4
        np.testing.assert_allclose(got.gaps, -1e-3, atol=1e-6)
        assert {tuple(row) for row in got.features} == {tuple(row) for row in want.features}
    apart = ShapePair(Box((0.2, 0.2, 0.3)), Box((1.0, 1.0, 0.4)), backend=backend).contacts(
        (0.0, 0.0, 0.5), limit=1e-2
    )
    assert len(apart.gaps) == 0


def test_a_normal_that_does_not_bear_its_distance_out_is_refused():
    shapes = Sphere(0.1), Sphere(0.1)
    a, b = Pose(np.array([0.0, 0.0, 0.3]), np.eye(3)), Pose(np.zeros(3), np.eye(3))
    up, aside = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.6, 0.8])
    assert proven("coal", shapes, a, b, Nearest(0.1, up, np.zeros(3))).distance == 0.1
    for wrong in (
        Nearest(0.1, aside, np.zeros(3)),
        Nearest(0.2, up, np.zeros(3)),
        Nearest(-np.inf, up, np.zeros(3)),
        Nearest(0.1, np.full(3, np.nan), np.zeros(3)),
    ):
        with pytest.raises(ContactError, match="not by its distance"):
            proven("coal", shapes, a, b, wrong)


def test_backends_are_refused_by_name(monkeypatch):
    with pytest.raises(ArgumentError, match="expected one of own, coal, fcl"):
        ShapePair(Sphere(0.1), Sphere(0.1), backend="bullet")
    with pytest.raises(ShapeError, match="two convex and bounded"):
        ShapePair(Sphere(0.1), HalfSpace(), backend="coal")
    monkeypatch.setitem(__import__("sys").modules, "coal", None)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[coal\]"):
        ShapePair(Sphere(0.1), Sphere(0.1), backend="coal")


def mujoco_shape(shape):
    """A geom of MuJoCo's own sizes, as XML."""
    if isinstance(shape, ConvexHull):
        return 'type="mesh" mesh="hull"'
    kind = type(shape).__name__.lower()
    if kind == "box":
        sizes = 0.5 * np.array(shape.size)
    elif kind == "ellipsoid":
        sizes = np.array(shape.semi_axes)
    else:
        sizes = [shape.radius] if kind == "sphere" else [shape.radius, 0.5 * shape.length]
    return f'type="{kind}" size="{" ".join(map(repr, map(float, sizes)))}"'


@pytest.mark.parametrize(("first", "second"), [pair for pair in PAIRS if "cone" not in pair])
def test_against_mujoco(rng, first, second):
    """mj_geomDistance to 1e-6 m wherever its own nearest points bear its distance out."""
    mujoco = pytest.importorskip("mujoco")
    hull = " ".join(f"{x:.17g}" for x in np.asarray(SHAPES["hull"].vertices).ravel())
    bodies = "".join(
        f"<body><freejoint/><geom {mujoco_shape(SHAPES[name])}/></body>" for name in (first, second)
    )
    m = mujoco.MjModel.from_xml_string(
        '<mujoco><option ccd_iterations="200" ccd_tolerance="1e-10"/>'
        f'<asset><mesh name="hull" vertex="{hull}"/></asset>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )
    d = mujoco.MjData(m)
    pair = ShapePair(SHAPES[first], SHAPES[second])
    segment = np.zeros(6)
    compared = 0
    for target in rng.uniform(1e-3, 0.2, 15):
        place, turns = pose_at(pair, rng, target)
        mujoco.mj_kinematics(m, d)
        for g, (position, turn, name) in enumerate(
            zip((place, np.zeros(3)), turns, (first, second), strict=True)
        ):
            d.geom_xpos[g], d.geom_xmat[g] = position, turn.ravel()
            if (
                name == "hull"
            ):  # MuJoCo moves a mesh to its centre of mass and turns it to its principal axes
                own = np.zeros(9)
                mujoco.mju_quat2Mat(own, m.mesh_quat[0])
                d.geom_xpos[g], d.geom_xmat[g] = (
                    position + turn @ m.mesh_pos[0],
                    (turn @ own.reshape(3, 3)).ravel(),
                )
        distance = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, segment)
        found = pair.separation(place, turns[0], rotation_b=turns[1])
        line = segment[:3] - segment[3:]
        if not abs(np.linalg.norm(line) - distance) < 1e-7:
            continue
        n = line / distance
        along = (
            place @ n
            - reach(SHAPES[first], -turns[0].T @ n)
            - reach(SHAPES[second], turns[1].T @ n)
        )
        if not abs(along - distance) < 1e-7:
            continue
        compared += 1
        assert found.distance == pytest.approx(distance, abs=1e-6)
        assert np.degrees(np.linalg.norm(np.cross(found.normal, n))) < 0.1
    assert compared >= 5
