"""Inelastic arrivals of one step that are many: met together, in its own contact problem.

A step is cut at an impact, so that restitution and energy do not depend on h. Where more than
`CUTS` pairs of bodies without restitution arrive within one step, those included that it has been
cut at, there is nothing to give back, and a cut for each is a step for each: a heap of 200 boxes
had 250 of them, a robot that folds up ten. They arrive together then, in the islands that have such
arrivals only, by a rule of order 1. With x of the piece over when the first of an island arrives,

    q+ = q + h (x v + (1 - x) v+),    u_n+ >= -(g + x h u_n) / ((1 - x) h),

with v+ from the smooth part and the contacts at the middle as ever. So the first has all of its
impulse at once, in the direction that friction takes for it as in an impact, and is at the surface
at the end. What arrives later in the same island meets the surface at the end of the step, and has
the rest of its impulse in the next one. (With x = 0 for all, the implicit rule of Moreau and Jean,
impulses fell into two parts at random, and what friction did did not converge as h fell: 2 % of the
velocities of a quadruped that lands, at any h; it is 0.1 % at 1 ms now, and half at half of it.) No
energy enters: the mean velocity of the default rule would ask what arrives early to bounce.
What contacts themselves push against something is not seen ahead: see `unforeseen`.
"""

from __future__ import annotations

from spatialops._arrays import IntArray
from spatialops._compile.jit import inlined, merged
from spatialops.collision import _layout as col
from spatialops.collision.known_contacts import first_of_pair
from spatialops.contact.newton.islands import join_trees, owner_of
from spatialops.contact.rows import TREE_A, place_rows
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.same_contacts import row_before
from spatialops.simulation.stepping.tables import Tables

# Contacts from which on a cut counts more than once. 690 of a wall, two bricks of which fall, had
# a problem in five for each brick that lands, of half a second.
_OF_A_PILE = 64.0
_LATEST = 0.999  # of a piece: a time of arrival


@inlined
def arrive_together(t: Tables) -> bool:
    """Whether inelastic arrivals of the present step cut it no more."""
    return t.control[at.TOGETHER] == 1


@inlined
def is_fast(t: Tables, i: int) -> bool:
    """Whether contact i of those seen approaches as fast as an impact."""
    return t.seen[i, col.APPROACH] < -t.settings[at.THRESHOLD]


@inlined
def of_others(t: Tables, i: int, last: int) -> bool:
    """Whether seen contact i is of other bodies than the `last` one (-1: there was none)."""
    if last < 0:
        return True
    same_a = t.seen_ints[i, col.CONTACT_A] == t.seen_ints[last, col.CONTACT_A]
    return not (same_a and t.seen_ints[i, col.CONTACT_B] == t.seen_ints[last, col.CONTACT_B])


@merged
def meet_together(t: Tables, pairs: int, met: int) -> None:
    """Let inelastic arrivals of the step be met together where so many pairs of bodies arrive.

    Those that it was cut at, so many `met`, count too. A cut is a problem of all that touches, and
    a piece more: of a pile it counts more than once.
    """
    if pairs == 0 or t.control[at.SCHEME] == at.RK4:
        return
    work = (pairs + met) * max(t.control[at.SEEN] / _OF_A_PILE, 1.0)
    if work > t.settings[at.CUTS]:
        t.control[at.TOGETHER] = 1


@merged
def forget_arrivals(t: Tables) -> None:
    """A piece begins: nothing arrives yet."""
    if arrive_together(t):
        t.vectors[at.LATE, : t.v.size] = 0.0


@inlined
def came_in(t: Tables, i: int) -> bool:
    """Whether seen contact i is deeper than what touches, and still approaches fast."""
    return t.seen[i, col.GAP] < -t.settings[at.TOUCH] and is_fast(t, i)


@inlined
def of_pair(table: IntArray, count: int, pair: int, guess: int) -> bool:
    """Whether one of these contacts is of a pair; it is looked for about a guess."""
    j = first_of_pair(table, count, pair, guess)
    return j < count and table[j, col.CONTACT_PAIR] == pair


