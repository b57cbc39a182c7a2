"""The central answer solves the problem that others assemble: shortest, or nearest to the last."""

import numpy as np
import pytest

from spatialops.contact.formulations.operational_space import assemble_kernel
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim, central_impulses
from spatialops.contact.newton.residual import residual_of, shares, speed_scale
from spatialops.contact.newton.statuses import _RANGE, find_parts
from tests.contact.newton.test_block_factors import pile
from tests.support.contact_rows import contact_rows_of, dense_of, scratch_of

TOLERANCE = 1e-9
FROM_ZERO = Aim(False, TOLERANCE, ALL_ATTEMPTS, False, False)
SQUARE = [(x, y, -0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
UP = [(0.0, 0.0, 1.0)] * 4


def frame(normal):
    """Normal and two tangents."""
    n = np.asarray(normal) / np.linalg.norm(normal)
    t = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    t /= np.linalg.norm(t)
    return np.array([n, t, np.cross(n, t)])


def body(points, normals, friction, twist, n_f=4, prior=0.0):
    """Contacts of one free body of 1 kg and 0.1 kg m^2 that moves with a twist (spin, velocity)."""
    scale = np.sqrt(np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0]))
    J = np.array(
        [
            np.concatenate([np.cross(x, d), d])
            for x, n in zip(points, normals, strict=True)
            for d in frame(n)
        ]
    )
    m = len(points)
    mu, theta = np.full(m, float(friction)), np.full(m, float(prior))
    u = J @ np.asarray(twist, dtype=np.float64)
    return contact_rows_of(J * scale, u, mu, theta, np.zeros(m), directions(n_f))


