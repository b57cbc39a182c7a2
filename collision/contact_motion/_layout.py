"""Columns of the table of contacts that move: what they are, hang on, and how they move."""

from __future__ import annotations

# What the narrow phase has found.
GAP = 0
POINT = 1  # 3
NORMAL = 4  # 3

# The features nearest to each other, of A and then of B.
FEATURE_A = 7
FEATURE_B = 23
KIND = 0  # POINTED, EDGED or FLAT
CORE = 1  # 3: a point of it on the surface, world axes
EDGE = 4  # 3: direction
BEND = 7  # 9: how that point moves on the surface as the normal leans, m/rad

POINTED = 0.0
EDGED = 1.0
FLAT = 2.0

# How the normal follows: an axis across it, and what it does along that and across both.
AXIS = 39  # 3
ALONG = 42
ACROSS = 43
STAYS = 0.0  # with B
FOLLOWS = 1.0  # A
FREE = 2.0
CROSSED = 3.0  # it is across an edge of either
NEAREST = 44  # 3: where A is nearest to B
NEAR_GAP = 47

# What the contact's point hangs on.
SITE = 48
SUBJECT = 49  # 0: the point is of A and its height over B, 1: the other way round
PLACE = 50  # 3: the point on the subject's surface
LINE = 53  # 3: the edge that it moves along
FACE = 56  # 3: normal of the subject's face
FIRST_POINT = 59  # 3: a point of a side of the other's outline
FIRST_SIDE = 62  # 3: direction of that
SECOND_POINT = 65  # 3
SECOND_SIDE = 68  # 3
OTHER_FACE = 71  # 3: normal of the face that heights are over
HEIGHT = 74
DEEPEST = 75  # 1: its gap is that of the nearest points

OWN = 0.0  # the point of A that lies farthest against the normal
MIDDLE = 1.0  # between the nearest points
CORNER = 2.0  # of the subject
CROSSING = (
    3.0  # of an edge of the subject with a side of the other's outline, seen along the normal
)
UNDER = 4.0  # a corner of the other, put on the subject's face
END_OF_A = 5.0  # of a segment beside another
END_OF_B = 6.0

# Both sides of the contact, world axes.
ON_A = 76  # 3
ON_B = 79  # 3

# How it moves with each of A's six: turning about the world's axes through its place, then moving.
MOVES = 82
TURNS = 0  # 3: of the normal
MOVES_A = 3  # 3: of the side of A
MOVES_B = 6  # 3
MOVES_POINT = 9  # 3
WIDENS = 12  # of the gap
MOVE_COLUMNS = 13
COLUMNS = MOVES + 6 * MOVE_COLUMNS

# What a contact's motion ends with.
KNOWN = 0
KINK = 1  # edges or faces lie on each other, and how they lean is one-sided
UNKNOWN = 2
