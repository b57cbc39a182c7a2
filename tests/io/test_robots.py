"""Robots of installed packages are the mechanisms of Pinocchio and MuJoCo, to 1e-9."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import AssetError, ModelError
from spatialops.io import read
from tests.support.files import (
    MALFORMED,
    MujocoFile,
    PinocchioFile,
    example_robots,
    files_of,
    package_folder,
    relative,
)

TOLERANCE = 1e-9
QUICK_URDF = (
    "solo12.urdf",
    "ur5_gripper.urdf",
    "romeo_laas_small.urdf",
    "bolt.urdf",
    "talos_left_arm.urdf",
)
QUICK_MJCF = ("suite/humanoid.xml", "suite/fish.xml", "robots/panda/robot.xml", "fetch/reach.xml")

URDFS = [*files_of(example_robots(), "urdf"), *files_of(package_folder("pybullet_data"), "urdf")]
MJCFS = [
    (f"{package}/{name}", path)
    for package in ("gymnasium_robotics", "dm_control", "robosuite")
    for name, path in files_of(package_folder(package), "xml")
]


def _marked(files, quick):
    return [
        pytest.param(path, id=name, marks=() if name.endswith(quick) else pytest.mark.slow)
        for name, path in files
        if name not in MALFORMED
    ] or [pytest.param(None, marks=pytest.mark.skip(reason="no robots installed: `make robots`"))]


def compare(robot, rng):
    """Mass matrix, both dynamics and poses at random states, in the other library's coordinates."""
    twin, model = robot.twin, robot.model
    worst = dict.fromkeys(("mass matrix", "inverse dynamics", "forward dynamics", "poses"), 0.0)
    for _ in range(2):
        their_q, their_v, their_a = robot.random(rng)
        q = twin.coordinates(their_q)
        rates = twin.rates(their_q)
        drift = twin.drift(their_q, their_v)
        mass, tau = robot.mass_matrix(their_q), robot.inverse_dynamics(their_q, their_v, their_a)
        v, a = rates @ their_v, rates @ their_a + drift
        errors = {"mass matrix": relative(rates.T @ so.mass_matrix(model, q) @ rates, mass)}
        errors["inverse dynamics"] = relative(rates.T @ so.inverse_dynamics(model, q, v, a), tau)
        # What the rounding of tau alone makes of the acceleration, may be more than the tolerance.
        blur = max(1.0, np.finfo(float).eps * np.linalg.cond(mass) / (0.1 * TOLERANCE))
        acceleration = so.forward_dynamics(model, q, v, np.linalg.solve(rates.T, tau))
        errors["forward dynamics"] = (
            relative(np.linalg.solve(rates, acceleration - drift), their_a) / blur
        )
        errors["poses"] = pose_error(model, q, robot.poses(their_q))
        worst = {name: max(worst[name], error) for name, error in errors.items()}
    print({name: f"{error:.1e}" for name, error in worst.items()})  # `pytest -rP` shows it
    assert max(worst.values()) < TOLERANCE, worst


def pose_error(model, q, expected):
    poses, worst = so.body_poses(model, q), 0.0
    for name, (their_turn, their_position) in expected.items():
        frame = model.frame(name)
        turn, position = np.eye(3), np.zeros(3)
        if frame.body >= 0:
            turn, position = poses.rotations[frame.body], poses.positions[frame.body]
        worst = max(worst, float(np.abs(turn @ frame.rotation - their_turn).max()))
        worst = max(worst, float(np.abs(position + turn @ frame.position - their_position).max()))
    return worst


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", _marked(URDFS, QUICK_URDF))
def test_urdf_is_pinocchios(path, floating, rng):
    pytest.importorskip("pinocchio")
    if path.name == "spherical_joint_limit.urdf":
        pytest.skip("Pinocchio has no joint type 'spherical' in URDF")
    if not floating and not read(path).moving_joints:
        with pytest.raises(ModelError, match="no moving body"):
            so.load_model(path)
        return
    compare(PinocchioFile(path, floating), rng)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MALFORMED))
def test_malformed_files_give_an_error_with_their_line(name):
    path = dict(URDFS).get(name)
    if path is None:
        pytest.skip("not installed: `make robots`")
    with pytest.raises(AssetError, match=rf"{path.name}:\d+:"):
        read(path)


@pytest.mark.slow
def test_so_many_urdfs_load():
    """All but those that no reader can take; of PyBullet's thousand random shapes, all."""
    for folder, at_least in ((example_robots(), 68), (package_folder("pybullet_data"), 99)):
        if folder is None:
            pytest.skip("not installed: `make robots`")
        good = 0
        for path in folder.rglob("*.urdf"):
            if str(path.relative_to(folder)) in MALFORMED:
                continue
            description = read(path)
            assert description.bodies
            good += 1
        assert good >= at_least


@pytest.mark.parametrize("path", _marked(MJCFS, QUICK_MJCF))
def test_mjcf_is_mujocos(path, rng):
    mujoco = pytest.importorskip("mujoco")
    try:
        compiled = mujoco.MjSpec.from_file(str(path)).compile()
    except Exception as error:
        with pytest.raises(AssetError):
            read(path)
        pytest.skip(f"MuJoCo does not compile it: {' '.join(str(error).split())[:80]}")
    if compiled.nv == 0:
        assert not read(path).moving_joints
        return
    robot = MujocoFile(path)
    compare(robot, rng)
    start = robot.twin.coordinates(robot.m.qpos0)
    loops = so.Loops(robot.model, robot.description.loops)
    q = robot.model.neutral()
    for joint, values in robot.description.start.items():
        q[robot.model.q_slice(joint)] = values
    assert np.abs(q - start).max() < 1e-12
    if len(loops):
        assert np.abs(so.loop_errors(robot.model, loops, q)).max() < 1e-6
