"""Names for the columns of the tables that kernels work on.

Inside the kernels every link has exactly one degree of freedom, so link k moves velocity k. A joint
of several degrees of freedom is a chain of links without mass of their own: exact, because all that
dynamics needs of a joint is the space that its axes span at the present configuration. Links are
numbered so that a parent comes before its children.
"""

from __future__ import annotations

# Integer table of the tree, one row per link.
PARENT = 0  # link it hangs on, -1 for the world
MOTION = 1  # ROTARY, LINEAR or HELICAL
FRAME = 2  # how the link's pose follows from q: TURN, SLIDE, SCREW, ATTITUDE, POSE or SAME
AXIS = 3  # which column of the link's rotation is the axis of motion
FIRST_Q = 4  # first coordinate in q
GROUP = 5  # number of links of the joint, on its first link; 0 on the others
BODY = 6  # index of the body that the link is, -1 for a link that only carries an axis
SIZE_Q = 7  # number of coordinates of the model, on every row
TREE_COLUMNS = 8

ROTARY = 0
LINEAR = 1
HELICAL = 2
TURN = 0
SLIDE = 1
SCREW = 2
ATTITUDE = 3
POSE = 4
SAME = 5

# Float table of the links, one row per link: constants, in the link's own axes about its own
# origin.
PLACE_R = 0  # 9: rotation of the joint in the parent's frame
PLACE_P = 9  # 3: position of the joint in the parent's frame
MASS = 12
COM = 13  # 3
INERTIA = 16  # 6: xx xy xz yy yz zz about the link's origin
PITCH = 22  # metres per radian of a screw
ARMATURE = 23
DAMPING = 24
GRAVITY = 25  # 3: the model's gravity, on every row (one array less to hand over: 0.05 us a call)
LINK_COLUMNS = 28

# Float workspace, one row per link, in world axes about the link's origin.
ROTATION = 0  # 9
ORIGIN = 9  # 3: position in the world
LEVER = 12  # 3: from the parent's origin to this one
OMEGA = 15  # 3: angular velocity
VELOCITY = 18  # 3: velocity of the origin
ALPHA = 21  # 3: angular acceleration, first its velocity-dependent part
ACCEL = 24  # 3: acceleration of the origin, likewise
ART_J = 27  # 6: articulated (or composite) inertia [[J, B], [B^T, C]]
ART_B = 33  # 9
ART_C = 42  # 6
MOMENT = 48  # 3: bias moment
FORCE = 51  # 3: bias force
PULL_M, PULL_F = MOMENT, FORCE  # 6: D^-1 phi U, once the bias force has been handed on
GAIN_M = 54  # 3: U = P H*, its moment part
GAIN_F = 57  # 3: its force part
D_INVERSE = 60
RESIDUAL = 61  # D^-1 (tau - H z - U* c): acceleration of the joint if its parent had none
WORK_COLUMNS = 64

# Upsilon, 21 numbers a row: [[E, F], [F^T, G]].
UPS_E = 0
UPS_F = 6
UPS_G = 15
UPSILON_COLUMNS = 21

# Status of a kernel.
OK = 0
NOT_FINITE = 1
SINGULAR = 2
MISFIT = 3

# Closures: what cuts of a mechanism's loops leave behind; see tree/loop.py. Kinds:
CLOSE_BALL = 0
CLOSE_WELD = 1
CLOSE_REVOLUTE = 2
CLOSE_PRISMATIC = 3
CLOSE_DISTANCE = 4
CLOSE_COUPLER = 5

# Integer table of closures.
LOOP_KIND = 0
LOOP_A = 1  # link of side A, -1 for the world
LOOP_B = 2  # link of side B
LOOP_ROW = 3  # its first row
LOOP_TERM = 4  # its first term
LOOP_TERMS = 5  # number of its terms
LOOP_DRIVEN = 6  # 1: its frame on B moves at a prescribed rate
LOOP_INTS = 7

# Float table of closures, in link axes.
LOOP_POINT_A = 0  # 3: origin of its frame on A
LOOP_AXES_A = 3  # 9: rotation of its frame on A
LOOP_POINT_B = 12  # 3
LOOP_AXES_B = 15  # 9
LOOP_TARGET = 24  # length of a distance, value of a coupler's sum
LOOP_SPIN = 25  # 3: angular velocity of a driven frame against B, in its own axes
LOOP_FLOATS = 28

# Terms: a row of a closure is a sum of them. The row's velocity is the sum of
# angular.(omega_a - omega_b) + linear.(v_a(P) - v_b(P)).
TERM_ROW = 0
TERM_A = 1
TERM_B = 2
TERM_INTS = 3
TERM_POINT = 0  # 3: world point P
TERM_ANGULAR = 3  # 3: direction in world axes
TERM_LINEAR = 6  # 3
TERM_COLUMNS = 9
