"""Columns of the table of statuses, and rows of the solver's vectors."""

from __future__ import annotations

# Table of statuses.
PARTS = 0  # sum of those that the contact has: idle rows of joints, and of n_f = 2, are left out
NORMAL = 1
TANGENT = 2
SIDE = 3  # corner, or side that begins there, of the polygon of friction
STATUS_COLUMNS = 4

# Parts of a contact.
HAS_NORMAL = 1
HAS_FIRST = 2
HAS_SECOND = 4

# Statuses of normals.
OPEN = 0
PRESSES = 1

# Statuses of tangents.
FREE = 0  # no friction can act
STICKS = 1
AT_CORNER = 2  # slides within 180 / n_f degrees of a corner's direction: friction is the corner
AT_SIDE = 3  # slides along the normal of a side: friction is on that side

# Which component of a contact an unknown is.
PRESSING = 0  # along the normal, with the friction that goes with it
ALONG_FIRST = 1
ALONG_SECOND = 2
ALONG_SIDE = 3

# Vectors over the rows.
VELOCITY = 0
CENTRE = 1  # of the proximal term
SQUARES = 2  # diagonal of W
CHANGE = 3  # of impulses, along a ray
ANSWER = 4  # W times it
RIGHT = 5
STEP = 6
BEST = 7
START = 8
VECTORS = 9
