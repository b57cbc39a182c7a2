"""What impulses leave undetermined, by hand and against the definition."""

import warnings

import numpy as np
import pytest

from spatialops import Inertia, Joint, TreeBuilder
from spatialops.contact import ContactProblem, Coulomb, indeterminacy
from spatialops.errors import ArgumentError, PainleveWarning
from tests.support.contacts import random_problem

UP = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def body_problem(points, velocity, mu=0.5, size=(1.0, 1.0, 1.0)):
    builder = TreeBuilder()
    builder.add_body("body", joint=Joint("free"), inertia=Inertia.box(size, mass=1.0))
    model = builder.build()
    q, m = model.neutral(), len(points)
    links = np.tile([int(model.body_links[0]), -1], (m, 1))
    return ContactProblem(model, q, velocity, links, points, np.tile(UP, (m, 1, 1)), np.full(m, mu))


def test_null_space_and_determined_components(rng):
    for seed in range(8):
        problem = random_problem(np.random.default_rng(seed), 1 + seed % 4, loops=seed % 3)
        report = indeterminacy(problem, warn=False)
        W = problem.compliance
        assert np.abs(W @ report.null_space).max(initial=0.0) <= 1e-9 * np.abs(W).max()
        assert report.rank == np.linalg.matrix_rank(W, tol=1e-12 * np.abs(W).max())
        for row, fixed in enumerate(
            np.concatenate([report.determined_loops, report.determined.ravel()])
        ):
            # A component is determined if and only if asking for it adds no rank.
            unit = np.eye(len(W))[row]
            alone = np.linalg.lstsq(W, unit, rcond=1e-11)[0]
            assert fixed == (np.abs(W @ alone - unit).max() <= 1e-6)


def test_two_feet_share_what_they_press_along_their_line():
    feet = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    report = indeterminacy(body_problem(feet, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0]), warn=False)
    # Six components on a body of six freedoms, but none turns it about the line: they pull against
    # each other along it.
    assert (report.rank, report.null_space.shape[1]) == (5, 1)
    np.testing.assert_array_equal(report.determined, [[True, False, True], [True, False, True]])
    assert not report.unique
    assert "5 of" not in str(report)
    assert "4 of 6 components" in str(report)


def test_only_what_pushes_counts():
    feet = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])
    problem = body_problem(feet, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0])
    assert indeterminacy(problem).null_space.shape[1] == 6
    one = indeterminacy(problem, pushing=[True, False, False, False])
    assert one.unique
    assert one.rank == 3
    assert indeterminacy(problem, pushing=[False] * 4).rank == 0
    with pytest.raises(ArgumentError, match="pushing"):
        indeterminacy(problem, pushing=[True])


def test_redundant_loops_by_name(rng):
    problem = random_problem(rng, 2, loops=1)
    n_b = problem.n_loop_rows
    twice = ContactProblem(
        problem.model,
        problem.q,
        problem.velocity,
        problem.links,
        problem.points,
        problem.frames,
        problem.friction,
        loop_ints=np.concatenate([problem.loop_ints, problem.loop_ints + [n_b, 0, 0]]),
        loop_terms=np.concatenate([problem.loop_terms, problem.loop_terms]),
        loop_targets=np.concatenate([problem.loop_targets, problem.loop_targets]),
    )
    names = [f"{which} {k}" for which in ("first", "second") for k in range(n_b)]
    report = indeterminacy(twice, loop_names=names, warn=False)
    assert report.loop_rank == indeterminacy(problem, warn=False).loop_rank
    assert {name for name in report.redundant_loops if name.startswith("second")} == set(
        names[n_b:]
    )
    assert not report.determined_loops.any()
    assert "second 0" in str(report)
    with pytest.raises(ArgumentError, match="loop_names"):
        indeterminacy(twice, loop_names=["one"])


def test_a_sliding_rod_in_a_painleve_configuration():
    """A rod of 1 m and 1 kg that leans by the angle a.

    N.W (n - mu d) = 1 + 3 cos a (cos a - mu sin a).
    """
    angle = np.deg2rad(60.0)
    foot = 0.5 * np.array([[np.cos(angle), 0.0, -np.sin(angle)]])
    as_rod = (0.8, 0.5, 0.6)  # turns about y like a rod
    threshold = (1.0 + 3.0 * np.cos(angle) ** 2) / (3.0 * np.sin(angle) * np.cos(angle))
    for mu, direction, expected in (
        (1.01 * threshold, 1.0, True),
        (0.99 * threshold, 1.0, False),
        (1.01 * threshold, -1.0, False),
    ):
        problem = body_problem(foot, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], mu, as_rod)
        moving = np.linalg.lstsq(problem.jacobian, [0.0, direction, 0.0], rcond=None)[0]
        problem = ContactProblem(
            problem.model,
            problem.q,
            moving,
            problem.links,
            problem.points,
            problem.frames,
            problem.friction,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report = indeterminacy(problem)
        assert report.sliding.all()
        assert (report.painleve.size == 1) == expected, (mu, direction)
        assert any(issubclass(item.category, PainleveWarning) for item in caught) == expected


def test_determined_components_agree_between_solutions():
    """Two answers to one problem differ only where the report allows it."""
    feet = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    problem = body_problem(feet, [0.0, 0.3, 0.0, 0.0, 0.0, -1.0], mu=5.0)
    report = indeterminacy(problem, warn=False)
    first = Coulomb().solve(problem).impulses
    other = first + (report.null_space[:, 0] * 0.1).reshape(2, 3)
    np.testing.assert_allclose(
        problem.after(first.ravel()), problem.after(other.ravel()), atol=1e-12
    )
    assert np.abs((first - other)[report.determined]).max() <= 1e-12
    assert np.abs((first - other)[~report.determined]).min() > 1e-3


def test_only_what_can_have_an_impulse_counts():
    # Without friction three of four normals under a block are independent; tangents have nothing to
    # say.
    feet = [(x, y, -0.2) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    report = indeterminacy(body_problem(feet, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0], mu=0.0))
    assert report.rank == 3
    assert report.null_space.shape == (12, 1)
    assert np.abs(report.null_space.reshape(4, 3)[:, 1:]).max() == 0.0
    assert np.abs(report.null_space[::3, 0]) == pytest.approx(0.5)
    # A joint at its stop has one row, and that determines it.
    builder = TreeBuilder()
    builder.add_body(
        "arm", joint=Joint("prismatic", axis="x"), inertia=Inertia.sphere(0.1, mass=1.0)
    )
    at, frame = [[0.0, 0.0, 0.0]], [np.eye(3)]
    stop = ContactProblem(builder.build(), [0.0], [-1.0], [[0, -1]], at, frame, [0.0], kinds=[1])
    assert indeterminacy(stop).unique
