"""MJCF, by way of MuJoCo's own compiler, which settles defaults, units and inertias.

A body with several joints becomes a chain: each joint but the last carries a body without mass,
"body@joint". So does a joint whose anchor is not the body's origin, and the body is then fixed to
it. Coordinates are MuJoCo's `qpos`, but for quaternions, which are (x, y, z, w) here.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import from_quaternion
from spatialops.errors import ArgumentError, AssetError, MissingLibraryError, ModelError
from spatialops.io.description import BodySpec, Description, Keyframe, check_length
from spatialops.io.mjcf_parts.actuators import actuators, control, tendons
from spatialops.io.mjcf_parts.compiled import Compiled, MuJoCoObject, disabled, named
from spatialops.io.mjcf_parts.extras import list_features
from spatialops.io.mjcf_parts.files import check_files
from spatialops.io.mjcf_parts.loops import loops
from spatialops.io.mjcf_parts.sensors import sensors
from spatialops.io.mjcf_parts.shapes import pairs, shapes
from spatialops.io.packages import Resolver
from spatialops.io.safe_xml import MAX_BYTES, parse, read_bytes
from spatialops.io.unread import list_unread_mjcf
from spatialops.tree.builder import WORLD
from spatialops.tree.joint import Joint, JointKind

_XYZW = [1, 2, 3, 0]
_UNIT = 1e-6  # of a quaternion's length
_ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
_KINDS: tuple[JointKind, ...] = ("free", "ball", "prismatic", "revolute")


def read_mjcf(path: Path, resolver: Resolver) -> Description:
    """Read one file.

    Raises
    ------
    AssetError
        If MuJoCo cannot compile it, it says what cannot be, or refers to files outside of its
        package.
    MissingLibraryError
        Without the library `mujoco`.
    """
    root = parse(read_bytes(path, MAX_BYTES), path)
    if root.tag != "mujoco":
        raise root.error(f"expected <mujoco>, got <{root.tag[:60]}>")
    documents = check_files(root, path, resolver)
    compiled = _compiled(path)
    list_unread_mjcf(documents, compiled.left_out)
    try:
        return describe(compiled, path)
    except (ArgumentError, ModelError) as error:
        raise AssetError(f"{path}: {error}") from error


def describe(c: Compiled, path: Path | None) -> Description:
    """The description of a compiled model."""
    m = c.m
    for name in ("body_pos", "geom_pos", "geom_size"):
        check_length(getattr(m, name), f"{path}: {name}")
    for name in ("body_quat", "geom_quat", "site_quat"):
        _check_turns(getattr(m, name), f"{path}: {name}")
    bodies = [spec for i in range(1, m.nbody) for spec in _bodies(c, i)]
    list_features(c)
    weightless = disabled(c, "GRAVITY")
    touching = not (disabled(c, "CONTACT") or disabled(c, "CONSTRAINT"))
    found = list(actuators(c))
    return Description(
        name=m.names.split(b"\0")[0].decode(errors="replace"),
        path=path,
        bodies=tuple(bodies),
        shapes=tuple(shapes(c) if touching else (replace(s, collides=False) for s in shapes(c))),
        loops=tuple(loops(c)),
        actuators=tuple(found),
        tendons=tuple(tendons(c)),
        sensors=tuple(sensors(c)),
        keyframes=tuple(_keyframes(c)),
        start={name: q for name, q in _coordinates(c, m.qpos0).items() if q.any()},
        pairs=tuple(pairs(c)) if touching else (),
        ignore=tuple((c.bodies[s >> 16], c.bodies[s & 0xFFFF]) for s in m.exclude_signature),
        options=_options(m),
        gravity=(0.0, 0.0, 0.0) if weightless else tuple(m.opt.gravity.tolist()),
        warnings=c.warnings.texts(),
        left_out=c.left_out.texts(),
    )


def _check_turns(quaternions: Array, where: str) -> None:
    """Refuse quaternions too long for MuJoCo to make them units: it leaves zeros of them."""
    wrong = ~(np.abs(np.linalg.norm(quaternions, axis=-1) - 1.0) < _UNIT)
    if wrong.any():
        raise AssetError(f"{where}: no rotation has the quaternion of row {np.argmax(wrong)}")


def _compiled(path: Path) -> Compiled:
    try:
        import mujoco
    except ImportError as error:
        raise MissingLibraryError(
            f"{path}: MJCF files are compiled by MuJoCo: install spatialops[mjcf]"
        ) from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            spec = _parsed(mujoco, path)
            m = spec.compile()
        except (ValueError, TypeError, OSError, RuntimeError, mujoco.FatalError) as error:
            raise AssetError(
                f"{path}: MuJoCo cannot compile it: {' '.join(str(error).split())}"
            ) from error
    c = named(m)
    if guessed := _weighed_by_density(spec):
        c.warnings.add(f"mass and inertia come from the densities of geoms: {guessed} bodies")
    for warning in caught:
        c.left_out.add(f"MuJoCo warns: {' '.join(str(warning.message).split())}")
    return c


def _parsed(mujoco: MuJoCoObject, path: Path) -> MuJoCoObject:
    """The file as MuJoCo's parser has it, which from 4.0 on takes names in ".xml" only."""
    if path.suffix == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    stand_in = f"{path}.xml"  # in the same folder, which what it includes is looked up from
    return mujoco.MjSpec.from_file(stand_in, include={stand_in: path.read_bytes()})


