"""Names for the entries of the tables that the stepping loop works on."""

from __future__ import annotations

# Stages of a step; the loop is a state machine so that any solver can take over between two of
# them.
BEGIN = 0
IMPACT = 1
COMPRESSED = 2
DECOMPRESSED = 3
SMOOTH = 4
CONTACT = 5
MOVE = 6
END = 7

# What the loop returns with.
DONE = 0
SOLVE = 1
RECORD_FULL = 2
CONTACTS_FULL = 3
UNSOLVED = 4
BROKEN = 5
FACTORS_FULL = 6
FAULT = 7  # done, and beyond a limit: of steps that are watched
READ = 8  # a step is done, or about to be the first: of batches whose sensors are read

# Limits that steps are watched for: residual, m, m or rad, gain of kinetic energy, rad/s.
MOST_RESIDUAL = 0
MOST_DEPTH = 1
MOST_OPENING = 2
MOST_GAIN = 3
MOST_SPIN = 4
LIMITS = 5

# Integer controls.
STAGE = 0
STEPS_LEFT = 1
STEP = 2  # index of the step
SEEN = 3  # contacts found at the present state
ACTING = 4  # contacts of the problem being solved
PIECES = 5  # pieces that impacts have cut the step into
# 1: return SOLVE for every contact problem instead of solving it here; 2: for those of impacts
EXTERNAL = 6
SCHEME = 7  # integrator
EVERY = 8  # record every so many steps
ROWS = 9  # rows of the record written
CONTACT_ROWS = 10
EVENT_ROWS = 11
RETRIES = 12  # decompressions tried with less restitution
SOLVES = 13  # contact problems solved
PIVOTS = 14  # Newton steps or pivots of them
WARM = 15  # solved from the impulses of the step before
IMPACTS = 16  # impacts resolved in this step
LOOKED = 17  # 1: contacts at the present state are known
PROJECTIONS = 18
# What became of the last contact problem: 0 solved, else UNSOLVED or FACTORS_FULL, and then it
# waits for room.
CODE = 19
RANK = 20  # of the closures' rows as factored last, all mechanisms together
UNWEIGHED = 21  # 1: rows of the record have no energies: nobody reads them
DAMPED = 22  # 1: joints' damping is taken implicitly
# the last so many of the acting contacts are moments of others: see
# `simulation.stepping.constraints.torsional_rolling`
MOMENTS = 23
PIVOTED = 24  # contact problems that a pivoting method answered: one motion of several
PAST = 25  # differences of steps of one length that the predictor has: at most REMEMBERED
REPEATS = 26  # times the contact problem of the piece has been stated anew
SPINNING = 27  # link that turned fastest since the last check
STRAINED = 28  # pieces since the last check whose Coriolis forces did not settle
ROUNDS = 29  # corrections that the middle velocity took last
PUSHES = 30  # of these steps, how many since contacts acted last are still remembered
BEFORE = 31  # contacts seen as the piece began
AIMED = 32  # 1: the change of velocity over the piece is known, AIM
SMOOTH_ORDER = 33  # rows of SMOOTH_BEFORE whose sum would have foreseen the last one best
PUSHED_ORDER = 34
# 1: the forces of the step before solve the contact problem as it stands, as a sweep sees; 2: as
# the solver does; 0: others do
HOLDS = 35
QUIET = 36  # 1: the last contact problem was solved by those of the step before it, or nearly;
# 2: they have held
TOUCHING = 37  # contacts that touched as the piece began
LOOKS = 38  # at contacts so far
BEFORE_LOOK = 39  # the one that contacts as the piece began are of; 0: they are none
WRENCHED = 40  # 1: wrenches act on bodies, of people or of what bears their weight
MEMORY_ROWS = 41  # in use: the blocks of pairs, which may be outdated
LAW = 42  # of friction, see `contact.newton._layout`
TOGETHER = 43  # 1: inelastic arrivals of the step are met together
ANEW = 44  # times that the piece has been stated anew for arrivals that were not foreseen
STIRRED = 45  # 1: the step has changed something that lasts
STILL = 46  # steps in a row that have not
TURNED = 47  # 1: rows of the problem are those of the one before, which were turned
MET = 48  # inelastic arrivals that the step has been cut at
CONTROLS = 49

