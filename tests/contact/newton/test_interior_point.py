"""The interior-point method: steps solve its equations, and ends are near answers of the law."""

import numpy as np
import pytest

from spatialops.contact.friction import directions
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import factor_rows
from spatialops.contact.newton.blocks.structure import analyse
from spatialops.contact.newton.central import ALL_ATTEMPTS, FIRST_ATTEMPT, Aim, central_impulses
from spatialops.contact.newton.inside.interior_point import (
    STANDING,
    YIELDS,
    has_inside,
    interior_impulses,
    solve_step,
)
from spatialops.contact.newton.inside.pair_steps import eliminate_pairs, name_unknowns
from spatialops.contact.newton.inside.pairs import (
    begin_pairs,
    find_misses,
    put_impulses,
    put_targets,
)
from spatialops.contact.newton.residual import residual_of, speed_scale
from spatialops.contact.newton.row_products import put_velocities, spread_out
from spatialops.contact.newton.rows import is_dense
from spatialops.contact.newton.statuses import find_parts
from spatialops.contact.rows import START, width_of
from tests.contact.newton.test_block_factors import pile
from tests.contact.newton.test_central import body, random_body
from tests.support.contact_rows import contact_rows_of, dense_of, scratch_of

TOLERANCE = 1e-9


def begun(rows):
    """Scratch, s and the scale of rows whose factors are analysed."""
    scratch = scratch_of(rows)
    if not is_dense(rows):
        assert analyse(rows.L.places, rows.trees, scratch.blocks, scratch.blocks_of)
    s = find_parts(rows, scratch)
    spread_out(rows, scratch)
    return scratch, s, speed_scale(rows, s)


def with_joint_friction(rows):
    """The last contact is dry friction of a joint: a limit, one row, and no normal."""
    friction, dry = rows.friction.copy(), rows.dry.copy()
    friction[-1], dry[-1] = 0.0, 0.3
    start, width = rows.L.places[-1, START], width_of(rows.L.places, len(dry) - 1)
    entries, u = rows.L.entries.copy(), rows.u.copy()
    entries[start : start + width] = entries[start + 2 * width :] = 0.0
    u[-3] = u[-1] = 0.0
    L = rows.L._replace(entries=entries)
    return rows._replace(L=L, u=u, friction=friction, dry=dry)


