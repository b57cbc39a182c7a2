"""Tendons from site to site against MuJoCo, closed forms and differences."""

import json

import mujoco
import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import rotation_matrix
from spatialops.errors import ArgumentError, ModelError
from tests.forces.test_corpora import Twin, distance

# Lines between the world, a chain with every kind of joint and a free body; pulleys; a motor and a
# servo that pull along them.
NET = """<mujoco><option gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
<site name="w" pos="-.2 .1 .3"/>
<body pos="0 0 1"><joint name="j1" axis="0 1 0" damping=".2"/>
 <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0" mass="1"/><site name="a" pos=".2 .02 .1"/>
 <body pos=".5 0 0" euler="10 20 30"><joint name="j2" type="ball" damping=".1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 .1" mass="1"/>
  <site name="b" pos=".1 .06 .05"/><site name="b2" pos=".3 -.06 .05"/>
  <body pos=".4 0 0"><joint name="j3" type="slide" axis="1 0 0" damping="1"/>
   <geom size=".08" mass=".5"/><site name="c" pos=".02 .05 .03"/></body></body></body>
<body name="f" pos=".5 .5 .5"><freejoint name="fr"/><geom type="box" size=".1 .05 .07" mass="1"/>
 <site name="d" pos=".1 .04 .05"/></body>
</worldbody><tendon>
<spatial name="t" stiffness="12" damping=".3" springlength=".5"><site site="w"/><site site="a"/>
 <site site="b"/><pulley divisor="2"/><site site="b2"/><site site="c"/><pulley divisor="3"/>
 <site site="c"/><site site="d"/></spatial>
<spatial name="s" stiffness="10" damping=".2"><site site="d"/><site site="w"/></spatial>
</tendon><actuator><motor name="m" tendon="t" gear="3" ctrlrange="-1 1"/>
<position name="p" tendon="s" kp="4" kv=".3" gear=".5" forcerange="-5 5"/></actuator></mujoco>"""


# Around a cylinder of the world and one of the second link, around a sphere on either side.
WRAPS = """<mujoco><option gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
<site name="w" pos="-.3 .1 .9"/>
<geom name="cy" type="cylinder" size=".08 .3" pos="-.1 0 .95" euler="80 10 0"/>
<body pos="0 0 1"><joint name="j1" axis="0 1 0" damping=".2"/>
 <joint name="j1b" axis="1 0 0" damping=".2"/>
 <geom name="sp" type="sphere" size=".07" pos=".25 .02 .02" mass=".2"/>
 <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0" mass="1"/>
 <site name="a" pos=".1 .02 .1"/><site name="si" pos=".25 .02 .15"/>
 <body pos=".5 0 0" euler="10 20 30"><joint name="j2" type="ball" damping=".1"/>
  <geom name="cl" type="cylinder" size=".06 .1" euler="90 0 0" mass=".2"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 .1" mass="1"/>
  <site name="b" pos=".1 .03 .08"/><site name="b2" pos=".3 -.06 .05"/>
  <site name="s2" pos="0 0 .1"/></body></body>
</worldbody><tendon>
<spatial name="t" stiffness="20" damping=".4" springlength=".5"><site site="w"/><geom geom="cy"/>
 <site site="a"/><geom geom="sp" sidesite="si"/><site site="b"/></spatial>
<spatial name="s" stiffness="30" damping=".3"><site site="a"/><geom geom="cl" sidesite="s2"/>
 <site site="b2"/><pulley divisor="2"/><site site="b"/><site site="w"/></spatial>
<spatial name="r" stiffness="3"><site site="a"/><geom geom="sp"/><site site="b2"/></spatial>
</tendon><actuator><motor name="m" tendon="t" gear="3" ctrlrange="-1 1"/></actuator></mujoco>"""


@pytest.fixture(params=["straight", "around"])
def net(tmp_path, request):
    path = tmp_path / "net.xml"
    path.write_text({"straight": NET, "around": WRAPS}[request.param])
    return path


def test_lengths_and_arms_are_mujocos(net):
    twin, rng = Twin(net), np.random.default_rng(0)
    scene, m = twin.scene, twin.m
    model, d = scene.model, mujoco.MjData(twin.m)
    far = 0
    for _ in range(60):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        mujoco.mj_forward(m, d)
        q, mine = model.neutral().copy(), twin.joints(d.qpos)
        for name, own in mine.items():
            q[model.q_slice(name)] = own
        for t, tendon in enumerate(scene.tendons):
            assert tendon.path.length(model, q) == pytest.approx(d.ten_length[t], abs=1e-14)
        for a, one in enumerate(scene.actuators):
            assert one.path.length(model, q) == pytest.approx(d.actuator_length[a], abs=1e-14)
            v = rng.normal(size=model.nv)
            after = one.path.length(model, so.integrate(model, q, 1e-6 * v))
            before = one.path.length(model, so.integrate(model, q, -1e-6 * v))
            rate = one.path.arms(model, q) @ v
            # Lines leave their geoms and change sides in few of these states.
            far += abs(rate - (after - before) / 2e-6) > 1e-7
    assert far < 3


