"""Names for the tables that the derivative of a step works on."""

from __future__ import annotations

# Integer table of the acting contacts.
ROW = 0  # of the loop's table of contacts
LINK = 1  # with the point c; -1: the world
STATUS = 2
FIRST_LINE = 3  # its first line among those that hold
LINES = 4  # how many it has
NOTES = 5  # what is about to change
BEFORE = 6  # its row among the contacts where the step began, -1: it was not there
SLIP = 7  # 1: its tangents follow a slip
PAIR = 8
OTHER = 9  # link of what it touches; -1: the world
KIND = 10
PRESSES = 11  # 1: its normal holds
OWNER = 12  # of a moment: its contact's point; -1: it is none
LAW = 13  # its own, or that of its moments
POINT_INTS = 14

# Laws that the loop does not know; others are numbered in `contact/newton/_layout.py`.
CONVEX = 100
DISSIPATION = 101
COMPLIANT = 102

# Of pairs with laws of their own.
OWN_LAW = 0
OWN_DRAG = 1  # 1: its drag is its coefficient of friction
OWN_INTS = 2

# What ground is that gives way.
STIFFNESS = 0
DAMPING = 1
BY_DEPTH = 2  # change of the damping with depth
CREEP = 3  # viscosity of friction
GROUND = 4

# Kinds of contacts: normals stay, or turn with the other link, or follow the line of two points.
STILL = 0
FLAT = 1
ROUND = 2
SHAPED = 3  # normal and point follow the features of two shapes: `collision/contact_motion`
JOINT = 4  # none: the rate of a joint, at a stop or with dry friction

OPEN = 0
STICKING = 1
SLIDING = 2
DRAGGED = 3  # by a film, whether it presses or not
STOPPED = 4  # a joint, by a stop that presses

# Notes, added together.
AT_LIMIT = 1
HARDLY_PRESSES = 2
NO_SPEED = 4
NO_PARTING = 8
NO_GAP = 16
AT_REST = 32
OPENS = 64  # of what has no gap
TOGETHER = 128  # arrives with others
BARELY_MET = 256  # an impact, at the threshold of impacts
BARELY_NOT_MET = 512
AT_FILM = 1024  # as far off as its film is thick
AT_KINK = 2048  # faces or edges lie on each other, and the normal may follow either
AT_ONCE = 4096  # touches as the step begins, and meets

# Float table of the acting contacts.
OFFSET = 0  # 3: c in the link's axes
NORMAL = 3  # 3: N, towards the link
REACH = 6  # r + g / 2
SIDE = 7  # 1 where the link is A, -1 where it is B
RADIUS = 8
ALONG = 8  # of a joint: sign of the rate at which a stop opens, 0 of dry friction
IMPULSE = 9  # 3: on the link, world axes, N s
SHARE = 12  # 2: friction along the tangents of what slides, for each unit of the normal impulse
EDGE = 14  # 2: along the edge of the polygon that friction may move on, where it has one
GAIN = 16  # of the edge's line for each unit of the turning velocity
OTHER_OFFSET = 17  # 3: of what is touched, in its link's axes: normal if FLAT, centre if ROUND
RESISTANCE = 20  # of a drag: velocity over impulse
YIELDS = 21  # of ground that gives way: the same along the normal
LEANS = 22  # as GAIN, of the line along the normal where that leans as friction does
PRESSED = 23  # normal impulse by which friction, or a moment, is limited
POINT_COLUMNS = 24

# Contacts are looked at in these states.
EARLY = 0  # where the step begins
LATE = 1  # where it is evaluated, with the velocity of the beginning
FREE = 2  # with the velocity that contacts would leave
END = 3  # with that at the end
LOOKS = 4

# Rows of what is found of a contact, each a number for every velocity.
VELOCITY_BY_V = 0  # 3
VELOCITY_BY_Q = 3  # 3: the point moving as contacts do
TURN_BY_Q = 6  # 3: of the link
ARM_BY_Q = 9  # 3: of P from the link's origin
GAP_BY_Q = 12
# Of contacts of which both sides move.
NORMAL_BY_Q = 13  # 3
OTHER_TURN = 16  # 3
OTHER_ARM_BY_Q = 19  # 3
FOUND_ROWS = 22

