"""The MJCF reader: coordinates, closures, shapes, keyframes, and what it only lists."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, AssetError, MissingLibraryError
from spatialops.io import build, read
from tests.io.test_robots import compare
from tests.support.files import MujocoFile

mujoco = pytest.importorskip("mujoco")

EVERY_JOINT = """<mujoco><compiler angle="degree"/><option gravity="0.5 -1 -9"/><worldbody>
  <body name="free" pos="1 2 3" quat="0.5 0.1 0.7 0.2"><freejoint/>
  <inertial pos=".1 .2 .3" quat="1 2 3 4" mass="2"
    diaginertia=".2 .3 .4"/>
    <body pos=".1 0 .2" quat="1 0 1 0"><joint type="ball" pos=".1 .2 -.3" armature=".1"/>
      <geom type="box" size=".1 .2 .3" pos=".2 .1 0"/>
      <body pos="0 .3 0"><joint name="slide" type="slide" axis="1 1 0" pos=".3 0 0" ref=".2"
      range="-1 1"/>
        <joint name="hinge" type="hinge" axis="1 0 2" pos=".1 0 .2" ref="40" range="-90 90"
        armature=".2" damping=".3"
          frictionloss=".4"/>
        <joint type="hinge" axis="0 1 0" pos="0 -.2 .2"/>
        <geom type="capsule" size=".1 .2" pos="0 .1 .1"/>
        <body pos="0 0 .4" quat="1 1 0 0"><geom type="sphere" size=".1"/></body></body></body>
        </body>
  <body pos="0 0 1"><joint type="hinge" axis="0 1 0" ref="-30"/><geom type="box" size=".1 .2 .1"/>
  </body>
</worldbody>
<keyframe><key name="home" qpos="1 2 3 0 1 0 0  0 0 1 0  .3 .4 .5  .6"
qvel="1 2 3 4 5 6  7 8 9  10 11 12  13"/>
</keyframe>
</mujoco>"""

CLOSED = """<mujoco><worldbody>
  <body name="a"><joint name="ja" axis="0 1 0"/><geom size=".1" pos=".5 0 0"/>
    <site name="sa" pos="1 0 0"/>
    <body name="b" pos="1 0 0"><joint name="jb" axis="0 1 0" ref="10"/>
    <geom size=".1" pos=".5 0 0"/></body></body>
  <body name="c" pos="2 0 0"><joint name="jc" axis="0 1 0"/><geom size=".1" pos="-.3 0 .1"/>
    <site name="sc" pos="-1 0 0"/></body>
  <body name="d" pos="0 1 0" quat="1 1 0 0"><freejoint/><geom size=".1"/></body>
</worldbody>
<tendon><fixed name="t"><joint joint="ja" coef="2"/><joint joint="jb" coef="-1"/></fixed>
  <spatial name="s" stiffness="3"><site site="sa"/><site site="sc"/></spatial></tendon>
<equality>
  <connect name="pin" body1="b" body2="c" anchor="1 0 0"/>
  <weld name="glue" body1="d" body2="a"/>
  <connect name="sites" site1="sa" site2="sc"/>
  <joint name="gear" joint1="jb" joint2="jc" polycoef=".1 2 0 0 0"/>
  <joint name="curve" joint1="jb" joint2="jc" polycoef="0 1 3 0 0"/>
  <joint name="off" joint1="jb" joint2="jc" active="false"/>
  <tendon name="pull" tendon1="t" polycoef=".5 0 0 0 0"/>
  <tendon name="rope" tendon1="s"/>
</equality></mujoco>"""

FEATURES = """<mujoco><option density="1.2" viscosity="0.1"/>
<asset><hfield name="h" nrow="2" ncol="3" size="1 2 3 .1" elevation="0 1 2 3 4 5"/></asset>
<worldbody><geom name="ground" type="plane" size="1 1 1" friction="0.8 .1 .2"/>
  <geom name="terrain" type="hfield" hfield="h"/>
  <body name="a" gravcomp="1"><site name="s"/><joint name="j" stiffness="3" springref=".2"/>
    <geom name="ball" size=".1" condim="1"/><geom name="ghost" type="box" size="1 1 1" contype="0"
    conaffinity="0"/>
    <geom name="capsule" type="capsule" size=".1 .3"/>
    <geom name="egg" type="ellipsoid" size=".1 .2 .3"/>
    <geom name="tin" type="cylinder" size=".1 .2" contype="2" conaffinity="4"/></body>
  <body name="b"><joint type="ball" range="0 1" limited="true"/><geom size=".1"/></body></worldbody>
