"""Newton's method on statuses under every law: what it answers obeys the law as it is written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import (
    component,
    factor_rows,
    put_rows,
    solve_rows,
)
from spatialops.contact.newton.no_slip import impulses_of_law
from spatialops.contact.newton.ray import FAR, until_outside
from spatialops.contact.newton.residual import residual_of
from spatialops.contact.newton.row_products import put_velocities, spread_out
from spatialops.contact.newton.statuses import find_parts, find_statuses, put_on_pieces
from spatialops.contact.newton.unknowns import list_unknowns
from tests.contact.newton.test_block_factors import pile
from tests.contact.newton.test_central import FROM_ZERO, body, random_body
from tests.support.contact_rows import contact_rows_of, dense_of, plain, scratch_of

BOX = [(x, y, -0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
UP = [(0.0, 0.0, 1.0)] * 4
LAWS = [at.CONE, at.NO_SLIP, at.VISCOUS, at.FRICTIONLESS]


def answer(rows, law):
    """Residual, impulses and velocities (m, 3)."""
    coefficients = {at.NO_SLIP: np.ones_like, at.FRICTIONLESS: np.zeros_like}.get(law, np.array)
    rows = rows._replace(law=law, friction=coefficients(rows.friction))
    p = np.zeros(rows.u.size)
    _, residual = impulses_of_law(rows, 0.0, FROM_ZERO, p, scratch_of(rows))
    L = dense_of(rows)
    return residual, p.reshape(-1, 3), (rows.u + L @ (L.T @ p)).reshape(-1, 3)


def friction_error(law, mu, prior, p, v, s):
    """Largest violation of the law's friction, written down plainly; velocities."""
    slip, sideways = np.hypot(*v[:, 1:].T), s * np.hypot(*p[:, 1:].T)
    limit = s * mu * (np.maximum(p[:, 0], 0.0) + prior)
    if law == at.CONE:
        inside = np.maximum(sideways - limit, 0.0)
        # What slides is at the limit, and friction is against it.
        against = s * p[:, 1:] * slip[:, None] + limit[:, None] * v[:, 1:]
        return max(inside.max(), np.hypot(*against.T).max() / max(limit.max(), slip.max(), 1e-300))
    if law == at.NO_SLIP:
        return np.minimum(np.maximum(s * (p[:, 0] + prior), sideways), slip).max()
    if law == at.VISCOUS:
        return np.abs(p[:, 1:] + mu[:, None] * v[:, 1:]).max() * s
    return sideways.max()


@pytest.mark.parametrize("law", [at.CONE, at.NO_SLIP])
def test_what_presses_only_since_it_is_held_is_free(law):
    """Two feet of one body: one is pressed, the other would part, and jams where it is held."""
    L = np.zeros((6, 8))
    L[0, 0] = L[1, 1] = L[2, 2] = 1.0  # a foot that comes down
    L[3:, 3:6] = [[1.0, 0.0, 0.0], [0.9, 0.436, 0.0], [0.0, 0.0, 1.0]]
    L[3, 7] = L[0, 7] = 0.01  # by which both feel each other
    u = np.array([-1.0, 0.0, 0.0, 0.1, 1.0, 0.0])
    rows = contact_rows_of(
        L, u, np.full(2, 10.0), np.zeros(2), np.zeros(2), np.zeros((0, 2)), law=law
    )
    jammed = -np.linalg.solve(L @ L.T, u)
    assert jammed[0] > 0.0
    assert jammed[3] > 0.0
    assert np.hypot(*jammed[4:]) < 10.0 * jammed[3]
    for warm in (False, True):
        p = jammed.copy()
        _, residual = impulses_of_law(rows, 0.0, FROM_ZERO._replace(warm=warm), p, scratch_of(rows))
        assert residual < 1e-9
        assert not p[3:].any()
        assert p[0] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_random_bodies_obey_the_law(law, rng):
    solved = 0
    for _ in range(60):
        rows = random_body(rng)
        if len(rows.corners) == 2:
            continue
        residual, p, v = answer(rows, law)
        if not residual <= 1e-9:
            continue
        solved += 1
        s = float((dense_of(rows) ** 2).sum(axis=1).max())
        speed = np.abs(rows.u).max()
        normal = np.minimum(s * p[:, 0], v[:, 0])
        assert np.abs(normal).max() < 1e-8 * speed
        assert friction_error(law, rows.friction, rows.prior, p, v, s) < 1e-8 * speed
    assert solved >= 35


