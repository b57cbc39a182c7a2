"""Directions of the friction polyhedron, and frames along the slip."""

import numpy as np
import pytest

import spatialops as so
from spatialops._layout import WORK_COLUMNS
from spatialops.collision import _layout as col
from spatialops.contact.friction import directions, put_frames
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.errors import ArgumentError


@pytest.mark.parametrize("n_f", [2, 4, 6, 8, 16])
def test_directions(n_f):
    table = directions(n_f)
    assert table.shape == (n_f, 2)
    assert table[0].tolist() == [1.0, 0.0]
    assert np.allclose(np.linalg.norm(table, axis=1), 1.0, rtol=0.0, atol=1e-15)
    assert np.array_equal(table[n_f // 2 :], -table[: n_f // 2])  # opposite to the last digit
    assert not np.any(
        (table != 0.0) & (np.abs(table) < 1e-3)
    )  # what is zero is so to the last digit
    angles = np.sort(np.arctan2(table[:, 1], table[:, 0]))
    assert np.allclose(np.diff(angles), 2.0 * np.pi / n_f, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("n_f", [0, 1, 3, 5, -2, 2.5, True, np.nan, "four", None, [4]])
def test_directions_refuse_other_numbers(n_f):
    with pytest.raises(ArgumentError, match="n_f"):
        directions(n_f)


def frames(normal, velocity):
    """Frame and velocities of one contact at the origin of a body that moves with `velocity`."""
    model = (
        so.TreeBuilder()
        .add_body("b", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
        .build()
    )
    work, ints = np.zeros((6, WORK_COLUMNS)), np.zeros((1, col.CONTACT_INTS), dtype=np.int64)
    ints[0, col.CONTACT_A], ints[0, col.CONTACT_B] = model.body_links[0], -1
    floats = np.zeros((1, col.CONTACT_COLUMNS))
    floats[0, col.NORMAL : col.NORMAL + 3] = normal
    poses_kernel(model.tree, model.links, model.neutral(), work)
    velocities_kernel(model.tree, model.links, np.concatenate([np.zeros(3), velocity]), work)
    put_frames(ints, floats, 1, work)
    return floats[0, col.NORMAL : col.NORMAL + 9].reshape(3, 3), floats[
        0, col.APPROACH : col.APPROACH + 3
    ]


def unit(values):
    return np.asarray(values) / np.linalg.norm(values)


def check_frame(frame):
    assert np.allclose(frame @ frame.T, np.eye(3), rtol=0.0, atol=1e-14)
    assert np.linalg.det(frame) > 0.0


def test_first_tangent_lies_along_the_slip(rng):
    for _ in range(20):
        normal, velocity = unit(rng.normal(size=3)), rng.normal(size=3)
        frame, speeds = frames(normal, velocity)
        check_frame(frame)
        slip = velocity - velocity @ normal * normal
        assert np.allclose(frame[1], unit(slip), rtol=0.0, atol=1e-13)
        assert np.allclose(
            speeds, [velocity @ normal, np.linalg.norm(slip), 0.0], rtol=0.0, atol=1e-14
        )


@pytest.mark.parametrize(
    "normal",
    [
        (0, 0, 1),
        (0, 0, -1),
        (1, 0, 0),
        (0, 1, 0),
        (0, -1, 0),
        (1, 0, 1),
        (0, 1, 1),
        (1, 1, 1),
        (3, 2, 3),
    ],
)
@pytest.mark.parametrize("speed", [0.0, -3.0])
def test_frames_without_slip(normal, speed):
    normal = unit(normal)
    frame, speeds = frames(normal, speed * normal)
    check_frame(frame)
    assert speeds[0] == pytest.approx(speed, abs=1e-15)
    assert np.abs(speeds[1:]).max() < 1e-14
    if abs(normal[2]) < 0.7:
        assert frame[1, 2] == pytest.approx(0.0, abs=1e-16)  # level on walls and steep slopes


def test_frames_of_a_slip_far_slower_than_the_impact(rng):
    for _ in range(20):
        normal = unit(rng.normal(size=3))
        across = unit(np.cross(normal, rng.normal(size=3)))
        frame, speeds = frames(normal, -1e4 * normal + 2e-9 * across)
        check_frame(frame)
        assert speeds[0] == pytest.approx(-1e4, rel=1e-14)
        assert np.allclose(frame[1], across, rtol=0.0, atol=1e-2)  # 1e-12 of 2e-9 are rounding


@pytest.mark.parametrize("slip", [0.0, 0.9e-9, 1.1e-9])
def test_a_slip_has_a_direction_from_a_nanometre_a_second_on(slip):
    """Below it tangents on level ground are the world's x and y."""
    velocity = slip * unit((1.0, 1.0, 0.0))
    first, second = ((1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)) if slip > 1e-9 else np.eye(3)[:2]
    frame, _ = frames((0.0, 0.0, 1.0), velocity)
    assert np.allclose(frame, [(0.0, 0.0, 1.0), unit(first), unit(second)], rtol=0.0, atol=1e-15)
