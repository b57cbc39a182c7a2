"""Contacts whose answer is known: one, a block on a slope, a box, a spinning disc, rolling."""

import numpy as np
import pytest
import scipy.sparse as sp

from spatialops.contact import ConeProblem, solve
from tests.support.heaps import GROUND, box_on_plane, box_stack, check_solved, problem_of


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("slip", [0.0, 0.1, 3.0])
def test_one_contact_of_equal_compliance(mu, slip):
    # u = w r + b with w = 0.5: the normal impulse is 1 / w, friction at most mu / w, sticking if mu
    # >= slip.
    angle = 0.7
    problem = ConeProblem(0.5 * np.eye(3), [-1.0, slip * np.cos(angle), slip * np.sin(angle)], mu)
    solution = solve(problem)
    check_solved(problem, solution, 1e-12)
    stop = min(mu, slip)
    expected = np.array([1.0, -stop * np.cos(angle), -stop * np.sin(angle)]) / 0.5
    assert np.allclose(solution.r, expected, rtol=0.0, atol=1e-12)
    assert np.allclose(
        solution.u[1:],
        (slip - stop) * np.array([np.cos(angle), np.sin(angle)]),
        rtol=0.0,
        atol=1e-12,
    )


def test_one_coupled_contact_slides():
    # 2-D by hand: 2 r_n + 0.5 r_t = 1 with r_t = -0.2 r_n against the slip u_t = 0.5 r_n + r_t + 2
    # > 0.
    problem = ConeProblem([[2.0, 0.5], [0.5, 1.0]], [-1.0, 2.0], 0.2, dim=2)
    solution = solve(problem)
    r_n = 1.0 / (2.0 - 0.2 * 0.5)
    assert np.allclose(solution.r, [r_n, -0.2 * r_n], rtol=0.0, atol=1e-14)
    assert np.allclose(solution.u, [0.0, 2.0 + 0.5 * r_n - 0.2 * r_n], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("offset", [-0.1, -1e-6, 1e-6, 0.1])
@pytest.mark.parametrize("tilted", [1, 4])
def test_block_on_a_slope(mu, offset, tilted):
    # It rests below atan mu and slides above it with g (sin - mu cos) dt.
    angle = np.arctan(mu) + offset
    fall = 0.0981
    mass = 2.0
    gravity = fall * np.array(
        [-np.cos(angle), np.sin(angle), 0.0]
    )  # along (normal, down the slope, across)
    if tilted == 1:
        problem = ConeProblem(np.eye(3) / mass, gravity, mu)
    else:  # four corners, the centre low enough not to tip over
        corners = [
            (0, GROUND, [x, y, -0.2], [0.0, 0.0, 1.0]) for x in (-1.0, 1.0) for y in (-1.0, 1.0)
        ]
        velocity = [[gravity[1], 0.0, gravity[0], 0.0, 0.0, 0.0]]
        problem = problem_of(corners, [np.zeros(3)], [mass], [0.5], velocity, mu)
    solution = solve(problem)
    check_solved(problem, solution, 1e-12)
    r, u = solution.r.reshape(-1, 3), solution.u.reshape(-1, 3)
    slide = max(fall * (np.sin(angle) - mu * np.cos(angle)), 0.0)
    assert r[:, 0].sum() == pytest.approx(mass * fall * np.cos(angle), rel=1e-11)
    assert np.allclose(np.linalg.norm(u[:, 1:], axis=1), slide, rtol=0.0, atol=1e-12)
    assert np.abs(u[:, 0]).max() <= 1e-12


@pytest.mark.parametrize("corners", [3, 4, 8])
def test_box_at_rest_and_sliding(corners):
    rest = solve(box_on_plane(corners))
    assert rest.r[::3].sum() == pytest.approx(0.0981, rel=1e-12)
    assert np.abs(rest.u).max() <= 1e-13
    assert np.allclose(rest.r.reshape(-1, 3).sum(axis=0)[1:], 0.0, rtol=0.0, atol=1e-13)
    # Twirling about its vertical axis, friction brakes: impulse mu m g dt, moment arm 0.5.
    mu = 0.3
    spin = 2.0
    fall = 0.0981
    inertia = 0.4 * 0.25
    solution = solve(box_on_plane(corners, spin=(0.0, 0.0, spin), mu=mu))
    slip = np.linalg.norm(solution.u.reshape(-1, 3)[:, 1:], axis=1)
    assert np.allclose(slip, 0.5 * (spin - 0.5 * mu * fall / inertia), rtol=0.0, atol=1e-12)


def test_sliding_box_brakes_by_mu_g():
    solution = solve(box_on_plane(4, velocity=(0.7, 0.0, -0.0981), mu=0.2))
    G_u = solution.u.reshape(-1, 3)
    assert np.allclose(G_u[:, 0], 0.0, rtol=0.0, atol=1e-13)
    speed = np.linalg.norm(G_u[:, 1:], axis=1)
    assert np.allclose(speed, 0.7 - 0.2 * 0.0981, rtol=0.0, atol=1e-12)


def test_stack_carries_its_weight():
    height = 6
    problem = box_stack(height)
    solution = solve(problem)
    check_solved(problem, solution)
    load = solution.r.reshape(height, 4, 3)[:, :, 0].sum(axis=1)
    assert np.allclose(load, 0.0981 * np.arange(height, 0, -1), rtol=1e-9)


def test_disc_that_spins_on_its_face():
    # Torsion alone: the spin about the normal loses c r_n, or stops.
    for spin, expected in ((1.0, 1.0 - 0.1 * 2.0), (0.1, 0.0), (-1.0, -0.8)):
        problem = ConeProblem(np.eye(4), [-2.0, 0.0, 0.0, spin], 0.5, torsion=0.1)
        solution = solve(problem)
        assert solution.solved
        assert solution.r[0] == pytest.approx(2.0, abs=1e-12)
        assert solution.u[3] == pytest.approx(expected, abs=1e-12)


def test_rolling_ball_is_braked():
    # A ball that rolls without slipping at speed v: rolling friction takes the moment c r_n,
    # sliding friction keeps it.
    mass = 2.0
    radius = 0.5
    v = 1.0
    c = 0.01
    fall = 0.1
    inertia = 0.4 * mass * radius**2
    # rows: normal, slip x, slip y, spin x, spin y;  slip x = v_x - radius * spin_y
    G = np.zeros((5, 5))  # velocities of the ball: v_z, v_x, v_y, omega_x, omega_y
    G[0, 0] = G[1, 1] = G[2, 2] = G[3, 3] = G[4, 4] = 1.0
    G[1, 4], G[2, 3] = -radius, radius
    W = G @ np.diag([1 / mass, 1 / mass, 1 / mass, 1 / inertia, 1 / inertia]) @ G.T
    b = G @ np.array([-fall, v, 0.0, 0.0, v / radius])
    solution = solve(ConeProblem(W, b, 0.8, rolling=c))
    assert np.allclose(solution.u[:3], 0.0, rtol=0.0, atol=1e-12)
    moment = solution.r[4]
    assert moment == pytest.approx(-c * solution.r[0], rel=1e-12)
    # With sliding friction f: m (v' - v) = f, I (w' - w) = moment - radius f, v' = radius w'.
    slower = moment / radius / (mass + inertia / radius**2)
    assert solution.u[4] == pytest.approx((v + slower) / radius, abs=1e-12)


def test_elliptic_cone_is_round_in_other_units():
    # Rows of rolling measured with mu / c times the length: the elliptic cone of 5 rows becomes one
    # of mu alone.
    rng = np.random.default_rng(3)
    G = rng.normal(size=(10, 10))
    W = G @ G.T
    b = rng.normal(size=10) - np.tile([2.0, 0, 0, 0, 0], 2)
    mu = 0.6
    c = 0.2
    solution = solve(ConeProblem(W, b, mu, rolling=c, elliptic=True))
    assert solution.solved
    r, u = solution.r.reshape(2, 5), solution.u.reshape(2, 5)
    for k in range(2):
        used = np.sqrt((r[k, 1] ** 2 + r[k, 2] ** 2) / mu**2 + (r[k, 3] ** 2 + r[k, 4] ** 2) / c**2)
        assert used <= r[k, 0] * (1.0 + 1e-9) + 1e-12
        slip = np.concatenate([mu * u[k, 1:3], c * u[k, 3:]])
        if (
            np.linalg.norm(slip) > 1e-9 and r[k, 0] > 1e-9
        ):  # largest dissipation: r = -r_n B^2 u / |B u|
            expected = (
                -r[k, 0]
                * np.concatenate([mu**2 * u[k, 1:3], c**2 * u[k, 3:]])
                / np.linalg.norm(slip)
            )
            assert np.allclose(r[k, 1:], expected, rtol=0.0, atol=1e-8)


def test_two_kinds_are_each_at_their_own_limit():
    problem = ConeProblem(np.eye(5), [-1.0, 3.0, 4.0, 0.0, -2.0], 0.5, rolling=0.25)
    solution = solve(problem)
    assert np.allclose(solution.r, [1.0, -0.3, -0.4, 0.0, 0.25], rtol=0.0, atol=1e-12)


def test_sparse_and_dense_agree_on_many_contacts():
    problem = box_stack(25)
    dense = solve(ConeProblem(problem.W.toarray(), problem.b, problem.mu))
    sparse = solve(problem)
    assert sp.issparse(problem.W)
    check_solved(problem, sparse)
    check_solved(problem, dense)
    assert np.abs(sparse.u - dense.u).max() <= 1e-9 * np.abs(problem.b).max()
