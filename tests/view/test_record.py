"""Pictures of a record: what is drawn is what was recorded, in scenes of any kind."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Geom, HalfSpace, Sphere
from spatialops.dynamics.jacobian import node_positions, node_velocities
from spatialops.errors import ArgumentError, RecordError
from spatialops.models.pendulum import pendulum
from spatialops.simulation import _layout as at
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.node import Node
from spatialops.tree.state import State
from spatialops.view import plots
from spatialops.view import record as pictures
from spatialops.view.frame_forces import frame_forces, frame_geom_forces
from spatialops.view.motion import frame_rows

METADATA = {
    "dt": 0.01,
    "integrator": "moreau",
    "steps": 100,
    "contact_problems": 4,
    "warm_started": 1,
    "solver_fallbacks": 0,
    "position_projections": 0,
}


def hit(time: float, pair: int, kind: int, point: Any, impulse: Any) -> list[float]:
    return [time, pair, kind, 0.0, *point, 0.0, 0.0, 1.0, *impulse]


def made_up(
    scene: Scene, contact_records: Any = (), events: Any = (), *, size: int = 101, rate: float = 1.0
) -> Record:
    """A record of one second in which everything moves evenly; nothing is simulated."""
    model, times = scene.model, np.linspace(0.0, 1.0, size)
    v = np.tile(np.full(model.nv, rate), (size, 1))
    q = np.tile(scene.state.q, (size, 1))
    if model.nq == model.nv:
        q = q + times[:, None] * v
    zeros = np.zeros(size)
    return Record(
        scene=scene,
        times=times,
        q=q,
        v=v,
        kinetic=1.0 - times,
        potential=times,
        contact_counts=zeros,
        impact_counts=zeros,
        residuals=np.where(times == times[50], 1e-12, 0.0) if size > 50 else zeros,
        penetrations=-zeros,
        pivots=zeros,
        contact_records=np.array(contact_records, dtype=np.float64).reshape(-1, at.RECORD_COLUMNS),
        events=np.array(events, dtype=np.float64).reshape(-1, at.EVENT_COLUMNS),
        metadata=dict(METADATA),
    )


def free_spheres() -> Scene:
    """Two free balls, one with its sphere on a merged body, above a floor and a fixed ball."""
    builder = TreeBuilder(gravity=(0.0, 0.0, -9.8))
    for name, x in (("left", 0.0), ("right", 3.0)):
        builder.add_body(
            name, joint=Joint("free"), inertia=Inertia.sphere(0.5, mass=1.0), position=(x, 0.0, 2.0)
        )
    return Scene(
        builder.build(),
        [
            Geom("floor", "world", HalfSpace(), position=(0.0, 0.0, -1.0)),
            Geom("stone", "world", Sphere(0.25), position=(0.0, 1.0, 0.0)),
            Geom("a", "left", Sphere(0.5)),
            Geom("b", "right", Sphere(0.4), position=(0.0, 0.0, 0.1)),
        ],
    )


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the figures and the page were asked to show."""
    seen: dict[str, Any] = {}

    def spy(name: str) -> Any:
        def take(path: Any, **data: Any) -> Path:
            seen[name] = data
            return Path(path)

        return take

    for name in ("height_and_velocity", "frames", "energies", "contacts"):
        monkeypatch.setattr(plots, name, spy(name))
    monkeypatch.setattr(pictures, "write_replay", spy("replay"))
    return seen


def test_motion_is_that_of_the_last_sphere(drawn: dict[str, Any]) -> None:
    events = [
        [0.25, 1, 2.0, 5.0, 4.0, 1.0],
        [0.2500001, 1, 2.0, 5.0, 4.0, 1.0],
        [0.5, 1, 1.0, 3.0, 2.0, 1.0],
    ]
    record = made_up(pendulum(3).scene(), events=events)
    record.plot("a.png", "height")
    shown, node = drawn["height_and_velocity"], Node("link3", (0.0, 0.0, -2.0))
    heights, speeds = shown["curves"]["link3"]
    model = record.scene.model
    for row in (0, 40, 100):
        np.testing.assert_allclose(heights[row], node_positions(model, record.q[row], [node])[0, 2])
        np.testing.assert_allclose(
            speeds[row], node_velocities(model, record.q[row], record.v[row], [node])[0, 5]
        )
    # The velocity that is shown is the rate of the height that is shown.
    np.testing.assert_allclose(np.gradient(heights, shown["times"])[1:-1], speeds[1:-1], atol=0.02)
    np.testing.assert_allclose(shown["impacts"], [0.25, 0.5])


