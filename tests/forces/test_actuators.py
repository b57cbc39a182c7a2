"""Actuators against closed forms and MuJoCo; servos of any gain are stable."""

import copy
import pickle

import mujoco
import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ModelError, SpatialOpsError

ARM = """<mujoco><option gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
<body gravcomp="0.4"><joint name="j1" axis="0 1 0" stiffness="20" springref="30" damping=".5"
  armature=".02"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0" mass="1"/>
 <body pos=".5 0 0"><joint name="j2" axis="0 1 0" damping=".1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0" mass="1"/>
  <body pos=".4 0 0"><joint name="j3" type="slide" axis="1 0 0" damping="1"/>
   <geom size=".08" mass=".5"/></body></body></body></worldbody>
<tendon><fixed name="t" stiffness="30" damping="{damping}" springlength=".2">
  <joint joint="j1" coef=".5"/><joint joint="j2" coef="-.7"/></fixed></tendon>
<actuator><position name="p" joint="j2" kp="40" kv="4" ctrlrange="-1 1" forcerange="-8 12"/>
<velocity name="v" joint="j3" kv="5"/><motor name="m" joint="j1" gear="3" ctrlrange="-1 1"/>
<general name="f" tendon="t" dyntype="filter" dynprm=".1" gainprm="4" biastype="affine"
  biasprm=".1 -.2 -.3"/><intvelocity name="iv" joint="j3" kp="50" actrange="-1 1"/></actuator>
<keyframe><key name="home" qpos=".1 .2 .03" ctrl=".2 0 .1 .3 .03" act=".3 .03"/></keyframe>
</mujoco>"""
CTRL = np.array([0.8, 0.3, 1.5, 1.0, 0.2])


def scene_of(tmp_path, damping=2.0, **options):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(damping=damping))
    return so.load_scene(path, **options), mujoco.MjModel.from_xml_path(str(path))


def reference(m, duration, dt=1e-4):
    m.opt.timestep, m.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
    d = mujoco.MjData(m)
    d.ctrl[:] = CTRL
    mujoco.mj_step(m, d, round(duration / dt))
    return d.qpos.copy()


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("integrator", "damping", "order", "error"),
    [("moreau", 2.0, 1, 4e-3), ("semi-implicit", 2.0, 1, 4e-2), ("rk4", 2.0, 2, 4e-5)],
)
def test_all_kinds_converge_to_mujoco(tmp_path, integrator, damping, order, error):
    scene, m = scene_of(tmp_path, damping)
    expected = reference(m, 2.0)
    errors = []
    for dt in (4e-3, 2e-3):
        simulator = so.Simulator(scene, dt=dt, integrator=integrator)
        final = simulator.run(duration=2.0, ctrl=CTRL, record=False).final
        errors.append(abs(final.q - expected).max())
    assert errors[0] < error
    assert errors[0] / errors[1] > 0.85 * 2.0**order


