"""A compiled MuJoCo model with a name for all that has none, and what was found in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from spatialops.io.description import Notes

# MuJoCo's models and specifications have no types that mypy could read.
MuJoCoObject: TypeAlias = Any


@dataclass
class Compiled:
    """A compiled model, names for all that has none, and the findings."""

    m: MuJoCoObject
    bodies: list[str]
    joints: list[str]
    geoms: list[str]
    warnings: Notes = field(default_factory=Notes)
    left_out: Notes = field(default_factory=Notes)

    def name(self, kind: str, i: int) -> str:
        """The name of a thing in the file, by kind as in mjtObj; "" where it has none."""
        import mujoco

        return mujoco.mj_id2name(self.m, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), i) or ""


def sensor_kind(c: Compiled, s: int) -> str:
    """What sensor s is, as in mjtSensor."""
    import mujoco

    return mujoco.mjtSensor(int(c.m.sensor_type[s])).name.removeprefix("mjSENS_")


def disabled(c: Compiled, part: str) -> bool:
    """Whether the file switches off a part of the simulation, by name as in mjtDisableBit."""
    import mujoco

    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{part}", None)
    if bit is None and part in ("SPRING", "DAMPER"):  # one flag for both, before MuJoCo 3.3
        bit = getattr(mujoco.mjtDisableBit, "mjDSBL_PASSIVE", None)
    return bit is not None and bool(int(c.m.opt.disableflags) & int(bit))


def named(m: MuJoCoObject) -> Compiled:
    """Give every body, joint and geom of a compiled model a name of its own."""
    c = Compiled(m, [], [], [])
    bodies = _unique([c.name("BODY", i) or f"body{i}" for i in range(m.nbody)])
    joints, geoms = [], []
    for j, body in enumerate(m.jnt_bodyid):
        alone = m.body_jntnum[body] == 1
        place = j - m.body_jntadr[body]
        joints.append(c.name("JOINT", j) or (bodies[body] if alone else f"{bodies[body]}/{place}"))
    for g, body in enumerate(m.geom_bodyid):
        geoms.append(c.name("GEOM", g) or f"{bodies[body]}/{g - m.body_geomadr[body]}")
    return Compiled(m, bodies, _unique(joints), _unique(geoms))


def _unique(names: list[str]) -> list[str]:
    """The same with "_" behind names that were there before."""
    taken: set[str] = set()
    result = []
    for name in names:
        while name in taken:
            name += "_"
        taken.add(name)
        result.append(name)
    return result
