"""Sensors beside MuJoCo's at the instant that ours are read at, without contacts."""

import numpy as np
import pytest

import spatialops as so
from spatialops.sensors import IMU, ForceTorque
from spatialops.simulation.runs.observed_step import ObservedStep
from tests.support.trees import relative_error

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco><option><flag contact="disable"/></option><worldbody>
  <body name="base" pos="0 0 1">{root}<geom size="0.2 0.1 0.1" type="box"/>
    <body name="upper" pos="0.2 0.1 0" euler="20 0 30"><joint axis="0 1 1" {options}/>
      <geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.05"/>
      <body name="lower" pos="0.1 0 -0.4"><joint type="{kind}" axis="1 0 0" {options}/>
        <geom type="box" size="0.05 0.1 0.15" pos="0 0.1 -0.2"/>
        <site name="site" pos="0.1 0.2 -0.3" euler="10 20 30"/>
  </body></body></body></worldbody>
  <sensor><accelerometer site="site"/><gyro site="site"/><force site="site"/><torque site="site"/>
</sensor></mujoco>"""


@pytest.mark.parametrize("kind", ["hinge", "slide", "ball"])
@pytest.mark.parametrize("root", ["", "<freejoint/>"])
def test_imu_force_and_torque_are_those_of_mujoco(kind, root):
    theirs = mujoco.MjModel.from_xml_string(
        ARM.format(kind=kind, root=root, options='damping="0.2"').replace(
            'axis="1 0 0" damping="0.2"' if kind == "ball" else "nothing", ""
        )
    )
    conversion = so.interop.mujoco.from_mujoco(theirs)
    model = conversion.model
    # MuJoCo's body is merged with the carrier of its joint, where force sensors sit.
    site = mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_SITE, "site")
    x, y, z = theirs.site_quat[site, 1:]
    turn = (x, y, z, theirs.site_quat[site, 0])
    node = so.Node("lower", theirs.site_pos[site])
    carrier = model.body_names[-1]
    place = model.frame("lower").position + theirs.site_pos[site]
    rng = np.random.default_rng(3)
    state = so.State(model.random(rng), rng.normal(size=model.nv))
    scene = so.Scene(model, state=state)
    sensors = [IMU("imu", node, turn), ForceTorque("ft", so.Node(carrier, place), turn)]
    simulator = so.Simulator(scene, sensors=sensors, joint_limits=False)
    torque = rng.normal(size=model.nv)
    record = simulator.run(duration=0.05, controller=lambda time, q, contacts: torque)
    data = mujoco.MjData(theirs)
    for k in (1, 20, 50):
        # The instant that the step states its equation of motion at, and its mean acceleration.
        begin, end = (so.State(record.q[i], record.v[i], record.times[i]) for i in (k - 1, k))
        none = np.zeros((0, 13))
        step = ObservedStep(
            scene, begin, end, k, torque, none, np.zeros(0), np.zeros((0, 6)), False
        )
        now = step.instant
        data.qpos[:] = conversion.q_to(now.q)
        data.qvel[:] = conversion.v_to(now.q, now.v)
        mujoco.mj_forward(theirs, data)
        data.qacc[:] = conversion.a_to(now.q, now.v, step.accelerations)
        mujoco.mj_rnePostConstraint(theirs, data)
        mujoco.mj_sensorAcc(theirs, data)
        expected = data.sensordata.reshape(4, 3)
        assert relative_error(record.sensors["imu"][k, :3], expected[0]) < 1e-9
        assert relative_error(record.sensors["ft"][k, :3], expected[2]) < 1e-9
        assert relative_error(record.sensors["ft"][k, 3:], expected[3]) < 1e-9
        data.qpos[:] = conversion.q_to(end.q)
        data.qvel[:] = conversion.v_to(end.q, end.v)
        mujoco.mj_forward(theirs, data)
        assert relative_error(record.sensors["imu"][k, 3:], data.sensordata[3:6]) < 1e-9
