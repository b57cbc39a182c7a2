"""Pairs that may touch are those that MuJoCo's filters leave: those of one file, and of robots."""

from __future__ import annotations

import warnings
from itertools import combinations
from pathlib import Path

import pytest

import spatialops as so
from tests.io.test_robots import MJCFS

mujoco = pytest.importorskip("mujoco")

# Hips of three axes, a body welded to another, of which one alone is kept from a third.
WALKER = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="pelvis" pos="0 0 1"><freejoint/><geom name="pelvis" size="0.1"/>
<body name="belly" pos="0 0 0.1"><geom name="belly" size="0.1"/></body>
<body name="thigh" pos="0 0 -0.1"><joint axis="1 0 0"/><joint axis="0 1 0" pos="0 0 0.05"/>
<joint axis="0 0 1"/><geom name="thigh" size="0.1"/>
<body name="shin" pos="0 0 -0.2"><joint axis="0 1 0" pos="0 0 0.1"/><geom name="shin" size="0.08"/>
<body name="foot" pos="0 0 -0.1"><joint axis="0 1 0"/><joint axis="1 0 0"/>
<geom name="foot" size="0.06"/></body></body></body></body></worldbody>
<contact><exclude body1="belly" body2="shin"/></contact></mujoco>"""
ROBOTS = ("suite/humanoid.xml", "suite/quadruped.xml", "suite/humanoid_CMU.xml", "dog_v2/dog.xml")


def left_by_filters(m) -> set[frozenset[str]]:
    """Names of the geoms of all pairs that masks, welds, parents and excluded bodies leave."""
    excluded = {frozenset((s >> 16, s & 0xFFFF)) for s in m.exclude_signature.tolist()}
    names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, g) or "" for g in range(m.ngeom)]
    found = set()
    for a, b in combinations(range(m.ngeom), 2):
        bodies = [int(m.geom_bodyid[g]) for g in (a, b)]
        welds = [int(m.body_weldid[body]) for body in bodies]
        above = [int(m.body_weldid[m.body_parentid[weld]]) for weld in welds]
        masks = (
            m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]
        )
        family = 0 not in welds and (welds[0] == above[1] or welds[1] == above[0])
        if masks and welds[0] != welds[1] and not family and frozenset(bodies) not in excluded:
            found.add(frozenset((names[a], names[b])))
    return found


def agree(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = so.load_scene(path)
    ours = {frozenset(scene.pair_names(row)) for row in range(scene.n_pairs)}
    # Without the file's own pairs, and but for geoms without a name, which have one of ours.
    m = mujoco.MjModel.from_xml_path(str(path))
    theirs = {pair for pair in left_by_filters(m) if "" not in pair}
    named = {name for pair in theirs for name in pair}
    assert {pair for pair in ours if pair <= named} == theirs


def test_hips_of_three_axes(tmp_path: Path) -> None:
    path = tmp_path / "walker.xml"
    path.write_text(WALKER)
    agree(path)
    scene = so.load_scene(path)
    pairs = {frozenset(scene.pair_names(row)) for row in range(scene.n_pairs)}
    apart = [("pelvis", "thigh"), ("belly", "thigh"), ("thigh", "shin"), ("shin", "foot")]
    assert not pairs & {frozenset(pair) for pair in [*apart, ("belly", "shin")]}
    assert {frozenset(("pelvis", "shin")), frozenset(("thigh", "foot"))} <= pairs


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=name) for name, path in MJCFS if name.endswith(ROBOTS)]
)
def test_robots(path: Path) -> None:
    agree(path)
