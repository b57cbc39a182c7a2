"""How large a scene is, for tolerances that are lengths and speeds.

Defaults are meant for things of a millimetre and more. Where something smaller moves on its own,
lengths shrink with it, and speeds with the root of its length, as falling through it does. Scenes
of human size keep their defaults to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.collision.geom_tables import bounding_radius
from spatialops.collision.shapes import FIXED
from spatialops.simulation.scene.scene import Scene

_USUAL = 1e-3  # m: half the size from which on defaults are as they are

TOUCH = 1e-8  # m: gap below which a contact touches
DEPTH = 1e-5  # m: penetration above which positions are projected
MARGIN = 1e-4  # m: gap below which a contact takes part in a step's problem
DEPTH_LIMIT = 1e-3  # m: penetration above which the certificate fails
INELASTIC_CUTS = 2.0  # arrivals of pairs without restitution that a step is cut at, before all meet
IMPACT_THRESHOLD = 0.01  # m/s: approach speed above which a contact is an impact


class Scales(NamedTuple):
    """Factors, at most 1, of default lengths and speeds."""

    length: float
    speed: float


def scales_of(scene: Scene) -> Scales:
    """The scales of a scene: those of the smallest thing in it that moves on its own.

    A thing is what hangs together by joints. It is as large as the farthest point of a geom from
    the origin of the geom's body, or the longest lever between two joints.
    """
    sizes = _sizes(scene)
    smallest = float(sizes[sizes > 0.0].min(initial=_USUAL))
    length = min(1.0, smallest / _USUAL)
    return Scales(length, float(np.sqrt(length)))


def _sizes(scene: Scene) -> Array:
    """Size (m) of what hangs on every body that stands on the world, 0 for others."""
    model = scene.model
    roots = list(range(model.n_bodies))
    sizes = np.zeros(model.n_bodies)
    for k, parent in enumerate(model.body_parents):
        if parent < 0:
            continue
        roots[k] = roots[parent]
        link = model.body_links[k]
        lever = np.linalg.norm(model.links[link, layout.PLACE_P : layout.PLACE_P + 3])
        sizes[roots[k]] = max(sizes[roots[k]], lever)
    touching = np.zeros(model.n_bodies, dtype=bool)
    for geom, body in zip(scene.geoms, scene.bodies, strict=True):
        if body < 0 or isinstance(geom.shape, FIXED):
            continue
        frame = model.frame(geom.body)
        root = roots[body]
        middle = frame.position + frame.rotation @ np.asarray(geom.position)
        reach = float(np.linalg.norm(middle)) + bounding_radius(geom.shape)
        sizes[root] = max(sizes[root], reach)
        touching[root] = True
    return np.where(touching, sizes, 0.0)
