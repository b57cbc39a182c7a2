"""Statuses of the step before: other beginnings of the same answers, found in fewer steps."""

import numpy as np
import pytest

from spatialops.bench.contacts.engines import Ours
from spatialops.bench.contacts.mechanisms import moving_chain
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim
from spatialops.contact.newton.islands import new_buffers, room_of, solve_islands
from spatialops.contact.newton.known_statuses import begin_statuses, go_round, number_of
from spatialops.contact.newton.statuses import find_parts, find_statuses
from spatialops.simulation import _layout as sim
from tests.contact.newton.test_central import FROM_ZERO, TOLERANCE, body, random_body
from tests.contact.newton.test_islands import joined
from tests.support.contact_rows import scratch_of

FROM_IMPULSES = Aim(True, TOLERANCE, ALL_ATTEMPTS, False, False)
PRESSES_AT_CORNER = at.PRESSES + 2 * at.AT_CORNER
PRESSES_AT_SIDE = at.PRESSES + 2 * at.AT_SIDE
STEPS_AND_PROBLEMS = [sim.PIVOTS, sim.SOLVES]
PLANE = [(x, y, -0.1) for x in (-0.2, 0.0, 0.2) for y in (-0.1, 0.1)]


def sliding(rng):
    """Six points of a body on a plane, which fall, slide and turn."""
    twist = rng.normal(size=6) * 0.1 - [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    return body(PLANE, [(0.0, 0.0, 1.0)] * 6, 0.5, twist)


def solved_from_zero(rows):
    """The problem with the statuses of its answer, and the answer."""
    m = rows.friction.size
    rows = rows._replace(statuses=np.full(m, -1))
    p = np.zeros(3 * m)
    _, residual = solve_islands(rows, FROM_ZERO, p, new_buffers(room_of(rows)))
    assert residual <= TOLERANCE
    return rows, p


def from_impulses(rows, p, statuses):
    """The answer that begins with these impulses and statuses."""
    p, rows = p.copy(), rows._replace(statuses=statuses)
    _, residual = solve_islands(rows, FROM_IMPULSES, p, new_buffers(room_of(rows)))
    assert residual <= TOLERANCE
    return p


def test_the_answer_is_the_same_whatever_statuses_it_begins_with(rng):
    for _ in range(10):
        rows, p = solved_from_zero(sliding(rng))
        later = rows._replace(u=rows.u * (1.0 + 0.1 * rng.normal(size=p.size)))
        nothing = np.zeros(0, dtype=np.int64)
        wanted = from_impulses(later, p, nothing)
        for statuses in (rows.statuses.copy(), rng.integers(-1, 8, len(rows.friction))):
            found = from_impulses(later, p, statuses)
            np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9 * abs(wanted).max())


def test_statuses_are_those_of_the_answer(rng):
    for _ in range(10):
        rows, p = solved_from_zero(sliding(rng))
        limit = 0.5 * p[0::3]
        slip = np.hypot(p[1::3], p[2::3]) > limit * (1.0 - 1e-9)
        assert ((rows.statuses & 1) == (p[0::3] > 0.0)).all()
        kinds = rows.statuses >> 1
        assert (kinds[slip & (limit > 0.0)] >= at.AT_CORNER).all()
        assert (kinds[p[0::3] == 0.0] == at.FREE).all()


def test_islands_know_theirs(rng):
    parts = [sliding(rng) for _ in range(3)]
    order = rng.permutation(18)
    rows, _ = solved_from_zero(joined(parts, order))
    alone = np.concatenate([solved_from_zero(part)[0].statuses for part in parts])
    assert (rows.statuses == alone[order]).all()


@pytest.mark.parametrize("turned", [0.3, 1.2, 3.0])
def test_what_slides_does_so_as_impulses_show_along_tangents_that_turned(turned):
    """Corner k of four stands at k quarter turns, side k from there to the next."""
    rows = body(PLANE, [(0.0, 0.0, 1.0)] * 6, 0.5, np.zeros(6))
    statuses = np.array([PRESSES_AT_CORNER, PRESSES_AT_SIDE, -1, at.OPEN, at.PRESSES, 3])
    rows = rows._replace(statuses=statuses)
    scratch, p = scratch_of(rows), np.tile([1.0, 0.5 * np.cos(turned), 0.5 * np.sin(turned)], 6)
    find_parts(rows, scratch)
    find_statuses(rows, 1e-5, 1.0, p, scratch)
    found = scratch.status[2].copy()
    begin_statuses(rows, 1e-5, 1.0, p, scratch)
    quarters = turned / (0.5 * np.pi)
    corner, side = int(np.round(quarters)) % 4, int(quarters)
    assert list(scratch.status[0, at.NORMAL :]) == [at.PRESSES, at.AT_CORNER, corner]
    assert list(scratch.status[1, at.NORMAL :]) == [at.PRESSES, at.AT_SIDE, side]
    assert (scratch.status[2] == found).all()
    assert list(scratch.status[3, at.NORMAL :]) == [at.OPEN, at.FREE, 0]
    assert list(scratch.status[5, at.NORMAL :]) == [at.PRESSES, at.STICKS, 0]


def test_dry_friction_has_a_direction_and_no_side(rng):
    """A joint's line of two directions, and a contact that has no friction any more."""
    rows = random_body(rng, 1)
    rows = rows._replace(
        friction=np.zeros(1), dry=np.ones(1), statuses=np.array([2 * at.AT_CORNER])
    )
    scratch, p = scratch_of(rows), np.array([0.0, -1.0, 0.0])
    find_parts(rows, scratch)
    begin_statuses(rows, 1e-5, 1.0, p, scratch)
    assert list(scratch.status[0, at.NORMAL :]) == [at.OPEN, at.AT_CORNER, len(rows.corners) // 2]
    smooth = rows._replace(dry=np.zeros(1), statuses=np.array([PRESSES_AT_CORNER]))
    find_parts(smooth, scratch)
    begin_statuses(smooth, 1e-5, 1.0, p, scratch)
    assert list(scratch.status[0, at.NORMAL :]) == [at.PRESSES, at.FREE, 0]


@pytest.mark.compiled
def test_a_chain_that_crawls_takes_few_steps_of_newtons_method():
    """From the 740th step on two a problem; five where statuses were those of the impulses."""
    setting = moving_chain(24)
    ours = Ours(setting.scene, 1e-3)
    for k in range(77):
        if k == 74:
            before = ours.tables.control[STEPS_AND_PROBLEMS].copy()
        ours.push(setting.control(ours.state))
        ours.run(10)
    count, problems = ours.tables.control[STEPS_AND_PROBLEMS] - before
    assert count < 3.0 * problems
    assert ours.residual <= 1e-9


def test_statuses_that_come_again_are_told_from_others(rng):
    """Of a cycle of one to four sets each is noticed within eight steps, and of none of 40."""
    rows = sliding(rng)
    scratch = scratch_of(rows)
    sets = []
    for _ in range(40):
        status = rng.integers(0, 4, scratch.status.shape)
        sets.append(status)
    assert len({number_of(status) for status in sets}) == 40
    tell = getattr(go_round, "py_func", go_round)
    for length in (1, 2, 3, 4, 40):
        noticed = None
        for step in range(1, 41):
            scratch.status[:] = sets[(step - 1) % length]
            if tell(scratch, step):
                noticed = step
                break
        assert (noticed is None) == (length == 40)
        assert noticed is None or noticed <= 8
