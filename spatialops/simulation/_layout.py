"""Names for the entries of the tables that the stepping loop works on."""

from __future__ import annotations

# Stages of a step; the loop is a state machine so that any solver can take over between two of them.
BEGIN, IMPACT, COMPRESSED, DECOMPRESSED, SMOOTH, CONTACT, MOVE, END = 0, 1, 2, 3, 4, 5, 6, 7

# What the loop returns with.
DONE, SOLVE, RECORD_FULL, CONTACTS_FULL, UNSOLVED, BROKEN = 0, 1, 2, 3, 4, 5

# Integer controls.
STAGE = 0
STEPS_LEFT = 1
STEP = 2  # index of the step
SEEN = 3  # contacts found at the present state
ACTING = 4  # contacts of the problem being solved
PIECES = 5  # pieces that impacts have cut the step into
EXTERNAL = 6  # 1: return SOLVE for every contact problem instead of solving it here; 2: for those of impacts
SCHEME = 7  # integrator
EVERY = 8  # record every so many steps
ROWS = 9  # rows of the record written
CONTACT_ROWS = 10
EVENT_ROWS = 11
RETRIES = 12  # decompressions tried with less restitution
SOLVES = 13  # contact problems solved
PIVOTS = 14  # pivots of them
WARM = 15  # solved by the basis of the step before
IMPACTS = 16  # impacts resolved in this step
LOOKED = 17  # 1: contacts at the present state are known
PROJECTIONS = 18
CODE = 19  # status of the last solve
RANK = 20  # of the closures' rows as factored last
INDEPENDENT = 21  # the same at the last closed configuration: more rows than these only look independent
DAMPED = 22  # 1: joints' damping is taken implicitly
SPINS = 23  # the last so many of the acting contacts are moments of others: see `simulation.moments`
CONTROLS = 24

SEMI_IMPLICIT, MOREAU, RK4 = 0, 1, 2

# Float settings.
DT = 0
THRESHOLD = 1  # approach speed above which a contact is an impact, m/s
TOUCH = 2  # gap below which a contact touches, m
MARGIN = 3  # gap below which a contact takes part in a step's problem, m
SKIN = 4  # margin of the list of near pairs, m
TOLERANCE = 5  # residual that a contact problem must reach
DEPTH = 6  # penetration above which positions are projected, m
WIDTH = 7  # least half width of shapes that could pass through others, m
SETTINGS = 8

# Float monitors.
TIME = 0
REMAINING = 1  # of the step, s
PIECE = 2  # length of the present piece, s
SCALE = 3  # what turns the LCP's z into impulses
FRACTION = 4  # of the restitution that is given back
RESIDUAL = 5  # worst since the last recorded row
LOWEST_GAP = 6  # likewise
GAIN = 7  # largest gain of kinetic energy in an impact since the last row, relative
OPENING = 8  # largest error of a closure since the last row, m or rad
MONITORS = 9

# Rows of the table of vectors.
Q_E, V_E, DV, DVC, Q_X, V_X, ACC, TAU, K_Q, K_V, S_Q, S_V, CLOSE_Q, CLOSE_DV = range(14)
VECTORS = 14

# Rows of the table of vectors over the closures' rows: errors, rates and parts along the basis of the present
# elimination; forces of the step and of anything else; lengths of the rows of L and what is left of them while they are
# factored; prescribed rates at the step's ends.
ERRORS, RATES, PARTS, FORCES, OTHER_FORCES, LENGTHS, LEFT, RATE_START, RATE_END = range(9)
CLOSURE_VECTORS = 9

# Columns of the record's tables (after these, the row of a contact holds position, normal, impulse).
ROW_TIME, ROW_KINETIC, ROW_POTENTIAL, ROW_CONTACTS, ROW_IMPACTS, ROW_RESIDUAL, ROW_GAP, ROW_PIVOTS, ROW_OPENING = range(
    9
)
ROW_COLUMNS = 9
HIT_TIME, HIT_PAIR, HIT_KIND, HIT_GAP, HIT_POINT, HIT_NORMAL, HIT_IMPULSE = 0, 1, 2, 3, 4, 7, 10
HIT_COLUMNS = 13
EVENT_TIME, EVENT_CONTACTS, EVENT_SPEED, EVENT_BEFORE, EVENT_AFTER, EVENT_FRACTION = range(6)
EVENT_COLUMNS = 6

# Integer and float tables of what acts on single joints: two stops and dry friction for every velocity that has them.
JOINT_LINK, JOINT_KIND, JOINT_Q = 0, 1, 2
JOINT_INTS = 3
JOINT_SIDE = 0  # of a stop: +1 at the lower limit, -1 at the upper one
JOINT_LIMIT = 1  # of a stop: position; of dry friction: force
JOINT_RESTITUTION = 2
JOINT_FLOATS = 3

# Rows of what joints' stops and dry friction did since the last row of the record: impulses, and work, J.
STOP_SUM, DRY_SUM, WORK_SUM = 0, 1, 2
JOINT_SUMS = 3

MAX_PIECES = 60  # impacts cut a step into at most so many pieces; the later half of them is taken without restitution
