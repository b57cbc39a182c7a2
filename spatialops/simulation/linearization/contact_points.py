"""Contacts of a step that was made, and how their points move with the mechanism.

Known in closed form are contacts of what is round or pointed with a half-space of the world: the
centre of a sphere, an end of a capsule and a vertex are points c fixed to a link, the normal N
(towards the link) is constant, and with the radius r the contact's point is

    P = c - N (r + g / 2),    dP = (1 - N N* / 2) dc,    dg = N . dc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

_POINTED = (col.BOX, col.HULL)
_ROUND = (col.SPHERE, col.CAPSULE)
_KINDS = 3  # of features in one number


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """The acting contacts of a step, all between a link and a half-space of the world.

    Attributes
    ----------
    rows : (m,) int array
        Rows of the loop's table of contacts.
    links : (m,) int array
        What moves.
    sides : (m,) array
        1 where the link is A, -1 where it is B.
    normals : (m, 3) array
        Towards the link.
    radii, gaps : (m,) arrays
        m.
    impulses : (m, 3) array
        On the link, world axes, N s.
    """

    rows: IntArray
    links: IntArray
    sides: Array
    normals: Array
    radii: Array
    gaps: Array
    impulses: Array

    def __len__(self) -> int:
        return len(self.rows)

    def cores(self, points: Array) -> Array:
        """The points c fixed to links, where the contacts' points are."""
        return points + self.normals * (self.radii + 0.5 * self.gaps)[:, None]


def contact_points(t: Tables, names: tuple[str, ...]) -> ContactPoints:
    """The acting contacts; `names` say who they are.

    Raises
    ------
    ContactError
        For contacts that no closed form is known of here.
    """
    m = int(t.control[at.ACTING])
    ints, floats = t.ints[:m], t.floats[:m]
    rows = np.array([i for i in range(m) if acts(ints[i], floats[i])], dtype=np.int64)
    links = np.empty(len(rows), np.int64)
    sides = np.empty(len(rows))
    radii = np.empty(len(rows))
    for n, i in enumerate(rows):
        links[n], sides[n], radii[n] = link_of(t, ints[i], names[i])
    frames = floats[rows, col.NORMAL : col.NORMAL + 9].reshape(-1, 3, 3)
    along = floats[rows, col.IMPULSE : col.IMPULSE + 3]
    return ContactPoints(
        rows,
        links,
        sides,
        sides[:, None] * frames[:, 0],
        radii,
        floats[rows, col.GAP].copy(),
        sides[:, None] * np.einsum("mij,mi->mj", frames, along),
    )


def acts(ints: IntArray, floats: Array) -> bool:
    """Whether a contact is one of geoms, or a joint's that presses."""
    return bool(ints[col.CONTACT_FEATURE_A] >= 0 or floats[col.IMPULSE : col.IMPULSE + 3].any())


def link_of(t: Tables, ints: IntArray, name: str) -> tuple[int, float, float]:
    """The link of a contact, its side, and the radius about its point."""
    if ints[col.CONTACT_FEATURE_A] < 0:
        raise ContactError(f"linearize: {name}: stops and dry friction of joints are not known yet")
    a, b = int(ints[col.CONTACT_A]), int(ints[col.CONTACT_B])
    on_a = a >= 0
    geoms = [int(g) for g in t.pairs[ints[col.CONTACT_PAIR], :2]]
    moving, fixed = (geoms[0], geoms[1]) if on_a else (geoms[1], geoms[0])
    shape = int(t.geom_ints[moving, col.GEOM_SHAPE])
    feature = int(ints[col.CONTACT_FEATURE_A if on_a else col.CONTACT_FEATURE_B])
    pointed = shape in _POINTED and feature % _KINDS == col.VERTEX
    flat = t.geom_ints[fixed, col.GEOM_SHAPE] == col.HALF_SPACE
    if (a >= 0 and b >= 0) or not flat or not (shape in _ROUND or pointed):
        raise ContactError(
            f"linearize: {name}: known are contacts of spheres, capsules and vertices with "
            "half-spaces of the world"
        )
    radius = float(t.geoms[moving, col.GEOM_RADIUS]) if shape in _ROUND else 0.0
    return (a, 1.0, radius) if on_a else (b, -1.0, radius)