def end_of(twin, dt, integrator):
    options = {"integrator": integrator, "joint_limits": False, "dry_friction": False}
    final = so.Simulator(twin.scene, dt=dt, **options).run(duration=2.0, record=False).final
    return {name: final.q[twin.scene.model.q_slice(name)] for name in twin.names}


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.parametrize("net", ["straight"], indirect=True)
def test_trajectories_converge_to_mujocos(net):
    """RK4 beside their RK4 at the same step; the others are of the order of damping, one."""
    twin = Twin(net)
    reference = twin.theirs(5e-5, 1)
    for integrator, most in (("moreau", 0.02), ("semi-implicit", 0.02), ("rk4", 1e-7)):
        errors = [distance(end_of(twin, dt, integrator), reference) for dt in (2e-3, 1e-3)]
        assert errors[1] < most
        assert errors[1] < 0.65 * errors[0]
    assert errors[1] < 2.0 * distance(twin.theirs(1e-3, 1), reference)


@pytest.mark.compiled
@pytest.mark.parametrize("net", ["around"], indirect=True)
def test_trajectories_around_geoms_are_mujocos(net):
    """Lines touch geoms and leave them, which takes RK4 its order, but not the same steps."""
    twin = Twin(net)
    for dt in (4e-3, 1e-3):
        assert distance(end_of(twin, dt, "rk4"), twin.theirs(dt, 1)) < 1e-7
    reference = twin.theirs(5e-5, 1)
    theirs = distance(twin.theirs(1e-3, 3), reference)
    for integrator in ("moreau", "semi-implicit"):
        assert distance(end_of(twin, 1e-3, integrator), reference) < theirs


def ball_on_a_spring(stiffness=100.0, **options):
    """A free ball of 1 kg on a spring to the world's origin, without gravity."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    path = so.TendonPath([["world", "ball"]])
    tendon = so.Tendon(path=path, stiffness=stiffness, rest=0.5, name="spring", **options)
    state = so.State(np.array([0.6, 0, 0, 0, 0, 0, 1.0]), np.array([0, 0, 0, 0, 1.0, 0]))
    return so.Scene(builder.build(), tendons=[tendon], state=state)


@pytest.mark.compiled
@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}, {"time": so.EventDriven()}])
def test_a_ball_on_a_spring_keeps_energy_and_angular_momentum(options):
    record = so.Simulator(ball_on_a_spring(), dt=1e-3, **options).run(duration=2.0)
    momentum = np.cross(record.q[:, :3], record.v[:, 3:])[:, 2]  # the ball does not turn
    assert record.energy[0] == pytest.approx(0.5 + 50.0 * 0.1**2, rel=1e-12)
    assert abs(np.linalg.norm(record.q[:, :3], axis=1) - 0.6).max() > 0.05
    swing = (10.0 * 1e-3) ** 2  # the square of the angle of the oscillation in a step
    assert abs(record.energy / record.energy[0] - 1.0).max() < swing
    assert abs(momentum / momentum[0] - 1.0).max() < swing


@pytest.mark.compiled
def test_a_stretched_damper_comes_to_rest_at_any_stiffness():
    for stiffness in (1e2, 1e6, 1e9):
        scene = ball_on_a_spring(stiffness, damping=2.0 * np.sqrt(stiffness))
        scene.state = so.State(scene.state.q, np.zeros(6))
        final = so.Simulator(scene, dt=4e-3).run(duration=4.0, record=False).final
        assert np.linalg.norm(final.q[:3]) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.compiled
def test_a_path_within_a_floating_tree_keeps_its_momentum():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.0)
    builder.add_body("a", joint=so.Joint("free"), inertia=rod)
    builder.add_body("b", parent="a", joint=so.Joint("ball"), inertia=rod, position=(0, 0, 0.3))
    ends = [so.Node("a", (0.1, 0.0, 0.0)), so.Node("b", (0.2, 0.1, 0.2))]
    tendon = so.Tendon(path=so.TendonPath([ends]), stiffness=50.0, rest=0.1)
    scene = so.Scene(builder.build(), tendons=[tendon])
    record = so.Simulator(scene, dt=1e-3).run(duration=1.0)
    assert abs(record.v).max() > 0.5
    ends = [so.momentum(scene.model, record.q[k], record.v[k]) for k in (0, -1)]
    assert abs(ends[1] - ends[0]).max() < 1e-12


@pytest.mark.compiled
def test_every_environment_of_a_batch_has_arms_of_its_own():
    scene = ball_on_a_spring()
    rng = np.random.default_rng(1)
    v = rng.normal(size=(4, 6))
    with so.Batch(so.Simulator(scene, dt=1e-3), 4, threads=2) as batch:
        found = batch.rollout(np.zeros((4, 50, 6)), v=v).q[:, -1]
    for e in range(4):
        begin = so.State(scene.state.q, v[e])
        alone = so.Simulator(scene, dt=1e-3).run(begin, duration=0.05)
        np.testing.assert_array_equal(found[e], alone.q[-1])


def around_a_cylinder(axis=(0.0, 0.0, 1.0)):
    """A slide along y at x = -2, tied around a cylinder of 1 m at the origin to (2, 0, 0)."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    joint = so.Joint("prismatic", axis="y")
    ball = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("slider", joint=joint, inertia=ball, position=(-2.0, 0.0, 0.0))
    geom = so.Around(middle="world", radius=1.0, axis=axis, side=so.Node("world", (0.0, 3.0, 0.0)))
    path = so.TendonPath([["slider", geom, so.Node("world", (2.0, 0.0, 0.0))]])
    tendon = so.Tendon(path=path, stiffness=1.0)
    return so.Scene(builder.build(), tendons=[tendon])


