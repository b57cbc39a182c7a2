"""Contacts of which each has a law of its own, by the conditions of each as they are defined."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import (
    ConeCoulomb,
    ContactProblem,
    Coulomb,
    NoSlip,
    Pairwise,
    Viscous,
    certify,
)
from spatialops.contact.certificate import promised
from spatialops.contact.friction import directions
from spatialops.errors import ArgumentError
from tests.support.contacts import block_problem, random_problem


def mixed(rng, k):
    """A random problem of round, polyhedral, viscous, smooth and (every third) held contacts."""
    m = int(rng.integers(1, 9))
    problem = random_problem(
        rng,
        m,
        n=int(rng.integers(1, 7)),
        loops=k % 3,
        prior_normal_impulse=k % 2 == 0,
        mu=(0.1, 1.5),
    )
    kind, friction = rng.integers(0, 5, m), problem.friction.copy()
    friction[kind < 2] = 0.0
    if k % 3 == 0:
        friction[kind == 2] = np.inf
    return dataclasses.replace(
        problem,
        loop_targets=np.zeros(problem.n_loop_rows),
        friction=friction,
        viscous=np.where(kind == 0, rng.uniform(0.0, 5.0, m), 0.0),
        polygon_sides=np.where(rng.random(m) < 0.5, 4 if k % 4 else 6, 0),
        torsion=rng.uniform(0.0, 0.1, m) * (k % 5 == 0),
    )


def check(problem, answer, tolerance=1e-7):
    """Momentum, closures, normals, and the friction of every contact by its definition.

    Returns kinds that slid.
    """
    n_b = problem.n_loop_rows
    p = answer.impulses
    slid = set()
    f = np.concatenate([answer.loop_impulses, p.ravel()])
    pushed = problem.jacobian.T @ f
    if answer.moments is not None:
        pushed = pushed + problem.spin_jacobian.T @ answer.moments.ravel()
    M, scale = so.mass_matrix(problem.model, problem.q), max(np.abs(f).max(initial=0.0), 1.0)
    assert np.abs(M @ (answer.velocity - problem.velocity) - pushed).max() < tolerance * scale
    rates = problem.jacobian @ answer.velocity
    assert np.abs(rates[:n_b]).max(initial=0.0) < tolerance
    for i, u in enumerate(rates[n_b:].reshape(-1, 3)):
        opening, load = u[0] + problem.gap_bias[i], p[i, 0] + problem.prior_normal_impulse[i]
        assert min(p[i, 0], opening) > -tolerance
        assert p[i, 0] * opening < tolerance * scale
        friction, slip = p[i, 1:] + problem.viscous[i] * u[1:], u[1:]
        if np.isinf(problem.friction[i]):
            assert min(load, np.hypot(*slip)) < 1e-6 * scale
            continue
        limit, facets = (
            problem.friction[i] * load,
            directions(max(int(problem.polygon_sides[i]), 2)),
        )
        assert np.hypot(*friction) <= limit + tolerance * scale
        most = (facets @ slip).max() if problem.polygon_sides[i] else np.hypot(*slip)
        assert friction @ slip == pytest.approx(-limit * most, abs=tolerance * scale)
        if problem.polygon_sides[
            i
        ]:  # within the polygon: no direction in which it reaches farther than a corner
            away = np.column_stack([np.cos(w := np.linspace(0.0, 2.0 * np.pi, 97)), np.sin(w)])
            assert (
                (away @ friction) <= limit * (away @ facets.T).max(axis=1) + tolerance * scale
            ).all()
        if np.hypot(*slip) > 1e-3 and load > 1e-3:
            slid.add(
                "drag"
                if problem.viscous[i]
                else "smooth"
                if limit == 0.0
                else int(problem.polygon_sides[i])
            )
    return slid


def test_every_contact_has_its_own_law(rng):
    slid = set()
    for k in range(60):
        problem = mixed(rng, k)
        answer = Pairwise().solve(problem)
        assert answer.solved, (k, answer.residual)
        slid |= check(problem, answer)
        found = certify(
            problem,
            answer.impulses,
            answer.loop_impulses,
            answer.moments,
            promises=promised(Pairwise()),
        )
        assert found.residual < 1e-8
    assert slid == {"drag", "smooth", 0, 4, 6}


@pytest.mark.slow
def test_a_thousand_mixes(rng):
    for k in range(1000):
        problem = mixed(rng, k)
        answer = Pairwise().solve(problem)
        assert answer.solved, (k, answer.residual)
        check(problem, answer)


def test_with_one_law_for_all_it_is_that_law(rng):
    for k in range(6):
        problem = dataclasses.replace(
            random_problem(rng, 5, loops=k % 2), loop_targets=np.zeros(k % 2)
        )
        m = problem.n_contacts
        for own, law in (
            ({}, ConeCoulomb()),
            ({"polygon_sides": np.full(m, 4)}, Coulomb()),
            ({"friction": np.full(m, np.inf)}, NoSlip()),
            (
                {"friction": np.zeros(m), "viscous": 0.7 * problem.friction},
                Viscous(film=np.finfo(float).max),
            ),
        ):
            alone = dataclasses.replace(problem, duration=0.7)
            if not isinstance(law, Viscous):
                alone = dataclasses.replace(problem, **own)
            one, other = Pairwise().solve(dataclasses.replace(problem, **own)), law.solve(alone)
            assert one.solved, law
            assert other.solved, law
            kinetic = [
                0.5 * v @ so.mass_matrix(problem.model, problem.q) @ v
                for v in (one.velocity, other.velocity)
            ]
            assert kinetic[0] == pytest.approx(kinetic[1], rel=1e-6), law


def test_dry_and_viscous_friction_of_a_block_by_hand():
    # m v+ = m v - mu p_n - K v+: 2 kg, p_n = 2, mu = 0.5, K = 3: v+ = (2 * 4 - 1) / 5.
    problem = dataclasses.replace(block_problem((4.0, 0.0, -1.0)), viscous=[3.0])
    for law in (Pairwise(), ConeCoulomb(), Coulomb()):
        answer = law.solve(problem)
        assert answer.solved
        assert answer.slip[0] == pytest.approx(7.0 / 5.0, abs=1e-12)
        assert answer.impulses[0, 1] == pytest.approx(-1.0 - 3.0 * 7.0 / 5.0, abs=1e-12)


def test_a_polygon_is_met_off_its_axes():
    # Slip 45 degrees off the corners of a square: friction at a corner, cos 45 of the round limit
    # against the slip.
    problem = dataclasses.replace(block_problem((3.0, 3.0, -1.0)), polygon_sides=[4])
    answer = Pairwise().solve(problem)
    assert answer.solved
    assert np.abs(answer.impulses[0, 1:]).sum() == pytest.approx(
        0.5 * answer.impulses[0, 0], rel=1e-9
    )


def test_stored_and_bad_fields(rng, tmp_path):
    problem = mixed(rng, 3)
    again = ContactProblem.load(problem.save(tmp_path / "p.npz"))
    assert np.array_equal(again.viscous, problem.viscous)
    assert np.array_equal(again.polygon_sides, problem.polygon_sides)
    m = problem.n_contacts
    for bad in (
        {"polygon_sides": np.full(m, 3)},
        {"polygon_sides": np.full(m, -2)},
        {"viscous": np.full(m, -1.0)},
        {"polygon_sides": [4] * 99},
    ):
        with pytest.raises(ArgumentError, match=next(iter(bad))):
            dataclasses.replace(problem, **bad)
    dragged = dataclasses.replace(block_problem((1.0, 0.0, -1.0)), viscous=[1.0])
    for name in ("convex", "max-dissipation", "no-slip", "viscous"):
        with pytest.raises(ArgumentError, match="viscous"):
            so.contact.LAWS[name]().solve(dragged)
