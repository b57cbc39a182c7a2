"""Records: there and back with equal arrays, refused when damaged, never written half."""

import dataclasses
import json
import tracemalloc

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import HalfSpace, Sphere
from spatialops.errors import RecordError

ARRAYS = (
    "stop_impulses",
    "dry_impulses",
    "joint_work",
    "times",
    "q",
    "v",
    "kinetic",
    "potential",
    "contact_counts",
    "impact_counts",
    "residuals",
    "penetrations",
    "pivots",
    "contact_records",
    "events",
    "closure_errors",
    "loop_forces",
    "moments",
    "certificates",
    "readings",
    "end",
)


@pytest.fixture(scope="module")
def record():
    """A ball that bounces once on a floor, and a pendulum of one link beside it."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("ball", joint=so.Joint("free"), inertia=inertia)
    bob = inertia.shifted((0.0, 0.0, -1.0))
    builder.add_body(
        "bob", joint=so.Joint("revolute", axis="y"), inertia=bob, position=(3.0, 0.0, 3.0)
    )
    model = builder.build()
    geoms = [
        so.Geom("ball", "ball", Sphere(0.1), restitution=0.5, friction=0.2),
        so.Geom("bob", "bob", Sphere(0.1), position=(0.0, 0.0, -1.0)),
        so.Geom("floor", "world", HalfSpace(), restitution=0.5),
    ]
    q, v = model.neutral(), np.zeros(7)
    q[2], v[3] = 0.11, 1.0
    scene = so.Scene(model, geoms, state=so.State(q, v, 5.0), ignore=[("bob", "floor")])
    return so.Simulator(scene, dt=4e-3).run(duration=0.1)


def test_what_is_in_it(record):
    n = len(record.times)
    assert n == 26
    assert record.times[[0, -1]] == pytest.approx([5.0, 5.1])
    assert (record.q.shape, record.v.shape) == ((n, 8), (n, 7))
    assert len(record.events) >= 1
    assert set(record.contact_records[:, 2]) <= {0.0, 1.0}
    assert record.impact_counts.sum() == len(record.events)
    assert np.array_equal(record.energy, record.kinetic + record.potential)
    for row in (0, n // 2, n - 1):
        expected = so.energy(record.scene.model, record.q[row], record.v[row])
        assert record.kinetic[row] == pytest.approx(expected.kinetic, rel=1e-12)
        assert record.potential[row] == pytest.approx(expected.potential, rel=1e-12)
    assert np.array_equal(record.final.q, record.q[-1])
    assert record.final.time == record.times[-1]


def test_impulses_explain_the_momentum(record):
    # The ball's vertical momentum: what gravity takes over the run, what the floor gives.
    names = [record.scene.pair_names(int(pair)) for pair in record.contact_records[:, 1]]
    assert set(names) == {("ball", "floor")}
    model, ball = record.scene.model, [so.Node("ball")]
    first, last = (
        so.node_velocities(model, record.q[i], record.v[i], ball)[0, 3:] for i in (0, -1)
    )
    change = last - first
    given = record.contact_records[:, 10:13].sum(axis=0) + np.array([0.0, 0.0, -9.81 * 0.1])
    assert np.allclose(change, given, rtol=0.0, atol=1e-9)


def test_metadata_and_summary(record):
    data = json.loads(json.dumps(record.metadata))
    assert data["steps"] == 25
    assert data["dt"] == 4e-3
    assert data["integrator"] == "moreau"
    assert "OperationalSpace" in data["formulation"]
    assert data["solver"] == "auto"
    assert set(data["versions"]) >= {"python", "spatialops", "numpy", "numba", "scipy"}
    assert data["contact_problems"] > 0
    summary = json.loads(json.dumps(record.summary()))
    assert summary["steps"] == 25
    assert summary["collisions"] == len(record.events)
    assert summary["penetration_max"] == record.penetrations.max()
    assert summary["energy_end"] == record.energy[-1]
    assert summary["collision_energy_gain_max"] == 0.0


def test_fallbacks_are_those_of_the_run_itself(record):
    sim = so.Simulator(record.scene, dt=4e-3)
    sim.stepping.external.fallbacks = 3  # of an earlier run
    assert sim.run(duration=4e-3).metadata["solver_fallbacks"] == 0


def test_there_and_back(record, tmp_path):
    path = record.save(tmp_path / "deep" / "run.npz")
    assert [item.name for item in path.parent.iterdir()] == ["run.npz"]
    again = so.load_record(path)
    for name in ARRAYS:
        one, other = getattr(record, name), getattr(again, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=True), name
    assert again.metadata == record.metadata
    assert again.summary() == record.summary()
    scene, model = again.scene, again.scene.model
    assert scene.to_data() == record.scene.to_data()
    assert np.array_equal(scene.pairs, record.scene.pairs)
    assert model.body_names == record.scene.model.body_names
    assert model.joint_names == record.scene.model.joint_names
    assert np.array_equal(scene.state.q, record.q[0])
    assert scene.state.time == record.times[0]
    # The stored mechanism moves as the one that was recorded.
    rerun = so.Simulator(scene, dt=4e-3).run(duration=0.1)
    assert np.array_equal(rerun.q, record.q)


def test_every_field_is_compared():
    assert {item.name for item in dataclasses.fields(so.Record)} == {*ARRAYS, "scene", "metadata"}


def test_the_end_is_kept_whether_it_is_a_row_or_not(record, tmp_path):
    sim = so.Simulator(record.scene, dt=4e-3)
    rare = sim.run(duration=0.1, record_every=10)
    assert rare.times[-1] == pytest.approx(5.08)
    assert rare.final.time == pytest.approx(5.1)
    assert np.array_equal(rare.final.q, record.final.q)
    assert np.array_equal(rare.final.v, record.final.v)
    assert rare.summary()["duration"] == pytest.approx(0.1)
    again = so.load_record(rare.save(tmp_path / "run.npz"))
    assert again.final.time == rare.final.time
    assert np.array_equal(again.final.q, rare.final.q)
    # Going on from there is going on: not from a row of the past.
    later = sim.run(rare.final, duration=0.1)
    whole = sim.run(duration=0.2)
    assert later.times[0] == rare.final.time
    assert np.allclose(later.final.q, whole.final.q, rtol=0.0, atol=1e-12)


def test_the_end_of_an_event_driven_run_is_kept_too(record):
    sim = so.Simulator(record.scene, dt=4e-3, time=so.EventDriven())
    rare, often = (sim.run(duration=0.1, record_every=every) for every in (10, 1))
    assert rare.final.time == pytest.approx(5.1)
    assert np.array_equal(rare.final.q, often.final.q)
    assert len(rare.events) == len(often.events)


def test_records_without_an_end_end_with_their_last_row(record, tmp_path):
    path = _rewrite(
        record.save(tmp_path / "run.npz"),
        tmp_path / "older.npz",
        lambda header, arrays: arrays.pop("end"),
    )
    older = so.load_record(path)
    assert older.final.time == record.times[-1]
    assert np.array_equal(older.final.q, record.q[-1])


def test_a_record_says_what_it_is(record):
    lines = repr(record).splitlines()
    assert lines[0] == "Record from 5 to 5.1 s: 26 rows of 25 steps of 0.004 s"
    assert len(lines) == 5
    assert "moreau" in lines[1]
    assert "2 bodies, 7 velocities, 3 geoms, 0 closures" in lines[2]
    assert f"{len(record.events)} impacts" in lines[3]


def test_saving_again_replaces_the_file(record, tmp_path):
    path = tmp_path / "run.npz"
    path.write_bytes(b"something older")
    record.save(str(path))
    assert np.array_equal(so.load_record(str(path)).q, record.q)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full"), MemoryError])
def test_killed_while_saving(record, tmp_path, monkeypatch, error):
    path = record.save(tmp_path / "run.npz")
    before = path.read_bytes()

    def dies(file, **arrays):
        file.write(b"half a record")
        raise error

    monkeypatch.setattr(np, "savez_compressed", dies)
    with pytest.raises(RecordError if isinstance(error, OSError) else error):
        record.save(path)
    assert [item.name for item in tmp_path.iterdir()] == ["run.npz"]
    assert path.read_bytes() == before


def test_a_path_that_cannot_be_written(record, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordError, match="cannot be written"):
        record.save(tmp_path)
    with pytest.raises(RecordError, match="cannot be written"):
        record.save(tmp_path / "file" / "run.npz")


def test_missing_and_foreign_files(tmp_path):
    (tmp_path / "text.npz").write_text("not a record")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "array.npy", np.eye(3))
    np.savez(tmp_path / "foreign.npz", other=np.eye(3))
    for header in (
        "[]",
        "{}",
        '{"format": 1}',
        "not json",
        '{"format": 1, "scene": {}, "names": {}, "metadata": {}}',
    ):
        np.savez(tmp_path / f"header{len(header)}.npz", header=np.array(header))
    for path in [tmp_path / "missing.npz", tmp_path, *tmp_path.iterdir()]:
        with pytest.raises(RecordError):
            so.load_record(path)


def _rewrite(source, target, change):
    with np.load(source) as data:
        arrays = {name: data[name] for name in data.files}
    header = json.loads(str(arrays["header"]))
    change(header, arrays)
    np.savez(target, **{**arrays, "header": np.array(json.dumps(header))})
    return target


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(format=99),
        lambda header, arrays: header.pop("metadata"),
        lambda header, arrays: header.pop("scene"),
        lambda header, arrays: header["scene"]["geoms"][0].update(body="nobody"),
        lambda header, arrays: header["scene"]["geoms"][0]["shape"].update(kind="torus"),
        lambda header, arrays: arrays.pop("q"),
        lambda header, arrays: arrays.pop("model.links"),
        lambda header, arrays: arrays.update(q=arrays["q"][:, :-1]),
    ],
)
def test_records_with_something_amiss(record, tmp_path, change):
    path = _rewrite(record.save(tmp_path / "run.npz"), tmp_path / "odd.npz", change)
    with pytest.raises(RecordError):
        so.load_record(path)


def test_damaged_files_are_refused_or_whole(record, tmp_path, rng):
    raw, refused = record.save(tmp_path / "run.npz").read_bytes(), 0
    for i in range(400):
        data = bytearray(raw)
        if i % 5 == 0:
            data = data[: rng.integers(len(data))]
        else:
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        (tmp_path / "bad.npz").write_bytes(data)
        try:
            again = so.load_record(tmp_path / "bad.npz")
        except RecordError:
            refused += 1
            continue
        same = [
            np.array_equal(getattr(again, name), getattr(record, name), equal_nan=True)
            for name in ARRAYS
        ]
        assert all(same)  # certificates that were not asked for are NaN
    assert refused > 100


@pytest.mark.compiled
def test_geom_positions_follow_the_poses(record):
    rows = [0, 10, 25]
    positions, rotations = record.geom_positions(rows)
    assert positions.shape == (3, 3, 3)
    for f, row in enumerate(rows):
        nodes = [so.Node("ball"), so.Node("bob", (0.0, 0.0, -1.0))]
        assert np.allclose(
            positions[f, :2],
            so.node_positions(record.scene.model, record.q[row], nodes),
            atol=1e-14,
        )
        assert np.allclose(rotations[f] @ rotations[f].transpose(0, 2, 1), np.eye(3), atol=1e-13)


# ------------------------------------------------------------------------- contacts that are kept


@pytest.mark.parametrize("every", [1, 4])
def test_contacts_are_those_of_recorded_steps_and_of_all_impacts(record, every):
    simulator = so.Simulator(record.scene, dt=4e-3)
    record = simulator.run(duration=0.6)
    thin = simulator.run(duration=0.6, record_every=every)
    times = record.contact_records[:, 0]
    # A step's contacts are noted at its beginning, or where an impact has cut it.
    step = np.floor((times - 5.0) / 4e-3 + 1e-6).astype(int) + 1
    expected = record.contact_records[(record.contact_records[:, 2] == 1) | (step % every == 0)]
    assert (expected[:, 2] == 0).any()
    assert np.array_equal(thin.contact_records, expected)
    assert np.array_equal(thin.events, record.events)


def test_a_brief_record_has_beginning_end_and_the_worst_between(record, tmp_path):
    for time in (so.TimeStepping(), so.EventDriven()):
        simulator = so.Simulator(record.scene, dt=4e-3, time=time)
        whole = simulator.run(duration=0.1)
        brief = simulator.run(duration=0.1, record=False)
        assert brief.is_brief
        assert not whole.is_brief
        assert np.array_equal(brief.q, whole.q[[0, -1]])
        assert np.array_equal(brief.times, whole.times[[0, -1]])
        assert len(brief.contact_records) == len(brief.events) == len(brief.moments) == 0
        assert brief.residuals.max() == whole.residuals.max()
        one, other = brief.summary(), whole.summary()
        unknown = {"collision_energy_gain_max", "certificate", "contacts_max"}
        if isinstance(time, so.EventDriven):  # it looks at depths and stops where it records
            unknown |= {"penetration_max", "stop_impulse_max", "joints_stopped"}
        assert {k: v for k, v in one.items() if k not in unknown} == {
            k: v for k, v in other.items() if k not in unknown
        }
        assert one["collisions"] > 0
        assert one["collision_energy_gain_max"] is None
        assert set(one["certificate"]) == {"gap", "residual"}  # nothing is said of friction
        assert repr(brief).splitlines()[0].endswith("2 rows of 25 steps of 0.004 s")
        again = so.load_record(brief.save(tmp_path / "brief.npz"))
        assert again.is_brief
        assert again.summary() == one


def test_a_brief_record_of_no_time_at_all(record):
    brief = so.Simulator(record.scene, dt=4e-3).run(duration=0.0, record=False)
    assert len(brief.times) == 1
    assert brief.summary()["steps"] == 0


@pytest.mark.compiled
@pytest.mark.parametrize("controlled", [False, True])
def test_runs_without_a_record_take_no_memory(record, controlled):
    def still(time, state, contacts):
        return np.zeros(len(state.v))

    simulator = so.Simulator(record.scene, dt=1e-4)
    options = {"record": False, "controller": still if controlled else None}
    peaks = []
    for duration in (0.2, 1.0):
        simulator.run(duration=duration, **options)
        tracemalloc.start()
        simulator.run(duration=duration, **options)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.02 * peaks[0] + 20_000


def test_what_was_not_measured_takes_no_memory(record):
    one = so.Simulator(so.models.pendulum(2).scene(), dt=1e-3).run(duration=0.1)
    for name in ("certificates", "stop_impulses", "dry_impulses", "joint_work"):
        assert getattr(one, name).strides == (0, 0), name