@inlined
def arrives_with_others(t: Tables, pair: int, guess: int) -> bool:
    """Whether a pair is in the problem of what arrives together: its impulse has been found."""
    return arrive_together(t) and of_pair(t.ints, t.control[at.ACTING], pair, guess)


@inlined
def swept_in(t: Tables, i: int) -> bool:
    """Whether seen contact i, of a pair that neither touched nor acts, is deep and on its way out.

    What turns fast comes down and goes up again within a piece: it has met something on its way.
    """
    if not t.seen[i, col.GAP] < -t.settings[at.MARGIN]:
        return False
    pair = t.seen_ints[i, col.CONTACT_PAIR]
    touched = of_pair(t.touching, t.control[at.TOUCHING], pair, i)
    return not (touched or of_pair(t.ints, t.control[at.ACTING], pair, i))


@inlined
def cuts(t: Tables, i: int) -> bool:
    """Whether seen contact i is an impact to cut the piece at."""
    if not (came_in(t, i) or swept_in(t, i)):
        return False
    return t.seen[i, col.RESTITUTION] > 0.0 or not arrive_together(t)


@merged
def count_met(t: Tables) -> None:
    """Count the cut at what arrives now, if part of it is inelastic."""
    inelastic = 0
    for i in range(t.control[at.SEEN]):
        touches = t.seen[i, col.GAP] <= t.settings[at.TOUCH] and is_fast(t, i)
        if touches and t.seen[i, col.RESTITUTION] == 0.0:
            inelastic = 1
    t.control[at.MET] += inelastic


@merged
def mark_arrivals(t: Tables) -> None:
    """Mark the velocities of the islands in which acting contacts arrive together.

    By 2 (1 - x), twice the share of the piece that their new velocities have: x of it is over when
    the first of the island arrives.
    """
    m, n = t.control[at.ACTING], t.trees.size - 1
    late = t.vectors[at.LATE, : t.v.size]
    late[:] = 0.0
    place_rows(t.tree_of, t.trees, t.ints, m, t.places)
    owners = t.island_ints[:n]
    join_trees(t.places[:m], owners)
    for i in range(m):
        tree = t.places[i, TREE_A]
        if tree >= 0 and arrives(t, i):
            k = t.trees[owner_of(owners, tree)]
            late[k] = max(late[k], 2.0 * (1.0 - time_of_arrival(t, i)))
    for k in range(n - 1, -1, -1):  # a tree that stands for its island comes before all others
        late[t.trees[k] : t.trees[k + 1]] = late[t.trees[owner_of(owners, k)]]


@inlined
def time_of_arrival(t: Tables, i: int) -> float:
    """The fraction of the piece that is over when acting contact i arrives by free motion."""
    way = -t.monitor[at.PIECE] * t.floats[i, col.APPROACH]
    gap = max(gap_at_start(t, i), 0.0)
    return min(gap / way, _LATEST)


@inlined
def share_over(t: Tables) -> float:
    """The share of the piece that is over at the state where contacts are evaluated."""
    return 0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0


@inlined
def gap_at_start(t: Tables, i: int) -> float:
    """Gap of acting contact i as the piece began.

    That of the evaluation state less what it has changed by since, where it was not seen then.
    """
    j = row_before(t, i)
    if j >= 0:
        return t.before[j, col.KNOWN_GAP]
    since = share_over(t) * t.monitor[at.PIECE]
    return t.floats[i, col.GAP] - since * t.floats[i, col.APPROACH]


@inlined
def arrives(t: Tables, i: int) -> bool:
    """Whether acting contact i is an inelastic one that approaches as fast as an impact."""
    fast = t.floats[i, col.APPROACH] < -t.settings[at.THRESHOLD]
    return fast and t.floats[i, col.RESTITUTION] == 0.0


@inlined
def is_late(t: Tables, i: int) -> bool:
    """Whether acting contact i is in an island in which something arrives."""
    return lateness(t, i) > 0.0


@inlined
def lateness(t: Tables, i: int) -> float:
    """Twice the share of the piece that the island of acting contact i has new velocities for.

    Zero where nothing arrives in it.
    """
    link = max(t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B])
    return t.vectors[at.LATE, link] if arrive_together(t) and link >= 0 else 0.0
