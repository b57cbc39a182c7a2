"""What MuJoCo simulates and nothing here does: kept as data where it can be, listed in any case."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.io.description import ActuatorSpec
from spatialops.io.mjcf_compiled import Compiled

# Things by their count in the compiled model: what they are, and whether leaving them out changes
# the motion.
_COUNTED = (
    ("nflex", "flexible bodies", True),
    ("nskin", "skins", False),
    ("nsensor", "sensors", False),
    ("ncam", "cameras", False),
    ("nsite", "sites", False),
    ("nplugin", "plugins", True),
    ("nmocap", "mocap bodies, fixed to the world here", False),
    ("nuserdata", "user data", False),
)
# Arrays that are zero where a feature is not used.
_FORCES = (
    ("body_gravcomp", "compensation of gravity"),
    ("tendon_stiffness", "springs of tendons"),
    ("tendon_damping", "damping of tendons"),
    ("tendon_frictionloss", "friction of tendons"),
    ("tendon_armature", "armature of tendons"),
    ("tendon_limited", "limits of tendons"),
    ("dof_dampingpoly", "damping that is not linear"),
    ("jnt_stiffnesspoly", "springs that are not linear"),
    ("geom_fluid", "fluid forces on geoms"),
    ("geom_adhesion", "adhesion of geoms"),
    ("actuator_armature", "armature of actuators"),
    ("actuator_damping", "damping of actuators"),
)
_TRANSMISSIONS = {
    0: "joint",
    1: "joint in parent",
    2: "slider-crank",
    3: "tendon",
    4: "site",
    5: "body",
}


def list_features(c: Compiled) -> None:
    """Count all that is left out."""
    m = c.m
    for attribute, text, moves in _COUNTED:
        count = int(getattr(m, attribute, 0))
        if count:
            (c.warnings if moves else c.left_out).add(f"{text}: {count}")
    for attribute, text in _FORCES:
        values = np.asarray(getattr(m, attribute, 0.0))
        if values.any():
            count = int(np.count_nonzero(values.reshape(len(values), -1).any(axis=1)))
            c.warnings.add(f"not simulated: {text}, {count}")
    if m.opt.density or m.opt.viscosity:
        c.warnings.add("not simulated: forces of a fluid around")
    if m.opt.disableflags:
        c.left_out.add(
            f"flags that switch off parts of the simulation: {int(m.opt.disableflags):#x}"
        )
    if m.ntendon:
        c.left_out.add(f"tendons: {m.ntendon}, but for equality constraints among joints")
    if m.nu:
        c.left_out.add(f"actuators: {m.nu}, kept as data; give torques by a controller")
    soft = any((values != values[:1]).any() for values in (m.geom_solref, m.geom_solimp))
    if soft or m.geom_margin.any():
        c.left_out.add("softness and margins of contacts: contacts are rigid")
    if m.neq:
        c.left_out.add(f"softness of equality constraints: {m.neq}; they are exact")


def actuators(c: Compiled) -> Iterator[ActuatorSpec]:
    """Actuators as data."""
    m = c.m
    for a in range(len(m.actuator_trntype)):
        kind, i = int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])
        yield ActuatorSpec(
            name=c.name("ACTUATOR", a) or f"actuator{a}",
            kind=_TRANSMISSIONS.get(kind, f"transmission {kind}"),
            target=_target(c, kind, i),
            gear=tuple(float(x) for x in m.actuator_gear[a]),
            control_range=_range(m.actuator_ctrlrange, m.actuator_ctrllimited, a),
            force_range=_range(m.actuator_forcerange, m.actuator_forcelimited, a),
            gain=tuple(float(x) for x in m.actuator_gainprm[a]),
            bias=tuple(float(x) for x in m.actuator_biasprm[a]),
        )


def _target(c: Compiled, kind: int, i: int) -> str:
    if kind in (0, 1) and 0 <= i < len(c.joints):
        return str(c.joints[i])
    if kind == 5 and 0 <= i < len(c.bodies):
        return str(c.bodies[i])
    named = {2: "SITE", 3: "TENDON", 4: "SITE"}
    return str(c.name(named[kind], i)) if kind in named else ""


def _range(values: Array, limited: BoolArray, a: int) -> tuple[float, float] | None:
    """The range of one control or force, where it has one (with several controls, of the first)."""
    if a >= len(limited) or not limited[a]:
        return None
    return float(values[a][0]), float(values[a][1])
