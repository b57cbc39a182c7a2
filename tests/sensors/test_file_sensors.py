"""Sensors that MJCF files have, beside MuJoCo's own readings of them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.io import read
from spatialops.io.mjcf_parts.compiled import named
from spatialops.sensors import file_sensors
from spatialops.simulation.scene.loader import scene_of
from tests.io.test_robots import MJCFS

mujoco = pytest.importorskip("mujoco")

QUICK = ("suite/swimmer.xml", "suite/finger.xml", "boxhead/boxhead.xml", "suite/fish.xml")
NAMES = ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY")
OFF = sum(int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")) for name in NAMES)
DT = 1e-4
STEPS = 6
# MuJoCo has those of actuators at the instant, we their mean over the step.
LOOSE = ("ACTUATORFRC", "JOINTACTFRC")


class Twin:
    """A file's scene and sensors, without contacts, closures and what joints resist with."""

    def __init__(self, path):
        description = replace(read(path), loops=())
        self.scene = scene_of(description, self_collision=False, strict=False)
        self.m = mujoco.MjModel.from_xml_path(str(path))
        self.m.opt.disableflags |= OFF
        if not self.m.nsensor:
            pytest.skip("no sensors")
        self.m.opt.density = self.m.opt.viscosity = 0.0
        self.m.geom_size[self.m.geom_type == 0] = 0.0  # planes without end, as ours
        self.joints = named(self.m).joints
        self.conversion = so.interop.mujoco.from_mujoco(self.m)
        self.sensors = file_sensors(self.scene)
        rng = np.random.default_rng(2)
        model = self.scene.model
        q = model.random(rng)
        for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
            at = model.v_slice(name).start
            if kind not in ("free", "ball") and np.isfinite(model.upper[at]):
                low, high = np.clip((model.lower[at], model.upper[at]), -3.0, 3.0)
                q[model.q_slice(name)] = rng.uniform(low, high)
        self.state = so.State(q, rng.normal(size=model.nv))

    def readings(self):
        """By name ours and theirs, after some steps."""
        options = {"joint_limits": False, "dry_friction": False, "dt": DT}
        simulator = so.Simulator(self.scene, sensors=self.sensors, **options)
        stepper, before = simulator.stepper(self.state), self.state
        for _ in range(STEPS):
            before = stepper.state
            stepper.step()
        step = stepper.observed(before)
        sensing = simulator.setup.sensing
        ours = sensing.by_name(sensing.read(step))
        at_end = self.theirs(step.end, None)
        at_instant = self.theirs(step.instant, step.accelerations)
        found = {}
        for s in range(self.m.nsensor):
            kind = mujoco.mjtSensor(int(self.m.sensor_type[s])).name.removeprefix("mjSENS_")
            name = self.m.sensor(s).name or f"sensor{s}"
            data = at_instant if int(self.m.sensor_needstage[s]) == 3 else at_end
            first = int(self.m.sensor_adr[s])
            found[name] = kind, ours[name], data[first : first + int(self.m.sensor_dim[s])]
        return found

    def theirs(self, state, acceleration):
        """MuJoCo's readings at a state, of forces and accelerations for the given ones."""
        m, d = self.m, mujoco.MjData(self.m)
        d.qpos[:] = self.conversion.q_to(state.q)
        for j, name in enumerate(self.joints):  # `ref` is in our coordinates, too
            if m.jnt_type[j] >= 2:
                d.qpos[m.jnt_qposadr[j]] = state.q[self.scene.model.q_slice(name)][0]
        d.qvel[:] = self.conversion.v_to(state.q, state.v)
        d.ctrl[:] = self.scene.ctrl if len(self.scene.ctrl) == m.nu else 0.0
        mujoco.mj_forward(m, d)
        if acceleration is not None:
            d.qacc[:] = self.conversion.a_to(state.q, state.v, acceleration)
            mujoco.mj_rnePostConstraint(m, d)
            mujoco.mj_sensorAcc(m, d)
        return d.sensordata.copy()


