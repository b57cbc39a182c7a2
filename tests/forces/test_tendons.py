"""Tendons that go slack, that have limits, and where their lines are drawn."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ModelError
from spatialops.forces.path_lines import path_lines
from spatialops.view.motion import motion
from spatialops.view.tendon_lines import drawn_paths


def hanging(**options):
    """A kilogram on a slide, which a string to the ceiling holds; down is positive."""
    builder = so.TreeBuilder()
    slide = so.Joint("prismatic", axis=(0.0, 0.0, -1.0), name="drop")
    builder.add_body("weight", joint=slide, inertia=so.Inertia.sphere(0.1, mass=1.0))
    path = so.TendonPath([[so.Node("world", (0.0, 0.0, 1.0)), "weight"]])
    return so.Scene(builder.build(), tendons=[so.Tendon(path=path, name="string", **options)])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
def test_a_string_that_is_slack_lets_fall_and_then_holds(integrator):
    """Free fall for 0.5 m, then a spring of 400 N/m: the lowest point by energy."""
    scene = hanging(stiffness=400.0, rest=(-np.inf, 1.5))
    record = so.Simulator(scene, dt=1e-4, integrator=integrator).run(duration=0.55)
    falls = record.times < 0.31
    exact = 0.5 * 9.81 * record.times**2
    np.testing.assert_allclose(record.q[falls, 0], exact[falls], atol=2e-3)
    weight = 9.81
    sag = (weight + np.sqrt(weight**2 + 2.0 * 400.0 * weight * 0.5)) / 400.0
    assert record.q[:, 0].max() == pytest.approx(0.5 + sag, abs=1e-3)
    taken = 0.05 if integrator == "semi-implicit" else 1e-4  # J; backward Euler takes some
    assert np.ptp(record.energy) < taken


@pytest.mark.compiled
@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_a_limit_stops_without_bouncing(dt):
    scene = hanging(limits=(0.5, 1.2))
    record = so.Simulator(scene, dt=dt).run(duration=1.0)
    assert record.q[:, 0].max() < 0.2 + 5e-3
    assert record.q[-1, 0] == pytest.approx(0.2 + 9.81 / 200.0**2, abs=1e-6)
    assert np.diff(record.kinetic + record.potential).max() < 1e-2
    assert (record.q[record.times > 0.4, 0] > 0.19).all()


@pytest.mark.compiled
def test_a_limit_at_a_place_where_the_line_cannot_move_is_stable():
    """At the neutral positions the chain lies along the string, which nothing there would move."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.05, 0.5, mass=1.0)
    builder.add_body("a", joint=so.Joint("revolute", axis="y"), inertia=rod)
    hinge = so.Joint("revolute", axis="x")
    builder.add_body("b", parent="a", joint=hinge, inertia=rod, position=(0.0, 0.0, 0.5))
    ends = [so.Node("world", (0.0, 0.0, 1.5)), so.Node("b", (0.0, 0.0, 0.5))]
    string = so.Tendon(path=so.TendonPath([ends]), limits=(0.0, 0.8))
    scene = so.Scene(builder.build(), tendons=[string], state=so.State([0.2, 0.1], np.zeros(2)))
    record = so.Simulator(scene, dt=4e-3).run(duration=3.0)
    lengths = [string.path.length(scene.model, q) for q in record.q]
    assert 0.8 < max(lengths) < 0.805
    assert record.energy[-1] < record.energy[0]


def test_files_say_what_is_slack_and_limited(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("""<mujoco><worldbody><site name="top" pos="0 0 1"/><body>
      <joint name="j" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/><site name="s"/></body>
      </worldbody><tendon><spatial name="t" stiffness="3" springlength="0 0.4" limited="true"
      range="0.2 0.9"><site site="top"/><site site="s"/></spatial>
      <spatial name="drawn"><site site="top"/><site site="s"/></spatial>
      <fixed name="none"><joint joint="j" coef="1"/></fixed></tendon></mujoco>""")
    scene = so.load_scene(path)
    tendon, drawn = scene.tendons
    assert (tendon.slack, tendon.limits, tendon.stiffness) == ((0.0, 0.4), (0.2, 0.9), 3.0)
    assert (drawn.name, drawn.stiffness) == ("drawn", 0.0)
    assert len(scene.elements.ints) == 4  # two sides of the spring, two stops
    assert len(drawn_paths(scene)) == 1  # the same line twice
    again = so.Tendon(**json.loads(json.dumps(tendon.to_data())))
    assert (again.slack, again.limits) == (tendon.slack, tendon.limits)


WRAPPED = """<mujoco><worldbody><site name="w" pos="{x} 0 -.3"/>
  <body name="a"><joint name="s" axis="0 1 0"/><geom size=".02" mass="1"/>
  <geom name="g" type="{kind}" size=".1 .3" pos="0 0 .25" euler="{turn}" mass="0"/>
  <site name="o" pos="-.5 0 .25"/>
  <body name="b" pos="0 0 .5"><joint name="e" axis="1 0 0"/><geom size=".02" mass="1"/>
  <site name="t" pos="0 .1 .2"/></body></body></worldbody><tendon><spatial name="t">
  <site site="w"/><geom geom="g" {side}/><site site="t"/></spatial></tendon></mujoco>"""


@pytest.mark.parametrize("side", ["", 'sidesite="o"'])
@pytest.mark.parametrize(("kind", "turn"), [("sphere", "0 0 0"), ("cylinder", "80 10 0")])
@pytest.mark.parametrize("q", [(0.3, 0.4), (-0.5, 0.1), (1.2, -0.4)])
def test_lines_are_drawn_where_mujoco_has_them(tmp_path, side, kind, turn, q):
    """As long as the path but for chords in place of arcs, through the points of MuJoCo's wraps."""
    path = tmp_path / "a.xml"
    path.write_text(WRAPPED.format(x=0.05, kind=kind, turn=turn, side=side))
    scene = so.load_scene(path)
    (tendon,) = scene.tendons
    pieces = path_lines(scene.model, tendon.path, np.array(q))
    total = np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1).sum()
    exact = tendon.path.length(scene.model, q)
    assert exact - 1e-3 < total <= exact + 1e-12
    np.testing.assert_array_equal(pieces[1:, 0], pieces[:-1, 1])
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    d.qpos[:] = q
    mujoco.mj_forward(m, d)
    corners = np.concatenate([pieces[:, 0], pieces[-1:, 1]])
    for point in d.wrap_xpos.reshape(-1, 3)[: d.ten_wrapnum[0]]:
        assert np.linalg.norm(corners - point, axis=1).min() < 1e-9


def test_pictures_have_the_lines(tmp_path):
    record = so.Simulator(hanging(stiffness=400.0, rest=1.0), dt=1e-2).run(duration=0.1)
    shown = motion(record, 50.0)
    assert shown.lines.shape == (len(shown.times), 1, 2, 3)
    np.testing.assert_allclose(shown.lines[:, 0, 0], [[0.0, 0.0, 1.0]] * len(shown.times))
    np.testing.assert_allclose(shown.lines[-1, 0, 1], [0.0, 0.0, -record.q[-1, 0]], atol=1e-12)
    both = motion(record, 50.0, beside=record)
    assert both.lines.shape[1] == 2
    assert record.replay(tmp_path / "a.html").stat().st_size > 0


@pytest.mark.parametrize(
    "wrong", [{"rest": (1.0, 0.0)}, {"limits": (0.0, np.nan)}, {"limits": 3.0}, {"rest": (1.0,)}]
)
def test_ranges_are_checked(wrong):
    with pytest.raises(ModelError, match="tendon 'string'"):
        hanging(**wrong)
