"""Converters: random states of real robots in Pinocchio and MuJoCo, there and back."""

import warnings

import numpy as np
import pytest

import spatialops as so
from tests.io.test_robots import MALFORMED, MJCFS, URDFS
from tests.support.homes import elsewhere
from tests.support.robots import bare

mujoco = pytest.importorskip("mujoco")
pinocchio = pytest.importorskip("pinocchio")

TOLERANCE = 1e-12  # relative to an array's largest entry
ROBOTS = [path for name, path in URDFS if name not in MALFORMED]
FEW = ("panda.urdf", "anymal.urdf", "talos_reduced.urdf")


def relative(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


def random_state(model, rng):
    q = model.random(rng)
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def energies(model, q, v):
    found = so.energy(model, q, v)
    return np.array([found.kinetic])


def check_against_pinocchio(theirs, conversion, states, rng):
    model = conversion.model
    data = theirs.createData()
    worst = 0.0
    for _ in range(states):
        q, v, a = random_state(model, rng)
        their_q = conversion.q_to(q)
        their_v = conversion.v_to(q, v)
        their_a = conversion.a_to(q, v, a)
        assert np.abs(so.difference(model, conversion.q_from(their_q), q)).max() < 1e-12
        assert np.abs(conversion.v_from(their_q, their_v) - v).max() < 1e-12
        assert relative(conversion.a_from(their_q, their_v, their_a), a) < TOLERANCE
        T = conversion.rates(their_q)
        M = pinocchio.crba(theirs, data, their_q)
        external = rng.normal(size=(model.n_bodies, 6))
        forces = so.interop.pinocchio.wrenches_to_pinocchio(conversion, q, external)
        back = so.interop.pinocchio.wrenches_from_pinocchio(conversion, q, forces)
        assert relative(back, external) < TOLERANCE
        boxed = pinocchio.StdVec_Force()
        boxed.extend(forces)
        tau = pinocchio.rnea(theirs, data, their_q, their_v, their_a, boxed)
        ours = so.inverse_dynamics(model, q, v, a, external)
        assert relative(conversion.tau_to(q, conversion.tau_from(their_q, tau)), tau) < TOLERANCE
        nle = pinocchio.nonLinearEffects(theirs, data, their_q, their_v)
        kinetic = pinocchio.computeKineticEnergy(theirs, data, their_q, their_v)
        # Theirs at zero acceleration there: our bias with the drift of the velocities' axes.
        drift = conversion.drift(their_q, their_v)
        worst = max(
            worst,
            relative(T.T @ so.mass_matrix(model, q) @ T, M),
            relative(T.T @ so.inverse_dynamics(model, q, v, drift), nle),
            relative(T.T @ ours, tau),
            relative(energies(model, q, v), np.array([kinetic])),
        )
    return worst


def check_against_mujoco(theirs, conversion, states, rng):
    model = conversion.model
    data = mujoco.MjData(theirs)
    worst = 0.0
    M = np.zeros((theirs.nv, theirs.nv))
    for _ in range(states):
        q, v, a = random_state(model, rng)
        data.qpos[:] = conversion.q_to(q)
        data.qvel[:] = conversion.v_to(q, v)
        mujoco.mj_forward(theirs, data)
        their_a = conversion.a_to(q, v, a)
        assert np.abs(so.difference(model, conversion.q_from(data.qpos), q)).max() < 1e-12
        assert relative(conversion.a_from(data.qpos, data.qvel, their_a), a) < TOLERANCE
        mujoco.mj_fullM(theirs, data, M)
        T = conversion.rates(data.qpos)
        data.qacc[:] = their_a
        tau = np.zeros(theirs.nv)
        mujoco.mj_rne(theirs, data, 1, tau)
        tau += theirs.dof_armature * their_a
        ours = T.T @ so.inverse_dynamics(model, q, v, a)
        drift = conversion.drift(data.qpos, data.qvel)
        bias = T.T @ so.inverse_dynamics(model, q, v, drift)
        largest = np.abs(tau).max()  # the bias alone may be none, as a hinge's without gravity
        worst = max(
            worst,
            relative(T.T @ so.mass_matrix(model, q) @ T, M),
            np.abs(bias - data.qfrc_bias).max() / largest,
            np.abs(ours - tau).max() / largest,
        )
    return worst


def models_of(path):
    """The robot by Pinocchio's own reader, on a free base."""
    theirs = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    return theirs, so.interop.pinocchio.from_pinocchio(theirs)


def check_robot(path, states):
    rng = np.random.default_rng(len(path.name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, conversion = models_of(path)
    found = {"from_pinocchio": check_against_pinocchio(theirs, conversion, states, rng)}
    exported, back = so.interop.pinocchio.to_pinocchio(conversion.model)
    found["to_pinocchio"] = check_against_pinocchio(exported, back, states, rng)
    try:
        made, own = so.interop.mujoco.to_mujoco(conversion.model)
    except so.errors.ModelError:  # inertias that no body can have
        return found
    found["to_mujoco"] = check_against_mujoco(made, own, states, rng)
    again = so.interop.mujoco.from_mujoco(made)
    found["from_mujoco"] = check_against_mujoco(made, again, states, rng)
    return found


@pytest.mark.parametrize("name", FEW)
def test_robots_agree_with_pinocchio_and_mujoco(name):
    paths = [path for path in ROBOTS if path.name == name]
    if not paths:
        pytest.skip("example-robot-data is not installed")
    found = check_robot(paths[0], 5)
    assert max(found.values()) < TOLERANCE, found


@pytest.mark.slow
@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.name)
def test_every_robot_agrees_in_200_states(path):
    try:
        found = check_robot(path, 200)
    except (so.errors.ModelError, ValueError) as error:  # of the file, in either library
        pytest.skip(str(error))
    assert max(found.values()) < TOLERANCE, found


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(path, id=name) for name, path in MJCFS])
def test_every_file_of_mujocos_agrees_in_200_states(path):
    try:
        theirs = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:  # parts of others
        pytest.skip(str(error)[:100])
    if theirs.nv == 0:
        pytest.skip("nothing moves")
    bare(theirs)
    try:
        conversion = so.interop.mujoco.from_mujoco(theirs)
    except so.errors.ModelError as error:  # what the converter refuses in words
        pytest.skip(str(error))
    rng = np.random.default_rng(len(path.name))
    found = check_against_mujoco(theirs, conversion, 200, rng)
    assert found < TOLERANCE