<contact><exclude body1="a" body2="b"/><pair geom1="ball" geom2="ground"/></contact>
<actuator><motor name="m" joint="j" gear="5" ctrlrange="-1 2" ctrllimited="true" forcerange="-3 3"
forcelimited="true"/>
</actuator><sensor><jointpos joint="j"/><magnetometer site="s"/></sensor></mujoco>"""


@pytest.fixture
def write(tmp_path):
    def make(text):
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return path

    return make


def test_every_joint_is_the_same_mechanism(write, rng):
    robot = MujocoFile(write(EVERY_JOINT))
    compare(robot, rng)
    model = robot.model
    assert model.joint_kinds == ("free", "ball", "prismatic", "revolute", "revolute", "revolute")
    at = model.v_slice("hinge").start
    assert (model.damping[at], model.dry_friction[at]) == (0.3, 0.4)
    np.testing.assert_allclose([model.lower[at], model.upper[at]], [-np.pi / 2, np.pi / 2])
    assert "free" in model.body_names


def test_keyframes_are_states_in_our_conventions(write):
    path = write(EVERY_JOINT)
    scene = so.load_scene(path, strict=False)
    state = scene.keyframe("home")
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    poses = so.body_poses(scene.model, state.q)
    np.testing.assert_allclose(poses.positions[0], d.xpos[1], atol=1e-12)
    velocity = so.node_velocities(scene.model, state.q, state.v, [so.Node("free")])[0]
    theirs = np.zeros(6)
    mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, 1, theirs, 0)
    np.testing.assert_allclose(velocity, theirs, atol=1e-12)
    with pytest.raises(ArgumentError, match="there is no 'away'; there are 'home'"):
        scene.keyframe("away")


def test_equality_constraints_are_closures(write, rng):
    description = read(write(CLOSED))
    model = build(description)
    assert [(loop.name, loop.kind) for loop in description.loops] == [
        ("pin", "ball"),
        ("glue", "weld"),
        ("sites", "ball"),
        ("gear", "coupler"),
        ("pull", "coupler"),
    ]
    told = " ".join(description.warnings)
    assert "(2 times, first curve)" in told  # and the rope
    rope = description.tendons[0].path  # from site to site it acts; as a closure it does not
    assert [node.body for node in rope.branches[0]] == ["a", "c"]
    assert any("switched off (off)" in text for text in description.left_out)
    # The rows of MuJoCo's constraints at any configuration are those of the closures.
    robot = MujocoFile(write(CLOSED))
    robot.m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    their_q, _, _ = robot.random(rng)
    robot._set(their_q)
    q, loops = robot.twin.coordinates(their_q), so.Loops(model, description.loops)
    theirs = robot.d.efc_pos[: robot.d.ne]
    ours = so.loop_errors(model, loops, q)
    sizes = {"pin": 3, "sites": 3, "gear": 1, "pull": 1}
    starts = {"pin": 0, "glue": 3, "sites": 9, "gear": 12, "pull": 14}  # the curve stands between
    for name, size in sizes.items():
        expected = theirs[starts[name] : starts[name] + size]
        assert np.linalg.norm(ours[loops.rows(name)]) == pytest.approx(
            np.linalg.norm(expected), rel=1e-9
        ), name
    glued = theirs[starts["glue"] : starts["glue"] + 3]
    assert np.linalg.norm(ours[loops.rows("glue")][:3]) == pytest.approx(
        np.linalg.norm(glued), rel=1e-9
    )


def test_shapes_masks_and_friction(write):
    description = read(write(FEATURES))
    shapes = {spec.name: spec for spec in description.shapes}
    assert shapes["ground"].kind == "half_space"
    assert shapes["ground"].friction == (0.8, 0.1, 0.2)
    assert (shapes["ball"].condim, shapes["ball"].friction[0]) == (1, 1.0)
    assert not shapes["ghost"].collides
    assert (shapes["capsule"].sizes, shapes["tin"].sizes) == ((0.1, 0.6), (0.1, 0.4))
    assert shapes["egg"].sizes == (0.1, 0.2, 0.3)
    assert (shapes["tin"].group, shapes["tin"].collides_with) == (2, 4)
    np.testing.assert_allclose(
        shapes["terrain"].mesh, np.arange(6.0).reshape(2, 3)[::-1] / 5.0 * 3.0, atol=1e-6
    )  # y up
    assert description.ignore == (("a", "b"),)
    model = build(description)
    at = model.v_slice("j")
    assert model.stiffness[at] == 3.0
    assert model.reference[at] == pytest.approx(np.deg2rad(0.2))
    assert model.compensation[model.body_index("a")][0] > 0.0


def test_what_has_no_counterpart_is_listed(write):
    description = read(write(FEATURES))
    told = " ".join(description.warnings)
    for words in (
        "fluid",
        "limit of a ball",
    ):
        assert words in told, words
    left = " ".join(description.left_out)
    for words in ("sensors: a magnetometer", "size of a plane"):
        assert words in left, words
    (sensor,) = description.sensors
    assert (sensor.name, sensor.kind, sensor.targets) == ("sensor0", "joint position", ("j",))
    (motor,) = description.actuators
    assert (motor.name, motor.kind, motor.target, motor.gear[0]) == ("m", "joint", "j", 5.0)
    assert (motor.control_range, motor.force_range) == ((-1.0, 2.0), (-3.0, 3.0))
    assert (motor.made.ctrl_range, motor.made.force_range) == ((-1.0, 2.0), (-3.0, 3.0))
    assert dict(motor.made.joints) == {"j": 5.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
            "MuJoCo cannot compile it",
        ),
        ("<mujoco><nonsense/></mujoco>", "MuJoCo cannot compile it"),
        ('<mujoco><include file="../../secret.xml"/></mujoco>', "lies outside"),
        ('<mujoco><include file="robot.xml"/></mujoco>', "includes more than"),
        ('<mujoco><asset><mesh file="/etc/passwd"/></asset></mujoco>', "lies outside"),
        (
            '<mujoco><asset><mesh file="../../../../../../../etc/passwd"/></asset></mujoco>',
            "lies outside",
        ),
        ('<mujoco><compiler meshdir="../../.."/></mujoco>', "lies outside"),
        (
            '<mujoco><worldbody><body pos="1e9 0 0"><joint/><geom size="1"/></body>'
            "</worldbody></mujoco>",
            "are the units wrong?",
        ),
        (
            '<mujoco><worldbody><body><joint/><geom size="nan"/></body></worldbody></mujoco>',
            "nan is no number",
        ),
    ],
)
def test_refused(write, text, message):
    with pytest.raises(AssetError) as caught:
        read(write(text))
    assert message in str(caught.value)


def test_floating_base_is_the_files_own_business(write):
    with pytest.raises(ArgumentError, match="says itself"):
        so.load_model(write(CLOSED), floating_base=True)


def test_without_mujoco_the_error_names_the_extra(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[mjcf\]"):
        read(write(CLOSED))


PAIRED = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" contype="0"
conaffinity="0"/>
<body name="a" pos="0 0 1"><freejoint/><geom name="ga" size=".1" mass="1" contype="0"
conaffinity="0"/></body>
<body name="b" pos="1 0 1"><freejoint/><geom name="gb" size=".1" density="500"/>
<geom name="gc" size=".1" pos=".3 0 0" mass="1" contype="2" conaffinity="2"/></body>
<body name="c" pos="2 0 1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<geom name="gd" size=".1"/></body>
</worldbody><contact><pair geom1="ga" geom2="floor" friction=".7 .7 .1 .1 .1"/>
<pair geom1="ga" geom2="gb" condim="1"/>
<pair geom1="gc" geom2="gd" friction=".4 .3 .1 .1 .1"/><exclude body1="b" body2="c"/></contact>
</mujoco>"""


