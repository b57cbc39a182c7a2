"""What a run goes on from is checked as if a stranger had written it."""

import json

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, RecordError
from spatialops.simulation import _layout as at
from tests.support.runs import DT, boxes


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The last file of a run of two boxes that touch, as arrays."""
    folder = tmp_path_factory.mktemp("run")
    so.Simulator(boxes(2), dt=DT).run_to_disk(folder, duration=0.3)
    with np.load(folder / "000001.npz") as data:
        arrays = {name: data[name] for name in data.files}
    assert arrays["resume.seen_ints"].size > 0
    assert arrays["resume.ints"].size > 0
    return folder, arrays


def resumes(tmp_path, stored, changes):
    folder, arrays = stored
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    kept = {name: item for name, item in (arrays | changes).items() if item is not None}
    np.savez(tmp_path / "000001.npz", **kept)
    return so.Simulator(boxes(2), dt=DT).resume(tmp_path, 0.34)


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


def test_unchanged_it_goes_on(tmp_path, stored):
    assert resumes(tmp_path, stored, {}).time == pytest.approx(3.34)


HUGE = 2**40
CHANGES = {
    "control": [
        (at.ACTING, HUGE),
        (at.SEEN, 99),
        (at.PAST, at.REMEMBERED + 1),
        (at.RANK, 1),
        (at.SPINNING, 12),
    ],
    "near": [(-1, HUGE), (0, -1), (0, HUGE)],
    "ints": [((0, 0), HUGE), ((0, 0), -HUGE), ((0, 1), HUGE), ((0, 2), -2)],
    "seen_ints": [((0, 0), HUGE), ((0, 1), HUGE), ((0, 4), HUGE), ((0, 3), 7)],
    "memory": [((0, 0), HUGE), ((0, 0), -1)],
    "forces": [((0, 0), np.nan)],
    "q": [(0, np.nan)],
    "monitor": [(at.TIME, np.inf)],
    "vectors": [((0, 0), np.nan)],
    "seen": [((0, 0), np.nan)],
}


@pytest.mark.parametrize("name", CHANGES)
def test_numbers_out_of_range_are_refused(tmp_path, stored, name):
    array = stored[1][f"resume.{name}"]
    for index, value in CHANGES[name]:
        with pytest.raises(RecordError, match=rf"does not fit this scene: {name}"):
            resumes(tmp_path, stored, {f"resume.{name}": changed(array, index, value)})


def test_arrays_of_other_shapes_are_refused(tmp_path, stored):
    for name in (name for name in stored[1] if name.startswith("resume.")):
        array = stored[1][name]
        odd = [None, array.astype(np.float32), array[None]]
        for other in [*odd, array[:-1]] if array.ndim and len(array) else odd:
            with pytest.raises(RecordError):
                resumes(tmp_path, stored, {name: other})


@pytest.mark.parametrize("capacity", [0, -1, 10**6, 2**62])
def test_room_beyond_the_scene_is_refused(tmp_path, stored, capacity):
    with pytest.raises(RecordError, match="capacity"):
        resumes(tmp_path, stored, {"resume.capacity": np.array(capacity)})


@pytest.mark.parametrize(
    "change",
    [
        {"planned_steps": None},
        {"planned_steps": -1},
        {"record_every": 0},
        {"record_every": "often"},
        {"redundant_rows": 3},
    ],
)
def test_headers_that_say_something_odd_are_refused(tmp_path, stored, change):
    header = json.loads(str(stored[1]["header"]))
    header["metadata"].update(change)
    with pytest.raises((RecordError, ArgumentError)):
        resumes(tmp_path, stored, {"header": np.array(json.dumps(header))})


def test_random_changes_are_refused_or_harmless(tmp_path, stored, rng):
    """Any entry of any array of whole numbers: no signal, no foreign error."""
    names = [
        name
        for name, array in stored[1].items()
        if name.startswith("resume.") and array.size and array.dtype == np.int64
    ]
    for _ in range(60):
        name = names[rng.integers(len(names))]
        array = stored[1][name].copy()
        array.flat[rng.integers(array.size)] = rng.choice([-HUGE, -3, -1, 0, 1, 5, 1000, HUGE])
        try:
            resumes(tmp_path, stored, {name: array})
        except so.errors.SpatialOpsError:
            continue