def _weighed_by_density(spec: MuJoCoObject) -> int:
    """How many bodies MuJoCo's compiler weighs by their geoms, of which none says a mass itself."""
    bodies = [body for body in spec.bodies if body.name != WORLD and not body.explicitinertial]
    return sum(
        any(np.isnan(geom.mass) and geom.density > 0.0 for geom in body.geoms) for body in bodies
    )


# ------------------------------------------------------------------------------------------- bodies
def rotation(quaternion: Array) -> Array:
    """A rotation of MuJoCo's quaternion (w, x, y, z)."""
    return from_quaternion(np.asarray(quaternion)[_XYZW])


def _bodies(c: Compiled, i: int) -> list[BodySpec]:
    """A body and the massless ones that its joints need."""
    m, name = c.m, c.bodies[i]
    parent = c.bodies[m.body_parentid[i]]
    position = m.body_pos[i].copy()
    turn = rotation(m.body_quat[i])
    result: list[BodySpec] = []
    for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
        joint, anchor, place, frame = _joint(c, j)
        if joint.kind == "free":
            parent = WORLD
            position = np.zeros(3)
            turn = np.eye(3)
        last = j == m.body_jntadr[i] + m.body_jntnum[i] - 1
        position, turn = position + turn @ place, turn @ frame
        if last and not anchor.any():
            spec = BodySpec(
                name=name,
                parent=parent,
                joint=joint,
                inertia=_inertia(m, i),
                position=position,
                rotation=turn,
                gravity_compensation=float(m.body_gravcomp[i]),
            )
            return [*result, spec]
        carrier = f"{name}@{joint.name}"
        result.append(
            BodySpec(name=carrier, parent=parent, joint=joint, position=position, rotation=turn)
        )
        parent = carrier
        position = -anchor
        turn = np.eye(3)
    fixed = Joint("fixed")
    return [
        *result,
        BodySpec(
            name=name,
            parent=parent,
            joint=fixed,
            inertia=_inertia(m, i),
            position=position,
            rotation=turn,
            gravity_compensation=float(m.body_gravcomp[i]),
        ),
    ]


def _inertia(m: MuJoCoObject, i: int) -> Inertia | None:
    if m.body_mass[i] <= 0.0:
        return None
    tensor = rotation(m.body_iquat[i])
    return Inertia(
        float(m.body_mass[i]),
        m.body_ipos[i],
        tensor @ np.diag(m.body_inertia[i]) @ tensor.T,
        checked=False,
    )


