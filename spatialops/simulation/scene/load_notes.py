"""What a robot's file holds that lets it move as nobody meant: told where it is loaded."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spatialops import _layout as layout
from spatialops.collision import Geom, HalfSpace, HeightField, Mesh
from spatialops.collision.geom_tables import bounding_radius
from spatialops.tree.model import Model

# A shape's radius over the radius of gyration of its body, and the other way round: 1 to 10 of real
# bodies, 1000 where one of the two is in millimetres.
_OTHER_UNITS = 300.0
_ROUNDING = 1e-9  # of the inertia about the origin: less about the centre of mass is none


def doubts(model: Model, geoms: Sequence[Geom], floor: bool) -> list[str]:
    """Notes on a robot's geoms; `floor`: there is one that it is to stand on."""
    if floor and not geoms:
        return [
            "no link has a shape that collides: nothing touches the floor, all falls through it"
        ]
    largest: dict[int, Geom] = {}
    for geom in geoms:
        body = model.frame(geom.body).body
        if body < 0 or isinstance(geom.shape, (HalfSpace, HeightField, Mesh)):
            continue
        if body not in largest or _size(geom) > _size(largest[body]):
            largest[body] = geom
    for body, geom in largest.items():
        gyration = _gyration(model, body)
        if gyration > 0.0 and not 1.0 / _OTHER_UNITS < _size(geom) / gyration < _OTHER_UNITS:
            return [
                f"shape {geom.name!r} reaches {_size(geom):.3g} m, and the mass of its body "
                f"{gyration:.3g} m: one of the two may be in millimetres"
            ]
    return []


def _size(geom: Geom) -> float:
    return bounding_radius(geom.shape)


def _gyration(model: Model, body: int) -> float:
    """Radius of gyration of a body about its centre of mass, m; 0 without mass or inertia."""
    row = model.links[model.body_links[body]]
    mass, center = float(row[layout.MASS]), row[layout.COM : layout.COM + 3]
    xx, _, _, yy, _, zz = row[layout.INERTIA : layout.INERTIA + 6].tolist()
    about = xx + yy + zz - 2.0 * mass * float(center @ center)
    if not (mass > 0.0 and about > _ROUNDING * (xx + yy + zz)):
        return 0.0
    return math.sqrt(about / (2.0 * mass))
