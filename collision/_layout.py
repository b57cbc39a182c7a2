"""Names for the columns of the tables of geoms and contacts."""

from __future__ import annotations

# Integer table of geoms.
GEOM_SHAPE = 0  # SPHERE or HALF_SPACE
GEOM_LINK = 1  # -1: the world
SPHERE, HALF_SPACE = 0, 1

# Float table of geoms.
GEOM_OFFSET = 0  # 3: position in link axes
GEOM_RADIUS = 3
GEOM_NORMAL = 4  # 3: of a half-space
GEOM_FRICTION = 7
GEOM_RESTITUTION = 8
GEOM_COLUMNS = 9

# Integer table of contacts.
CONTACT_PAIR = 0  # row of the pair table: the contact's identity from step to step
CONTACT_A = 1  # link of side A, which the normal points to; -1: the world
CONTACT_B = 2
CONTACT_INTS = 3

# Float table of contacts.
GAP = 0
POINT = 1  # 3: world position, midway between the surfaces
NORMAL = 4  # 3: from B to A
TANGENT = 7  # 3: first tangent
SECOND = 10  # 3: second tangent
MU = 13
RESTITUTION = 14
APPROACH = 15  # relative velocity of A against B along normal and tangents: 3
IMPULSE = 18  # 3: along normal and tangents
CONTACT_COLUMNS = 21