def test_a_line_around_a_cylinder_is_two_tangents_and_an_arc():
    scene = around_a_cylinder()
    path = scene.tendons[0].path
    exact = 2.0 * np.sqrt(3.0) + np.pi / 3.0
    assert path.length(scene.model, [0.0]) == pytest.approx(exact, abs=1e-14)
    assert path.arms(scene.model, [0.0]) == pytest.approx([-0.5], abs=1e-14)  # sin of 30 degrees
    assert path.length(scene.model, [5.0]) == pytest.approx(np.hypot(4.0, 5.0), abs=1e-14)


def test_what_a_path_goes_around_moves_with_its_part():
    scene = around_a_cylinder()
    place, turn = (1.0, 2.0, 3.0), rotation_matrix((0.5, 0.5, 0.5, 0.5))
    made = so.compose([so.Part(source=scene, name="a", position=place, rotation=turn)])
    mine, theirs = (one.tendons[0].path.length(one.model, [0.3]) for one in (scene, made))
    assert theirs == pytest.approx(mine, abs=1e-14)
    data = made.tendons[0].to_data()
    again = so.Tendon(**json.loads(json.dumps(data)))
    assert again.path.length(made.model, [0.3]) == theirs


def test_a_composed_scene_moves_the_worlds_nodes_with_its_part():
    scene = ball_on_a_spring()
    place = (1.0, 2.0, 3.0)
    both = so.compose(
        [so.Part(source=scene, name="a"), so.Part(source=scene, name="b", position=place)]
    )
    lengths = [one.path.length(both.model, both.state.q) for one in both.tendons]
    assert lengths == pytest.approx([0.6, 0.6], abs=1e-15)
    assert both.tendons[1].path.branches[0][1].body == "b/ball"


def test_a_scene_keeps_its_paths_in_a_file(tmp_path):
    scene = ball_on_a_spring()
    record = so.Simulator(scene).run(duration=0.002)
    again = so.load_record(record.save(tmp_path / "run.npz")).scene
    q = scene.state.q
    assert again.tendons[0].energy(scene.model, q) == scene.tendons[0].energy(scene.model, q) > 0.0


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"branches": []}, "one or more"),
        ({"branches": [["world"]]}, "two nodes"),
        ({"branches": [["world", "ball"]], "divisors": [0.0]}, "divisors"),
        ({"branches": [["world", "ball"]], "divisors": [1.0, 1.0]}, "expected 1 number"),
        ({"branches": [["world", "ball"]], "factor": np.nan}, "factor"),
        ({"branches": [["world", so.Around(middle="ball", radius=1.0)]]}, "before and after"),
    ],
)
def test_wrong_paths_are_refused(wrong, text):
    with pytest.raises((ModelError, ArgumentError), match=text):
        so.TendonPath(**wrong)


@pytest.mark.parametrize("wrong", [{"radius": 0.0}, {"radius": 1.0, "axis": (0.0, 0.0, 0.0)}])
def test_wrong_geoms_are_refused(wrong):
    with pytest.raises((ModelError, ArgumentError), match="around"):
        so.Around(middle="world", **wrong)


def test_wrong_lengths_are_refused():
    path = so.TendonPath([["world", "nothing"]])
    model = ball_on_a_spring().model
    with pytest.raises(ModelError, match=r"tendon 't'.*nothing"):
        so.Scene(model, tendons=[so.Tendon(path=path, name="t")])
    with pytest.raises(ModelError, match="got both"):
        so.Tendon(path=path, joints={"a": 1.0})
    with pytest.raises(ModelError, match="expected a TendonPath"):
        so.Tendon(path=[["world", "ball"]])
    with pytest.raises(ModelError, match="joints"):
        so.Tendon(stiffness=1.0)
