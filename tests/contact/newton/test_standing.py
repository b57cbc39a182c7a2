"""What can stand is not let fall, also where falling obeys Coulomb's law as well."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.piles import bodies_scene
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.inside.standing import kept_standing
from spatialops.contact.newton.residual import residual_at
from spatialops.contact.newton.rows import Problem
from tests.contact.newton.test_central import body
from tests.contact.newton.test_interior_point import begun

RADIUS = 0.05
KICK = 9.81 * 2e-3  # m/s, of weight in a step


def pyramid(layers, friction):
    """Balls in square layers, each in the hollow of four below it, as cannon balls are piled."""
    places = [
        (2 * i + k, 2 * j + k, 1.0 + np.sqrt(2.0) * k)
        for k in range(layers)
        for i in range(layers - k)
        for j in range(layers - k)
    ]
    scene = bodies_scene([so.Sphere(RADIUS)] * len(places), RADIUS * np.array(places))
    geoms = [replace(geom, friction=friction) for geom in scene.geoms]
    return so.Scene(scene.model, geoms, state=scene.state)


@pytest.mark.compiled
@pytest.mark.parametrize(("layers", "friction"), [(3, 0.8), (4, 1.2), (6, 0.8)])
def test_a_pyramid_of_balls_stands(layers, friction):
    """Answers in which it falls, of a tenth to a third of what weight does in a step, are as exact.

    Of six layers, 396 contacts, no other stage finds any answer.
    """
    record = so.Simulator(pyramid(layers, friction), dt=2e-3).run(duration=0.05)
    assert np.abs(record.v).max() < 1e-9 * KICK
    assert record.metadata["pivoted"] == 0


@pytest.mark.compiled
def test_it_stands_whatever_moves_elsewhere():
    """Each island by itself: a ball that rolls away is none of the pyramid's."""
    stands = pyramid(3, 0.8)
    places = [*stands.state.q.reshape(-1, 7)[:, :3], (3.0, 0.0, RADIUS)]
    scene = bodies_scene([so.Sphere(RADIUS)] * len(places), np.array(places))
    geoms = [replace(geom, friction=0.8) for geom in scene.geoms]
    v = scene.state.v.copy()
    v[-6:] = 0.0, 1.0 / RADIUS, 0.0, 1.0, 0.0, 0.0
    scene = so.Scene(scene.model, geoms, state=so.State(scene.state.q, v))
    record = so.Simulator(scene, dt=2e-3).run(duration=0.02)
    assert np.abs(record.v[:, :-6]).max() < 1e-9 * KICK
    assert np.linalg.norm(record.v[-1, -3:]) == pytest.approx(1.0)  # it rolls on


@pytest.mark.compiled
@pytest.mark.parametrize("layers", [3, 4])
def test_what_nothing_can_hold_falls(layers):
    """A convex problem says so: its least energy is not that of rest."""
    state, _ = so.Simulator(pyramid(layers, 0.3), dt=2e-3).step(pyramid(layers, 0.3).state)
    assert np.abs(state.v).max() > 0.05 * KICK


def pulled(pull):
    """A body on four points that is pulled aside; friction holds half of its weight."""
    square = [(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    rows = body(square, [(0.0, 0.0, 1.0)] * 4, 0.5, (0.0, 0.0, 0.0, pull, 0.0, -1.0))
    scratch, s, scale = begun(rows)
    return Problem(rows, s, scale), scratch


@pytest.mark.parametrize(("pull", "stands"), [(0.0, True), (0.4, True), (0.6, False)])
def test_an_answer_that_stands_is_found_where_there_is_one(pull, stands):
    problem, scratch = pulled(pull)
    p = np.full(12, 0.25)
    _, residual = kept_standing(problem, False, 1e-9, INFINITE, p, scratch)
    assert (residual <= 1e-9) == stands
    if not stands:
        assert (p == 0.25).all()  # what was found otherwise stays
        return
    assert residual_at(problem, p, scratch) == residual
    assert np.abs(scratch.vectors[at.VELOCITY]).max() < 1e-9


@pytest.mark.parametrize("warm", [True, False])
def test_an_answer_that_holds_stays(warm):
    """Of as little energy, it is kept to the bit; known from the step before, it is not asked."""
    problem, scratch = pulled(0.4)
    p = np.zeros(12)
    _, residual = kept_standing(problem, False, 1e-9, INFINITE, p, scratch)
    p[[0, 9]] += 0.01  # opposite corners press more, the others less: still at rest
    p[[3, 6]] -= 0.01
    given = p.copy()
    residual = residual_at(problem, p, scratch)
    assert residual < 1e-9
    count, after = kept_standing(problem, warm, 1e-9, residual, p, scratch)
    assert (count == 0) == warm
    assert after == residual
    assert (p == given).all()