def test_contact_pairs_are_looked_at_whatever_masks_and_excludes_say(tmp_path):
    path = tmp_path / "paired.xml"
    path.write_text(PAIRED)
    with pytest.warns(so.errors.AssetWarning, match="differs by direction"):
        scene = so.load_scene(path)
    looked_at = {
        frozenset(scene.pair_names(p)): scene.coefficients_of([p]).friction[0]
        for p in range(scene.n_pairs)
    }
    assert looked_at == {
        frozenset(("ga", "floor")): 0.7,
        frozenset(("ga", "gb")): 0.0,
        frozenset(("gc", "gd")): 0.4,
    }
    again = so.Scene.from_data(scene.model, scene.to_data(), scene.state)
    pairs = np.arange(scene.n_pairs)
    assert np.array_equal(again.coefficients_of(pairs), scene.coefficients_of(pairs))
    both = so.compose(
        [
            so.Part(source=scene, name="one"),
            so.Part(source=scene, name="two", position=(9.0, 0.0, 0.0)),
        ]
    )
    friction = both.coefficients_of(np.arange(both.n_pairs)).friction
    names = {frozenset(both.pair_names(p)): mu for p, mu in enumerate(friction)}
    assert names[frozenset(("two/ga", "two/floor"))] == 0.7
    assert names[frozenset(("one/gc", "one/gd"))] == 0.4