def test_axes_of_continuous_joints_come_over_whatever_they_are(tmp_path):
    """Pinocchio keeps the axis of its unbounded joints to itself."""
    inertial = """<inertial><mass value="1"/><origin xyz="0.1 0.2 0.3"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"""
    path = tmp_path / "wheel.urdf"
    path.write_text(f"""<robot name="wheel"><link name="base">{inertial}</link>
        <link name="wheel">{inertial}</link><joint name="axle" type="continuous">
        <parent link="base"/><child link="wheel"/><axis xyz="0.6 0 -0.8"/></joint></robot>""")
    assert max(check_robot(path, 5).values()) < TOLERANCE


def test_wrenches_push_as_in_mujoco():
    quadruped = so.models.quadruped().model
    theirs, own = so.interop.mujoco.to_mujoco(quadruped)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(5)
    q, v, _ = random_state(quadruped, rng)
    external = rng.normal(size=(quadruped.n_bodies, 6))
    data.qpos[:] = own.q_to(q)
    data.qvel[:] = own.v_to(q, v)
    data.xfrc_applied[:] = so.interop.mujoco.wrenches_to_mujoco(own, q, external)
    back = so.interop.mujoco.wrenches_from_mujoco(own, q, data.xfrc_applied)
    assert relative(back, external) < TOLERANCE
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    mujoco.mj_forward(theirs, data)
    tau = own.tau_to(q, np.zeros(quadruped.nv))
    assert not tau.any()
    a = so.forward_dynamics(quadruped, q, v, np.zeros(quadruped.nv), external)
    assert relative(own.a_from(data.qpos, data.qvel, data.qacc), a) < 1e-10


def test_bodies_without_mass_and_flat_ones_go_over_to_mujoco(rng):
    builder = so.TreeBuilder()
    builder.add_body("carrier", joint=so.Joint("prismatic", axis="x"))
    parent = "carrier"
    for i in range(6):  # a third of such tensors breaks A + B >= C by a rounding
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        tensor = turn @ np.diag([0.3, 0.2 + 0.1 * i, 0.5 + 0.1 * i]) @ turn.T
        flat = so.Inertia(1.0, (0.1, 0.2, 0.0), 0.5 * (tensor + tensor.T))
        joint = so.Joint("revolute", axis=rng.normal(size=3))
        builder.add_body(f"flat{i}", parent=parent, joint=joint, inertia=flat, position=(0, 0, 1))
        parent = f"flat{i}"
    theirs, conversion = so.interop.mujoco.to_mujoco(builder.build())
    assert check_against_mujoco(theirs, conversion, 10, rng) < TOLERANCE


def test_inertias_that_no_body_has_are_refused_by_name():
    impossible = so.Inertia(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.1]), checked=False)
    model = so.TreeBuilder().add_body("odd", joint="free", inertia=impossible).build()
    with pytest.raises(so.errors.ModelError, match=r"'odd'.*which no body has"):
        so.interop.mujoco.to_mujoco(model)


def test_joints_without_counterpart_are_refused_in_words():
    builder = so.TreeBuilder()
    builder.add_body("disc", joint=so.Joint("planar"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    for convert in (so.interop.pinocchio.to_pinocchio, so.interop.mujoco.to_mujoco):
        with pytest.raises(so.errors.ModelError, match="planar"):
            convert(model)


def test_free_bodies_at_home_elsewhere_are_where_they_are_in_mujoco(rng):
    robot = so.models.quadruped()
    model, state = elsewhere(robot.model, so.State(robot.model.random(rng), rng.normal(size=18)))
    theirs, conversion = so.interop.mujoco.to_mujoco(model)
    there = conversion.q_to(state.q)
    data = mujoco.MjData(theirs)
    data.qpos[:] = there
    mujoco.mj_forward(theirs, data)
    rows = [conversion.bodies[name] for name in model.body_names]
    assert data.xpos[rows] == pytest.approx(so.body_poses(model, state.q).positions, abs=1e-12)
    assert np.abs(so.difference(model, conversion.q_from(there), state.q)).max() < 1e-12
    check_against_mujoco(theirs, conversion, 3, rng)
