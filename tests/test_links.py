"""Where git wrote the linked folders as text files, the first import says so."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spatialops as so
from spatialops.errors import InstallationError, SpatialOpsError

PACKAGE = Path(so.__file__).parent


@pytest.mark.parametrize("name", ["collision", "contact", "models"])
def test_a_link_that_became_a_text_file_is_named(tmp_path, name):
    (tmp_path / name).write_text(f"../{name}")
    with pytest.raises(InstallationError, match=f"{name} is a text file") as caught:
        so._check_links(str(tmp_path))
    assert "\n" not in str(caught.value)
    assert "core.symlinks" in str(caught.value)
    assert isinstance(caught.value, SpatialOpsError)


def test_folders_are_as_good_as_links(tmp_path):
    for name in ("collision", "contact", "models"):
        (tmp_path / name).mkdir()
    so._check_links(str(tmp_path))


def test_the_import_fails_in_one_line_before_anything_else(tmp_path):
    broken = tmp_path / "spatialops"
    broken.mkdir()
    for name in ("__init__.py", "errors.py"):
        shutil.copy(PACKAGE / name, broken / name)
    (broken / "contact").write_text("../contact")
    done = subprocess.run(
        [sys.executable, "-c", "import spatialops"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode != 0
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith("spatialops.errors.InstallationError")
    assert "contact is a text file" in last
