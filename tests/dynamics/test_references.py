"""Real robots in Pinocchio and in MuJoCo: the same numbers to 1e-10 of an array's largest."""

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from tests.support.robots import Unsupported, bare, from_mujoco, from_pinocchio, mujoco_body
from tests.support.trees import relative_error

TOLERANCE = 1e-10
STATES = 3

URDFS = [  # path, free base
    ("ur_description/urdf/ur5_robot.urdf", False),
    ("panda_description/urdf/panda.urdf", False),
    ("kinova_description/robots/kinova.urdf", False),
    ("xarm_description/urdf/xarm7.urdf", False),
    ("tiago_description/robots/tiago_no_hand.urdf", True),
    ("solo_description/robots/solo12.urdf", True),
    ("hyq_description/robots/hyq_no_sensors.urdf", True),
    ("anymal_b_simple_description/robots/anymal.urdf", True),
    ("go2_description/urdf/go2.urdf", True),
    ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    ("icub_description/robots/icub_reduced.urdf", True),
    ("talos_data/robots/talos_reduced.urdf", True),
    ("allegro_hand_description/urdf/allegro_left_hand.urdf", False),
    ("baxter_description/urdf/baxter.urdf", False),
    ("double_pendulum_description/urdf/double_pendulum_continuous.urdf", False),
]

MJCFS = [
    ("robosuite", "models/assets/robots/panda/robot.xml"),
    ("robosuite", "models/assets/robots/ur5e/robot.xml"),
    ("robosuite", "models/assets/robots/iiwa/robot.xml"),
    ("dm_control", "suite/humanoid.xml"),
    ("dm_control", "suite/humanoid_CMU.xml"),
    ("dm_control", "suite/quadruped.xml"),
    ("dm_control", "suite/cheetah.xml"),
    ("dm_control", "suite/fish.xml"),
    ("dm_control", "suite/swimmer.xml"),
    ("dm_control", "suite/manipulator.xml"),
]


