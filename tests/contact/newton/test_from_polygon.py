"""The exact cone's answer is found from a polygon's where it is not found from zero."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.piles import bodies_scene
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.inside.from_polygon import from_polygon, has_polygon
from spatialops.contact.newton.rows import Problem
from tests.contact.newton.test_central import body
from tests.contact.newton.test_interior_point import begun

RADIUS = 0.1
LOGS = 8  # of the lowest layer


@pytest.mark.parametrize("pull", [0.2, 2.0])
def test_the_answer_is_one_on_the_exact_cone(pull):
    """A body on four points that is pulled aside, in no direction of the polygon's corners."""
    square = [(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    aside = pull * np.cos(0.3), pull * np.sin(0.3)
    rows = body(square, [(0.0, 0.0, 1.0)] * 4, 0.5, (0.0, 0.0, 0.0, *aside, -1.0))
    rows = rows._replace(law=at.CONE)
    assert has_polygon(rows)
    scratch, s, scale = begun(rows)
    p = np.zeros(12)
    _, residual = from_polygon(Problem(rows, s, scale), 1e-9, INFINITE, p, scratch)
    assert residual <= 1e-9
    friction = np.linalg.norm(p.reshape(4, 3)[:, 1:].sum(axis=0))
    assert np.isclose(friction, min(pull, 0.5))  # of a weight of 1


def pile_of_logs():
    """Logs side by side and in the hollows of those below, which roll apart."""
    places = [
        (RADIUS * (2 * i + k), 0.0, RADIUS * (1.0 + k * np.sqrt(3.0)))
        for k in range(LOGS)
        for i in range(LOGS - k)
    ]
    lying = np.tile([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], (len(places), 1))
    return bodies_scene([so.Cylinder(RADIUS, 1.0)] * len(places), np.array(places), lying)


@pytest.mark.compiled
def test_logs_that_roll_apart_are_solved():
    """From zero alone 26 problems of these steps are left, and the best that is known is taken."""
    simulator = so.Simulator(pile_of_logs(), dt=1e-3, law="cone", certify="off")
    record = simulator.run(duration=0.006)
    assert record.metadata["pivoted"] <= 13