def test_long_records_are_thinned_but_their_worst_is_kept(drawn: dict[str, Any]) -> None:
    scene = pendulum(2).scene()
    record = made_up(scene, [hit(0.50001, 0, 0, (0, 0, 0), (0, 0, 1))] * 2, size=30001)
    record.residuals[12345] = 3e-10
    record.penetrations[20001] = 2e-4
    record.plot("a.png", "contacts")
    shown = drawn["contacts"]
    assert len(shown["times"]) <= 4000
    assert shown["times"][[0, -1]].tolist() == [0.0, 1.0]
    assert shown["residual"].max() == 3e-10
    assert shown["penetration"].max() == 2e-4
    assert shown["count"].max() == 2
    assert abs(shown["times"][shown["count"].argmax()] - 0.5) < 1e-3


def test_energies(drawn: dict[str, Any]) -> None:
    made_up(pendulum(2).scene()).plot("a.png", "energy")
    np.testing.assert_allclose(drawn["energies"]["kinetic"] + drawn["energies"]["potential"], 1.0)


def test_frames_and_fixtures(drawn: dict[str, Any]) -> None:
    record = made_up(pendulum(3).scene())
    record.plot("a.png", "frames")
    shown = drawn["frames"]
    assert shown["positions"].shape == (len(shown["times"]), 3, 3)
    assert shown["radii"] == [2.0] * 3
    floor, wall = shown["fixtures"]
    assert (floor["kind"], tuple(floor["normal"]), wall["point"].tolist()) == (
        "half_space",
        (0, 0, 1),
        [4, 0, 0],
    )
    expected, _ = record.geom_positions([0, 100])
    np.testing.assert_allclose(shown["positions"][[0, -1]], expected[:, :3], atol=1e-12)


@pytest.mark.parametrize("kind", ["Motion", "", None, 3, ["motion"]])
def test_unknown_kind_is_refused(tmp_path: Path, kind: Any) -> None:
    with pytest.raises(RecordError, match="kind: expected one of motion, height, frames, "):
        made_up(pendulum(2).scene()).plot(tmp_path / "a.png", kind)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, np.inf, "fast"])
def test_unusable_rate_is_refused(tmp_path: Path, rate: Any) -> None:
    with pytest.raises(ArgumentError, match="rate"):
        made_up(pendulum(2).scene()).replay(tmp_path / "a.html", rate=rate)
    assert list(tmp_path.iterdir()) == []


def test_replay_frames_keep_the_rate(drawn: dict[str, Any]) -> None:
    record = made_up(pendulum(2).scene(), size=1001)
    record.replay("a.html", rate=20.0)
    np.testing.assert_allclose(drawn["replay"]["times"], np.linspace(0.0, 1.0, 21), atol=1e-3)
    record.replay("a.html", rate=1e6)
    assert len(drawn["replay"]["times"]) == 1001
    assert drawn["replay"]["summary"]["largest penetration"] == "0 mm"


def test_contact_force_is_the_impulse_over_the_frame(drawn: dict[str, Any]) -> None:
    scene = pendulum(3).scene()
    ground = next(i for i in range(scene.n_pairs) if scene.pair_names(i) == ("link3", "floor"))
    chain = next(i for i in range(scene.n_pairs) if set(scene.pair_names(i)) == {"link1", "link3"})
    # Two steps of a resting contact, one impact, all within the frame at 0.5 s, which lasts 0.1 s.
    contact_records = [
        hit(0.46, ground, 0, (1, 0, 0), (0.0, 0.0, 1.0)),
        hit(0.47, ground, 0, (2, 0, 0), (0.5, 0.0, 3.0)),
        hit(0.47, ground, 0, (2, 0, 0), (0.0, 0.0, 0.0)),
        hit(0.51, chain, 1, (3, 0, 1), (0.0, 0.0, 7.0)),
    ]
    made_up(scene, contact_records).replay("a.html", rate=10.0)
    contacts = drawn["replay"]["contacts"]
    assert [len(rows) for rows in contacts] == [0] * 5 + [3] + [0] * 5
    resting = contacts[5][contacts[5][:, 6] == 0]
    np.testing.assert_allclose(resting[0, 3:6], [5.0, 0.0, 40.0])
    assert 1.7 < resting[0, 0] < 1.8  # nearer to where the larger impulse acted
    impact = contacts[5][contacts[5][:, 6] == 1]
    np.testing.assert_allclose(impact[:, 3:6], [[0, 0, 70], [0, 0, -70]])  # both bodies feel it
    np.testing.assert_allclose(impact[:, :3], [[3, 0, 1]] * 2)


