"""Contacts that are no longer seen: whenever it happens, the run goes on and nobody hears of it."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation.event_driven.constrained_motion import LostContact, Mechanics

_LOOKS = 60  # at closed contacts in this run, more or less


def sliding_box() -> so.Scene:
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia, position=(0.0, 0.0, 0.1))
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=0.3)
    model = builder.build()
    v = np.array([0.0, 0.0, 0.0, 0.4, 0.0, 0.0])
    scene = so.Scene(model, [floor, so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)))])
    scene.state = so.State(scene.state.q, v)
    return scene


@pytest.fixture(scope="module")
def undisturbed() -> so.Record:
    return so.Simulator(sliding_box(), dt=0.02, time=so.EventDriven()).run(duration=0.1)


@pytest.mark.compiled
@pytest.mark.parametrize("look", range(1, _LOOKS, 3))
def test_a_contact_that_is_lost_at_any_look(
    look: int, undisturbed: so.Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, looks = Mechanics.closed, []

    def loses(self, q, v, modes):
        looks.append(modes)
        if len(looks) == look and modes:
            raise LostContact("gone", next(iter(modes)))
        return closed(self, q, v, modes)

    monkeypatch.setattr(Mechanics, "closed", loses)
    record = so.Simulator(sliding_box(), dt=0.02, time=so.EventDriven()).run(duration=0.1)
    assert len(looks) > look
    assert np.abs(record.q[-1] - undisturbed.q[-1]).max() < 1e-3
    assert record.penetrations.max() < 1e-6
