"""Room that the loop asks for: for contacts, and for the factors of a pile."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.newton.blocks import structure
from tests.simulation.stepping.warm.test_warm_check import boxes_on_a_floor


def test_factors_of_a_pile_get_the_room_they_need(monkeypatch):
    """A tower of thirteen boxes: 78 columns, solved tree by tree, begun with no room for blocks."""
    scene = boxes_on_a_floor(13)
    after, info = so.Simulator(scene, dt=1e-3).step(scene.state)
    monkeypatch.setattr(structure, "_FIRST", 0)
    monkeypatch.setattr(structure, "_USUAL", 1)
    again, other = so.Simulator(scene, dt=1e-3).step(scene.state)
    assert np.array_equal(after.q, again.q)
    assert np.array_equal(info.contacts.impulses, other.contacts.impulses)
    assert info.contacts.impulses[:4, 0].sum() == pytest.approx(13 * 9.81e-3, rel=1e-9)