@pytest.mark.parametrize("law", LAWS)
def test_a_residual_sees_every_violation(law, rng):
    rows = random_body(rng)._replace(law=law)
    m = rows.friction.size
    rows.friction[:] = 0.0 if law == at.FRICTIONLESS else 0.5
    L = dense_of(rows)
    s = float((L**2).sum(axis=1).max())
    for _ in range(20):
        p, v = rng.normal(size=(m, 3)), rng.normal(size=(m, 3))
        found = residual_of(rows, s, 1.0, p.ravel(), v.ravel())
        if law == at.FRICTIONLESS:
            assert found == np.abs(np.minimum(2.0 * s * p[:, 0], v[:, 0])).max()
        else:
            assert found > 0.1 * min(1.0, friction_error(law, rows.friction, 0.0, p, v, s))


def test_a_box_slides_against_its_motion_on_the_cone():
    # 22.5 degrees off the frame, where a polygon of four sides is at a corner's border.
    along = np.array([np.cos(np.pi / 8.0), np.sin(np.pi / 8.0)])
    rows = body(BOX, UP, 0.3, [0.0, 0.0, 0.0, *(3.0 * along), -0.5])
    residual, p, v = answer(rows, at.CONE)
    total = p.sum(axis=0)
    assert residual <= 1e-12
    assert np.isclose(total[0], 0.5, rtol=1e-12)
    assert np.allclose(np.hypot(*p[:, 1:].T), 0.3 * p[:, 0], rtol=1e-9)
    against = p[:, 1:] * np.hypot(*v[:, 1:].T)[:, None]
    assert np.allclose(against, -0.3 * p[:, :1] * v[:, 1:], atol=1e-10)


