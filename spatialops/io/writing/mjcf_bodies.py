"""Bodies of a MJCF file as MuJoCo reads them: several joints in one, with mass, not too deep."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.rotation import from_quaternion
from spatialops.errors import ModelError
from spatialops.io.description import Notes
from spatialops.io.safe_xml import MAX_DEPTH
from spatialops.io.writing.principal_moments import LEAST
from spatialops.io.writing.urdf_tree import words

_LONGEST = MAX_DEPTH - 4  # <mujoco>, <worldbody>, what is in a body, and what is in that
_SAME = 1e-12  # of a quaternion
_XYZW = [1, 2, 3, 0]


def settle_bodies(root: Element, notes: Notes) -> None:
    """Join bodies to what stands on them where reading takes them apart again; weigh the others.

    Raises
    ------
    ModelError
        For chains that are longer than elements may be nested.
    """
    for above, carrier in reversed(list(_pairs(root))):
        carried = carrier.find("body")
        if carried is not None and _is_made_by_reading(carrier, carried):
            _join(above, carrier, carried)
    _refuse_deep(root)
    for body in root.iter("body"):
        if body.find("joint") is not None and body.find("inertial") is None:
            body.insert(0, _least())
            notes.add(
                f"MuJoCo wants a mass of what moves: {LEAST:g} kg is given to", body.get("name", "")
            )


def _pairs(root: Element) -> Iterator[tuple[Element, Element]]:
    """Every body and the element that it stands in, from the world on."""
    for above in root.iter():
        for body in above.findall("body"):
            yield above, body


def _is_made_by_reading(carrier: Element, carried: Element) -> bool:
    """Whether a body is what `load_model` makes of another's joint that is not its last."""
    joint, last = carrier.find("joint"), carried.find("joint")
    if joint is None or last is None or len(carrier) != 2 or carrier.get("gravcomp"):
        return False
    if carrier.get("name") != f"{carried.get('name')}@{joint.get('name')}":
        return False
    kinds = (joint.get("type"), last.get("type"))
    if "free" in kinds or (kinds[0] == "slide" and _numbers(carried, "pos").any()):
        return False  # a slide has no place of its own
    return bool(np.abs(_numbers(carried, "quat")[1:]).max() < _SAME)


def _join(above: Element, carrier: Element, carried: Element) -> None:
    """Put a body in the place of what carries it, and the joint of that before its own."""
    arm = _numbers(carried, "pos")
    (joint,) = carrier.findall("joint")
    joint.set("pos", words(-arm))
    turn = from_quaternion(_numbers(carrier, "quat")[_XYZW])
    carried.set("pos", words(_numbers(carrier, "pos") + turn @ arm))
    carried.set("quat", carrier.get("quat", ""))
    carried.insert([part.tag for part in carried].index("joint"), joint)
    above[list(above).index(carrier)] = carried


def _numbers(element: Element, key: str) -> Array:
    return np.array([float(word) for word in element.get(key, "").split()])


def _least() -> Element:
    inertia = words(np.full(3, LEAST))
    return Element("inertial", {"pos": "0 0 0", "mass": repr(LEAST), "diaginertia": inertia})


def _refuse_deep(root: Element) -> None:
    level, within = 0, root.findall("worldbody/body")
    while within:
        if level == _LONGEST:
            raise ModelError(
                f"body {within[0].get('name')!r}: stands within {level} others; a MJCF file nests "
                f"them, and MuJoCo reads {_LONGEST} levels; a URDF has no such limit"
            )
        within = [body for above in within for body in above.findall("body")]
        level += 1
