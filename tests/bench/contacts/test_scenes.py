"""The scenes are what they say: both sides bear the same weight on the same contacts."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops.bench.contacts import cases, piles, robots
from spatialops.bench.contacts.engines import MuJoCo, Ours
from spatialops.bench.measure import BenchError

pytest.importorskip("mujoco")


# Contacts on the floor bear all that stands above it: (contacts, floors that a weight passes).
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["balls 10", "boxes 10", "standing quadruped"])
def test_weight_is_borne_on_both_sides(name):
    case = cases.CASES[name]
    setting = case.make()
    weight = 9.81 * setting.scene.model.mass
    for kind in (Ours, MuJoCo):
        engine = kind(setting.scene, case.dt)
        for _ in range(300):
            if setting.control is not None:
                engine.push(setting.control(engine.state))
            engine.run(setting.hold)
        assert engine.normal_force == pytest.approx(weight, rel=2e-3)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["tower 5", "wall 20"])
def test_what_is_stacked_stays(name):
    case = cases.CASES[name]
    setting = case.make()
    counts, forces = [], []
    start = setting.scene.state.q.reshape(-1, 7)[:, :3]
    for kind in (Ours, MuJoCo):
        engine = kind(setting.scene, case.dt)
        engine.run(300)
        assert np.abs(engine.state.q.reshape(-1, 7)[:, :3] - start).max() < 1e-3
        counts.append(engine.contacts)
        forces.append(engine.normal_force)
    assert counts[0] == counts[1]
    assert forces[0] == pytest.approx(forces[1], rel=1e-2)


@pytest.mark.parametrize("n", [20, 50, 100, 200])
def test_walls_have_their_bricks_and_no_brick_hangs(n):
    scene = piles.wall(n).scene
    centers = scene.state.q.reshape(-1, 7)[:, :3]
    sizes = np.array([geom.shape.size for geom in scene.geoms[:n]])
    assert len(centers) == n
    for center, size in zip(centers, sizes, strict=True):
        if center[2] < piles.BRICK[2]:
            continue
        below = np.abs(centers[:, 2] - center[2] + piles.BRICK[2]) < 1e-9
        left = centers[below, 0] - 0.5 * sizes[below, 0]
        right = centers[below, 0] + 0.5 * sizes[below, 0]
        # Something bears it on either side of its middle, or all along.
        assert ((left < center[0]) & (right > center[0] - 0.5 * size[0])).any()
        assert ((right > center[0]) & (left < center[0] + 0.5 * size[0])).any()


@pytest.mark.compiled
def test_the_other_wall_collapses():
    engine = MuJoCo(piles.collapsing_wall(100).scene, 1e-3)
    start = engine.state.q.reshape(-1, 7)[:, 2].copy()
    engine.run(1000)
    assert (engine.state.q.reshape(-1, 7)[:, 2] - start).min() < -piles.BRICK[2]


def test_nothing_overlaps_where_things_are_dropped():
    for round_ones in (False, True):
        scene = piles.dropped(50, round_ones=round_ones).scene
        assert MuJoCo(scene, 1e-3).contacts == 0


def test_chosen_by_name_family_and_pattern():
    assert [case.name for case in cases.chosen(["tower 20"])] == ["tower 20"]
    assert len(cases.chosen(["lying chain"])) == 6
    assert {case.family for case in cases.chosen(["wall *", "balls 1"])} == {"wall", "balls"}
    assert [case.name for case in cases.chosen([], quick=True)] == list(cases.QUICK)
    assert len(cases.chosen([])) == len(cases.CASES)
    with pytest.raises(BenchError, match="there is no 'cathedral'; there are lying chain 1"):
        cases.chosen(["cathedral"])


def test_robots_without_files_are_left_out(monkeypatch):
    monkeypatch.setattr(robots, "installed_file", lambda ending: None)
    assert robots.standing_solo12() is None
    assert robots.limp("g1") is None


def test_springs_push_back():
    setting = robots.gripped_box()
    state = setting.scene.state
    moved = state.q.copy()
    moved[0] += 0.01
    tau = setting.control(type(state)(moved, state.v))
    assert tau[0] == pytest.approx(-20.0)
    assert (tau[7:11] == 2.0).all()
    assert not tau[11:].any()