# Columns of what is kept of contacts for the next step: their pair, their names within it, and
# until which step they are known; -1: not at all.
MEMORY_PAIR = 0
MEMORY_FEATURE_A = 1
MEMORY_FEATURE_B = 2
MEMORY_STEP = 3
MEMORY_STATUSES = 4  # of their last problem
MEMORY_COLUMNS = 5

PIVOTED_AT_MOST = 64  # contacts of a problem that Lemke's method is given, whose tableau is dense

SEMI_IMPLICIT = 0
MOREAU = 1
RK4 = 2

# Float settings.
DT = 0
THRESHOLD = 1  # approach speed above which a contact is an impact, m/s
TOUCH = 2  # gap below which a contact touches, m
MARGIN = 3  # gap below which a contact takes part in a step's problem, m
SKIN = 4  # margin of the list of near pairs, m
TOLERANCE = 5  # residual that a contact problem must reach
DEPTH = 6  # penetration above which positions are projected, m
WIDTH = 7  # least half width of shapes that could pass through others, m
# A drag: force over slip, N s/m, negative where it is the pair's own; impulse over slip in impacts;
# largest gap of what is wet, m.
VISCOSITY = 8
VISCOSITY_IN_IMPACTS = 9
FILM = 10
CUTS = 11  # pairs of bodies without restitution whose arrivals cut a step; more are met together
SETTLED = 12  # what the middle velocity may be off, relative, where joint forces act
SLEEPS = 13  # 1: steps that change nothing are counted, not made
ACCEPTED = 14  # residual that an answer may have where nothing in the loop reaches TOLERANCE
SETTINGS = 15

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
LONGEST = 9  # piece that Coriolis forces settle in, s
SPIN = 10  # how fast the fastest link turns in the middle of the piece, rad/s
FASTEST = 11  # the same, largest since the last check
LENGTHS_BEFORE = 12  # 2: lengths of the steps before, the newest first, s; 0: none
CURVATURE = 14  # square of the second difference of the smooth accelerations
SQUARES = 15  # 8: of the differences that the past was renewed with last
MOST_COMPLIANT = 23  # largest entry of W's diagonal when rows were made last
REACH = 24  # beyond the margin within which contacts take part in the piece's problem, m
HELD_RESIDUAL = 25  # of the forces of the step before, where they held last
SPIN_UNIT = 26  # length by which the spins of moments are measured, m; 0: none yet
RESTING_GAP = 27  # smallest seen gap of the present state where nothing moves
MISSED = 28  # residual of the problem that the loop has not solved
KEPT_RESIDUAL = 29  # that no impulses make less, where those of the step before were kept; or 0
SHARES = 30  # 2: of contacts' differences that may swing, that they were of those a piece before
PUSHED_SHARE = 32  # of the difference after PUSHED_ORDER of them: what swings goes on so
MOVED = 33  # square of what the last round changed in DV
MOVED_FIRST = 34  # and that of the first round of a piece that was stated once more
DEEPEST_GAP = 35  # smallest seen gap since the last check
DEEPEST_PAIR = 36  # that it is of
# 2 of what lies deep, 2 of what does not: how much that is, m, and how many contacts, where no push
# has opened it; or 0
IN_VAIN = 37
MONITORS = 41

# Rows of the table of vectors.
Q_E = 0
V_E = 1
DV = 2
DVC = 3
Q_X = 4
V_X = 5
ACC = 6
TAU = 7
K_Q = 8
K_V = 9
S_Q = 10
S_V = 11
CLOSE_Q = 12
CLOSE_DV = 13
V_M = 14  # velocity in the middle of the piece
DVC_GUESS = 15  # contacts' part of DV as the middle velocity counts it
LEAD = 16  # changes of the spins of lone bodies without contacts: half of it is in their path
NEXT = 17  # DV as a correction finds it
SPUN = 18  # LEAD with the contacts that are foreseen
K_V1 = 19  # first accelerations of RK4
Q_END = 20  # where RK4 ends
V_END = 21
AIM = 22  # change of velocity that a lookahead counts on
# Acceleration of the step before and its differences to those before, of order 1, 2, ...; linear
# ones of free bodies in world axes.
REMEMBERED = 8
DRIVEN = 23  # joint forces of the piece: those given, springs and actuators
STIFF = 24  # what springs and actuators are along single joints: stiffness and damping
DRAG = 25
LATE = 26  # 1: positions go with the velocity at the end of the piece, not with the mean
V_ANEW = 27  # velocity at the end of the piece as it was stated first
SMOOTH_BEFORE = 28
PUSHED_BEFORE = SMOOTH_BEFORE + REMEMBERED  # the same of what contacts do
ARMS = PUSHED_BEFORE + REMEMBERED  # moment arms of the path that is at work
SWUNG = ARMS + 1  # 2: of the rows of PUSHED_BEFORE those that may swing, as they were before
WHOLE_BEFORE = SWUNG + 2  # second difference of whole accelerations, contacts' with smooth ones
TAU_BEFORE = WHOLE_BEFORE + 1  # joint forces of the last step in which contacts pushed
ON_WAY = TAU_BEFORE + 1  # 1: links that something hangs on which may arrive in the piece
GUESS_FIRST = ON_WAY + 1  # DVC_GUESS as the piece was stated first
MOVES = GUESS_FIRST + 1  # fastest velocity of each tree as a contact problem is stated
VECTORS = MOVES + 1

