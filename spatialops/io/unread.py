"""Elements of a robot file that no reader looks at, counted by their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from spatialops.io.description import Notes
from spatialops.io.safe_xml import Element

_SHOWN = 60  # characters of a tag that is not known

# Elements of a URDF that are read, each in the one that it stands in.
URDF = {
    "robot": {"link", "joint", "gazebo", "material"},
    "link": {"inertial", "collision", "visual", "contact"},
    "inertial": {"origin", "mass", "inertia"},
    "collision": {"origin", "geometry"},
    "visual": {"origin", "geometry", "material"},
    "material": {"color"},
    "geometry": {"box", "sphere", "cylinder", "capsule", "mesh", "plane"},
    "contact": {"lateral_friction", "restitution"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
    "gazebo": {"mu1", "mu2"},
}

# The same of SDF.
SDF = {
    "sdf": {"model", "world"},
    "world": {"model", "gravity"},
    "model": {"pose", "link", "joint", "frame", "static"},
    "frame": {"pose"},
    "link": {"pose", "inertial", "collision", "visual"},
    "inertial": {"pose", "mass", "inertia"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "collision": {"pose", "geometry", "surface"},
    "visual": {"pose", "geometry", "material"},
    "material": {"diffuse"},
    "geometry": {"box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh"},
    "box": {"size"},
    "sphere": {"radius"},
    "cylinder": {"radius", "length"},
    "capsule": {"radius", "length"},
    "ellipsoid": {"radii"},
    "plane": {"normal"},
    "mesh": {"uri", "scale"},
    "surface": {"friction", "bounce"},
    "friction": {"ode"},
    "ode": {"mu"},
    "bounce": {"restitution_coefficient"},
    "joint": {"pose", "parent", "child", "axis", "axis2"},
    "axis": {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"},
    "axis2": {"xyz", "use_parent_model_frame"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction", "spring_stiffness", "spring_reference"},
    "mimic": {"multiplier", "offset", "reference"},
}

# Those of both that may stand several times in one element; of others the first is read.
_MANY = {
    *("<robot><link>", "<robot><joint>", "<robot><gazebo>", "<robot><material>"),
    *("<link><collision>", "<link><visual>"),
    *("<sdf><model>", "<sdf><world>", "<world><model>"),
    *("<model><link>", "<model><joint>", "<model><frame>"),
}

# Elements of MJCF that MuJoCo's compiler settles and whose results are read, wherever they stand.
_MJCF_READ = {
    *("mujoco", "compiler", "option", "flag", "default", "asset", "include", "worldbody", "body"),
    *("frame", "replicate", "attach", "model", "inertial", "joint", "freejoint", "geom"),
    *("mesh", "hfield", "material", "contact", "pair", "exclude", "equality", "connect", "weld"),
    *("tendon", "fixed", "actuator", "general", "motor", "position", "velocity", "intvelocity"),
    *("damper", "cylinder", "keyframe", "key", "sensor"),
    *("touch", "accelerometer", "gyro", "velocimeter", "force", "torque", "rangefinder"),
    *("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel"),
    *("frameangvel", "jointpos", "jointvel", "ballquat", "ballangvel", "jointactuatorfrc"),
    *("actuatorpos", "actuatorvel", "actuatorfrc", "tendonpos", "tendonvel", "subtreecom"),
    *("subtreelinvel", "subtreeangmom", "distance"),
}
# Of a tendon through space all is read: sites, geoms and pulleys.
_MJCF_WHOLE = {"spatial"}
# Those of which `mjcf_parts` tells what becomes of each.
_MJCF_TOLD = {
    *("flexcomp", "flex", "skin", "plugin", "muscle", "adhesion", "dcmotor", "composite"),
    *("deformable", "magnetometer", "camprojection", "tendonactuatorfrc", "jointlimitpos"),
    *("jointlimitvel", "jointlimitfrc", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc"),
    *("framelinacc", "frameangacc", "insidesite", "normal", "fromto", "tactile", "clock"),
    *("e_potential", "e_kinetic", "user"),
}


# What changes the motion and is not read, with texts by which it changes nothing.
_MOVES: dict[str, tuple[str, ...]] = {
    "<gazebo><turnGravityOff>": ("false", "0"),
    "<gazebo><gravity>": ("true", "1"),
    "<gazebo><static>": ("false", "0"),
    "<gazebo><springStiffness>": ("0", "0.0"),
    "<world><include>": (),
    "<model><include>": (),
    "<model><model>": (),
}


def list_unread(root: Element, read: Mapping[str, set[str]], notes: Notes, warnings: Notes) -> None:
    """Count the elements that are not in a table of what is read, but for what is in such.

    What changes the motion goes to `warnings`, and so do those that stand behind a first one where
    one is read.
    """
    found: dict[str, tuple[int, int]] = {}
    moves = set[str]()
    stack = [root]
    while stack:
        element = stack.pop()
        seen, inside = set[str](), list[Element]()
        for child in element.children:
            if child.tag in read.get(element.tag, set()):
                inside.append(child)
                _tell_second(element, child, seen, warnings)
                continue
            place = f"<{element.tag}><{child.tag[:_SHOWN]}>"
            if place in _MOVES and child.text.strip() not in _MOVES[place]:
                moves.add(place)
            count, line = found.get(place, (0, child.line))
            found[place] = count + 1, min(line, child.line)
        stack += reversed(inside)
    for place, (count, line) in sorted(found.items()):
        of = warnings if place in moves else notes
        of.add(f"{place} is not read: {count}, first in line {line}")


def _tell_second(element: Element, child: Element, seen: set[str], warnings: Notes) -> None:
    """Warn of an element where one has been read in its place."""
    place = f"<{element.tag}><{child.tag}>"
    if child.tag in seen and place not in _MANY:
        warnings.add(f"of several {place} the first is read", f"line {child.line}")
    seen.add(child.tag)


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
            elif child.tag not in _MJCF_TOLD | _MJCF_WHOLE:
                yield f"<{element.tag}><{child.tag[:_SHOWN]}>"
