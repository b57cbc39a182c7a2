"""Laws, columns of the tables of statuses and of friction, and rows of the solver's vectors."""

from __future__ import annotations

# Laws of friction.
POLYGON = 0  # Coulomb's, with a polygon for the circle
CONE = 1  # Coulomb's
NO_SLIP = 2  # none of what has friction; `no_slip` lets go what leaves
VISCOUS = 3  # a drag, p_t = -K v_t
FRICTIONLESS = 4

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
UNKNOWN = -1
FREE = 0  # no friction can act
STICKS = 1
AT_CORNER = 2  # slides within 180 / n_f degrees of a corner's direction: friction is the corner
AT_SIDE = 3  # slides along the normal of a side: friction is on that side, or near it on the circle

# Of all contacts of an island that has no answer, where statuses are kept for the next problem.
UNSOLVED = -2

# What looking at statuses again finds.
REPEATED = 0
TURNED = 1  # directions of sliding, on the circle
CHANGED = 2

# Table of friction: direction e of friction at its limit, its size there for a limit of 1, what
# resists the motion of tangents, velocity over impulse, and the share of the proximal term.
ALONG_X = 0
ALONG_Y = 1
SIZE = 2
RESISTANCE = 3
WEIGHT = 4
FRICTION_COLUMNS = 5

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
KEPT = 9  # the best answer of other attempts
BEFORE = 10  # a step
SHARE = 11  # of unknowns: what their rows are taken times
KEPT_WEDGED = 12  # the answer before a wedged contact is let go
KEPT_STATES = 13  # and coefficients of friction, or what stands for them
AHEAD = 14  # velocities on the way to those of the problem, which statuses hold for
SHIFT = 15  # and what they miss at the start
KEPT_PATH = 16  # the best answer before paths are followed
MOVED = 17  # p, by the last step that refines
LED = 18  # and what the factors alone would have done
LEADS = 19  # differences of these from step to step, orthonormal
MOST_LEADS = 7
MOVES = LEADS + MOST_LEADS  # of p between them
VECTORS = MOVES + MOST_LEADS

# What the factors at hand are of.
TERM = 0  # proximal
UNKNOWNS = 1  # how many; 0: none that are of statuses
STATUSES = 2  # number of those that are looked for again, see `go_round`
SUMMED = 3  # whether there is a sum for columns, of rows as they are
FACTORED = 4

# What a contact has in that sum.
OF_NORMAL = 0  # share of its normal, and in gamma with it
LIMIT_X = 1  # of friction at its limit along both tangents
LIMIT_Y = 2
OF_FIRST = 3  # shares of tangents that stick
OF_SECOND = 4
SIDE_X = 5  # and of both, along a side
SIDE_Y = 6
TERMS = 7

# Tables of pairs, of the interior-point method.
VALUE = 0
SLACK = 1
VALUE_STEP = 2
SLACK_STEP = 3
TARGET = 4  # for the product of both, less what it is
MISS = 5  # of the equation of the second
YIELD = 6  # how far the first goes for a change of their product, while the second stays
PAIR_TABLES = 7

# Rows of the table of lanes, contacts side by side. What eliminating the pairs of a contact leaves
# for its right side, see `pair_steps`:
SUM = 0  # its inverse
Q_X = 1
Q_Y = 2
# what its limit of friction is made of, in units:
MU = 3  # times what presses
FIXED_LIMIT = 4  # beside it
PRESSING_LANES = 5  # what the normal that presses it does
# a vector over the rows:
LANES_NORMAL = 6
LANES_FIRST = 7
LANES_SECOND = 8
# and D: the columns of its normal, xx, xy and yy of its tangents.
D_NORMAL = 9
D_TANGENTS = 12
# How far limits follow, along a step, what presses: MU, or less where the path bends back.
FOLLOWED = 15
SHARES = 16  # WEIGHT: impulses are in units of so much less
# How far a contact opens as it slides, MU or nothing, and D of its normal by both tangents.
OPENING = 17
D_BY_TANGENTS = 18
LANE_ROWS = 20

# Of what friction does along the normal: less that draws a contact together is rounding.
WEDGED = 1e-6
STEEP = 1.0  # friction above which contacts of the cone are looked at for wedges
