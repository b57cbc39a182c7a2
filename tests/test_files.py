"""Files of arrays: several writers, special files, what a path may not be."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops._files import load_arrays, save_arrays
from spatialops.contact import MixedLCP
from spatialops.errors import AssetError, SpatialOpsError


def test_every_reader_finds_a_whole_file_while_three_write(tmp_path: Path) -> None:
    path = tmp_path / "shared.npz"
    save_arrays(path, {"x": np.zeros(1000)})
    errors = []

    def write(value: float) -> None:
        for _ in range(30):
            try:
                save_arrays(path, {"x": np.full(1000, value)})
            except AssetError as error:
                errors.append(error)

    writers = [threading.Thread(target=write, args=(float(k),)) for k in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        x = load_arrays(path, "test")["x"]
        assert x.shape == (1000,)
        assert (x == x[0]).all()
    for writer in writers:
        writer.join()
    assert not errors
    assert [item.name for item in tmp_path.iterdir()] == ["shared.npz"]


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX")
def test_special_files_are_neither_written_nor_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.npz"
    os.mkfifo(pipe)
    with pytest.raises(AssetError, match="not a regular file"):
        save_arrays(pipe, {"x": np.zeros(1)})
    with pytest.raises(AssetError, match="not a regular file"):
        load_arrays(pipe, "test")


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_files_have_the_mode_that_the_user_gives_new_ones(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    saved = save_arrays(tmp_path / "saved.npz", {"x": np.zeros(1)})
    assert saved.stat().st_mode == other.stat().st_mode


def test_what_cannot_be_read_is_said_in_words(tmp_path: Path) -> None:
    missing, wrong = tmp_path / "none.npz", tmp_path / "text.npz"
    wrong.write_text("hello")
    with pytest.raises(AssetError) as error:
        load_arrays(missing, "record")
    assert str(error.value) == f"{missing}: not a stored record: No such file or directory"
    with pytest.raises(AssetError) as error:
        load_arrays(wrong, "record")
    assert str(error.value) == f"{wrong}: not a stored record: not an .npz file, or a damaged one"


@pytest.mark.parametrize("wrong", [None, 3, [], "a\0b.npz", "x" * 300 + ".npz"])
def test_what_names_no_file_is_refused(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scene = so.models.pendulum(2).scene()
    record = so.Simulator(scene, dt=0.01).run(duration=0.02)
    doors = (
        so.load_model,
        so.load_record,
        record.save,
        record.replay,
        lambda path: so.save_model(scene.model, path),
        MixedLCP(np.eye(1), np.ones(1)).save,
    )
    for door in doors:
        with pytest.raises(SpatialOpsError):
            door(wrong)
    assert not list(tmp_path.iterdir())


def test_names_may_be_bytes(tmp_path):
    record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.02)
    path = record.save(bytes(tmp_path / "run.npz"))
    assert np.array_equal(so.load_record(bytes(path)).q, record.q)
