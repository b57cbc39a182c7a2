"""No element of a robot file is dropped in silence: each is read, or told of."""

from __future__ import annotations

import warnings
from collections import Counter
from xml.etree import ElementTree

import pytest

from spatialops.errors import AssetError, ModelError
from spatialops.io import read
from tests.io.test_robots import MALFORMED, MJCFS, URDFS

QUICK = ("solo12.urdf", "romeo_laas_small.urdf", "suite/humanoid.xml", "panda/robot.xml")

READ = {  # by this reader, or by MuJoCo's compiler, in whose results they are looked at
    ".urdf": {
        *("link", "joint", "inertial", "origin", "mass", "inertia", "collision", "visual"),
        *("geometry", "box", "sphere", "cylinder", "capsule", "mesh", "plane", "parent", "child"),
        *("axis", "limit", "dynamics", "mimic"),
    },
    ".xml": {
        *("compiler", "option", "flag", "default", "asset", "include", "worldbody", "body"),
        *("frame", "inertial", "joint", "freejoint", "geom", "mesh", "hfield", "contact", "pair"),
        *("exclude", "equality", "connect", "weld", "tendon", "fixed", "actuator", "general"),
        *(
            "motor",
            "position",
            "velocity",
            "intvelocity",
            "damper",
            "cylinder",
            "keyframe",
            "key",
            "replicate",
        ),
        *("sensor", "spatial", "touch", "accelerometer", "gyro", "velocimeter"),
        *("force", "torque", "rangefinder", "framepos", "framequat", "framexaxis", "frameyaxis"),
        *("framelinvel", "frameangvel", "jointpos", "jointvel", "actuatorfrc", "subtreecom"),
        *("subtreelinvel", "subtreeangmom", "distance"),
    },
}
PLACED = {("gazebo", "mu1"), ("gazebo", "mu2"), ("contact", "lateral_friction")}
PLACED |= {("contact", "restitution"), ("robot", "gazebo"), ("link", "contact")}
PLACED |= {("robot", "material"), ("visual", "material"), ("material", "color")}
PLACED |= {("spatial", "site"), ("spatial", "pulley")}
PLACED |= {("asset", "material"), ("mujoco", "material")}  # the latter in a file to include
# What is told in words of its own, as far as the file has any of it.
TOLD = {
    "flexcomp": "flexible",
    "flex": "flexible",
    "skin": "skins",
    "plugin": "plugins",
    "muscle": "an actuator is not simulated",
    "adhesion": "an actuator is not simulated",
}


def documents(path, seen):
    root = ElementTree.fromstring(path.read_bytes().lstrip())  # one begins with an empty line
    seen.append(root)
    for element in root.iter("include"):
        below = path.parent / element.get("file")
        if below.is_file():
            documents(below, seen)
    return seen


def counts(path, description):
    """Elements of a file that are read, told of, and neither."""
    said = " ".join((*description.left_out, *description.warnings))
    suffix = path.suffix.lower()
    found, unknown = Counter(), Counter()
    stack = documents(path, [])
    while stack:
        element = stack.pop()
        for child in element:
            if not isinstance(child.tag, str):  # a comment
                continue
            tag = child.tag.rpartition("}")[2]
            place = element.tag.rpartition("}")[2], tag
            if (tag in READ[suffix] and place[0] != "gazebo") or place in PLACED:
                found["read"] += 1
                stack.append(child)
            elif f"<{place[0]}><{tag}>" in said or (tag in TOLD and TOLD[tag] in said):
                found["listed"] += sum(isinstance(e.tag, str) for e in child.iter())
            elif tag in TOLD and place[0] in ("default", "tendon"):  # of none that is there
                found["listed"] += 1
            else:
                found["unknown"] += 1
                unknown[place] += 1
    return found, unknown


def files():
    listed = [(name, path) for name, path in (*URDFS, *MJCFS) if name not in MALFORMED]
    return [
        pytest.param(path, id=name, marks=() if name.endswith(QUICK) else pytest.mark.slow)
        for name, path in listed
    ] or [pytest.param(None, marks=pytest.mark.skip(reason="no robots installed"))]


@pytest.mark.parametrize("path", files())
def test_every_element_is_read_or_told(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            description = read(path)
        except (AssetError, ModelError) as error:  # parts of others, and what MuJoCo refuses
            pytest.skip(str(error)[:100])
    found, unknown = counts(path, description)
    assert found["read"] + found["listed"] > 0
    assert not unknown


def main():
    """Counts over all files that are installed."""
    total, unread = Counter(), 0
    for name, path in (*URDFS, *MJCFS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found, unknown = counts(path, read(path))
        except (AssetError, ModelError, ElementTree.ParseError):
            unread += 1
            continue
        total += found
        total["files"] += 1
        for place, count in unknown.items():
            print(name, place, count)
    print(dict(total), "not loaded:", unread)


if __name__ == "__main__":
    main()


WEIGHT = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        (
            "r.urdf",
            f'<robot name="r"><link name="a">{WEIGHT}\n{WEIGHT}<visual/><visual/></link>'
            f'<link name="b">{WEIGHT}\n{WEIGHT}</link>'
            '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>',
            ["<link><inertial> the first is read (2 times, first line 2)"],
        ),
        (
            "r.sdf",
            '<sdf version="1.7"><model name="m"><link name="a"><pose>0 0 1 0 0 0</pose>\n'
            "<pose>0 0 2 0 0 0</pose></link></model></sdf>",
            ["of several <link><pose> the first is read (line 2)"],
        ),
    ],
)
def test_of_several_elements_where_one_is_read_the_others_are_told(tmp_path, name, text, places):
    path = tmp_path / name
    path.write_text(text)
    told = [one for one in read(path).warnings if "of several" in one]
    assert len(told) == len(places)
    for place in places:
        assert any(place in one for one in told), (place, told)
