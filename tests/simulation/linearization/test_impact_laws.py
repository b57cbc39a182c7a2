"""Derivatives of impacts with a drag, and by Newton's coefficients where slips part."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Convex, MaxDissipation, Viscous
from tests.simulation.linearization.test_both_move import TAU as PUSH
from tests.simulation.linearization.test_both_move import beside, pushed
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check, standing

SCHEMES = ("moreau", "semi-implicit", "rk4")
LEANING = {
    "convex": Convex(tolerance=1e-11),
    "max-dissipation": MaxDissipation(tolerance=1e-11),
}


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
@pytest.mark.parametrize(("bounce", "height"), [(0.0, -5e-7), (0.6, -5e-7), (0.6, 2e-3)])
def test_a_drag_in_impacts(integrator, restitution, bounce, height):
    """It has an impulse in both phases, or in one."""
    law = Viscous(coefficient=5.0, impact=0.2)
    options = {"integrator": integrator, "time": EXACT, "restitution": restitution}
    simulator = so.Simulator(leg(0.3, bounce), dt=5e-3, law=law, **options)
    found = check(simulator, above(height), TAU, (3e-8 if height < 0.0 else 1e-5, 1e-4, 1e-3))
    assert "dragged" in found.statuses


@pytest.mark.compiled
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("gap", [-1e-7, 6e-5])
def test_a_drag_whose_normal_turns(thing, gap):
    law = Viscous(coefficient=5.0, impact=0.1)
    simulator = so.Simulator(pushed(thing, 0.1, 0.6), dt=1e-3, law=law, time=EXACT)
    state = beside(thing, gap, (0.3, 0.3, 0.02, 0.05, 0.2))
    check(simulator, state, PUSH, (1e-8 if gap < 0.0 else 1e-6, 1e-5, 1e-2))


@pytest.mark.compiled
def test_a_drag_of_a_pair_of_its_own():
    own = leg(0.3, 0.0)
    pair = so.Pair(a="foot 0", b="floor", law="cone")
    scene = so.Scene(own.model, own.geoms, pair_laws=[pair])
    for pairs in ([], [pair]):
        scene = so.Scene(own.model, own.geoms, pair_laws=pairs)
        simulator = so.Simulator(scene, dt=5e-3, law=Viscous(impact=0.2), time=EXACT)
        found = check(simulator, above(-5e-7), TAU, (3e-8, 1e-4, 1e-3))
        assert (found.statuses[0] == "dragged") == (not pairs)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("law", LEANING)
@pytest.mark.parametrize("friction", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("height", [-5e-7, 2e-3])
def test_newtons_restitution_where_slips_part(integrator, law, friction, height):
    options = {"integrator": integrator, "time": EXACT, "restitution": "newton"}
    simulator = so.Simulator(leg(friction), dt=5e-3, law=LEANING[law], **options)
    check(simulator, above(height), TAU, (1e-7 if height < 0.0 else 1e-5, 1e-4, 1e-3))


@pytest.mark.compiled
@pytest.mark.parametrize("law", LEANING)
def test_feet_of_a_quadruped_are_struck(law):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    foot = so.jacobian(robot.model, state.q, [so.Node(robot.feet[0])])[3:, 6:]
    up = np.concatenate([np.zeros(6), np.linalg.lstsq(foot, [0.0, 0.0, 1.0], rcond=None)[0]])
    v = 3e-3 * np.random.default_rng(0).normal(size=18) - 0.1 * up
    scene = robot.scene(friction=0.5, restitution=0.5)
    options = {"time": EXACT, "restitution": "newton", "integrator": "semi-implicit"}
    simulator = so.Simulator(scene, dt=1e-3, law=LEANING[law], **options)
    check(simulator, so.State(state.q, v), tau, (1e-7, 1e-6, 1e-3))
