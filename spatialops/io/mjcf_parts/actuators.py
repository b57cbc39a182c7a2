"""Actuators and tendons of a compiled MuJoCo model, along joints and through space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.forces.actuators import Actuator, Dynamics
from spatialops.forces.paths import TendonPath
from spatialops.forces.tendons import Tendon
from spatialops.io.description import ActuatorSpec
from spatialops.io.mjcf_parts.compiled import Compiled, disabled
from spatialops.io.mjcf_parts.joint_forces import bounded_alone
from spatialops.io.mjcf_parts.loops import tendon_factors
from spatialops.io.mjcf_parts.tendons import tendon_path

_JOINT, _IN_PARENT, _CRANK, _TENDON, _SITE, _BODY = range(6)  # mjtTrn
_TRANSMISSIONS = {
    _JOINT: "joint",
    _IN_PARENT: "joint in parent",
    _CRANK: "slider-crank",
    _TENDON: "tendon",
    _SITE: "site",
    _BODY: "body",
}
_DYNAMICS: dict[int, Dynamics] = {0: "none", 1: "integrator", 2: "filter", 3: "filter"}  # mjtDyn
_FIXED, _AFFINE = 0, 1  # mjtGain
_NO_BIAS = 0  # mjtBias
_SLIDE = 2  # mjtJoint, and hinges are above
_UNBOUNDED = (-np.inf, np.inf)


def actuators(c: Compiled) -> Iterator[ActuatorSpec]:
    """All actuators, with what is simulated of each."""
    m = c.m
    taken: set[str] = set()
    bounded = bounded_alone(c)
    for a in range(len(m.actuator_trntype)):
        kind, i = int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])
        name = c.name("ACTUATOR", a) or f"actuator{a}"
        while name in taken:
            name += "_"
        taken.add(name)
        made = _made(c, a, name, bounded.get(a))
        if isinstance(made, str):
            c.warnings.add(f"an actuator is not simulated: {made}", name)
        yield ActuatorSpec(
            name=name,
            kind=_TRANSMISSIONS.get(kind, f"transmission {kind}"),
            target=_target(c, kind, i),
            gear=tuple(float(x) for x in m.actuator_gear[a]),
            control_range=_range(m.actuator_ctrlrange, m.actuator_ctrllimited, control(c, a)),
            force_range=_range(m.actuator_forcerange, m.actuator_forcelimited, a),
            gain=tuple(float(x) for x in m.actuator_gainprm[a]),
            bias=tuple(float(x) for x in m.actuator_biasprm[a]),
            made=made if isinstance(made, Actuator) else None,
        )


def control(c: Compiled, a: int) -> int:
    """Where the (first) control of an actuator stands."""
    places = getattr(c.m, "actuator_ctrladr", None)  # since MuJoCo 4 one may have several
    return a if places is None else int(places[a])


def _made(c: Compiled, a: int, name: str, bounded: int | None) -> Actuator | str:
    """The actuator that does the same, or why there is none.

    Where it has a joint for itself whose force has a range, that is `bounded`.
    """
    m = c.m
    if disabled(c, "ACTUATION") or (m.opt.disableactuator >> int(m.actuator_group[a])) & 1:
        return "it is switched off"
    path = _path(c, a)
    joints = {} if path is not None else _joints(c, a)
    if joints is None:
        return "it moves neither a hinge, a slide nor a tendon that acts"
    dynamics = _DYNAMICS.get(int(m.actuator_dyntype[a]))
    gain, bias = int(m.actuator_gaintype[a]), int(m.actuator_biastype[a])
    several = getattr(m, "actuator_ctrlnum", None)
    if (
        dynamics is None
        or gain not in (_FIXED, _AFFINE)
        or bias not in (_NO_BIAS, _AFFINE)
        or (several is not None and several[a] != 1)
    ):
        return "its law is not affine in one control, the length and its rate"
    options: dict[str, Any] = {}
    if not disabled(c, "CLAMPCTRL"):
        place = control(c, a)
        options["ctrl_range"] = _range(m.actuator_ctrlrange, m.actuator_ctrllimited, place)
    options["force_range"] = _force_range(c, a, joints, bounded)
    options["activation_range"] = _range(m.actuator_actrange, m.actuator_actlimited, a)
    if dynamics == "filter":
        options["time_constant"] = max(float(m.actuator_dynprm[a][0]), 0.0)
    for extra, text in (("actuator_actearly", "early activation"), ("actuator_delay", "delay")):
        if np.any(getattr(m, extra, np.zeros(a + 1))[a]):
            c.warnings.add(f"not simulated: {text} of actuators", name)
    g, b = m.actuator_gainprm[a][:3].copy(), m.actuator_biasprm[a][:3].copy()
    if gain == _FIXED:
        g[1:] = 0.0
    if bias == _NO_BIAS:
        b[:] = 0.0
    return Actuator(
        name=name,
        joints=joints,
        path=path,
        gain=g,
        bias=b,
        dynamics=dynamics,
        **{key: value or _UNBOUNDED for key, value in options.items() if key != "time_constant"},
        time_constant=options.get("time_constant", 0.0),
    )


def _joints(c: Compiled, a: int) -> dict[str, float] | None:
    """Factors of joints in the length of an actuator; None where it is not made of joints."""
    m, gear = c.m, float(c.m.actuator_gear[a][0])
    kind, i = int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])
    if kind in (_JOINT, _IN_PARENT):
        return {c.joints[i]: gear} if m.jnt_type[i] >= _SLIDE else None
    if kind != _TENDON:
        return None
    factors = tendon_factors(c, i)
    if factors is None:
        return None
    return {name: gear * factor for name, factor in factors.items()}


def _path(c: Compiled, a: int) -> TendonPath | None:
    """The path of an actuator on a tendon through space."""
    if int(c.m.actuator_trntype[a]) != _TENDON:
        return None
    path = tendon_path(c, int(c.m.actuator_trnid[a][0]))
    return None if path is None else replace(path, factor=float(c.m.actuator_gear[a][0]))


def _force_range(
    c: Compiled, a: int, joints: dict[str, float], bounded: int | None
) -> tuple[float, float] | None:
    """The actuator's range, and that of the joint that it has for itself."""
    m = c.m
    own = _range(m.actuator_forcerange, m.actuator_forcelimited, a)
    gear = 0.0 if bounded is None else joints.get(c.joints[bounded], 0.0)
    if gear == 0.0:
        return own
    low, high = sorted(float(x) / gear for x in m.jnt_actfrcrange[bounded])
    return (low, high) if own is None else (max(low, own[0]), max(min(high, own[1]), low))