def random_body(rng, count=8):
    """Up to so many contacts: anywhere, in one plane, or along the axes."""
    m, kind = rng.integers(1, count + 1), rng.integers(3)
    points, normals = rng.uniform(-0.3, 0.3, (m, 3)), rng.normal(size=(m, 3))
    if kind == 1:
        points[:, 2] = -0.1
        normals[:] = (0.0, 0.0, 1.0)
    elif kind == 2:
        normals = np.eye(3)[np.arange(m) % 3]
    twist = rng.normal(size=6) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0] - [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    n_f = int(rng.choice([2, 4, 6, 8]))
    return body(points, normals, rng.uniform(0.0, 1.0), twist, n_f, rng.choice([0.0, 0.1]))


def solved(rows, start=None):
    """Iterations, residual, impulses (m, 3)."""
    m = rows.friction.size
    p = np.zeros(3 * m) if start is None else np.array(start, dtype=np.float64).ravel()
    scratch = scratch_of(rows)
    iterations, residual = central_impulses(
        rows, 0.0, Aim(start is not None, TOLERANCE, ALL_ATTEMPTS, False, False), p, scratch
    )
    return iterations, residual, p.reshape(m, 3)


def assembled_residual(rows, p):
    """The residual of the assembled problem, [J] 53, at impulses p."""
    m, n_f = rows.friction.size, len(rows.corners)
    n = m * (n_f + 2)
    A, b = np.zeros((n, n)), np.zeros(n)
    L = dense_of(rows)
    W = L @ L.T
    s = assemble_kernel(W, rows.u, rows.friction, rows.prior, rows.corners, A, b)
    b[n - m :] += s * rows.dry
    v = (rows.u + W @ p.ravel()).reshape(m, 3)
    z = np.zeros(n)
    for i in range(m):
        first, second, along_first, along_second = shares(rows.corners, *(s * p[i, 1:]))
        z[i * (n_f + 1)] = s * p[i, 0]
        z[i * (n_f + 1) + 1 + first] += along_first
        z[i * (n_f + 1) + 1 + second] += along_second
        z[m * (n_f + 1) + i] = max((-rows.corners @ v[i, 1:]).max(), 0.0)
    return MixedLCP(A, b).residual(z)


def test_random_bodies_are_solved_in_the_assembled_problem(rng):
    unsolved = 0
    for _ in range(100):
        rows = random_body(rng)
        _, residual, p = solved(rows)
        unsolved += not residual <= TOLERANCE
        assert assembled_residual(rows, p) <= residual + 1e-14
    assert unsolved <= 1


def test_what_is_stated_again_is_solved_by_the_statuses_and_factors_at_hand(rng):
    """The answer is that from no factors: one step where nothing begins to slide or to leave."""
    at_once = 0
    for _ in range(60):
        rows = random_body(rng)
        scratch, p = scratch_of(rows), np.zeros(3 * rows.friction.size)
        if not central_impulses(rows, 0.0, FROM_ZERO, p, scratch)[1] <= TOLERANCE:
            continue
        L = dense_of(rows)
        rows.u[:] += 1e-7 * L @ rng.normal(size=L.shape[1])
        again, fresh = p.copy(), p.copy()
        known, anew = (Aim(True, TOLERANCE, ALL_ATTEMPTS, known, False) for known in (True, False))
        iterations, residual = central_impulses(rows, 0.0, known, again, scratch)
        assert central_impulses(rows, 0.0, anew, fresh, scratch_of(rows))[1] <= TOLERANCE
        assert residual <= TOLERANCE
        assert assembled_residual(rows, again.reshape(-1, 3)) <= residual + 1e-14
        assert np.abs(L @ (L.T @ (again - fresh))).max() <= 1e-6 * np.abs(rows.u).max()
        at_once += iterations == 1
    assert at_once > 40


def test_contacts_more_of_a_pile_leave_the_others_statuses_what_they_are(rng):
    """One that arrives is far from an answer, and those about it are not: steps are few."""
    rows = pile(rng, [6] * 14, 30, mu=0.3)
    p = np.zeros(3 * rows.friction.size)
    assert central_impulses(rows, 0.0, FROM_ZERO, p, scratch_of(rows))[1] <= TOLERANCE
    rows.u[0] -= np.abs(rows.u).max()
    taken = []
    for more in (True, False):
        again = p.copy()
        aim = Aim(True, TOLERANCE, ALL_ATTEMPTS, False, more)
        iterations, residual = central_impulses(rows, 0.0, aim, again, scratch_of(rows))
        assert residual <= TOLERANCE
        assert assembled_residual(rows, again.reshape(-1, 3)) <= residual + 1e-14
        taken.append(iterations)
    assert 0 < taken[0] <= 6
    assert taken[1] < -10  # from zero, inside


def test_the_residual_is_that_of_the_assembled_problem(rng):
    for _ in range(50):
        rows = random_body(rng)
        m = rows.friction.size
        scratch = scratch_of(rows)
        s = find_parts(rows, scratch)
        p = rng.normal(size=3 * m) / s
        p[::3] = np.abs(p[::3])
        if len(rows.corners) == 2:
            p[2::3] = 0.0
        L = dense_of(rows)
        v = rows.u + L @ (L.T @ p)
        own = residual_of(rows, s, speed_scale(rows, s), p, v)
        theirs = assembled_residual(rows, p.reshape(m, 3))
        assert theirs <= own * (1.0 + 1e-9)
        assert own <= 2.0 * theirs * (1.0 + 1e-9)


def test_a_body_at_rest_has_the_shortest_impulses():
    rows = body(SQUARE, UP, 0.5, [0.0, 0.0, 0.0, 1e-3, 0.0, -1e-2])
    iterations, residual, p = solved(rows)
    L = dense_of(rows)
    shortest = np.linalg.pinv(L @ L.T) @ -rows.u
    assert iterations <= 3
    assert residual < 1e-12
    assert p.ravel() == pytest.approx(shortest, rel=1e-9, abs=1e-12)


def test_the_impulses_of_the_step_before_are_kept_where_they_still_hold():
    """Of a body between two walls the squeeze is whatever it was."""
    points = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    normals = [(-x, 0.0, 0.0) for x, _, _ in points]
    rows = body(points, normals, 0.5, [0.0, 0.0, 0.0, 0.0, 0.0, -1e-2])
    squeeze = np.zeros((8, 3))
    squeeze[:, 0] = 0.01
    _, residual, p = solved(rows, squeeze)
    assert residual <= TOLERANCE
    assert p[:, 0] == pytest.approx(np.full(8, 0.01), rel=1e-9)
    again = solved(rows, p)
    assert again[0] == 0
    assert np.array_equal(again[2], p)
    # A little more weight: the nearest impulses, and none of the squeeze is lost.
    heavier = solved(rows._replace(u=1.01 * rows.u), p)
    assert heavier[1] <= TOLERANCE
    assert heavier[2][:, 0] == pytest.approx(np.full(8, 0.01), rel=1e-9)


def test_impulses_stay_where_none_do_better():
    """Four corners disagree by roundings, which no impulses take away: they do not creep."""
    rows = body(SQUARE, UP, 0.5, [0.0, 0.0, 0.0, 1e-3, 0.0, -1e-2])
    rows.u[0] += 1e-14
    first = solved(rows)
    assert 1e-13 < first[1] < 1e-12
    again = solved(rows, first[2])
    assert again[1] <= 2.0 * first[1]
    assert np.array_equal(again[2], first[2])
    # What others do better is not kept.
    off = first[2] * (1.0 + 1e-9)
    better = solved(rows, off)
    assert better[1] < 1e-12
    assert not np.array_equal(better[2], off)


def test_what_need_not_press_does_not():
    """Without a squeeze from before a body between walls falls: p = 0 solves, and comes first."""
    points = [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    rows = body(points, [(-x, 0.0, 0.0) for x, _, _ in points], 0.5, [0, 0, 0, 0, 0, -1e-2])
    iterations, residual, p = solved(rows)
    assert (iterations, residual, np.abs(p).max()) == (0, 0.0, 0.0)


def test_joints_have_stops_without_tangents_and_dry_friction_without_normals():
    """Joints of inertia 1: one runs into its stop, two have dry friction, of which one slips."""
    L, u = np.zeros((9, 3)), np.zeros(9)
    for i, (row, speed) in enumerate(((0, -1.0), (1, 0.3), (1, -2.0))):
        L[3 * i + row, i] = 1.0
        u[3 * i + row] = speed
    rows = contact_rows_of(L, u, np.zeros(3), np.zeros(3), np.array([0.0, 0.5, 0.5]), directions(4))
    _, residual, p = solved(rows)
    assert residual < 1e-12
    assert p == pytest.approx(np.array([[1.0, 0.0, 0.0], [0.0, -0.3, 0.0], [0.0, 0.5, 0.0]]))


def test_friction_answers_an_impulse_that_presses_already():
    """Decompression: the normal leaves, and mu theta brakes the sliding."""
    rows = body([(0.0, 0.0, 0.0)], UP[:1], 0.5, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0], prior=0.4)
    _, residual, p = solved(rows)
    along = frame(UP[0])[1:] @ [1.0, 0.0, 0.0]
    assert residual < 1e-12
    assert p[0, 0] == 0.0
    assert p[0, 1:] == pytest.approx(-0.2 * along)


def test_nothing_to_do_and_no_number():
    rows = body(SQUARE, UP, 0.5, np.zeros(6))
    assert solved(rows)[:2] == (0, 0.0)
    _, residual, _ = solved(rows._replace(u=np.full(12, np.nan)))
    assert not residual <= TOLERANCE


def test_rows_that_do_not_move_are_left_out():
    """A body that moves in a plane: its second tangents are zero."""
    rows = body(SQUARE, UP, 0.5, [0.0, 0.0, 0.0, 0.3, 0.0, -1.0])
    planar = dense_of(rows)[:, [1, 3, 5]]
    planar[np.abs(planar) < 1e-12] = 0.0
    _, residual, p = solved(contact_rows_of(planar, *rows[2:7]))
    assert residual < 1e-12
    assert np.isfinite(p).all()


def with_stop(unit):
    """A box on four corners, all but at rest, and a joint that runs into its stop, in some unit."""
    box = body(SQUARE, UP, 0.5, [0.0, 0.0, 0.0, 0.1, 0.02, -1.0])
    L = np.zeros((15, 7))
    L[:12, :6] = dense_of(box)
    L[12] = unit * np.array([0.3, 0.0, 0.2, 0.0, 0.1, 0.4, 1.0])
    return contact_rows_of(
        L,
        np.append(box.u, [-0.5 * unit, 0.0, 0.0]),
        np.append(box.friction, 0.0),
        np.append(box.prior, 0.0),
        np.append(box.dry, 0.0),
        box.corners,
    )


def test_the_unit_of_a_joint_means_nothing_to_the_feet():
    # Of degrees, or of a joint that turns a light wrist, W_ii is larger by orders of magnitude.
    of_metres = solved(with_stop(1.0))
    of_wrists = solved(with_stop(1e3))
    assert of_wrists[0] == of_metres[0]
    assert of_wrists[1] <= TOLERANCE
    assert of_wrists[2][:4] == pytest.approx(of_metres[2][:4], abs=1e-9)
    assert 1e3 * of_wrists[2][4] == pytest.approx(of_metres[2][4], abs=1e-9)


def block_and_crumb(unit):
    """A body on four points, and a crumb of 1 kg / unit^2 that it pushes along the floor."""
    box = body(SQUARE, UP, 0.5, [0.0, 0.0, 0.0, 0.1, 0.02, -1.0])
    L = np.zeros((18, 12))
    L[:12, :6] = dense_of(box)
    L[12:15, 6:9] = unit * np.eye(3)  # on the floor
    L[15:, 6:9] = unit * frame((1.0, 0.0, 0.0))  # before the body
    L[15:, :6] = -dense_of(body([(0.1, 0.0, 0.0)], [(1.0, 0.0, 0.0)], 0.5, np.zeros(6)))
    u = np.concatenate([box.u, [-1.0, 0.0, 0.0, -0.5, 0.0, 0.1]])
    ones = np.ones(6)
    return contact_rows_of(L, u, 0.5 * ones, 0.0 * ones, 0.0 * ones, box.corners)


def test_a_light_body_makes_no_soft_ground_for_heavy_ones():
    rows = block_and_crumb(300.0)
    iterations, residual, _ = solved(rows)
    assert residual <= TOLERANCE
    assert iterations <= 12
    scratch = scratch_of(rows)
    s = find_parts(rows, scratch)
    weights = scratch.friction[:, at.WEIGHT]
    assert weights[4] == weights[5] == weights.max() <= 1.0
    heavy = (dense_of(rows)[:12] ** 2).sum(axis=1).reshape(4, 3).max(axis=1)
    assert weights[:4] == pytest.approx(_RANGE * heavy / s)
    # Of bodies alike there is one.
    alike = block_and_crumb(1.0)
    find_parts(alike, scratch)
    assert np.unique(scratch.friction[:, at.WEIGHT]).size == 1
