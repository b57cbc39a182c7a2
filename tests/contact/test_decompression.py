"""[J] 56-58: a ball that slides and bounces, by ours and as printed; closures stay closed."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ContactProblem, Coulomb, decompression
from spatialops.errors import ArgumentError
from tests.support.contacts import random_problem

MU = 0.2
FALL = 2.0


def sliding_ball():
    """A ball of 1 kg that meets the floor at 2 m/s and slides at 5 m/s, without turning."""
    model = (
        so.TreeBuilder()
        .add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
        .build()
    )
    q = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    v = np.array([0.0, 0.0, 0.0, 5.0, 0.0, -FALL])
    frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    links = [[model.body_links[0], -1]]
    return ContactProblem(model, q, v, links, [[0.0, 0.0, 0.0]], [frame], [MU], phase="compression")


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("as_printed", [False, True])
def test_a_sliding_ball_bounces(e, as_printed):
    """It slides throughout: friction is mu times 1 + e, or, as printed, times compression's 1."""
    problem = sliding_ball()
    first = Coulomb().solve(problem)
    assert first.impulses[0] == pytest.approx([FALL, -MU * FALL, 0.0], abs=1e-12)
    second, theta = decompression(
        problem, first.velocity, first.impulses[:, 0], e, as_printed=as_printed
    )
    assert theta == pytest.approx([e * FALL])
    after = Coulomb().solve(second)
    answered = 0.0 if as_printed else MU * e * FALL
    assert after.impulses[0] == pytest.approx([0.0, -answered, 0.0], abs=1e-12)
    assert after.velocity[5] == pytest.approx(e * FALL, abs=1e-12)
    assert after.velocity[3] == pytest.approx(5.0 - MU * FALL - answered, abs=1e-12)


@pytest.mark.parametrize("as_printed", [False, True])
def test_closures_answer_what_is_given_back(as_printed, rng):
    problem = random_problem(rng, 3, loops=2)
    first = Coulomb().solve(problem)
    second, theta = decompression(
        problem, first.velocity, first.impulses[:, 0], 0.7, as_printed=as_printed
    )
    assert theta.max() > 0.0
    n_b = problem.n_loop_rows
    after = Coulomb().solve(second)
    assert np.abs(problem.jacobian[:n_b] @ after.velocity - problem.loop_targets).max() < 1e-9
    pressed = (
        np.hypot(*after.impulses[:, 1:].T)
        <= problem.friction * (after.impulses[:, 0] + (0.0 if as_printed else theta)) + 1e-9
    )
    assert pressed.all()


def test_bad_input_is_refused():
    problem = sliding_ball()
    v = problem.velocity
    for e in (-0.1, 1.1, np.nan):
        with pytest.raises(ArgumentError, match="restitution"):
            decompression(problem, v, [1.0], e)
    with pytest.raises(ArgumentError, match="normal_impulses"):
        decompression(problem, v, [1.0, 2.0], 0.5)
