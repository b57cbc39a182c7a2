"""Files made to do harm: refused with a clear error, within a second and little memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from spatialops.errors import AssetError
from spatialops.io import read
from spatialops.io.markup import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS

BOMB = '<!DOCTYPE lolz [<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "bomb": BOMB + ']><robot name="&i;"/>',
    "external": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/></robot>',
    "dtd": '<!DOCTYPE r SYSTEM "http://localhost/x.dtd"><robot/>',
    "deep": "<robot>" + "<a>" * 200_000 + "</a>" * 200_000 + "</robot>",
    "many": "<robot>" + "<a/>" * 400_000 + "</robot>",
    "attributes": "<robot " + " ".join(f'a{i}=""' for i in range(280_000)) + "/>",
    "large": "<robot>" + " " * MAX_BYTES + "</robot>",
    "long number": f'<robot><link name="a"><inertial><mass value="{"9" * 1_000_000}"/></inertial></link></robot>',
    "long name": f'<robot><link name="{"x" * 1_000_000}"/><link name="b"/></robot>',
    "nan": '<robot><link name="a"><inertial><mass value="nan"/></inertial></link></robot>',
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_hostile_files_are_refused_quickly_and_in_little_memory(tmp_path, name, suffix):
    path = tmp_path / f"robot.{suffix}"
    path.write_text(HOSTILE[name].replace("robot", "mujoco") if suffix == "xml" else HOSTILE[name])
    code = """
        import resource, sys, time
        from spatialops.errors import AssetError
        from spatialops.io import read
        if sys.argv[1].endswith("xml"):
            import mujoco, spatialops.io.mjcf
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        try:
            read(sys.argv[1])
        except AssetError as error:
            print(str(error)[:200])
        print(time.perf_counter() - begin, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    """
    run = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    message, figures = done.stdout.strip().splitlines()
    seconds, megabytes = (float(x) for x in figures.split())
    assert message.startswith(str(path))
    assert seconds < 1.0
    assert megabytes < 200.0


def test_bounds_are_told(tmp_path):
    path = tmp_path / "robot.urdf"
    for name, words in (("deep", f"nested more than {MAX_DEPTH}"), ("many", f"more than {MAX_ELEMENTS} elements")):
        path.write_text(HOSTILE[name])
        with pytest.raises(AssetError, match=words):
            read(path)
    path.write_text(HOSTILE["bomb"])
    with pytest.raises(AssetError, match="document types and entities are refused"):
        read(path)
