"""Damaged URDFs: nothing but errors of the package comes out of the reader or the model."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spatialops as so
from spatialops.errors import SpatialOpsError
from spatialops.io import build
from spatialops.io.urdf import parse_urdf
from tests.support.mutations import mutate

GOOD = b"""<robot name="r">
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial><contact>
<lateral_friction value="1"/><restitution value="0.1"/></contact></link>
<link name="b"><inertial><origin xyz="0 0 1" rpy="1 2 3"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><collision><geometry>
<mesh filename="package://p/x.stl" scale="1 1 1"/></geometry></collision></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial><collision>
<origin xyz="1 2 3"/>
<geometry><capsule radius="1" length="2"/></geometry></collision></link>
<link name="d"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial><visual>
<geometry>
<box size="1 2 3"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1" friction="1"/></joint>
<joint name="k" type="prismatic"><origin xyz="1 2 3" rpy="1 2 3"/><parent link="b"/>
<child link="c"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="j" multiplier="2" offset="1"/>
</joint>
<joint name="l" type="floating"><parent link="c"/><child link="d"/></joint>
<gazebo reference="a"><mu1 value="1"/></gazebo><transmission/></robot>"""

HERE = Path("robot.urdf")


def attempt(text: bytes, floating: bool) -> bool:
    """Whether a model came out; other errors than ours go through."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # numbers near the largest overflow on the way to an error
        try:
            description = parse_urdf(text, HERE)
            model = build(description, floating_base=floating)
            so.Loops(model, description.loops)
        except SpatialOpsError:
            return False
    return True


def test_the_seed_is_good():
    assert attempt(GOOD, True)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), times=st.integers(1, 6))
def test_mutations(seed, times):
    attempt(mutate(GOOD, np.random.default_rng(seed), times), bool(seed % 2))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(GOOD)))
def test_any_bytes(noise, at):
    attempt(noise, False)
    attempt(GOOD[:at] + noise + GOOD[at:], False)


def feed(count: int, seed: int) -> int:
    """Feed so many damaged files; how many models came out."""
    rng = np.random.default_rng(seed)
    return sum(
        attempt(mutate(GOOD, rng, int(rng.integers(1, 5))), bool(i % 2)) for i in range(count)
    )


@pytest.mark.slow
def test_many_mutations():
    assert feed(20_000, seed=1) > 1000  # the mutations are not so wild that nothing is reached


if __name__ == "__main__":  # python -m tests.io.test_fuzz 1000000
    print(feed(int(sys.argv[1]), seed=2), "models came out, and no other error than ours")
