"""Files as an enemy writes them: refused in words, at a cost that they do not choose."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops import _files
from spatialops._files import load_arrays, save_arrays
from spatialops.errors import AssetError, SpatialOpsError
from tests.trust import fuzz_files
from tests.trust.stored_things import MAKERS, READERS
from tests.trust.watched import Outcome, Peak, Watched

NPZ = ("record.npz", "problem.npz", "dense.npz", "cone.npz")


def entry(shape: object, dtype: str, content: bytes = b"") -> bytes:
    """An .npy file that says so of itself."""
    stream = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + content


def packed(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.mark.compiled  # whole records are made
@pytest.mark.parametrize("kind", NPZ)
def test_a_bomb_takes_no_memory(tmp_path: Path, kind: str) -> None:
    """128 MB of zeros in 128 kB, beside what the reader reads."""
    path = tmp_path / kind
    MAKERS[kind](path)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bomb.npy", "w", force_zip64=True) as member,
    ):
        member.write(entry((2**24,), "<f8"))
        for _ in range(8):
            member.write(bytes(2**24))
    with Peak() as peak, pytest.raises(SpatialOpsError):
        READERS[kind][0](path)
    assert peak.megabytes < fuzz_files.MEMORY


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (entry((2**40,), "<f8"), "is not its size"),
        (entry((2**62, 2**62), "<f8"), "is not its size"),
        (entry((-1,), "<f8", b"12345678"), "shape"),
        (entry((), "<U500000000"), "is not its size"),
        (entry((1,), "|O", b"cos\nsystem\n(S'echo'\ntR."), "neither numbers nor texts"),
        (entry((1,), "|V8", bytes(8)), "neither numbers nor texts"),
        (b"\x93NUMPY\x09\x00" + bytes(60), "version"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b" " * 65535, "expected 65535 bytes got 10000"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 99999, "got 10000"),
        (b"\x93NUMPY\x01\x00\xff", "expected 2 bytes got 1"),
        (b"no array", "magic string"),
    ],
)
def test_arrays_that_lie_about_themselves(tmp_path: Path, content: bytes, what: str) -> None:
    path = packed(tmp_path / "lie.npz", {"x.npy": content})
    with Peak() as peak, pytest.raises(AssetError, match=what):
        load_arrays(path, "test")
    assert peak.megabytes < 50.0


def test_arrays_of_both_versions_are_read(tmp_path: Path) -> None:
    """And one after another of the same header, which is parsed once."""
    values = [np.arange(6.0).reshape(2, 3) + i for i in range(3)]
    entries = {}
    for i, item in enumerate(values):
        for version in ((1, 0), (2, 0)):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, item, version=version)
            entries[f"{i}-{version[0]}.npy"] = stream.getvalue()
    found = load_arrays(packed(tmp_path / "both.npz", entries), "test")
    for name, item in found.items():
        np.testing.assert_array_equal(item, values[int(name[0])])


def test_other_archives_are_none_of_ours(tmp_path: Path) -> None:
    whole = entry((1,), "<f8", bytes(8))
    with pytest.raises(AssetError, match="as NumPy writes"):
        load_arrays(packed(tmp_path / "other.npz", {"x.txt": whole}), "test")
    with pytest.raises(AssetError, match="as NumPy writes"):
        load_arrays(packed(tmp_path / "lzma.npz", {"x.npy": whole}, zipfile.ZIP_LZMA), "test")
    many = {f"x{i}.npy": whole for i in range(5000)}
    with pytest.raises(AssetError, match="5000 arrays"):
        load_arrays(packed(tmp_path / "many.npz", many), "test")
    twice = tmp_path / "twice.npz"
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("x.npy", whole)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("x.npy", whole)
    with pytest.raises(AssetError, match="one name"):
        load_arrays(twice, "test")


def test_what_is_saved_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros shrink a thousandfold; where that is too much to be believed they are not packed."""
    monkeypatch.setattr(_files, "_ALWAYS", 10_000)
    zeros = np.zeros(100_000)
    path = save_arrays(tmp_path / "zeros.npz", {"x": zeros})
    assert path.stat().st_size > zeros.nbytes
    assert (load_arrays(path, "test")["x"] == zeros).all()
    noise = np.random.default_rng(1).normal(size=100_000)
    path = save_arrays(tmp_path / "noise.npz", {"x": noise})
    assert path.stat().st_size < noise.nbytes


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX")
@pytest.mark.parametrize("kind", list(MAKERS))
def test_pipes_and_devices_are_not_waited_for(tmp_path: Path, kind: str) -> None:
    if kind.startswith("fclib"):
        pytest.importorskip("h5py")
    pipe = tmp_path / kind
    os.mkfifo(pipe)
    endless = tmp_path / f"endless-{kind}"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        with pytest.raises(SpatialOpsError):
            READERS[kind][0](path)


def test_groups_of_other_files_are_not_opened(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    os.mkfifo(tmp_path / "waits.hdf5")
    path = tmp_path / "links.hdf5"
    readers = {
        "fclib_local": so.contact.load_fclib,
        "fclib_global": so.contact.load_fclib,
        "solution": so.contact.load_fclib_solution,
    }
    for name, read in readers.items():
        with h5py.File(path, "w") as file:
            file[name] = h5py.ExternalLink("waits.hdf5", "/")
        with pytest.raises(AssetError, match="another file"):
            read(path)


@pytest.mark.compiled
def test_whole_files_are_taken_and_used(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    tasks = fuzz_files.wholes(tmp_path, list(MAKERS))
    assert {task.kind: fuzz_files.judge(task) for task in tasks} == dict.fromkeys(MAKERS, "taken")


@pytest.mark.compiled
@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_damaged_files_are_refused_or_can_be_used(tmp_path: Path, count: int) -> None:
    pytest.importorskip("h5py")
    found = fuzz_files.fuzz(3600.0, tmp_path, fuzz_files.Damages(), count)
    assert sum(found.values()) == count
    assert not any(kind in found for kind in ("crash", "hang", "foreign", "wrong")), found
    assert min(found["refused"], found["taken"]) > count // 10  # it is neither trivial


def spins_dies_or_raises(case: str) -> str:
    while case == "spins":
        pass
    if case == "dies":
        os.abort()
    raise ValueError(case)


def test_what_is_watched_may_spin_die_and_raise() -> None:
    with Watched(spins_dies_or_raises, 0.2) as watched:
        assert watched("spins").text == "hang: 0.2 s"
        assert watched("dies").text == "crash: SIGABRT"
        assert watched("raises").text == "foreign: ValueError: raises"


def test_a_failure_in_a_lot_is_found_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file of a lot raises: it is kept, and the others have their outcomes."""
    folder, out = tmp_path / "whole", tmp_path / "kept"
    folder.mkdir()
    out.mkdir()
    (folder / "dense.npz").write_bytes(b"whole")
    lot = fuzz_files.Lot(str(folder), fuzz_files.Damages(7, ["dense.npz"], 0.0), 3)

    def judged(case: fuzz_files.Lot) -> Outcome:
        bad = case.damages.first <= 8 < case.damages.first + case.count
        return Outcome("foreign: of a lot" if bad else "refused", 0.0)

    assert fuzz_files.outcomes(lot, judged, out) == ["refused", "foreign", "refused"]
    assert [path.name for path in out.iterdir()] == ["8-dense.npz"]
