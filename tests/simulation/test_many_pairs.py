"""Scenes in which far more pairs may touch than do."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import Capsule, HalfSpace, Sphere, broad_phase
from spatialops.collision import _layout as col


def raft(n):
    """Long rods side by side: balls about any two of them meet, and hardly any two touch."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", HalfSpace())]
    for i in range(n):
        builder.add_body(
            f"rod {i}",
            joint="free",
            inertia=so.Inertia.sphere(0.1, mass=1.0),
            position=(0.0, 0.03 * i, 0.01),
            rotation=[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]],
        )
        geoms.append(so.Geom(f"rod {i}", f"rod {i}", Capsule(radius=0.01, length=6.0)))
    return so.Scene(builder.build(), geoms)


@pytest.mark.compiled
def test_room_for_near_pairs_grows_within_a_step(monkeypatch):
    scene = raft(150)
    simulator = so.Simulator(scene, dt=1e-3)
    assert len(simulator.stepping.tables().near) - 1 < scene.n_pairs
    grown = simulator.run(duration=0.005)
    monkeypatch.setattr(broad_phase, "_ROOM", 1000)
    simulator = so.Simulator(scene, dt=1e-3)
    assert len(simulator.stepping.tables().near) - 1 == scene.n_pairs
    assert np.array_equal(grown.q, simulator.run(duration=0.005).q)
    assert np.abs(grown.q[-1] - scene.state.q).max() < 1e-6


@pytest.mark.compiled
def test_thousands_of_balls_take_memory_for_what_touches():
    """50 million pairs might touch; tables stay below 100 MB."""
    n = 10_000
    builder, inertia = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    geoms = [so.Geom("floor", "world", HalfSpace())]
    for i in range(n):
        place = (0.3 * (i % 100), 0.3 * (i // 100), 0.1)
        builder.add_body(f"b{i}", joint="free", inertia=inertia, position=place)
        geoms.append(so.Geom(f"g{i}", f"b{i}", Sphere(0.1)))
    scene = so.Scene(builder.build(), geoms)
    simulator = so.Simulator(scene, dt=1e-3)
    t = simulator.stepping.tables()
    of_pairs = ("pair_runs", "class_values", "own_pairs", "near", "memory_places", "sweep_order")
    assert sum(getattr(t, name).nbytes for name in of_pairs) < 2**24
    state, info = simulator.step(scene.state, np.zeros(scene.model.nv))
    assert len(info.contacts) == n
    assert np.abs(state.q - scene.state.q).max() < 1e-9
    assert scene.pair_names(int(info.contacts.pairs[-1])) == (f"g{n - 1}", "floor")
    assert t.near.shape[1] == col.NEAR_COLUMNS