def test_a_drag_is_of_the_velocity_after_the_impulse():
    # One kilogram, four contacts of K each, pure translation: v = v0 / (1 + 4 K / m).
    rows = body([(x, y, 0.0) for x, y, _ in BOX], UP, 0.7, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    residual, p, v = answer(rows, at.VISCOUS)
    assert residual <= 1e-12
    assert np.allclose(np.hypot(*v[:, 1:].T), 1.0 / (1.0 + 4.0 * 0.7), rtol=1e-12)
    assert np.allclose(p[:, 1:], -0.7 * v[:, 1:], rtol=1e-11)


def test_what_leaves_slides_and_what_presses_does_not():
    # The first contact comes down, the other, of another body, goes up.
    J = np.eye(6)
    u = np.array([-1.0, 0.5, 0.2, 1.0, 0.5, 0.2])
    ones = np.ones(2)
    rows = contact_rows_of(J, u, ones, 0.0 * ones, 0.0 * ones, np.eye(2), law=at.NO_SLIP)
    rows = rows._replace(corners=np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
    residual, p, v = answer(rows, at.NO_SLIP)
    assert residual <= 1e-12
    assert np.allclose(v[0], 0.0, atol=1e-12)
    assert (p[1] == 0.0).all()
    assert (v[1] == u[3:]).all()


def test_what_presses_only_when_it_may_slide_is_held_for_good():
    # Held tangents lift the normal, and let go it falls: L_n . L_t < 0.
    L = np.array([[1.0, 0.0], [-0.8, 0.6], [0.0, 0.0]])
    one = np.ones(1)
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    u = np.array([-0.1, 1.0, 0.0])
    rows = contact_rows_of(L, u, one, 0.0 * one, 0.0 * one, corners, law=at.NO_SLIP)
    residual, p, v = answer(rows, at.NO_SLIP)
    assert residual <= 1e-12
    assert abs(v[0, 1]) < 1e-12
    assert v[0, 0] > 0.1
    assert p[0, 0] == 0.0


@pytest.mark.parametrize(("normal", "held"), [(1.0, [0.5, 0.6]), (-1.0, [0.0, 0.1])])
def test_what_cannot_all_be_held_is_not_held_at_first(normal, held):
    # Two contacts share a tangent that they know different speeds of; the second one leaves.
    J = np.zeros((6, 3))
    J[0, 0] = J[3, 1] = J[1, 2] = J[4, 2] = 1.0
    ones = np.ones(2)
    u = np.array([normal, 0.5, 0.0, 1.0, 0.6, 0.0])
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    rows = contact_rows_of(J, u, ones, 0.0 * ones, 0.0 * ones, corners, law=at.NO_SLIP)
    residual, p, v = answer(rows, at.NO_SLIP)
    assert residual <= 1e-12
    np.testing.assert_allclose(v[:, 1], held, atol=1e-12)
    assert (p[1] == 0.0).all()
    assert (rows.friction == 1.0).all()


def test_coefficients_are_left_as_they_were():
    rows = body(BOX, UP, 1.0, [0.3, 0.0, 0.0, 1.0, 0.0, -0.2])._replace(law=at.NO_SLIP)
    before = rows.friction.copy()
    impulses_of_law(rows, 0.0, FROM_ZERO, np.zeros(12), scratch_of(rows))
    assert (rows.friction == before).all()


@pytest.mark.parametrize("law", [at.CONE, at.VISCOUS])
@pytest.mark.parametrize("trees", [[30], [6] * 14], ids=["dense", "by trees"])
def test_what_resists_is_in_the_linear_problem(law, trees, rng):
    rows = pile(rng, trees if len(trees) > 1 else [15, 15], 40)._replace(law=law)
    scratch = scratch_of(rows)
    if len(trees) > 1:
        from spatialops.contact.newton.blocks.structure import analyse

        assert analyse(rows.L.places, rows.trees, scratch.blocks, scratch.blocks_of)
    s = find_parts(rows, scratch)
    spread_out(rows, scratch)
    p, v = np.abs(rng.normal(size=120)), scratch.vectors[at.VELOCITY]
    eps = 0.05 * s
    put_velocities(rows, p, v, scratch)
    find_statuses(rows, eps, 1.0, p, scratch)
    put_on_pieces(rows, p, scratch)
    put_velocities(rows, p, v, scratch)
    scratch.vectors[at.CENTRE] = p
    before = p.copy()
    count = list_unknowns(rows, eps, scratch)
    put_rows(rows, eps, count, scratch)
    factor_rows(rows, eps, count, scratch)
    solve_rows(rows, eps, count, p, scratch.vectors[at.CENTRE], scratch)
    put_velocities(rows, p, v, scratch)
    k = scratch.friction[scratch.contacts[:count], at.RESISTANCE]
    k = np.where(scratch.parts[:count] == at.PRESSING, 0.0, k)
    term = eps * np.repeat(scratch.friction[:, at.WEIGHT], 3)
    left = [
        component(scratch, c, v)
        + component(scratch, c, term * (p - before))
        + k[c] * component(scratch, c, p)
        for c in range(count)
    ]
    assert (k > 0.0).sum() > 5
    assert np.abs(left).max() < 1e-10 * np.abs(rows.u).max()


@given(
    angle=st.floats(0.0, 6.3),
    share=st.floats(0.0, 1.0),
    d=st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)),
    grows=st.floats(-1.0, 1.0),
)
def test_a_ray_ends_on_the_circle(angle, share, d, grows):
    p = (share * np.cos(angle), share * np.sin(angle))
    t = plain(until_outside)(p, d, 1.0, grows)
    assert t >= 0.0

    def outside(t):
        return np.hypot(p[0] + t * d[0], p[1] + t * d[1]) - (1.0 + t * grows)

    if t < FAR:
        assert abs(outside(t)) < 1e-6 * (1.0 + t)
    for earlier in np.linspace(0.0, min(t, 100.0), 7)[:-1]:
        assert outside(earlier) < 1e-9 * (1.0 + earlier)
