"""All formulations of one problem: sizes, laws that solutions obey, and that they agree."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops._layout import ARMATURE, MASS
from spatialops.contact import solve
from spatialops.contact.formulations import FORMULATIONS, check_formulation
from spatialops.contact.indeterminacy import indeterminacy
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError, ContactError
from tests.support.contacts import block_problem, check_laws, random_problem

EVERY = list(FORMULATIONS)
INVERT_BODIES = ("nmc/os", "trinkle")  # need an inertia of every body


def pendulum_problem(n, m=4):
    """A pendulum of n links with m contacts on its last spheres, from below and from the right."""
    made = so.models.pendulum(n)
    model, q = made.model, made.state.q
    poses = so.body_poses(model, q)
    bodies = [n - 1 - i // 2 for i in range(m)]
    normals = [((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0))[i % 2] for i in range(m)]
    frames = []
    for normal in normals:
        side = np.array([0.0, 1.0, 0.0])
        frames.append([normal, np.cross(side, normal), side])
    centers = [poses.positions[b] - made.radius * poses.rotations[b][:, 2] for b in bodies]
    points = np.array(centers) - made.radius * np.array(normals)
    links = [(model.body_links[b], -1) for b in bodies]
    v = np.linspace(1.0, -2.0, n)
    return ContactProblem(model, q, v, links, points, frames, np.full(m, 0.5))


def solve_by(name, problem, n_f=4):
    formulation = FORMULATIONS[name](n_f)
    solution = solve(formulation.assemble(problem))
    assert solution.solved, (name, solution.status.message, solution.residual)
    return formulation.recover(problem, solution)


TABLE_2 = {
    "os": (24, 24, 24, 24, 24, 24),
    "nmc/os": (39, 54, 84, 99, 144, 174),
    "nmc": (57, 90, 156, 189, 288, 354),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_sizes_of_the_papers_table_2(name):
    found = [
        FORMULATIONS[name](4).assemble(pendulum_problem(n)).size for n in (3, 6, 12, 15, 24, 30)
    ]
    assert tuple(found) == TABLE_2[name]


def test_sizes_with_closures(rng):
    problem = random_problem(rng, 3, n=5, kinds=("revolute",), loops=2, armature=False)
    n = problem.model.n_bodies
    n_f = 6
    m = 3
    n_b = 2
    cones = m * (n_f + 2)
    expected = {
        "nmc": 6 * n + 5 * n + n_b + cones,
        "mc": n + n_b + cones,
        "rmc": cones,
        "os": n_b + cones,
        "nmc/os": 5 * n + n_b + cones,
        "trinkle": 2 * 5 * n + cones,
    }
    for name, size in expected.items():
        lcp = FORMULATIONS[name](n_f).assemble(problem)
        assert lcp.size == size
        assert lcp.n_free == (0 if name == "trinkle" else size - cones)


@pytest.mark.parametrize("loops", [0, 2, 4])
@pytest.mark.parametrize("name", EVERY)
def test_solutions_obey_the_laws(name, loops, rng):
    slips = []
    for i in range(4):
        armature = name not in INVERT_BODIES
        problem = random_problem(
            rng, i, loops=loops, prior_normal_impulse=i == 2, armature=armature
        )
        n_f = (4, 2, 8, 4)[i]
        slips.extend(check_laws(problem, solve_by(name, problem, n_f), n_f))
    assert max(slips) > 1e-3


@pytest.mark.parametrize("redundant", [0, 1])
def test_all_agree(redundant, rng):
    """The next velocity where it is unique, and impulses where those are."""
    determined = 0
    for _ in range(6):
        problem = random_problem(rng, 3, loops=3, redundant=redundant, armature=False)
        report = indeterminacy(problem)
        determined += report.unique
        reference = solve_by("os", problem)
        for name in EVERY:
            answer = solve_by(name, problem)
            check_laws(problem, answer, 4)
            scale = np.abs(reference.velocity).max()
            assert np.abs(answer.velocity - reference.velocity).max() <= 1e-8 * scale, name
            p, expected = _impulses(answer), _impulses(reference)
            moves = p - expected - report.null_space @ (report.null_space.T @ (p - expected))
            assert np.abs(moves).max() <= 1e-7 * np.abs(expected).max(), name
    assert determined == 0 if redundant else determined > 0


def _impulses(answer):
    return np.concatenate([answer.loop_impulses, answer.impulses.ravel()])


def test_indeterminacy_of_four_feet():
    from tests.support.contacts import feet_problem

    feet = [(x, y, -0.2) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    report = indeterminacy(feet_problem(feet, velocity=(0.0, 0.0, -1.0)))
    assert (report.rank, report.loop_rank, report.null_space.shape) == (6, 0, (12, 6))
    assert not report.unique
    assert "6 combinations are free" in str(report)
    single = indeterminacy(block_problem((0.0, 0.0, -1.0)))
    assert single.unique
    assert "full rank" in str(single)


def test_redundant_closures_share(rng):
    """A copied row changes no velocity; the report says that its impulse is free."""
    problem = random_problem(rng, 2, loops=2, armature=False)
    doubled = dataclasses.replace(
        problem,
        loop_ints=np.concatenate([problem.loop_ints, problem.loop_ints[:1] + [[2, 0, 0]]]),
        loop_terms=np.concatenate([problem.loop_terms, problem.loop_terms[:1]]),
        loop_targets=np.append(problem.loop_targets, problem.loop_targets[0]),
    )
    assert indeterminacy(problem).loop_rank == indeterminacy(doubled).loop_rank == 2
    for name in EVERY:
        one, two = solve_by(name, problem), solve_by(name, doubled)
        assert np.allclose(one.velocity, two.velocity, rtol=0.0, atol=1e-9)
        assert two.loop_impulses[0] + two.loop_impulses[2] == pytest.approx(
            one.loop_impulses[0], abs=1e-7
        )


@pytest.mark.parametrize("name", EVERY)
def test_no_contacts_and_nothing_at_all(name, rng):
    problem = random_problem(rng, 0, loops=2, armature=False)
    answer = solve_by(name, problem)
    assert answer.impulses.shape == (0, 3)
    assert np.allclose(
        problem.jacobian @ answer.velocity, problem.loop_targets, rtol=0.0, atol=1e-10
    )
    free = random_problem(rng, 0, armature=False)
    assert np.allclose(solve_by(name, free).velocity, free.velocity, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_armature_counts(name, rng):
    drawn = (
        random_problem(rng, 2, n=4, kinds=("revolute", "prismatic"), branching=0.0)
        for _ in range(50)
    )
    problem = next(p for p in drawn if p.model.links[p.model.body_links, MASS].all())
    assert problem.model.links[:, ARMATURE].any()
    check_laws(problem, solve_by(name, problem), 4)


@pytest.mark.parametrize("name", INVERT_BODIES)
def test_massless_bodies_are_named(name):
    builder = so.TreeBuilder()
    builder.add_body("light", joint=so.Joint("revolute", axis="y", armature=0.1))
    builder.add_body(
        "heavy",
        parent="light",
        joint=so.Joint("revolute", axis="x"),
        inertia=so.Inertia.sphere(0.1, mass=1.0),
    )
    model = builder.build()
    links, points = [(model.body_links[1], -1)], [(0.0, 0.0, -0.1)]
    problem = ContactProblem(model, np.zeros(2), np.ones(2), links, points, [np.eye(3)], [0.5])
    with pytest.raises(ContactError, match="'light' is singular"):
        FORMULATIONS[name]().assemble(problem)
    check_laws(problem, solve_by("nmc", problem), 4)


def test_formulations_by_name():
    for name, kind in FORMULATIONS.items():
        assert check_formulation(name, 6) == kind(6)
        assert check_formulation(name.upper()) == kind()
        with pytest.raises(ArgumentError, match="n_f"):
            kind(3)
    for wrong in ("osc", FORMULATIONS["os"], 3, None):
        with pytest.raises(ArgumentError, match="formulation"):
            check_formulation(wrong)


@pytest.mark.slow
def test_all_agree_on_a_hundred():
    """Every answer obeys the laws; where two differ, both do: the velocity is not unique then."""
    unique = impossible = 0
    for number in range(100):
        rng = np.random.default_rng([3, number])
        m, loops = int(rng.integers(0, 6)), int(rng.integers(0, 3))
        problem = random_problem(rng, m, n=int(rng.integers(2, 9)), loops=loops, armature=False)
        answers = []
        for name in EVERY:
            formulation = FORMULATIONS[name](4)
            solution = solve(formulation.assemble(problem))
            if solution.solved:
                answers.append(formulation.recover(problem, solution))
                check_laws(problem, answers[-1], 4, tolerance=1e-7)
        assert len(answers) in (0, len(EVERY))  # what one formulation calls impossible all do
        impossible += not answers
        scale = max(np.abs(problem.velocity).max(), 1e-12)
        apart = [np.abs(answer.velocity - answers[0].velocity).max() / scale for answer in answers]
        unique += max(apart, default=0.0) <= 1e-8
    assert impossible <= 10
    assert unique >= 95