def test_they_push_as_mujoco_says(tmp_path):
    scene, m = scene_of(tmp_path)
    d = mujoco.MjData(m)
    dt = 1e-6
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v = rng.uniform(-0.5, 0.5, 3), rng.normal(size=3)
        activation, ctrl = rng.uniform(-0.5, 0.5, 2), rng.uniform(-1.5, 1.5, 5)
        for name, values in (("qpos", q), ("qvel", v), ("act", activation), ("ctrl", ctrl)):
            getattr(d, name)[:] = values
        mujoco.mj_forward(m, d)
        state = so.State(q, v, 0.0, activation)
        for options in ({}, {"integrator": "rk4"}, {"integrator": "semi-implicit"}):
            after = so.Simulator(scene, dt=dt, **options).step(state, ctrl=ctrl)[0]
            assert (after.v - v) / dt == pytest.approx(d.qacc, rel=1e-3, abs=1e-2)
            rates = (after.activation - activation) / dt
            assert rates == pytest.approx(d.act_dot, rel=1e-3, abs=1e-3)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize("kp", [1e2, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("kv", [0.0, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("limit", [np.inf, 20.0])
def test_servos_of_any_gain_are_stable_at_4_ms(integrator, kp, kv, limit):
    builder = so.TreeBuilder()
    rod, parent = so.Inertia.capsule(0.03, 0.3, mass=0.5), "world"
    for i in range(4):
        place = (0.3 if i else 0.0, 0.0, 0.0)
        joint = so.Joint("revolute", axis="y")
        builder.add_body(f"b{i}", parent=parent, joint=joint, inertia=rod, position=place)
        parent = f"b{i}"
    ranges = {"force_range": (-limit, limit)}
    servos = [so.Actuator.position(f"s{i}", f"b{i}", kp=kp, kv=kv, **ranges) for i in range(4)]
    scene = so.Scene(builder.build(), actuators=servos)
    target = np.array([0.4, -0.4, 0.4, -0.4])
    simulator = so.Simulator(scene, dt=4e-3, integrator=integrator)
    record = simulator.run(duration=2.0, ctrl=target, record_every=10)
    gained = 0.5 * min(kp, limit / 0.4 * 4.0) * 0.4**2 * 4.0
    assert record.kinetic[-25:].max() < 2.0 * gained + 10.0
    if limit == np.inf and kp >= 1e4 and kv <= 1e3 * kp / 1e4:
        assert abs(record.q[-1] - target).max() < 0.02
        assert abs(record.v[-1]).max() < 0.1


def motor_scene(**options):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    rotor = so.Joint("revolute", axis="z", armature=0.01)
    builder.add_body("wheel", joint=rotor, inertia=so.Inertia.sphere(0.1, mass=1.0))
    return so.Scene(builder.build(), **options)


def test_a_dc_motor_runs_up_to_its_idle_speed():
    motor = so.Actuator.dc_motor("m", "wheel", torque_constant=0.05, resistance=0.5, gear=10.0)
    scene = motor_scene(actuators=[motor])
    record = so.Simulator(scene, dt=1e-2).run(duration=1.0, ctrl=[12.0])
    inertia = 0.01 + 0.4 * 0.1**2
    idle, rate = 12.0 / 0.05 / 10.0, (0.05 * 10.0) ** 2 / 0.5 / inertia
    exact = idle * (1.0 - np.exp(-rate * record.times))
    assert record.v[:, 0] == pytest.approx(exact, rel=1e-9)  # exponential fitting


def test_limits_of_a_motor_may_be_asymmetric():
    motor = so.Actuator.motor("m", "wheel", gear=2.0, force_range=(-1.0, 3.0))
    simulator = so.Simulator(motor_scene(actuators=[motor]), dt=1e-3)
    inertia = 0.01 + 0.4 * 0.1**2
    for ctrl, force in ((-5.0, -1.0), (2.0, 2.0), (5.0, 3.0)):
        after = simulator.step(simulator.scene.state, ctrl=[ctrl])[0]
        assert after.v[0] == pytest.approx(2.0 * force * 1e-3 / inertia, rel=1e-12)


def test_controls_hold_where_nobody_sets_them():
    servo = so.Actuator.position("s", "wheel", kp=10.0, kv=1.0)
    scene = motor_scene(actuators=[servo], ctrl=[0.3])
    simulator = so.Simulator(scene, dt=1e-2)
    ways = [
        simulator.run(duration=0.05).final.q,
        simulator.run(duration=0.05, controller=lambda time, state, contacts: so.Command()).final.q,
        simulator.run(
            duration=0.05, controller=lambda time, state, contacts: so.Command(ctrl=[0.3])
        ).final.q,
    ]
    stepper = simulator.stepper()
    with so.Batch(simulator, 1) as batch:
        for _ in range(5):
            stepper.step()
            batch.step()
        rollout = batch.rollout(np.zeros((1, 5, 1)), ctrls=np.full((1, 5, 1), 0.3))
        ways += [stepper.q, batch.q[0], rollout.q[0, -1]]
    assert ways[0][0] > 0.01
    for q in ways[1:]:
        assert q.tolist() == ways[0].tolist()


def test_a_run_is_saved_and_loaded_with_them(tmp_path):
    servo = so.Actuator.position("s", "wheel", kp=10.0, kv=1.0, force_range=(-2.0, 3.0))
    scene = motor_scene(actuators=[servo], ctrl=[0.3])
    record = so.Simulator(scene, dt=1e-2).run(duration=0.03)
    record.save(tmp_path / "run.npz")
    again = so.load_record(tmp_path / "run.npz").scene
    assert again.ctrl.tolist() == [0.3]
    assert again.actuators[0].to_data() == servo.to_data()


def test_a_scene_from_a_file_holds_its_keyframe(tmp_path):
    scene, m = scene_of(tmp_path, keyframe="home")
    assert scene.state.q == pytest.approx(m.key_qpos[0])
    assert scene.ctrl == pytest.approx(m.key_ctrl[0])
    assert scene.state.activation == pytest.approx(m.key_act[0])
    assert scene_of(tmp_path, actuators=False)[0].actuators == ()
    both = so.compose([so.Part(source=scene, name="a"), so.Part(source=scene, name="b")])
    assert both.ctrl == pytest.approx(np.tile(m.key_ctrl[0], 2))
    assert both.actuators[5].name == "b/p"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"joints": "nobody"}, "nobody"),
        ({"joints": {}}, "joints"),
        ({"joints": "wheel", "gain": [1.0]}, "gain"),
        ({"joints": "wheel", "force_range": (1.0, -1.0)}, "force_range"),
        ({"joints": "wheel", "dynamics": "muscle"}, "dynamics"),
    ],
)
def test_actuators_that_are_none(given, message):
    with pytest.raises((ModelError, ArgumentError), match=message):
        motor_scene(actuators=[so.Actuator(name="m", **given)])


