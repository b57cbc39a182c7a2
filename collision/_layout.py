"""Columns of the tables of geoms and contacts, and of what the narrow phase writes."""

from __future__ import annotations

# Integer table of geoms.
GEOM_SHAPE = 0
GEOM_LINK = 1  # -1: the world
GEOM_VERTICES = 2  # first of its vertices in the table of solids
GEOM_VERTEX_COUNT = 3
GEOM_FACES = 4  # first of its planes there
GEOM_FACE_COUNT = 5
GEOM_LOOPS = 6  # in the flat list: F + 1 places in that list where the vertices of each face stand
# Likewise V + 1 places where the faces about each vertex stand. Of a mesh: where its tree stands;
# of a height field: where its numbers of cells stand.
GEOM_FANS = 7
GEOM_BODY = 8  # moving body, -1: the world
GEOM_CLIMBS = 9  # in that list, of a polyhedron of many corners: see `farthest_corner`; 0: none
GEOM_KIND = 10  # geoms of one kind have the same coefficients
GEOM_KINDS = 11  # that times how many kinds there are
GEOM_INTS = 12

SPHERE = 0
HALF_SPACE = 1
CAPSULE = 2
BOX = 3
CYLINDER = 4
CONE = 5
ELLIPSOID = 6
HULL = 7
MESH = 8
HEIGHT_FIELD = 9

# Float table of geoms.
GEOM_OFFSET = 0  # 3: position in link axes
GEOM_RADIUS = 3  # of a sphere or capsule: what is added all about its point or segment
GEOM_NORMAL = 4  # 3: of a half-space
GEOM_FRICTION = 7
GEOM_RESTITUTION = 8
# 3: half edges, of a hull those of a box about it; radius, radius, half length; semi-axes; edges
# of a cell of a height field.
GEOM_SIZE = 9
GEOM_BOUND = 12  # radius of a ball about its position that holds it
GEOM_MARGIN = 13
GEOM_TURN = 14  # 9: rotation in link axes
GEOM_WIDTH = 23  # of the order of half its least width
GEOM_COLUMNS = 24

# Runs of pairs of geoms that may touch: one geom, the first of the later ones, and the number of
# the first pair. A last row has no geom, and how many pairs there are.
RUN_GEOM = 0
RUN_FIRST = 1
RUN_PAIR = 2
RUN_COLUMNS = 3

# Float table of classes of pairs, see `pair_coefficients`.
PAIR_FRICTION = 0
PAIR_RESTITUTION = 1
PAIR_COLUMNS = 2

# Pairs that are near, in the order of their numbers, and their geoms A and B; a last row has the
# count.
NEAR_PAIR = 0
NEAR_A = 1
NEAR_B = 2
NEAR_COLUMNS = 3

# Where geoms are, world axes.
PLACE = 0  # 3
TURN = 3  # 9
PLACE_COLUMNS = 12

# Where geoms stood when their contacts were made, in the columns of places, and the look (they are
# counted) at which they came there.
SINCE = PLACE_COLUMNS
STOOD_COLUMNS = PLACE_COLUMNS + 1

# Table of solids: rows of vertices, planes and boxes.
PLANE_OFFSET = 3
SOLID_COLUMNS = 6  # a vertex takes 3, a plane 4, a box 6: least and greatest corner

# Integer table of contacts.
CONTACT_PAIR = 0  # number of its pair; with the features the contact's name at every step
CONTACT_A = 1  # link of side A, which the normal points to; -1: the world
CONTACT_B = 2
CONTACT_FEATURE_A = 3  # vertex, edge or face of A that touches
CONTACT_FEATURE_B = 4
CONTACT_INTS = 5

# Feature of A of what is no contact of geoms: the stop of a joint along the normal, its dry
# friction along the tangent. Their A is the joint's link, their B its parent, and the rows are
# rates of the joint: see `simulation.stepping.constraints.joint_limits_and_friction`.
STOP, DRY = -2, -3

# Float table of contacts.
GAP = 0
POINT = 1  # 3: world position between the surfaces, of a patch on its common plane
NORMAL = 4  # 3: from B to A
TANGENT = 7  # 3: first tangent
SECOND = 10  # 3: second tangent
MU = 13
RESTITUTION = 14
APPROACH = 15  # relative velocity of A against B along normal and tangents: 3
IMPULSE = 18  # 3: along normal and tangents
DRIFT = 21  # 3: what motion alone adds to the relative velocity until the end of a step, world
OPEN = 24  # speed at which it may close yet, m/s
ROLLS = 25  # 1: its pair does, as motion alone changes slips; 0: it slides, or sticks
SLIP = 26  # 3: relative velocity across the normal that a step begins with, world
MIDWAY = 29  # 1: tangents lie along the slip in the middle of the step; 0: along that of its end
CONTACT_COLUMNS = 30

# What is kept of contacts of an earlier look.
KNOWN_GAP = 0
KNOWN_SPEED = 1  # along the normal
KNOWN_VELOCITY = 2  # 3: of A against B, world axes
KNOWN_POINT = 5  # 3
KNOWN_NORMAL = 8  # 3
KNOWN_COLUMNS = 11

# What the narrow phase leaves behind: rows of points, and of ints their features.
AT_POINT = 0  # 3: world, midway until the patch has its common plane
AT_NORMAL = 3  # 3
AT_GAP = 6
AT_MERIT = 7  # while points are chosen
AT_COLUMNS = 10

INFINITE = 1e300  # m; larger than any distance, but finite: a difference of two is no NaN
COINCIDE = 1e-12  # m; points that are nearer have no direction between them

MAX_POINTS = 4  # of one pair of convex shapes
MANY_POINTS = 12  # of a pair with a mesh or a height field

# Features: three kinds in one number.
VERTEX = 0
EDGE = 1
FACE = 2
EDGE_BASE = 1 << 20
