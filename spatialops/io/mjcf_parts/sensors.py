"""Sensors of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spatialops.algebra.rotation import from_quaternion
from spatialops.io.description import SensorKind, SensorSpec
from spatialops.io.mjcf_parts.compiled import Compiled, sensor_kind

# By the names of mjtSensor, of those that have a counterpart.
_OF_SITE: dict[str, SensorKind] = {
    "TOUCH": "touch",
    "ACCELEROMETER": "accelerometer",
    "GYRO": "gyroscope",
    "VELOCIMETER": "velocimeter",
    "FORCE": "force",
    "TORQUE": "torque",
    "RANGEFINDER": "rangefinder",
}
_OF_FRAME: dict[str, SensorKind] = {
    "FRAMEPOS": "position",
    "FRAMEQUAT": "quaternion",
    "FRAMEXAXIS": "x axis",
    "FRAMEYAXIS": "y axis",
    "FRAMEZAXIS": "z axis",
    "FRAMELINVEL": "linear velocity",
    "FRAMEANGVEL": "angular velocity",
}
_OF_NAMED: dict[str, tuple[SensorKind, str]] = {
    "JOINTPOS": ("joint position", "JOINT"),
    "BALLQUAT": ("joint position", "JOINT"),
    "JOINTVEL": ("joint velocity", "JOINT"),
    "BALLANGVEL": ("joint velocity", "JOINT"),
    "JOINTACTFRC": ("joint torque", "JOINT"),
    "ACTUATORPOS": ("length", "ACTUATOR"),
    "ACTUATORVEL": ("rate", "ACTUATOR"),
    "ACTUATORFRC": ("actuator force", "ACTUATOR"),
    "TENDONPOS": ("length", "TENDON"),
    "TENDONVEL": ("rate", "TENDON"),
    "SUBTREECOM": ("subtree centre", "BODY"),
    "SUBTREELINVEL": ("subtree velocity", "BODY"),
    "SUBTREEANGMOM": ("subtree spin", "BODY"),
}
_ZONES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}  # mjtGeom
_OTHERWISE = "has no counterpart"


def sensors(c: Compiled) -> Iterator[SensorSpec]:
    """All sensors that have a counterpart; others are listed."""
    taken: set[str] = set()
    for s in range(int(c.m.nsensor)):
        name = c.name("SENSOR", s) or f"sensor{s}"
        while name in taken:
            name += "_"
        taken.add(name)
        kind = sensor_kind(c, s)
        told = _told(c, s, kind)
        if isinstance(told, str):
            c.left_out.add(f"sensors: a {kind.lower()} {told}", name)
            continue
        if c.m.sensor_cutoff[s] > 0.0:
            c.left_out.add("sensors: the cutoff of one", name)
        yield replace(told, name=name, noise=float(c.m.sensor_noise[s]))


def _told(c: Compiled, s: int, kind: str) -> SensorSpec | str:
    """A sensor without its name and noise, or why there is none."""
    m, i = c.m, int(c.m.sensor_objid[s])
    if int(m.sensor_refid[s]) >= 0 and kind != "GEOMDIST":
        return "against another frame"
    if kind in _OF_SITE and int(m.sensor_objtype[s]) == _OBJECTS["SITE"]:
        found = _placed(c, _OF_SITE[kind], _OBJECTS["SITE"], i)
        if kind == "TOUCH":
            zone = _ZONES.get(int(m.site_type[i]))
            return _OTHERWISE if zone is None else replace(found, zone=zone, sizes=_sizes(c, i))
        return found
    if kind in _OF_FRAME and int(m.sensor_objtype[s]) in _FRAMES:
        return _placed(c, _OF_FRAME[kind], int(m.sensor_objtype[s]), i)
    if kind in _OF_NAMED:
        ours, what = _OF_NAMED[kind]
        return SensorSpec(name="", kind=ours, targets=(_name_of(c, what, i),))
    if kind == "GEOMDIST":
        ends = ((m.sensor_objtype[s], i), (m.sensor_reftype[s], m.sensor_refid[s]))
        names = tuple(_end(c, int(t), int(k)) for t, k in ends)
        return SensorSpec(name="", kind="distance", targets=names)
    return _OTHERWISE


_OBJECTS = {"BODY": 1, "XBODY": 2, "GEOM": 5, "SITE": 6}  # mjtObj
# Where their body stands, and their pose in it: that of a body is its inertia's.
_FRAMES: dict[int, tuple[str | None, str | None, str | None]] = {
    1: (None, "body_ipos", "body_iquat"),
    2: (None, None, None),
    5: ("geom_bodyid", "geom_pos", "geom_quat"),
    6: ("site_bodyid", "site_pos", "site_quat"),
}


def _placed(c: Compiled, ours: SensorKind, kind: int, i: int) -> SensorSpec:
    """A sensor of a frame: its body, position and rotation."""
    m = c.m
    bodies, positions, turns = _FRAMES[kind]
    body = i if bodies is None else int(getattr(m, bodies)[i])
    found = SensorSpec(name="", kind=ours, body=c.bodies[body])
    if positions is None or turns is None:
        return found
    position, turn = getattr(m, positions)[i], getattr(m, turns)[i]
    rotation = from_quaternion(np.array(turn, dtype=np.float64)[[1, 2, 3, 0]])
    return replace(found, position=np.array(position, dtype=np.float64), rotation=rotation)


def _sizes(c: Compiled, site: int) -> tuple[float, ...]:
    """Of a site as of a shape of its kind."""
    x, y, z = (float(size) for size in c.m.site_size[site])
    return {
        "sphere": (x,),
        "capsule": (x, 2.0 * y),
        "cylinder": (x, 2.0 * y),
        "ellipsoid": (x, y, z),
        "box": (2.0 * x, 2.0 * y, 2.0 * z),
    }[_ZONES[int(c.m.site_type[site])]]


def _name_of(c: Compiled, what: str, i: int) -> str:
    """Of a thing, as everything here calls it."""
    if what == "JOINT":
        return c.joints[i]
    if what == "BODY":
        return c.bodies[i]
    return c.name(what, i) or f"{what.lower()}{i}"


def _end(c: Compiled, kind: int, i: int) -> str:
    """A geom, or a body with all of its geoms."""
    return c.geoms[i] if kind == _OBJECTS["GEOM"] else c.bodies[i]
