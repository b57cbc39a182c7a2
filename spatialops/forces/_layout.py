"""Columns of the tables of springs and actuators."""

from __future__ import annotations

# Integer table of elements.
FIRST = 0  # its first row in the table of joints
COUNT = 1  # how many rows
CONTROL = 2  # entry of the controls, -1 for a spring
DYNAMICS = 3  # NONE, INTEGRATOR or FILTER
STATE = 4  # entry of the activations, -1: none
POINT = 5  # of a path: its first point in the table of joints
POINTS = 6  # how many points: 0 where it is no path
ELEMENT_INTS = 7

NONE = 0
INTEGRATOR = 1
FILTER = 2

# Float table of elements.
GAIN = 0  # 3: g0, g1, g2
BIAS = 3  # 3: b0, b1, b2
CONTROL_LOW = 6
CONTROL_HIGH = 7
FORCE_LOW = 8
FORCE_HIGH = 9
TIME_CONSTANT = 10  # s, of a filter
STATE_LOW = 11
STATE_HIGH = 12
ELEMENT_FLOATS = 13

# Integer table of the joints of elements: of paths, links that move their points, and, behind those
# of all elements, the points.
LINK = 0  # -1: the world
COORDINATE = 1  # of a point: where its numbers stand among the arms
KIND = 2  # of a point: NODE, or the geom that the line goes around from the node before
JOINT_INTS = 3
NODE = 0
SPHERE = 1
CYLINDER = 2
# Numbers of a point: its place in link axes, and the weight of the line that follows. Those of a
# geom: its middle and its radius; its axis; a node on the side that the line goes on, if there is.
POINT_FLOATS = 4
AXIS = 4  # 3
HAS_SIDE = 7
SIDE_LINK = 8
SIDE = 9  # 3
GEOM_FLOATS = 12
