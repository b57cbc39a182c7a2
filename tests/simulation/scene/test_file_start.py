"""Scenes from files begin where they can be simulated: within limits, with closures closed."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError

pytest.importorskip("mujoco")

# Two carriages, one on the other, whose end is to be a metre from where both are at zero.
RAIL = """<mujoco><worldbody><body name="a"><joint name="a" type="slide" axis="1 0 0" range="{}"/>
<geom size="0.1"/><body name="b"><joint name="b" type="slide" axis="1 0 0" range="{}"/>
<geom size="0.1"/><site name="end"/></body></body><site name="goal" pos="1 0 0"/></worldbody>
<equality><connect site1="end" site2="goal"/></equality></mujoco>"""


def loaded(tmp_path, *limits):
    path = tmp_path / "rail.xml"
    path.write_text(RAIL.format(*limits))
    return so.load_scene(path)


def test_joints_stay_within_limits_as_closures_are_closed(tmp_path):
    free = loaded(tmp_path, "-5 5", "-5 5")
    assert free.state.q == pytest.approx([0.0, 1.0], abs=1e-10)  # the least motion
    scene = loaded(tmp_path, "-5 5", "-5 0.2")
    assert scene.state.q == pytest.approx([0.8, 0.2], abs=1e-10)
    assert np.abs(so.loop_errors(scene.model, scene.loops, scene.state.q)).max() < 1e-10
    so.Simulator(scene, dt=1e-3).run(duration=0.01)


def test_where_limits_leave_no_room_the_closed_one_is_taken(tmp_path):
    scene = loaded(tmp_path, "-5 0.1", "-5 0.2")
    assert np.abs(so.loop_errors(scene.model, scene.loops, scene.state.q)).max() < 1e-10
    with pytest.raises(ArgumentError, match="beyond its limits"):
        so.Simulator(scene, dt=1e-3).run(duration=0.01)
