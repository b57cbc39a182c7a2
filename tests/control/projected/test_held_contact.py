"""One contact: its rows, its frame, and what is refused."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    HeldContact,
)
from spatialops.control.projected.held_contact import frame_of
from spatialops.errors import ArgumentError


def test_bad_contacts_are_refused():
    with pytest.raises(ArgumentError, match="friction: expected a number > 0"):
        HeldContact(node=so.Node("base"), friction=0.0)
    with pytest.raises(ArgumentError, match="half_lengths, torsion"):
        HeldContact(node=so.Node("base"), half_lengths=(0.1, 0.1))


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, 3),
        ({"torsion": 0.01}, 4),
        ({"torsion": 0.01, "half_lengths": (0.05, 0.1)}, 6),
        ({"slide": (1.0, 0.0, 0.0), "pressed": 5.0}, 1),
    ],
)
def test_kinds_have_their_rows(options, rows):
    assert HeldContact(node=so.Node("base"), **options).rows == rows


@pytest.mark.parametrize("normal", [(0.0, 0.0, 2.0), (1.0, -2.0, 0.5)])
def test_frames_are_right_handed(normal):
    frame = frame_of(normal, (0.0, 1.0, 0.3))
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    assert frame[0] == pytest.approx(np.array(normal) / np.linalg.norm(normal))
    assert frame[1] @ [0.0, 1.0, 0.3] > 0.0
    assert frame_of(normal) @ normal == pytest.approx([np.linalg.norm(normal), 0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most": 1.0, "least": 2.0}, "most: expected more than least"),
        ({"slide": (1.0, 0.0, 0.0)}, "slide: needs"),
        ({"slide": (0.0, 0.0, 0.0), "pressed": 1.0}, "slide: needs"),
        ({"friction": np.nan}, "friction: expected a"),
        ({"radius": -0.1}, "radius: expected a number"),
    ],
)
def test_more_bad_contacts_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        HeldContact(node=so.Node("base"), **options)


def test_directions_need_a_length():
    with pytest.raises(ArgumentError, match="normal: has no length"):
        frame_of((0.0, 0.0, 0.0))
    with pytest.raises(ArgumentError, match="tangent: is along the normal"):
        frame_of((0.0, 0.0, 1.0), (0.0, 0.0, 3.0))
    with pytest.raises(ArgumentError, match="normal: holds NaN"):
        frame_of((np.nan, 0.0, 1.0))
