"""Torsional and rolling friction and mu = inf, by the conditions of their definitions."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import LAWS, ConeCoulomb, ContactProblem, Coulomb, Frictionless, NoSlip
from spatialops.errors import ArgumentError
from tests.support.contacts import feet_problem, random_problem


def extended(rng, k, *, endless=True):
    """A random problem, some torsion and rolling, some mu = inf, closures at their rates."""
    problem = random_problem(
        rng, int(rng.integers(1, 7)), loops=k % 3, prior_normal_impulse=k % 2 == 0
    )
    m, friction = problem.n_contacts, problem.friction.copy()
    if endless and k % 3 == 0:
        friction[rng.random(m) < 0.4] = np.inf
    return dataclasses.replace(
        problem,
        loop_targets=np.zeros(problem.n_loop_rows),
        friction=friction,
        torsion=rng.uniform(0.0, 0.1, m) * (rng.random(m) < 0.7),
        rolling=rng.uniform(0.0, 0.1, m) * (rng.random(m) < 0.7),
    )


def opposes(friction, rate, limit, sharpness, scale):
    """Within the limit, and at it against the rate if any (to `sharpness` for a polyhedron)."""
    assert np.linalg.norm(friction) <= limit + 1e-8 * scale
    if np.linalg.norm(rate) > 1e-6:
        work = -friction @ rate / np.linalg.norm(rate)
        assert sharpness * limit - 1e-7 * scale <= work <= limit + 1e-7 * scale


@pytest.mark.parametrize("law", [ConeCoulomb(), Coulomb(), Coulomb(n_f=8)], ids=repr)
def test_laws_with_moments(law, rng):
    sharpness = np.cos(np.pi / law.n_f) if isinstance(law, Coulomb) else 1.0
    turned = 0
    for k in range(12):
        problem = extended(rng, k)
        answer = law.solve(problem)
        assert answer.solved, (k, answer.residual, answer.detail)
        n_b = problem.n_loop_rows
        p = answer.impulses
        moments = answer.moments
        if moments is None:
            continue
        # Momentum with everything that acts, then each contact by itself.
        G = np.concatenate([problem.jacobian, problem.spin_jacobian])
        f = np.concatenate([answer.loop_impulses, p.ravel(), moments.ravel()])
        M = so.mass_matrix(problem.model, problem.q)
        scale = np.abs(f).max(initial=1e-12)
        assert (
            np.abs(M @ (answer.velocity - problem.velocity) - G.T @ f).max()
            < 1e-7 * scale * np.abs(G).max()
        )
        u = (problem.jacobian @ answer.velocity)[n_b:].reshape(-1, 3)
        w = (problem.spin_jacobian @ answer.velocity).reshape(-1, 3)
        assert np.abs((problem.jacobian @ answer.velocity)[:n_b]).max(initial=0.0) < 1e-7
        for i in range(problem.n_contacts):
            load, opening = p[i, 0] + problem.prior_normal_impulse[i], u[i, 0] + problem.gap_bias[i]
            assert p[i, 0] >= 0.0
            assert opening > -1e-7
            assert p[i, 0] * opening < 1e-7 * scale
            if np.isinf(problem.friction[i]):
                assert min(load, np.hypot(*u[i, 1:])) < 1e-6 * max(scale, 1.0)
            else:
                opposes(p[i, 1:], u[i, 1:], problem.friction[i] * load, sharpness, scale)
            opposes(moments[i, :1], w[i, :1], problem.torsion[i] * load, 1.0, scale)
            opposes(moments[i, 1:], w[i, 1:], problem.rolling[i] * load, sharpness, scale)
            turned += abs(w[i, 0]) > 1e-6 and problem.torsion[i] * load > 1e-6
    assert turned > 5


def test_infinite_friction_is_no_slip(rng):
    for k in range(10):
        problem = random_problem(rng, int(rng.integers(1, 7)), loops=k % 2)
        problem = dataclasses.replace(
            problem,
            loop_targets=np.zeros(problem.n_loop_rows),
            friction=np.full(problem.n_contacts, np.inf),
        )
        answers = [law.solve(problem) for law in (NoSlip(), ConeCoulomb(), Coulomb())]
        for answer in answers:
            assert answer.solved
            assert np.minimum(answer.impulses[:, 0], answer.slip).max() < 1e-7


def test_moments_are_stored(rng, tmp_path):
    problem = extended(rng, 3)
    loaded = ContactProblem.load(problem.save(tmp_path / "p.npz"))
    for name in ("torsion", "rolling", "friction"):
        assert np.array_equal(getattr(loaded, name), getattr(problem, name))
    assert np.array_equal(ConeCoulomb().solve(loaded).moments, ConeCoulomb().solve(problem).moments)


def test_warm_or_cold_with_moments(rng):
    problem = extended(rng, 1, endless=False)
    cold = ConeCoulomb().solve(problem)
    warm = ConeCoulomb().solve(problem, np.hstack([cold.impulses, cold.moments]))
    assert warm.solved
    assert warm.iterations <= cold.iterations


def test_a_bad_guess_does_no_harm(rng):
    # Two feet on the axis of a turning body share what twists it in many ways: from anywhere all is
    # met to 1e-9.
    for k in range(10):
        feet = [(-0.3, 0.0, -0.2), (0.3, 0.0, -0.2)]
        problem = feet_problem(feet, velocity=(1e-3 * k, 0.1, -0.1), spin=(0.0, 0.0, 0.3))
        problem = dataclasses.replace(problem, torsion=[1e-3, 1e-3])
        cold = ConeCoulomb().solve(problem)
        assert cold.solved
        guess = np.hstack([cold.impulses, cold.moments]) * (
            1.0 + 10.0 ** -(1 + k % 4) * rng.normal(size=(2, 6))
        )
        assert ConeCoulomb().solve(problem, guess).residual < 1e-9


def test_offsets_of_contacts_with_moments_and_no_friction(rng):
    for k in range(10):
        problem = extended(rng, 2 * k, endless=False)
        smooth = dataclasses.replace(problem, friction=np.zeros(problem.n_contacts))
        assert smooth.prior_normal_impulse.any()
        for law in (ConeCoulomb(), Coulomb()):
            assert law.solve(smooth).residual < 1e-9, (k, law)


def test_laws_that_do_not_know_them_say_so():
    problem = feet_problem([(0.0, 0.0, -0.2)], velocity=(0.0, 0.0, -1.0))
    turning = dataclasses.replace(problem, torsion=[0.1])
    endless = dataclasses.replace(problem, friction=[np.inf])
    for name in ("convex", "max-dissipation", "no-slip"):
        with pytest.raises(ArgumentError, match="torsional"):
            LAWS[name]().solve(turning)
    for name in ("convex", "max-dissipation"):
        with pytest.raises(ArgumentError, match="inf"):
            LAWS[name]().solve(endless)
    with pytest.raises(ArgumentError, match="'os'"):
        Coulomb(formulation="mc").solve(turning)
    assert Frictionless().solve(turning).solved