def test_forces_add_up_to_all_impulses() -> None:
    scene, rng = pendulum(3).scene(), np.random.default_rng(7)
    floor = next(i for i in range(scene.n_pairs) if scene.pair_names(i)[1] == "floor")
    contact_records = [
        hit(t, floor, int(k), rng.normal(size=3), rng.normal(size=3))
        for t, k in zip(np.sort(rng.uniform(0, 1, 200)), rng.integers(0, 2, 200), strict=True)
    ]
    record = made_up(scene, contact_records)
    times = record.times[frame_rows(record.times, 30.0)]
    edges = np.concatenate([times[:1], 0.5 * (times[1:] + times[:-1]), times[-1:]])
    given = np.zeros(3)
    for rows, step in zip(frame_forces(record, times), np.diff(edges), strict=True):
        given += step * rows[:, 3:6].sum(axis=0)
    np.testing.assert_allclose(given, record.contact_records[:, at.RECORD_IMPULSE :].sum(axis=0))
    plotted = frame_geom_forces(record, times)  # what is plotted is what the arrows show
    assert plotted.names == [scene.geoms[scene.pairs[floor, 0]].name]
    shown = [rows[:, 3:6].sum(axis=0) for rows in frame_forces(record, times)]
    np.testing.assert_allclose(plotted.forces[:, 0], shown, atol=1e-9)


@pytest.mark.parametrize("every", [1, 2, 3, 20])
@pytest.mark.parametrize("rate", [2.0, 10.0, 1e4])
def test_forces_of_recorded_steps_are_those_of_the_motion(every: int, rate: float) -> None:
    """A ball of 1 kg at rest: its weight in every frame, however few steps are recorded."""
    builder = TreeBuilder(gravity=(0.0, 0.0, -9.8))
    builder.add_body("ball", joint=Joint("free"), inertia=Inertia.sphere(0.5, mass=1.0))
    geoms = [Geom("floor", "world", HalfSpace()), Geom("ball", "ball", Sphere(0.5))]
    scene = Scene(builder.build(), geoms)
    scene.state = State(np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    record = Simulator(scene, dt=0.01).run(duration=2.0, record_every=every)
    times = record.times[frame_rows(record.times, rate)]
    forces = frame_forces(record, times)
    shown = [rows[0, 5] for rows in forces if len(rows)]
    assert len(shown) >= len(times) - 2
    np.testing.assert_allclose(shown[1:-1], 9.8, rtol=1e-6)
    assert max(shown) < 1.5 * 9.8


def test_free_bodies_and_fixed_spheres(tmp_path: Path, drawn: dict[str, Any]) -> None:
    record = made_up(free_spheres())
    record.replay("a.html", rate=5.0)
    shown = drawn["replay"]
    assert [shape["name"] for shape in shown["shapes"]] == ["a", "b"]
    np.testing.assert_allclose(shown["positions"][0], [[0.0, 0.0, 2.0], [3.0, 0.0, 2.1]])
    assert [fixture["kind"] for fixture in shown["fixtures"]] == ["half_space", "sphere"]
    np.testing.assert_allclose(np.abs(shown["quaternions"][..., 3]), 1.0)


@pytest.mark.parametrize("scene", [free_spheres(), Scene(pendulum(2).model), pendulum(2).scene()])
@pytest.mark.parametrize("size", [1, 2, 40])
def test_all_pictures_of_any_scene(tmp_path: Path, scene: Scene, size: int) -> None:
    record = made_up(scene, size=size)
    for kind in pictures.KINDS:
        assert record.plot(tmp_path / f"{kind}.svg", kind).stat().st_size > 1000
    assert "replay-data" in record.replay(tmp_path / "a.html").read_text()


def test_summary_has_units_and_no_minus_zero() -> None:
    rows = pictures.summary_rows(made_up(pendulum(2).scene()))
    assert rows["steps"] == "100 of 10 ms, moreau"
    assert rows["energy"] == "1.00 J at the start, 1.00 J at the end"
    assert "-0" not in " ".join(rows.values())


def test_one_thing_is_told_as_one() -> None:
    record = made_up(pendulum(2).scene())
    one = replace(record, metadata={**record.metadata, "contact_problems": 1})
    many = replace(record, metadata={**record.metadata, "contact_problems": 1234})
    assert pictures.summary_rows(one)["contacts"].endswith(" 1 contact problem")
    assert pictures.summary_rows(many)["contacts"].endswith(" 1,234 contact problems")


def test_replay_tells_bodies_and_shapes(drawn: dict[str, Any]) -> None:
    record = made_up(Scene(pendulum(2).model, [Geom("only", "link1", Sphere(0.1))]))
    record.replay("a.html")
    assert (drawn["replay"]["frames"][0].shape[1], len(drawn["replay"]["shapes"])) == (2, 1)


def test_notebooks_show_the_replay() -> None:
    """The page as `replay` writes it, in a frame of its own."""
    record = made_up(free_spheres(), size=5)
    shown = record.show(title="A <ball> & more", height=300)
    text = shown._repr_html_()
    inside = unescape(text.split('srcdoc="', 1)[1].split('" width=', 1)[0])
    assert inside == shown.page
    assert inside.lower().startswith("<!doctype html>")
    assert 'height="300"' in text
    with pytest.raises(ArgumentError, match="height"):
        record.show(height=3)
