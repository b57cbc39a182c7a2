"""Elements of a robot file that no reader looks at, counted by their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from spatialops.io.description import Notes
from spatialops.io.safe_xml import Element

_SHOWN = 60  # characters of a tag that is not known

# Elements of a URDF that are read, each in the one that it stands in.
URDF = {
    "robot": {"link", "joint", "gazebo"},
    "link": {"inertial", "collision", "visual", "contact"},
    "inertial": {"origin", "mass", "inertia"},
    "collision": {"origin", "geometry"},
    "visual": {"origin", "geometry"},
    "geometry": {"box", "sphere", "cylinder", "capsule", "mesh", "plane"},
    "contact": {"lateral_friction", "restitution"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
    "gazebo": {"mu1", "mu2"},
}

# Elements of MJCF that MuJoCo's compiler settles and whose results are read, wherever they stand.
_MJCF_READ = {
    *("mujoco", "compiler", "option", "flag", "default", "asset", "include", "worldbody", "body"),
    *("frame", "replicate", "attach", "model", "inertial", "joint", "freejoint", "geom"),
    *("mesh", "hfield", "contact", "pair", "exclude", "equality", "connect", "weld"),
    *("tendon", "fixed", "actuator", "general", "motor", "position", "velocity", "intvelocity"),
    *("damper", "cylinder", "keyframe", "key"),
}
# Those of which `mjcf_extras` and `mjcf_actuators` tell what becomes of each.
_MJCF_TOLD = {
    *("sensor", "flexcomp", "flex", "skin", "plugin", "spatial"),
    *("muscle", "adhesion", "dcmotor", "composite", "deformable"),
}


def list_unread_urdf(root: Element, notes: Notes) -> None:
    """Count the elements of a URDF that are not read, but for what stands within such."""
    found: dict[str, tuple[int, int]] = {}
    stack = [root]
    while stack:
        element = stack.pop()
        for child in element.children:
            if child.tag in URDF.get(element.tag, set()):
                stack.append(child)
                continue
            place = f"<{element.tag}><{child.tag[:_SHOWN]}>"
            count, line = found.get(place, (0, child.line))
            found[place] = count + 1, min(line, child.line)
    for place, (count, line) in sorted(found.items()):
        notes.add(f"{place} is not read: {count}, first in line {line}")


def list_unread_mjcf(documents: Iterable[Element], notes: Notes) -> None:
    """Count the elements of MJCF files that nothing is made of and nothing else tells of."""
    counts = Counter(place for root in documents for place in _unread(root))
    for place, count in sorted(counts.items()):
        notes.add(f"{place} is not read: {count}")


def _unread(root: Element) -> Iterator[str]:
    stack = [root]
    while stack:
        element = stack.pop()
        for child in element.children:
            if child.tag in _MJCF_READ:
                stack.append(child)
            elif child.tag not in _MJCF_TOLD:
                yield f"<{element.tag}><{child.tag[:_SHOWN]}>"
