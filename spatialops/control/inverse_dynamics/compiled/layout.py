"""Columns of the small tables that go into a compiled command and come out of it."""

from __future__ import annotations

# Numbers that go in.
TIME = 0  # s
TIMES = 1  # length of the horizon, in steps
HORIZON = 2  # s
STEP = 3  # s
MEMORY = 4  # share of the last impulses that the choice looks for
KEPT = 5  # share of friction that the choice counts on
NUMBERS = 6

# Options.
CHOICE = 0  # SOLVER, NEAREST or LEAST_TORQUE
KIND = 1  # what binds a contact when forces are chosen, see `room`
COUNTS_GAIN = 2  # 1: Coriolis forces count on the gain, rounds are made until it is found
STANDING = 3  # 1: demands give way to links that stand
ALIGNED = 4  # times that contact frames are found again under the command
LAW = 5  # see `contact.newton._layout`, or one of these:
KNOWN = 6  # contacts of the command before
OPTIONS = 7

DISSIPATION = 16
RELEASED = 17

SOLVER = 0
NEAREST = 1
LEAST_TORQUE = 2

# Rows of vectors (nv,) that go in,
Q_DOT = 0  # velocity
BASE = 1  # joint forces that are given
DEMAND = 2  # accelerations, of as many as are given
GAIN = 3  # change of velocity in a step that Coriolis forces count on; its last value comes out
# and come out:
BEFORE = 4  # velocity as the step begins
AFTER = 5  # and at the horizon
TAU = 6  # joint forces
FREE = 7  # velocity at the horizon without joint forces and contacts
WORK = 8  # that of the round before, while it runs
PUSH = 9  # joint forces under which frames are found again
MOVED = 10  # what other impulses change
VECTORS = 11

# Numbers that come out.
RESIDUAL = 0
MISS = 1  # rad/s^2 or m/s^2, of joints, where directions of friction do not settle
REPORT = 2

# Counts that come out.
CONTACTS = 0
LANDING = 1
ITERATIONS = 2
ROUNDS = 3
MET = 4  # contacts that the step meets
OTHERS = 5  # 1: other contacts come under the command
GIVES_WAY = 6  # 1: contacts cannot follow the demand, the nearest is met
LET_GO = 7  # 1: contacts that held without pressing were let go
COUNTS = 8
