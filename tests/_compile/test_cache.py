"""Where compiled code is kept: only where nobody else can have put it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from spatialops._compile import cache

posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The user's cache folder and the temporary one, both empty."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("SPATIALOPS_CACHE_DIR", str(home))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(temporary))
    return home, temporary


def test_it_is_where_the_user_says(places: tuple[Path, Path]) -> None:
    found = cache.cache_directory()
    assert found is not None
    assert found.parent == places[0] / "spatialops"
    assert found.is_dir()


def test_without_a_writable_home_it_is_private(places: tuple[Path, Path]) -> None:
    places[0].write_text("not a folder")
    found = cache.cache_directory()
    assert found is not None
    assert found.parent.parent == places[1]
    if os.name == "posix":
        assert found.stat().st_mode & 0o777 == 0o700
        assert found.parent.stat().st_mode & 0o777 == 0o700


@posix
def test_a_folder_that_others_may_write_to_is_not_used(places: tuple[Path, Path]) -> None:
    (places[0] / "spatialops").mkdir(parents=True)
    (places[0] / "spatialops").chmod(0o777)
    found = cache.cache_directory()
    assert found is not None
    assert places[1] in found.parents


@posix
@pytest.mark.parametrize("mode", [0o777, 0o750, 0o705])
def test_a_temporary_folder_that_others_may_enter_is_not_used(
    places: tuple[Path, Path], mode: int
) -> None:
    places[0].write_text("not a folder")
    (places[1] / f"spatialops-{os.getuid()}").mkdir()
    (places[1] / f"spatialops-{os.getuid()}").chmod(mode)
    assert cache.cache_directory() is None


@posix
def test_a_link_in_the_temporary_folder_is_not_followed(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    places[0].write_text("not a folder")
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    (places[1] / f"spatialops-{os.getuid()}").symlink_to(theirs)
    assert cache.cache_directory() is None


@posix
def test_a_stranger_s_folder_is_not_used(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = cache.cache_directory()
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    assert cache.cache_directory() != made


def test_no_home_is_survived(monkeypatch: pytest.MonkeyPatch, places: tuple[Path, Path]) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SPATIALOPS_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", staticmethod(nowhere))
    found = cache.cache_directory()
    assert found is not None
    assert places[1] in found.parents