def urdf_path(name):
    """Where the package of robots keeps a file; importing it would need Pinocchio's viewers."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    path = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / name
    return path if path.exists() else pytest.skip(f"example-robot-data has no {name}")


def mjcf_path(package, name):
    spec = find_spec(package)  # not imported: that takes seconds and a screen
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    path = Path(spec.submodule_search_locations[0]) / name
    return path if path.exists() else pytest.skip(f"{package} has no {name}")


class PinocchioRobot:
    """A robot in Pinocchio: what is compared, with velocities [angular; linear] of nodes."""

    def __init__(self, path, free):
        pin = pytest.importorskip("pinocchio")
        self.pin = pin
        root = (pin.JointModelFreeFlyer(),) if free else ()
        self.m = pin.buildModelFromUrdf(str(path), *root)
        self.ready()

    def ready(self):
        self.d = self.m.createData()
        self.twin = from_pinocchio(self.m)
        moving = [i for i in range(self.m.nframes) if self.m.frames[i].parentJoint > 0]
        self.frames = moving[:: max(1, len(moving) // 6)][:6]

    def state(self, rng):
        m = self.m
        q = self.pin.integrate(m, self.pin.neutral(m), rng.normal(size=m.nv))
        return q, rng.normal(size=m.nv), rng.normal(size=m.nv)

    def nodes(self):
        frames = [self.m.frames[i] for i in self.frames]
        return [so.Node(self.m.names[f.parentJoint], f.placement.translation) for f in frames]

    def mass_matrix(self, q):
        full = self.pin.crba(self.m, self.d, q)
        return np.triu(full) + np.triu(full, 1).T

    def inverse_dynamics(self, q, v, a):
        return self.pin.rnea(self.m, self.d, q, v, a)

    def forward_dynamics(self, q, v, tau):
        return self.pin.aba(self.m, self.d, q, v, tau)

    def jacobian(self, q):
        self.pin.computeJointJacobians(self.m, self.d, q)
        self.pin.updateFramePlacements(self.m, self.d)
        axes = self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        rows = [
            self.pin.getFrameJacobian(self.m, self.d, i, axes)[[3, 4, 5, 0, 1, 2]]
            for i in self.frames
        ]
        return np.concatenate(rows)

    def inverse_mass_matrix(self, q):
        upper = np.triu(self.pin.computeMinverse(self.m, self.d, q))
        return upper + np.triu(upper, 1).T


class MujocoRobot:
    """A robot in MuJoCo."""

    def __init__(self, path):
        self.mujoco = pytest.importorskip("mujoco")
        self.m = bare(self.mujoco.MjModel.from_xml_path(str(path)))
        self.ready()

    def ready(self):
        self.d = self.mujoco.MjData(self.m)
        self.twin = from_mujoco(self.m)
        self.bodies = range(1, self.m.nbody)[:: max(1, self.m.nbody // 6)]

    def state(self, rng):
        q = self.m.qpos0.copy()
        self.mujoco.mj_integratePos(self.m, q, rng.normal(size=self.m.nv), 1.0)
        return q, rng.normal(size=self.m.nv), rng.normal(size=self.m.nv)

    def nodes(self):
        return [so.Node(mujoco_body(i), (0.1, -0.2, 0.05)) for i in self.bodies]

    def _set(self, q, v=None, a=None):
        self.d.qpos[:] = q
        self.d.qvel[:] = 0.0 if v is None else v
        self.d.qacc[:] = 0.0 if a is None else a

    def mass_matrix(self, q):
        self._set(q)
        self.mujoco.mj_forward(self.m, self.d)
        result = np.zeros((self.m.nv, self.m.nv))
        self.mujoco.mj_fullM(self.m, self.d, result)
        return result

    def inverse_dynamics(self, q, v, a):
        self._set(q, v)
        self.mujoco.mj_forward(self.m, self.d)
        self.d.qacc[:] = a
        result = np.zeros(self.m.nv)
        self.mujoco.mj_rne(self.m, self.d, 1, result)
        return result + self.m.dof_armature * a

    def forward_dynamics(self, q, v, tau):
        self._set(q, v)
        self.d.qfrc_applied[:] = tau
        self.mujoco.mj_forward(self.m, self.d)
        return self.d.qacc_smooth.copy()

    def jacobian(self, q):
        self._set(q)
        self.mujoco.mj_forward(self.m, self.d)
        rows = []
        for i in self.bodies:
            linear, angular = np.zeros((3, self.m.nv)), np.zeros((3, self.m.nv))
            point = self.d.xpos[i] + self.d.xmat[i].reshape(3, 3) @ (0.1, -0.2, 0.05)
            self.mujoco.mj_jac(self.m, self.d, linear, angular, point, i)
            rows += [angular, linear]
        return np.concatenate(rows)

    def inverse_mass_matrix(self, q):
        return np.linalg.inv(self.mass_matrix(q))


def compare(robot, rng):
    """Worst error of each quantity over a few random states, in the other library's arrays."""
    twin, model = robot.twin, robot.twin.model
    worst: dict[str, float] = {}

    def note(name, result, expected, blur=1.0):
        worst[name] = max(worst.get(name, 0.0), relative_error(result, expected) / blur)

    for _ in range(STATES):
        their_q, their_v, their_a = robot.state(rng)
        q = twin.coordinates(their_q)
        rates = twin.rates(their_q)
        drift = twin.drift(their_q, their_v)
        v, a = rates @ their_v, rates @ their_a + drift
        note("mass-matrix", rates.T @ so.mass_matrix(model, q) @ rates, robot.mass_matrix(their_q))
        tau = so.inverse_dynamics(model, q, v, a)
        their_tau = robot.inverse_dynamics(their_q, their_v, their_a)
        note("inverse dynamics", rates.T @ tau, their_tau)
        result = so.forward_dynamics(model, q, v, np.linalg.solve(rates.T, their_tau))
        # The rounding of tau alone, times the condition of M (8e6 for the iCub), may be more than
        # the tolerance.
        expected, mass = (
            robot.forward_dynamics(their_q, their_v, their_tau),
            robot.mass_matrix(their_q),
        )
        blur = max(1.0, np.finfo(float).eps * np.linalg.cond(mass) / TOLERANCE)
        note("forward dynamics", np.linalg.solve(rates, result - drift), expected, blur)
        note(
            "forward dynamics, in force",
            mass @ np.linalg.solve(rates, result - drift),
            mass @ expected,
        )
        nodes, their_jacobian = robot.nodes(), robot.jacobian(their_q)
        note("jacobian", so.jacobian(model, q, nodes) @ rates, their_jacobian)
        expected = their_jacobian @ robot.inverse_mass_matrix(their_q) @ their_jacobian.T
        dense = their_jacobian @ np.linalg.solve(robot.mass_matrix(their_q), their_jacobian.T)
        for method in ("recursion", "propagation", "mass-matrix"):
            note(f"compliance, {method}", so.compliance(model, q, nodes, method=method), expected)
            note(
                f"compliance, {method}, against solve",
                so.compliance(model, q, nodes, method=method),
                dense,
            )
    for name, error in worst.items():
        print(f"{name}: {error:.1e}")  # `pytest -rP` shows it
    bad = {name: error for name, error in worst.items() if not error < TOLERANCE}
    assert not bad


