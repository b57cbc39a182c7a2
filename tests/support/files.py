"""Robot files of installed packages, as our models, Pinocchio's and MuJoCo's."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from spatialops._layout import ARMATURE
from spatialops.io import build, read
from spatialops.io.mjcf_parts.compiled import named
from tests.support.robots import (
    _SWAP,
    Part,
    Twin,
    _free_coordinates,
    _free_drift,
    _free_rates,
    bare,
)

_WXYZ = [1, 2, 3, 0]
# Well-formed or not, these say what no reader can take: a comma or two points in a number, a macro
# that was not expanded, four angles, a cut end, and no link at all.
MALFORMED = {
    "ur_description/urdf/ur3.urdf",
    "bicycle/bike.urdf",
    "biped/biped2d_pybullet.urdf",
    "humanoid/humanoid.urdf",
    "husky/husky.urdf",
    "quadruped/microtaur/microtaur.urdf",
    "torus_deform.urdf",
}


def example_robots() -> Path | None:
    """The folder of example-robot-data; importing it would need Pinocchio's viewers."""
    try:
        path = Path(
            str(
                distribution("example-robot-data").locate_file(
                    "cmeel.prefix/share/example-robot-data/robots"
                )
            )
        )
    except PackageNotFoundError:
        return None
    return path if path.is_dir() else None


def package_folder(name: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(name)
    return (
        Path(spec.submodule_search_locations[0])
        if spec and spec.submodule_search_locations
        else None
    )


def files_of(folder: Path | None, suffix: str) -> list[tuple[str, Path]]:
    """All files below, relative to the folder; of PyBullet's random shapes one in a hundred."""
    if folder is None:
        return []
    named_paths = [
        (str(path.relative_to(folder)), path) for path in sorted(folder.rglob(f"*.{suffix}"))
    ]
    return [(n, p) for n, p in named_paths if "random_urdfs" not in n or n.endswith("00.urdf")]


def relative(result, expected):
    """Largest difference over the largest of what is expected."""
    return float(
        np.abs(result - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300)
    )


class PinocchioFile:
    """A URDF read by us and by Pinocchio."""

    def __init__(self, path, floating):
        import pinocchio as pin

        self.pin = pin
        self.model = build(read(path), floating_base=floating)
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.m = pin.buildModelFromUrdf(str(path), *root)
        parts, armature = [], np.array(self.m.armature)
        for name, kind in zip(self.model.joint_names, self.model.joint_kinds, strict=True):
            joint = self.m.joints[self.m.getJointId(name)]
            maps = {"rates": lambda q: _SWAP} if kind == "free" else {}
            if kind == "revolute" and joint.nq == 2:
                maps = {"coordinates": lambda q: np.arctan2(q[1], q[0])}
            theirs = slice(joint.idx_v, joint.idx_v + joint.nv)
            where = (
                self.model.q_slice(name),
                self.model.v_slice(name),
                slice(joint.idx_q, joint.idx_q + joint.nq),
            )
            parts.append(Part(*where, theirs, **maps))
            own = self.model.links[
                self.model.v_slice(name), ARMATURE
            ]  # of joints that carry no mass
            armature[theirs] += own[[3, 4, 5, 0, 1, 2]] if kind == "free" else own
        self.m.armature = armature
        self.twin, self.d = Twin(self.model, parts), self.m.createData()

    def random(self, rng):
        q = self.pin.integrate(self.m, self.pin.neutral(self.m), rng.normal(size=self.m.nv))
        return q, rng.normal(size=self.m.nv), rng.normal(size=self.m.nv)

    def mass_matrix(self, q):
        full = self.pin.crba(self.m, self.d, q)
        return np.triu(full) + np.triu(full, 1).T

    def inverse_dynamics(self, q, v, a):
        return self.pin.rnea(self.m, self.d, q, v, a)

    def poses(self, q):
        """Pose of every link by name."""
        self.pin.framesForwardKinematics(self.m, self.d, q)
        links = {
            f.name: i for i, f in enumerate(self.m.frames) if f.type == self.pin.FrameType.BODY
        }
        if "world_link" in self.model.frames:
            links["world_link"] = links.pop("world")
        return {
            name: (self.d.oMf[i].rotation, self.d.oMf[i].translation) for name, i in links.items()
        }


class MujocoFile:
    """A MJCF file read by us and by MuJoCo."""

    def __init__(self, path):
        import mujoco

        self.mujoco = mujoco
        self.description = read(path)
        self.model = build(self.description)
        self.m = m = bare(mujoco.MjSpec.from_file(str(path)).compile())
        for attribute in ("actuator_armature", "actuator_damping"):
            if hasattr(m, attribute):
                getattr(m, attribute)[:] = 0.0
        self.names = named(m)
        self.d = mujoco.MjData(m)
        parts = []
        for j, name in enumerate(self.names.joints):
            q = int(m.jnt_qposadr[j])
            v = int(m.jnt_dofadr[j])
            kind = int(m.jnt_type[j])
            nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[kind]
            free = {"coordinates": _free_coordinates, "rates": _free_rates, "drift": _free_drift}
            maps = (free, {"coordinates": lambda q: q[_WXYZ]}, {}, {})[kind]
            where = self.model.q_slice(name), self.model.v_slice(name)
            parts.append(Part(*where, slice(q, q + nq), slice(v, v + nv), **maps))
        self.twin = Twin(self.model, parts)

    def random(self, rng):
        q = self.m.qpos0.copy()
        self.mujoco.mj_integratePos(self.m, q, rng.normal(size=self.m.nv), 1.0)
        return q, rng.normal(size=self.m.nv), rng.normal(size=self.m.nv)

    def _set(self, q, v=None):
        self.d.qpos[:], self.d.qvel[:] = q, 0.0 if v is None else v
        self.mujoco.mj_forward(self.m, self.d)

    def mass_matrix(self, q):
        self._set(q)
        result = np.zeros((self.m.nv, self.m.nv))
        self.mujoco.mj_fullM(self.m, self.d, result)
        return result

    def inverse_dynamics(self, q, v, a):
        self._set(q, v)
        self.d.qacc[:] = a
        result = np.zeros(self.m.nv)
        self.mujoco.mj_rne(self.m, self.d, 1, result)
        return result + self.m.dof_armature * a

    def poses(self, q):
        self._set(q)
        ids = range(1, self.m.nbody)
        return {
            self.names.bodies[i]: (self.d.xmat[i].reshape(3, 3).copy(), self.d.xpos[i].copy())
            for i in ids
        }