def compare(kind, ours, theirs):
    """Error of a reading, relative to its size."""
    if kind in ("FRAMEQUAT", "BALLQUAT"):
        theirs = np.roll(theirs, -1)
        ours = ours * np.sign(ours @ theirs)
    if kind == "RANGEFINDER":
        ours, theirs = (np.where(np.isfinite(x) & (x >= 0.0), x, -1.0) for x in (ours, theirs))
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-3))


def files():
    return [
        pytest.param(path, id=name, marks=() if name.endswith(QUICK) else pytest.mark.slow)
        for name, path in MJCFS
    ] or [pytest.param(None, marks=pytest.mark.skip(reason="no robots installed"))]


@pytest.mark.compiled
@pytest.mark.parametrize("path", files())
def test_all_sensors_of_a_file_read_what_mujoco_reads(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            twin = Twin(path)
        except (SpatialOpsError, ValueError) as error:  # parts of files
            pytest.skip(str(error)[:100])
        found = twin.readings()
    assert len(twin.sensors) == twin.m.nsensor
    for name, (kind, ours, theirs) in found.items():
        assert compare(kind, ours, theirs) < (2e-2 if kind in LOOSE else 1e-7), (name, kind)


STANDING = """
<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
  <body name="trunk" pos="0 0 1.1"><freejoint/>
    <inertial pos="0 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>
    <site name="trunk"/>
    <body name="foot" pos="0 0 -1"><inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
      <geom name="sole" type="box" size="0.2 0.2 0.1"/>
      <site name="ankle" euler="0 90 0" pos="0 0 0.1"/>
      <site name="left" type="box" size="0.21 0.11 0.11" pos="0 0.1 0"/>
      <site name="under" type="sphere" size="0.05" pos="0.2 0.2 -0.3"/>
      <site name="above" type="box" size="0.3 0.3 0.01" pos="0 0 0.3"/>
  </body></body></worldbody>
  <sensor><force name="force" site="ankle"/><torque name="torque" site="ankle"/>
    <touch name="left" site="left"/><touch name="under" site="under"/>
    <touch name="above" site="above"/><gyro site="trunk" noise="0.1"/>
    <magnetometer name="compass" site="trunk"/></sensor></mujoco>"""


def standing(tmp_path):
    path = tmp_path / "standing.xml"
    path.write_text(STANDING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return so.load_scene(path)


def test_what_a_foot_without_a_joint_bears_and_where_it_is_touched(tmp_path):
    """A foot of 0.5 kg, fixed under a trunk of 3 kg, stands on four corners."""
    scene = standing(tmp_path)
    assert any("magnetometer" in text for text in scene.description.left_out)
    record = so.Simulator(scene, sensors=file_sensors(scene), dt=1e-3).run(duration=0.02)
    read = {name: values[-1] for name, values in record.sensors.items()}
    np.testing.assert_allclose(read["force"], [3 * 9.81, 0.0, 0.0], atol=1e-6)  # z is along its x
    np.testing.assert_allclose(read["torque"], 0.0, atol=1e-6)
    np.testing.assert_allclose(read["left"], 0.5 * 3.5 * 9.81, atol=1e-6)
    np.testing.assert_allclose(read["under"], 0.25 * 3.5 * 9.81, atol=1e-6)  # a line down meets it
    assert read["above"] == 0.0
    np.testing.assert_allclose(read["sensor5"], 0.0, atol=1e-9)


def test_the_noise_of_a_file_is_there_when_it_is_asked_for(tmp_path):
    scene = standing(tmp_path)
    sensors = file_sensors(scene, noise_seed=3)
    record = so.Simulator(scene, sensors=sensors, dt=1e-3).run(duration=0.3)
    assert 0.08 < record.sensors["sensor5"][1:].std() < 0.12


def test_a_scene_that_is_of_no_file_has_no_sensors():
    with pytest.raises(ArgumentError, match="of a robot file"):
        file_sensors(so.models.pendulum(2).scene())