@pytest.mark.parametrize(("name", "free"), URDFS, ids=[Path(name).stem for name, _ in URDFS])
def test_pinocchio(name, free, rng):
    pytest.importorskip("pinocchio")
    compare(PinocchioRobot(urdf_path(name), free), rng)


@pytest.mark.parametrize(
    ("package", "name"), MJCFS, ids=[f"{p}-{Path(n).parent.name}-{Path(n).stem}" for p, n in MJCFS]
)
def test_mujoco(package, name, rng):
    pytest.importorskip("mujoco")
    compare(MujocoRobot(mjcf_path(package, name)), rng)


def pinocchio_model(pin):
    """A tree with the kinds of joints that robot files do not use."""
    model = pin.Model()
    at = 0
    rng = np.random.default_rng(3)
    joints = [
        pin.JointModelPlanar(),
        pin.JointModelSpherical(),
        pin.JointModelRevoluteUnaligned(np.array([0.6, 0.0, 0.8])),
        pin.JointModelPrismaticUnaligned(np.array([0.0, -0.6, 0.8])),
        pin.JointModelHZ(0.2),
        pin.JointModelRUBX(),
    ]
    for i, joint in enumerate(joints):
        place = pin.SE3(
            pin.Quaternion(*(q := rng.normal(size=4)) / np.linalg.norm(q)), rng.normal(size=3)
        )
        at = model.addJoint(at if i != 4 else 1, joint, place, f"joint{i}")
        model.appendBodyToJoint(at, pin.Inertia.FromBox(1.0 + i, 0.3, 0.2, 0.4), place)
        model.addFrame(pin.Frame(f"frame{i}", at, 0, place, pin.FrameType.OP_FRAME))
    model.armature = np.concatenate([np.zeros(3), rng.uniform(0.0, 0.3, model.nv - 3)])
    return model


MJCF = """<mujoco><option gravity="0.5 -1 -9"/><worldbody>
  <body pos="1 2 3" quat="0.5 0.1 0.7 0.2"><freejoint/>
  <inertial pos=".1 .2 .3" quat="1 2 3 4" mass="2"
    diaginertia=".2 .3 .4"/>
    <body pos=".1 0 .2" quat="1 0 1 0"><joint type="ball" pos=".1 .2 -.3" armature=".1"/>
      <geom type="box" size=".1 .2 .3" pos=".2 .1 0"/>
      <body pos="0 .3 0"><joint type="slide" axis="1 1 0" pos=".3 0 0" ref=".2"/>
        <joint type="hinge" axis="1 0 2" pos=".1 0 .2" ref=".4" armature=".2"/>
        <joint type="hinge" axis="0 1 0" pos="0 -.2 .2"/>
        <geom type="capsule" size=".1 .2" pos="0 .1 .1"/>
        <body pos="0 0 .4" quat="1 1 0 0"><geom type="sphere" size=".1"/></body></body></body>
        </body>
  <body pos="0 0 1"><joint type="hinge" axis="0 1 0" pos="0 .1 .2"/>
  <joint type="ball" pos=".1 .1 0"/>
    <geom type="box" size=".1 .2 .1"/></body>
</worldbody></mujoco>"""


def test_every_joint_of_pinocchio(rng):
    pin = pytest.importorskip("pinocchio")
    robot = PinocchioRobot.__new__(PinocchioRobot)
    robot.pin, robot.m = pin, pinocchio_model(pin)
    robot.ready()
    compare(robot, rng)


def test_every_joint_of_mujoco(rng):
    mujoco = pytest.importorskip("mujoco")
    robot = MujocoRobot.__new__(MujocoRobot)
    robot.mujoco, robot.m = mujoco, bare(mujoco.MjModel.from_xml_string(MJCF))
    robot.ready()
    compare(robot, rng)


def test_what_has_no_counterpart_is_refused():
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "zyx"),
        pin.Inertia.FromSphere(1.0, 0.1),
        pin.SE3.Identity(),
    )
    with pytest.raises(Unsupported, match="zyx"):
        from_pinocchio(model)
