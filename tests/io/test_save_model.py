"""Models written as URDF and MJCF, and read again: the same to rounding."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.errors import ArgumentError, AssetWarning, ModelError
from tests.io.test_robots import MALFORMED, MJCFS, URDFS

ENDS = (".urdf", ".xml")
TOLERANCE = 1e-12  # of the largest entry


def arm(*, free: bool = False, ball: bool = False) -> so.Model:
    """Links at odd angles, with all that both formats can say, and a merged one."""
    rng = np.random.default_rng(3)
    builder = so.TreeBuilder()
    parent = "world"
    for i in range(5):
        kind = (
            "free"
            if free and i == 0
            else ("ball" if ball and i == 3 else ("revolute", "prismatic")[i % 2])
        )
        data: dict[str, object] = {}
        if kind in ("revolute", "prismatic"):
            data = {"axis": rng.normal(size=3), "damping": 0.1 * i, "dry_friction": 0.2 * i}
        if i == 2:
            data |= {"lower": -0.5, "upper": 1.5, "effort_limit": 7.0}
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        if i == 4:  # a pitch of nearly 90 degrees
            turn = np.array([[1e-9, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1e-9]])
        inertia = so.Inertia(1.0 + i, rng.normal(size=3), np.diag([1.0, 1.2, 1.4]) + 0.1)
        place = np.zeros(3) if kind == "free" else rng.normal(size=3)
        options = {} if kind == "free" else {"rotation": turn}
        joint = so.Joint(kind, name=f"j{i}", **data)  # type: ignore[arg-type]
        builder.add_body(
            f"b{i}", parent=parent, joint=joint, inertia=inertia, position=place, **options
        )
        parent = f"b{i}"
    builder.add_body("tool", parent=parent, joint="fixed", position=(0.1, 0.2, 0.3), rotation=turn)
    return builder.build()


def places(model: so.Model, names: tuple[str, ...], where: str) -> np.ndarray:
    """Where the numbers of joints stand, in the order of the names."""
    found = [getattr(model, where)(name) for name in names]
    return np.concatenate([np.arange(part.start, part.stop) for part in found])


def close(found: np.ndarray, expected: np.ndarray) -> None:
    scale = max(float(np.abs(expected).max()), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * scale)


def agree(ours: so.Model, again: so.Model, joints: tuple[str, ...]) -> None:
    """The same joints in whatever order; `joints` are their names there in our order."""
    at_q, at_v = places(again, joints, "q_slice"), places(again, joints, "v_slice")
    bodies = [again.body_names.index(name) for name in ours.body_names]
    assert (again.nq, again.nv, again.n_bodies) == (ours.nq, ours.nv, ours.n_bodies)
    rng = np.random.default_rng(1)
    q_there = np.zeros(ours.nq)
    v_there = np.zeros(ours.nv)
    a_there = np.zeros(ours.nv)
    for _ in range(5):
        q = ours.random(rng)
        v = rng.normal(size=ours.nv)
        a = rng.normal(size=ours.nv)
        q_there[at_q] = q
        v_there[at_v] = v
        a_there[at_v] = a
        mass = so.mass_matrix(again, q_there)
        close(mass[np.ix_(at_v, at_v)], so.mass_matrix(ours, q))
        forces = so.inverse_dynamics(again, q_there, v_there, a_there)
        close(forces[at_v], so.inverse_dynamics(ours, q, v, a))
        there, here = so.body_poses(again, q_there), so.body_poses(ours, q)
        close(there.positions[bodies], here.positions)
        close(there.rotations[bodies], here.rotations)
    for name in ("damping", "dry_friction"):
        np.testing.assert_array_equal(getattr(again, name)[at_v], getattr(ours, name))
    held = np.where(ours.lower == ours.upper, 1e-9, 0.0)  # what MuJoCo wants of a range
    efforts = again.effort_limit[at_v]
    assert ((efforts == ours.effort_limit) | ((ours.effort_limit == 0.0) & (efforts <= 1e-9))).all()
    for name in ("lower", "upper"):  # and it has no infinite ones
        found, expected = (
            np.clip(x, -1e30, 1e30) for x in (getattr(again, name)[at_v], getattr(ours, name))
        )
        assert (np.abs(found - expected) <= held).all()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kinds", [{}, {"free": True}, {"ball": True}])
def test_what_is_written_reads_back(tmp_path: Path, end: str, kinds: dict[str, bool]) -> None:
    if end == ".xml":
        pytest.importorskip("mujoco")
    ours = arm(**kinds)
    path = so.save_model(ours, tmp_path / f"arm{end}", name="arm")
    floating = end == ".urdf" and bool(kinds.get("free"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a ball is not of the URDF format
        again = so.load_model(path, floating_base=floating)
    agree(ours, again, again.joint_names)
    ours_tool, again_tool = ours.frame("tool"), again.frame("tool")
    np.testing.assert_allclose(again_tool.position, ours_tool.position, atol=1e-15)
    np.testing.assert_allclose(again_tool.rotation, ours_tool.rotation, atol=1e-14)


def test_springs_and_gravity_go_to_mjcf_and_are_told_for_urdf(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    spring = so.Joint("revolute", axis="y", stiffness=3.0, reference=0.2, armature=0.1)
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -1.62))
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("rod", joint=spring, inertia=inertia, gravity_compensation=0.5)
    ours = builder.build()
    again = so.load_model(so.save_model(ours, tmp_path / "a.xml"))
    np.testing.assert_array_equal(again.links, ours.links)
    np.testing.assert_array_equal(again.stiffness, ours.stiffness)
    np.testing.assert_array_equal(again.reference, ours.reference)
    np.testing.assert_allclose(again.compensation, ours.compensation, atol=1e-15)
    with pytest.warns(AssetWarning, match=r"armature; .*springs; .*compensation.*; .*gravity"):
        so.save_model(ours, tmp_path / "a.urdf")


def test_what_cannot_be_said_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"\.urdf, \.xml or \.mjcf"):
        so.save_model(arm(), tmp_path / "a.obj")
    builder = so.TreeBuilder()
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("a", joint="free", inertia=inertia)
    builder.add_body("b", joint="free", inertia=inertia)
    with pytest.raises(ModelError, match="one root"):
        so.save_model(builder.build(), tmp_path / "a.urdf")
    builder.add_body("c", parent="b", joint=so.Joint("universal"), inertia=inertia)
    for end in ENDS:
        with pytest.raises(ModelError, match=r"counterpart|one root"):
            so.save_model(builder.build(), tmp_path / f"a{end}")
    assert list(tmp_path.iterdir()) == []


def test_what_moves_without_mass_is_compiled_by_mujoco(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    hinge, swing = so.Joint("revolute", axis="x"), so.Joint("revolute", axis="y")
    builder = so.TreeBuilder()
    builder.add_body("carrier", joint=so.Joint("prismatic", axis="x"))
    point = so.Inertia(1.0, (0.0, 0.0, -0.5), np.zeros((3, 3)))
    builder.add_body("point", joint=hinge, parent="carrier", inertia=point)
    builder.add_body("tip", parent="point", joint=so.Joint("ball"), position=(0.0, 0.0, -1.0))
    rod = so.Inertia(1.0, (0.0, 0.0, 0.1), np.diag([0.01, 0.01, 0.0]))
    builder.add_body("left", joint=swing, parent="tip", inertia=rod, position=(0.1, 0.0, 0.0))
    builder.add_body("right", joint=swing, parent="tip", inertia=rod, position=(-0.1, 0.0, 0.0))
    ours = builder.build()
    with pytest.warns(AssetWarning, match=r"1e-15 kg .*2 times, first carrier"):
        written = so.save_model(ours, tmp_path / "a.xml")
    again = so.load_model(written)
    agree(ours, again, again.joint_names)


def test_flat_bodies_at_any_attitude_are_compiled_by_mujoco(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    builder = so.TreeBuilder()
    for i in range(20):  # a third of such tensors breaks A + B >= C by a rounding
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        a, b = rng.uniform(0.1, 1.0, 2)
        tensor = turn @ np.diag([a, b, a + b]) @ turn.T
        flat = so.Inertia(1.0, np.zeros(3), 0.5 * (tensor + tensor.T))
        builder.add_body(f"flat{i}", joint="free", inertia=flat)
    ours = builder.build()
    again = so.load_model(so.save_model(ours, tmp_path / "a.xml"))
    agree(ours, again, again.joint_names)


def test_inertias_that_no_body_has_are_refused_by_name(tmp_path: Path) -> None:
    impossible = so.Inertia(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.1]), checked=False)
    model = so.TreeBuilder().add_body("odd", joint="revolute", inertia=impossible).build()
    with pytest.raises(ModelError, match=r"'odd'.*1, 2, 3.1 kg m\^2: by 0.1 kg"):
        so.save_model(model, tmp_path / "a.xml")
    assert list(tmp_path.iterdir()) == []


QUICK = ("solo12.urdf", "panda.urdf", "suite/humanoid.xml")


def robots() -> list[object]:
    found = [pair for pair in (*URDFS, *MJCFS) if pair[0] not in MALFORMED]
    return [
        pytest.param(
            path, end, id=f"{name}->{end}", marks=() if name.endswith(QUICK) else pytest.mark.slow
        )
        for name, path in found
        for end in ENDS
    ] or [pytest.param(None, "", marks=pytest.mark.skip(reason="no robots installed"))]


@pytest.mark.parametrize(("path", "end"), robots())
def test_robots_round_trip(tmp_path: Path, path: Path, end: str) -> None:
    pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ours = so.load_model(path)
        except so.SpatialOpsError as error:  # what nothing moves in, or MuJoCo does not compile
            pytest.skip(str(error)[:100])
        try:
            written = so.save_model(ours, tmp_path / f"a{end}")
        except ModelError as error:
            if not re.search(
                r"one root|for all its axes|counterpart|which no body has", str(error)
            ):
                raise
            pytest.skip(str(error)[:100])
        if end == ".urdf" and (
            ours.links[:, layout.ARMATURE].any()
            or not np.array_equal(ours.gravity, (0.0, 0.0, -9.81))
        ):
            pytest.skip("a URDF has no armature and no gravity of its own")
        free = end == ".urdf" and "free" in ours.joint_kinds
        again = so.load_model(written, floating_base=free)
    names = tuple(
        "root_joint" if free and i == 0 else name for i, name in enumerate(ours.joint_names)
    )
    agree(ours, again, names)


def _chain(n: int) -> so.Model:
    builder, parent = so.TreeBuilder(), "world"
    inertia = so.Inertia.box((0.1, 0.1, 0.2), mass=1.0)
    for i in range(n):
        builder.add_body(f"l{i}", parent=parent, joint="revolute", inertia=inertia)
        parent = f"l{i}"
    return builder.build()


def test_chains_are_as_long_as_elements_may_be_nested(tmp_path: Path) -> None:
    path = so.save_model(_chain(496), tmp_path / "chain.xml")
    assert so.load_model(path).n_bodies == 496
    mujoco = pytest.importorskip("mujoco")
    assert mujoco.MjModel.from_xml_path(str(path)).nv == 496
    with pytest.raises(ModelError, match="body 'l496': stands within 496 others"):
        so.save_model(_chain(1200), tmp_path / "longer.xml")
    assert not (tmp_path / "longer.xml").exists()
    again = so.load_model(so.save_model(_chain(1200), tmp_path / "longer.urdf"))
    assert again.n_bodies == 1200


HIP = """<mujoco><worldbody><body name="leg" pos="0.1 0.2 0.3" euler="10 20 30">
<joint name="yaw" axis="0 0 1"/><joint name="roll" axis="1 0 0" pos="0 0.05 0"/>
<joint name="pitch" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.4"/>
{}</body></worldbody></mujoco>"""


def _loaded(folder: Path, text: str) -> so.Model:
    path = folder / "given.xml"
    path.write_text(text)
    return so.load_model(path)


def test_joints_of_one_body_are_written_as_those_of_one_body(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    ours = _loaded(tmp_path, HIP.format("<body name='foot'/>"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing without mass is left that MuJoCo wants a mass of
        path = so.save_model(ours, tmp_path / "leg.xml")
    leg = next(ElementTree.parse(path).iter("body"))
    assert [joint.get("name") for joint in leg.findall("joint")] == ["yaw", "roll", "pitch"]
    agree(ours, so.load_model(path), ours.joint_names)


def test_what_stands_on_a_massless_body_keeps_it(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    ours = _loaded(tmp_path, HIP.format(""))
    floor = so.Geom("floor", "world", so.HalfSpace())
    scene = so.Scene(ours, [floor, so.Geom("knob", "leg@roll", so.collision.Sphere(0.01))])
    with pytest.warns(AssetWarning, match=r"a mass of what moves: .*2 times, first leg@yaw"):
        path = so.save_scene(scene, tmp_path / "knob.xml")
    again = so.load_scene(path)
    assert again.model.body_names == ours.body_names
    assert [geom.body for geom in again.geoms] == ["world", "leg@roll"]