def _joint(c: Compiled, j: int) -> tuple[Joint, Array, Array, Array]:
    """The joint, its anchor in the body, and where its frame stands in the body's.

    A hinge whose coordinate is `ref` in the initial configuration has its frame turned back by as
    much, so that its coordinate means the same here.
    """
    m, name = c.m, c.joints[j]
    kind = int(m.jnt_type[j])
    dof = m.jnt_dofadr[j]
    zero = m.qpos0[m.jnt_qposadr[j]]
    width = (6, 3, 1, 1)[kind]
    data: dict[str, Any] = {}
    constrained = not disabled(c, "CONSTRAINT")
    for key, values, acts in (
        ("damping", m.dof_damping, not disabled(c, "DAMPER")),
        ("armature", m.dof_armature, True),
        ("dry_friction", m.dof_frictionloss, constrained and not disabled(c, "FRICTIONLOSS")),
    ):
        data[key] = np.maximum(values[dof : dof + width], 0.0) * acts
    if m.jnt_stiffness[j] and not disabled(c, "SPRING"):
        if kind in (SLIDE, HINGE) and m.jnt_stiffness[j] > 0.0:
            data["stiffness"] = float(m.jnt_stiffness[j])
            data["reference"] = float(m.qpos_spring[m.jnt_qposadr[j]])
        else:
            c.warnings.add("the spring of a ball or free joint is not simulated", name)
    if kind == FREE:
        for key, values in data.items():
            if np.ptp(values[:3]) > 0.0:
                c.warnings.add(
                    f"a free joint's {key} along the world's axes is taken along the body's", name
                )
            data[key] = values[_ANGULAR_FIRST]
    if m.jnt_limited[j] and constrained and not disabled(c, "LIMIT"):
        if kind in (SLIDE, HINGE):
            data["lower"], data["upper"] = (float(x) for x in m.jnt_range[j])
        else:
            c.warnings.add("the limit of a ball joint is not simulated", name)
    if m.jnt_actfrclimited[j] and kind in (SLIDE, HINGE):
        data["effort_limit"] = float(np.abs(m.jnt_actfrcrange[j]).max())
    anchor = m.jnt_pos[j].copy()
    place = np.zeros(3)
    frame = np.eye(3)
    if kind in (SLIDE, HINGE):
        data["axis"] = tuple(m.jnt_axis[j].tolist())
    if kind == SLIDE:  # the anchor of a slide does not matter
        anchor, place = np.zeros(3), -zero * m.jnt_axis[j]
    elif kind == HINGE:
        place = anchor
        frame = rotation(
            np.concatenate([[np.cos(0.5 * zero)], -np.sin(0.5 * zero) * m.jnt_axis[j]])
        )
    elif kind == BALL:
        place = anchor
    else:
        anchor = np.zeros(3)
    return Joint(_KINDS[kind], name=name, **data), anchor, place, frame


# ----------------------------------------------------------------------------------- configurations
def _coordinates(c: Compiled, qpos: Array) -> dict[str, Array]:
    """Coordinates by joint."""
    result = {}
    for j, name in enumerate(c.joints):
        at, kind = c.m.jnt_qposadr[j], c.m.jnt_type[j]
        if kind == FREE:
            result[name] = np.concatenate([qpos[at : at + 3], qpos[at + 3 : at + 7][_XYZW]])
        else:
            result[name] = qpos[at : at + 4][_XYZW] if kind == BALL else qpos[at : at + 1].copy()
    return result


def _velocities(c: Compiled, qpos: Array, qvel: Array) -> dict[str, Array]:
    """Velocities by joint; MuJoCo has a free joint's linear one in world axes."""
    result = {}
    for j, name in enumerate(c.joints):
        at, kind = c.m.jnt_dofadr[j], c.m.jnt_type[j]
        if kind == FREE:
            start = c.m.jnt_qposadr[j] + 3
            linear = rotation(qpos[start : start + 4]).T @ qvel[at : at + 3]
            result[name] = np.concatenate([qvel[at + 3 : at + 6], linear])
        else:
            result[name] = qvel[at : at + (3 if kind == BALL else 1)].copy()
    return result


def _keyframes(c: Compiled) -> list[Keyframe]:
    m, result = c.m, []
    for k in range(m.nkey):
        name = c.name("KEY", k) or f"keyframe{k}"
        q, v = _coordinates(c, m.key_qpos[k]), _velocities(c, m.key_qpos[k], m.key_qvel[k])
        time = float(m.key_time[k])
        ctrl, activation = _inputs(c, k)
        result.append(Keyframe(name=name, time=time, q=q, v=v, ctrl=ctrl, activation=activation))
    return result


def _inputs(c: Compiled, k: int) -> tuple[dict[str, float], dict[str, float]]:
    """Controls and activations of keyframe k, by actuator."""
    m = c.m
    ctrl, activation = dict[str, float](), dict[str, float]()
    for a in range(len(m.actuator_trntype)):
        name = c.name("ACTUATOR", a) or f"actuator{a}"
        ctrl[name] = float(m.key_ctrl[k][control(c, a)])
        if m.actuator_actadr[a] >= 0:
            activation[name] = float(m.key_act[k][m.actuator_actadr[a]])
    return ctrl, activation


def _options(m: MuJoCoObject) -> dict[str, float | str]:
    """What the file wants of a simulation."""
    import mujoco

    name = mujoco.mjtIntegrator(int(m.opt.integrator)).name.removeprefix("mjINT_").lower()
    return {"timestep": float(m.opt.timestep), "integrator": name}