def test_controls_that_are_none():
    scene = motor_scene(actuators=[so.Actuator.motor("m", "wheel")])
    for ctrl in ([1.0, 2.0], [np.nan], "fast"):
        with pytest.raises(ArgumentError, match="ctrl"):
            so.Simulator(scene).step(scene.state, ctrl=ctrl)


def test_servos_added_to_a_scene_are_as_those_it_began_with():
    model = so.models.pendulum(2).model
    servos = [so.Actuator.position(name, name, kp=200.0, kv=5.0) for name in ("pin1", "pin2")]
    told = so.Scene(model, actuators=servos, ctrl=[0.3, -0.2])
    added = so.Scene(model, actuators=servos[:1], ctrl=[0.3])
    added.add_actuators(servos[1:], [-0.2])
    ends = [so.Simulator(one, dt=4e-3).run(duration=0.4).final.q for one in (told, added)]
    assert (ends[0] == ends[1]).all()
    bare = so.Simulator(so.Scene(model), dt=4e-3).run(duration=0.4).final.q
    assert np.abs(bare - ends[0]).max() > 0.01


@pytest.mark.parametrize(
    ("joint", "ctrl", "message"),
    [("pin1", [0.0], "two named 'pin1'"), ("pin2", [0.0, 1.0], "ctrl"), ("elbow", [0.0], "elbow")],
)
def test_a_refused_actuator_leaves_the_scene_as_it_was(joint, ctrl, message):
    scene = so.Scene(so.models.pendulum(2).model)
    scene.add_actuators([so.Actuator.position("pin1", "pin1", kp=1.0)], [0.3])
    with pytest.raises(SpatialOpsError, match=message):
        scene.add_actuators([so.Actuator.position(joint, joint, kp=1.0)], ctrl)
    assert [one.name for one in scene.actuators] == ["pin1"]
    assert scene.ctrl.tolist() == [0.3]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda scene: pickle.loads(pickle.dumps(scene))])
def test_a_scene_with_actuators_and_tendons_is_copied_and_sent_to_other_processes(again, tmp_path):
    read, _ = scene_of(tmp_path)
    stay = so.TendonPath([[so.Node("world", (1.0, 0.0, 1.0)), so.Node(read.model.n_bodies - 1)]])
    winch = so.Actuator(name="winch", path=stay, gain=(2.0, 0.1, 0.0))
    tendons = [*read.tendons, so.Tendon(path=stay, stiffness=9.0, rest=(-np.inf, 0.5))]
    scene = so.Scene(read.model, actuators=[*read.actuators, winch], tendons=tendons)
    other = again(scene)
    for one, same in zip(scene.actuators + scene.tendons, other.actuators + other.tendons):
        assert same.to_data() == one.to_data()
    ran = [so.Simulator(one).run(duration=0.01, ctrl=[*CTRL, 3.0]).q for one in (scene, other)]
    assert np.array_equal(*ran)


def lagging(activation):
    """A pendulum with a motor behind a filter, told something before."""
    lag = so.Actuator(name="lag", joints="pin1", gain=(3, 0, 0), dynamics="filter", time_constant=1)
    state = so.State(np.zeros(2), np.zeros(2), 0.0, np.array(activation))
    return so.Scene(so.models.pendulum(2).model, actuators=[lag], state=state)


def test_activations_stay_where_scenes_are_composed_raised_and_added_to():
    parts = [so.Part(source=lagging(told), name=name) for told, name in (([0.7], "a"), ([], "b"))]
    assert so.compose(parts).state.activation.tolist() == [0.7, 0.0]
    scene = lagging([0.7])
    assert so.raised(scene, 0.1).activation.tolist() == [0.7]
    scene.add_actuators([so.Actuator(name="n", joints="pin2", dynamics="integrator")])
    assert scene.state.activation.tolist() == [0.7, 0.0]


@pytest.mark.parametrize("time", [so.TimeStepping(), so.EventDriven()])
def test_a_stored_scene_begins_with_the_activations_of_its_record(time, tmp_path):
    simulator = so.Simulator(lagging([]), time=time)
    start = so.State(np.zeros(2), np.zeros(2), 0.0, np.array([0.7]))
    record = simulator.run(start, duration=0.01)
    record.save(tmp_path / "lag.npz")
    scene = so.load_record(tmp_path / "lag.npz").scene
    assert scene.state.activation.tolist() == [0.7]
    assert np.array_equal(so.Simulator(scene, time=time).run(duration=0.01).q, record.q)


def test_a_run_on_disk_begins_with_its_activations(tmp_path):
    simulator = so.Simulator(lagging([0.7]))
    simulator.run_to_disk(tmp_path / "run", duration=0.01)
    simulator.resume(tmp_path / "run", duration=0.02)
    whole = so.load_record(tmp_path / "run")
    again = so.load_record(whole.save(tmp_path / "whole.npz"))
    for record in (whole, again):
        assert record.scene.state.activation.tolist() == [0.7]
    assert np.array_equal(whole.q, simulator.run(duration=0.02).q)