# Columns of what elements (springs and actuators) do in a piece: the force where it is evaluated,
# and by how much it falls with the change of the rate until the end of the piece.
PULLED = 0
YIELDS = 1
PULL_COLUMNS = 2

# Rows of the table of floating trees.
MOMENTUM = 0  # 6: [angular about POINT; linear] that the tree shall have at the end of the piece
ABOUT = 6  # 3: a fixed point of the world, where its root began the piece
PUT_RIGHT = 9  # 1: it has that momentum
FLOATING_COLUMNS = 10

# Rows of the table of vectors over the closures' rows: errors, rates and parts along the basis of
# the present elimination; forces of the step and of anything else; lengths of the rows of L and
# what is left of them while they are factored; prescribed rates at the step's ends.
ERRORS = 0
RATES = 1
PARTS = 2
FORCES = 3
OTHER_FORCES = 4
LENGTHS = 5
LEFT = 6
RATE_START = 7
RATE_END = 8
# Over closed mechanisms: how many of their rows are independent as factored last, and at the last
# closed configuration, where more than these only look so.
RANKS = 9
INDEPENDENT = 10
CLOSURE_VECTORS = 11

# Columns of the table of closed mechanisms, whose closures, terms and columns lie side by side: the
# first of their rows, terms and columns, and how many; where their rows of L, and of the basis,
# begin, and their square factors; whether a closure is driven.
CLOSED_ROW = 0
CLOSED_ROWS = 1
CLOSED_TERM = 2
CLOSED_TERMS = 3
CLOSED_COLUMN = 4
CLOSED_COLUMNS = 5
CLOSED_PLACE = 6
CLOSED_SQUARE = 7
CLOSED_DRIVEN = 8
CLOSED_INTS = 9

# Columns of the record's tables (after these, the row of a contact holds position, normal,
# impulse).
ROW_TIME = 0
ROW_KINETIC = 1
ROW_POTENTIAL = 2
ROW_CONTACTS = 3
ROW_IMPACTS = 4
ROW_RESIDUAL = 5
ROW_GAP = 6
ROW_PIVOTS = 7
ROW_OPENING = 8
ROW_COLUMNS = 9
RECORD_TIME = 0
RECORD_PAIR = 1
RECORD_KIND = 2
RECORD_GAP = 3
RECORD_POINT = 4
RECORD_NORMAL = 7
RECORD_IMPULSE = 10
RECORD_COLUMNS = 13
EVENT_TIME = 0
EVENT_CONTACTS = 1
EVENT_SPEED = 2
EVENT_BEFORE = 3
EVENT_AFTER = 4
EVENT_FRACTION = 5
EVENT_COLUMNS = 6

# Integer and float tables of what acts on single joints: two stops and dry friction for every
# velocity that has them.
JOINT_LINK = 0
JOINT_KIND = 1
JOINT_Q = 2
JOINT_INTS = 3
JOINT_SIDE = 0  # of a stop: +1 at the lower limit, -1 at the upper one
JOINT_LIMIT = 1  # of a stop: position; of dry friction: force
JOINT_RESTITUTION = 2
JOINT_FLOATS = 3

# Rows of what joints' stops and dry friction did since the last row of the record: impulses, and
# work, J.
STOP_SUM = 0
DRY_SUM = 1
WORK_SUM = 2
JOINT_SUMS = 3

# impacts cut a step into at most so many pieces; the later half of them is taken without
# restitution
MAX_PIECES = 60