def tendons(c: Compiled) -> Iterator[Tendon]:
    """Tendons with springs, dampers or stops, and all that go through space: they are drawn.

    Those that pass inside geoms are listed.
    """
    m = c.m
    limited = not (disabled(c, "LIMIT") or disabled(c, "CONSTRAINT"))
    for t in range(m.ntendon):
        stiffness = 0.0 if disabled(c, "SPRING") else max(float(m.tendon_stiffness[t]), 0.0)
        damping = 0.0 if disabled(c, "DAMPER") else max(float(m.tendon_damping[t]), 0.0)
        name = c.name("TENDON", t) or f"tendon{t}"
        factors, path = tendon_factors(c, t), tendon_path(c, t)
        limits = _range(m.tendon_range, m.tendon_limited, t) if limited else None
        acts = bool(stiffness or damping or limits)
        if factors is None and path is None:
            if acts:
                c.warnings.add("not simulated: a tendon that passes inside geoms", name)
            continue
        if path is None and not acts:
            continue
        low, high = (float(x) for x in m.tendon_lengthspring[t])
        yield Tendon(
            name=name,
            joints=factors,
            path=path,
            stiffness=stiffness,
            damping=damping,
            rest=low if low == high else (low, high),
            limits=limits or _UNBOUNDED,
        )


def _target(c: Compiled, kind: int, i: int) -> str:
    if kind in (_JOINT, _IN_PARENT) and 0 <= i < len(c.joints):
        return str(c.joints[i])
    if kind == _BODY and 0 <= i < len(c.bodies):
        return str(c.bodies[i])
    named = {_CRANK: "SITE", _TENDON: "TENDON", _SITE: "SITE"}
    return str(c.name(named[kind], i)) if kind in named else ""


def _range(values: Array, limited: BoolArray, a: int) -> tuple[float, float] | None:
    """The range of one control, activation or force, where it has one."""
    if a >= len(limited) or not limited[a]:
        return None
    return float(values[a][0]), float(values[a][1])