# Columns of the table of arms.
VELOCITY = 0  # 3: of the link's material at P
ARM = 3  # 3: from the link's origin to P
NORMAL_THERE = 6  # 3
OTHER_ARM = 9  # 3: from the other link's origin to P
ARM_COLUMNS = 12

# Of contacts of other shapes: how they move, in the columns of `contact_motion`, and behind them
PLACED = 78  # 3: where A is
MOVING_POINT = 81  # 3
MOVING_NORMAL = 84  # 3
MOTION_COLUMNS = 87

# Vectors of the size of velocities.
V_FREE = 0
V_END = 1
V_MIDDLE = 2  # with which Coriolis forces are evaluated
SMOOTH = 3  # accelerations of the smooth part
WHOLE = 4  # of contacts too
BELOW = 5  # scratch
ANSWER = 6  # scratch
LEAD_Q = 7  # of q_e by the time s
LEAD_V = 8  # of v_e
FIT_BY_TIME = 9
PULL_BY_TIME = 10
# What becomes of changes at the start where a joint has one velocity; elsewhere they stay.
START_BY_Q = 11
START_BY_V = 12
START_CARRIED = 13
BACK = 14  # 3: weights of what a step began with
ARMS = 17  # of one path
VECTORS = 18

# Square matrices.
BY_Q = 0  # of inverse dynamics, with what contacts do
BY_V = 1
MASS = 2
SMOOTH_BY_Q = 3  # without
FIT = 4  # of armature by coordinates
PULL_BY_Q = 5  # of springs, actuators and damping
PULL_BY_V = 6
INVERSE_BY_Q = 7  # row k: of 1 / D(k), articulated
SYSTEM = 8  # K
PATH_ARMS = 9  # row i: of the arm of joint i, of one path
STIFFER = 10  # of the armature that springs along paths are
SQUARES = 11

# What slips turn by: rows (m, nv).
SLIP_BY_V = 0
SLIP_ANSWER = 1  # M^-1 of it
SLIP_BY_CHANGE = 2
SLIPS = 3

# Moves along the manifold.
START = 0
LAST = 1

# Exchanges of rows and columns of the two factored matrices.
SYSTEM_ORDER = 0
CONTACT_ORDER = 2
ORDERS = 4

# Tables of lone bodies, a row and a column a velocity. By forces, where the step is evaluated:
Q_THERE = 0
V_THERE = 1
# At the end by the spin at the start, beyond what the velocity there does, and by forces:
Q_BY_SPIN = 2
V_BY_SPIN = 3
Q_BY_FORCE = 4
V_BY_FORCE = 5
# The change of the spin without contacts, in its second row by the time, and what it changes by.
LEAD = 6
LEAD_BY_SPIN = 7
LEAD_BY_FORCE = 8
# By the centre of mass, in columns 0 to 2: where the step is evaluated.
Q_BY_CENTER = 9
V_BY_CENTER = 10
LONE_TABLES = 11

# Integer results.
COUNT = 0  # contacts
HELD = 1  # lines
SYSTEM_RANK = 2  # BACKWARD: it was factored from the last unknown on, without exchanges
CONTACT_RANK = 3
FAULTY = 4  # row of the contact that is not known
LONE = 5  # bodies that nothing hangs on, with an equation of their own
RESULTS = 6

BACKWARD = -1

# What the derivative of a step ends with.
KNOWN = 0
NOT_KNOWN = 2  # how a contact moves is not known
SEVERAL = 3  # pieces, by impacts
PUSHED_OUT = 4  # a penetration was corrected
UNTOUCHED = 6  # a floating tree that was given its momentum
ACTIVE = 7  # activations in a step that an impact cuts
OTHER_IMPACTS = 8  # not all at once, or not all by one kind of coefficient
SPUN = 11  # an impact with torsional or rolling friction
