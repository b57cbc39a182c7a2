"""Files made to do harm: refused with a clear error, within a second and little memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from spatialops.errors import AssetError
from spatialops.io import read
from spatialops.io.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS

BOMB = '<!DOCTYPE lolz [<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "bomb": BOMB + ']><robot name="&i;"/>',
    "external": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/>'
        "</robot>"
    ),
    "dtd": '<!DOCTYPE r SYSTEM "http://localhost/x.dtd"><robot/>',
    "deep": "<robot>" + "<a>" * 200_000 + "</a>" * 200_000 + "</robot>",
    "many": "<robot>" + "<a/>" * 400_000 + "</robot>",
    "attributes": "<robot " + " ".join(f'a{i}=""' for i in range(280_000)) + "/>",
    "large": "<robot>" + " " * MAX_BYTES + "</robot>",
    "long number": (
        f'<robot><link name="a"><inertial><mass value="{"9" * 1_000_000}"/></inertial></link>'
        "</robot>"
    ),
    "long name": f'<robot><link name="{"x" * 1_000_000}"/><link name="b"/></robot>',
    "nan": '<robot><link name="a"><inertial><mass value="nan"/></inertial></link></robot>',
}


CODE = """
import json, resource, sys, time
from spatialops.errors import AssetError
from spatialops.io import read
if sys.argv[1].endswith("xml"):
    import mujoco, spatialops.io.mjcf
found, before = {}, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    begin = time.perf_counter()
    try:
        read(path)
    except AssetError as error:
        found[path] = (str(error), time.perf_counter() - begin)
print(json.dumps([found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024]))
"""


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_hostile_files_are_refused_quickly_and_in_little_memory(tmp_path, suffix):
    if suffix == "xml":
        pytest.importorskip("mujoco")
    paths = []
    for name, text in HOSTILE.items():
        paths.append(str(tmp_path / f"{name}.{suffix}"))
        (tmp_path / f"{name}.{suffix}").write_text(
            text.replace("robot", "mujoco") if suffix == "xml" else text
        )
    done = subprocess.run(
        [sys.executable, "-c", CODE, *paths], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found, megabytes = json.loads(done.stdout)
    assert set(found) == set(paths)
    for path, (message, seconds) in found.items():
        assert message.startswith(path)
        assert seconds < 1.0, path
    assert megabytes < 200.0


def test_bounds_are_told(tmp_path):
    path = tmp_path / "robot.urdf"
    for name, words in (
        ("deep", f"nested more than {MAX_DEPTH}"),
        ("many", f"more than {MAX_ELEMENTS} elements"),
    ):
        path.write_text(HOSTILE[name])
        with pytest.raises(AssetError, match=words):
            read(path)
    path.write_text(HOSTILE["bomb"])
    with pytest.raises(AssetError, match="document types and entities are refused"):
        read(path)