def test_masses_that_come_from_densities_are_told(tmp_path):
    path = tmp_path / "paired.xml"
    path.write_text(PAIRED)
    assert "mass and inertia come from the densities of geoms: 1 bodies" in read(path).warnings


@pytest.mark.parametrize("name", ["arm.mjcf", "arm.XML"])
def test_other_suffixes_are_read_with_what_stands_beside_the_file(name, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "hand.xml").write_text(
        '<mujoco><worldbody><body name="hand" pos="0 0 1"><joint/><geom size=".2"/></body>'
        "</worldbody></mujoco>"
    )
    (tmp_path / "sub" / "corner.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    (tmp_path / name).write_text(
        '<mujoco><compiler meshdir="sub"/><asset><mesh name="m" file="corner.obj"/></asset>'
        '<include file="sub/hand.xml"/><worldbody><body name="arm"><joint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    scene = so.load_scene(tmp_path / name)
    assert set(scene.model.body_names) == {"hand", "arm"}
    assert sorted(type(geom.shape).__name__ for geom in scene.geoms) == ["ConvexHull", "Sphere"]


BOUNDED = """<mujoco><worldbody><site name="still" pos="0 0 1"/>
  <body><joint name="a" axis="0 1 0" actuatorfrcrange="-1 2"/><geom size=".1" pos=".2 0 0"/>
  <site name="moved" pos=".3 0 0"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
    <site name="beyond"/></body></body>
</worldbody><tendon>
  <fixed name="one"><joint joint="a" coef="2"/></fixed>
  <fixed name="both"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed>
  <spatial name="to_the_world"><site site="still"/><site site="beyond"/></spatial>
  <spatial name="inside"><site site="moved"/><site site="beyond"/></spatial>
</tendon><actuator>{}</actuator></mujoco>"""


@pytest.mark.parametrize(
    ("actuators", "obeyed"),
    [
        ('<motor joint="a" gear="-2"/>', (-1.0, 0.5)),
        ('<motor tendon="one"/>', (-0.5, 1.0)),
        ('<motor joint="a"/><motor tendon="inside"/>', (-1.0, 2.0)),
        ('<motor joint="b"/>', (-np.inf, np.inf)),
        ('<motor joint="a"/><motor joint="a"/>', None),
        ('<motor joint="a"/><motor tendon="one"/>', None),
        ('<motor tendon="both"/>', None),
        ('<motor tendon="to_the_world"/>', None),
    ],
)
def test_the_range_of_a_joints_force_is_obeyed_or_told(write, actuators, obeyed):
    found = read(write(BOUNDED.format(actuators)))
    told = [text for text in found.warnings if "the range of force of a joint" in text]
    assert len(told) == (obeyed is None)
    if obeyed is None:
        assert "(a)" in told[0]
    else:
        assert found.actuators[0].made.force_range == obeyed


def test_what_delays_an_actuator_is_told(write):
    late = '<motor joint="a"/><general joint="b" dyntype="filter" dynprm="1" actearly="true"/>'
    told = read(write(BOUNDED.format(late))).warnings
    assert any("not simulated: early activation of actuators" in text for text in told)
