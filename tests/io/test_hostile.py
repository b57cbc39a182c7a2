"""Files made to do harm: refused with a clear error, within a second and little memory."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import pytest

import spatialops as so
from spatialops.errors import AssetError, SpatialOpsError
from spatialops.io import read
from spatialops.io.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS, parse

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
import spatialops as so
from spatialops.errors import AssetError, SpatialOpsError
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
    path.write_text(HOSTILE["large"])
    with pytest.raises(AssetError, match="larger than 32 MB"):
        read(path)
    path.write_text(HOSTILE["bomb"])
    with pytest.raises(AssetError, match="document types and entities are refused"):
        read(path)


def test_large_files_may_have_more_elements_than_small_ones():
    """A robot of 10 000 links, as we write it, has 120 000 in 5.7 MB, and was refused."""
    link = b'<origin xyz="0.123456789012 0 0"/>'
    count = 3 * MAX_ELEMENTS
    root = parse(b"<robot>" + count * link + b"</robot>", "large.urdf")
    assert len(root.children) == count
    with pytest.raises(AssetError, match="elements"):
        parse(b"<robot>" + count * link.replace(b"123456789012 0 0", b"") + b"</robot>", "x")


MJCF = """<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1" mass="1" quat="1 0 0 0"/>
<body name="b" quat="1 0 0 0"><joint name="h" range="-1 1" limited="true"/><geom size="0.1"/></body>
</body></worldbody><actuator><position name="p" joint="h" kp="10"/></actuator></mujoco>"""
URDF = """<robot name="r"><link name="a"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link></robot>"""


@pytest.mark.parametrize(
    ("name", "text", "good", "bad", "words"),
    [
        ("r.xml", MJCF, 'mass="1" quat="1', 'mass="1" quat="1e200', "geom_quat: no rotation"),
        ("r.xml", MJCF, 'name="b" quat="1', 'name="b" quat="1e200', "body_quat: no rotation"),
        ("r.xml", MJCF, 'range="-1', 'range="NaN', r":2: <joint range='NaN 1'>: nan is no number"),
        ("r.xml", MJCF, 'kp="10"', 'kp="inf"', "actuator 'p': gain: holds NaN or infinity"),
        ("r.urdf", URDF, "", "", "no moving body"),
    ],
)
def test_what_cannot_be_is_said_of_its_file(tmp_path, name, text, good, bad, words):
    if name.endswith("xml"):
        pytest.importorskip("mujoco")
    path = tmp_path / name
    path.write_text(text.replace(good, bad, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SpatialOpsError, match=words) as caught:
            so.load_scene(path)
    assert str(caught.value).startswith(str(path))