def examples(rng):
    square = [(x, y, -0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    up = [(0.0, 0.0, 1.0)] * 4
    slides = (0.0, 0.0, 0.0, 1.0, 0.2, -0.1)
    return {
        "a body that slides": body(square, up, 0.4, slides),
        "a line": body(square, up, 0.4, slides, n_f=2),
        "pressed already": body(square, up, 0.4, slides, prior=0.1),
        "eight corners": body(square, up, 0.4, slides, n_f=8),
        "a pile": pile(rng, [6] * 14, 30, mu=0.1),
        "a joint": with_joint_friction(body(square + square[:1], up + up[:1], 0.4, slides)),
    }


NAMES = list(examples(np.random.default_rng(0)))


@pytest.mark.parametrize(("share", "opens"), [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0)])
@pytest.mark.parametrize("rho", np.unique(YIELDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_step_solves_the_equations_of_all_pairs(rng, name, rho, share, opens):
    """Limits of friction follow what presses, or so much of it; what slides opens, or not."""
    rows = examples(rng)[name]
    scratch, s, scale = begun(rows)
    unit, corners = scale / s, rows.corners
    m = rows.friction.size
    p = np.zeros(3 * m)
    put_velocities(rows, p, scratch.vectors[at.VELOCITY], scratch)
    begin_pairs(rows, (scale, unit), opens, p, scratch)
    put_impulses(rows, unit, p, scratch)
    put_velocities(rows, p, scratch.vectors[at.VELOCITY], scratch)
    find_misses(rows, scale, scratch)
    name_unknowns(rows, scratch)
    eliminate_pairs(rows, s, rho, share, scratch)
    factor_rows(rows, 1.0, 3 * m, scratch)
    put_targets(0.01, 0.0, scratch)
    solve_step(rows, (scale, unit, rho), scratch)
    x, w, d_x, d_w, target, miss = scratch.pairs[: at.YIELD, :, :m].transpose(0, 2, 1)
    assert (w > 0.0).all()
    assert (x >= 0.0).all()
    real = x > 0.0
    assert np.abs((x * d_w + w * d_x - target)[real]).max() < 1e-12
    dp = np.zeros((m, 3))
    dp[:, 0] = d_x[:, 0]
    dp[:, 1:] = (d_x * real)[:, 2:] @ corners
    L = dense_of(rows)
    dp /= scratch.friction[:, at.WEIGHT, None]  # in units of each contact's own
    moved = (L @ (L.T @ dp.ravel()) / s).reshape(m, 3)
    expected = np.zeros_like(w)
    expected[:, 0] = moved[:, 0] - opens * rows.friction * (d_x * real)[:, 1]
    expected[:, 2:] = moved[:, 1:] @ corners.T + d_x[:, 1:2]
    expected[:, 1] = share * rows.friction * d_x[:, 0] - (d_x * real)[:, 2:].sum(axis=1)
    expected += miss
    expected[:, [0, *range(2, x.shape[1])]] += rho * d_x[:, [0, *range(2, x.shape[1])]]
    assert np.abs((d_w - expected)[real]).max() < 1e-10


@pytest.mark.parametrize("way", range(STANDING))
@pytest.mark.parametrize("name", NAMES)
def test_it_ends_near_an_answer(rng, name, way):
    rows = examples(rng)[name]
    scratch, s, scale = begun(rows)
    p = np.zeros(3 * rows.friction.size)
    iterations = interior_impulses(rows, s, scale, way, p, scratch)
    v = scratch.vectors[at.VELOCITY]
    put_velocities(rows, p, v, scratch)
    assert residual_of(rows, s, scale, p, v) <= 1e-7
    assert 5 < iterations < 60


@pytest.mark.parametrize("pull", [0.0, 0.3, 0.8])
def test_what_can_stand_stands(pull):
    """A body on four points that is pulled aside by less, and by more, than friction holds."""
    square = [(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    rows = body(square, [(0.0, 0.0, 1.0)] * 4, 0.5, (0.0, 0.0, 0.0, pull, 0.0, -1.0))
    scratch, s, scale = begun(rows)
    p = np.zeros(12)
    interior_impulses(rows, s, scale, STANDING, p, scratch)
    v = scratch.vectors[at.VELOCITY]
    put_velocities(rows, p, v, scratch)
    stands = pull <= 0.5
    assert (residual_of(rows, s, scale, p, v) <= 1e-7) == stands
    assert (np.abs(v).max() <= 1e-6) == stands


@pytest.mark.compiled
def test_most_random_bodies_are_answered(rng):
    near = []
    for _ in range(60):
        rows = random_body(rng)
        if not has_inside(rows):
            continue
        scratch, s, scale = begun(rows)
        p = np.zeros(3 * rows.friction.size)
        interior_impulses(rows, s, scale, 1, p, scratch)
        v = scratch.vectors[at.VELOCITY]
        put_velocities(rows, p, v, scratch)
        near.append(residual_of(rows, s, scale, p, v) <= 1e-5)
    assert np.mean(near) > 0.9


@pytest.mark.compiled
def test_piles_whose_statuses_cycle_come_from_the_inside():
    cycled = inside = 0
    for seed in range(10):
        rows = pile(np.random.default_rng(seed), [6] * 30, 150, mu=0.2)
        p, scratch = np.zeros(450), scratch_of(rows)
        _, first = central_impulses(
            rows, 0.0, Aim(False, TOLERANCE, FIRST_ATTEMPT, False, False), p, scratch
        )
        p[:] = 0.0
        _, residual = central_impulses(
            rows, 0.0, Aim(False, TOLERANCE, ALL_ATTEMPTS, False, False), p, scratch
        )
        assert residual <= first
        cycled += first > TOLERANCE
        inside += first > TOLERANCE >= residual
    assert cycled > inside > 0


def test_nothing_is_moved_without_pairs():
    rows = contact_rows_of(np.zeros((3, 1)), np.zeros(3), *np.zeros((3, 1)), directions(4))
    scratch, s, _ = begun(rows)
    p = np.zeros(3)
    assert interior_impulses(rows, s, 1.0, 0, p, scratch) == 0
    assert not p.any()


def test_other_laws_have_no_inside():
    rows = body([(0.0, 0.0, -0.1)] * 4, [(0.0, 0.0, 1.0)] * 4, 0.5, np.ones(6))
    assert has_inside(rows)
    assert not has_inside(rows._replace(law=at.CONE))


def test_piles_have_an_inside_however_few_their_rows_are(rng):
    """Balls that touch few others: linear problems of piles are solved for columns anyway."""
    rows = pile(rng, [6] * 14, 22)
    assert len(rows.u) < rows.trees[-1]
    assert not is_dense(rows)
    assert has_inside(rows)
    few = pile(rng, [6] * 2, 3)
    assert is_dense(few)
    assert not has_inside(few)
    scratch, s, scale = begun(rows)
    p = np.zeros(3 * rows.friction.size)
    interior_impulses(rows, s, scale, 1, p, scratch)
    v = scratch.vectors[at.VELOCITY]
    put_velocities(rows, p, v, scratch)
    assert residual_of(rows, s, scale, p, v) <= 1e-5
