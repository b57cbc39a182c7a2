"""Derivatives of steps from event to event: the flow, impacts, and saltation at their times."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Compliant
from spatialops.errors import ArgumentError, ContactError
from tests.simulation.linearization.test_both_move import TAU as PUSH
from tests.simulation.linearization.test_both_move import beside, pushed
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import check
from tests.support.trees import random_tree

EXACT = so.EventDriven(tolerance=1e-12)
LAWS = ("coulomb", "cone", "frictionless", "no-slip")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_leg_that_comes_down(law, friction):
    simulator = so.Simulator(leg(friction, 0.6), dt=5e-3, time=EXACT, law=law)
    assert len(check(simulator, above(3e-3), TAU, (1e-5, 1e-4, 1e-2)).statuses) == 1


@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_newtons_restitution(friction):
    simulator = so.Simulator(leg(friction, 0.6), dt=5e-3, time=EXACT, restitution="newton")
    assert len(check(simulator, above(3e-3), TAU, (1e-5, 1e-4, 1e-2)).statuses) == 1


@pytest.mark.compiled
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("thing", ["box", "ball"])
def test_a_pusher_that_strikes(law, thing):
    simulator = so.Simulator(pushed(thing, 0.1, 0.6), dt=1e-3, time=EXACT, law=law)
    state = beside(thing, 6e-5, (0.3, 0.3, 0.02, 0.05, 0.2))
    assert len(check(simulator, state, PUSH, (1e-6, 1e-5, 1e-2)).statuses) == 1


@pytest.mark.compiled
def test_joints_of_every_kind_in_the_air():
    kinds = ("free", "ball", "revolute", "prismatic", "universal")
    model = random_tree(np.random.default_rng(4), 5, kinds, each=True)
    rng = np.random.default_rng(5)
    simulator = so.Simulator(so.Scene(model, []), dt=1e-2, time=EXACT)
    state = so.State(model.random(rng), rng.normal(size=model.nv))
    check(simulator, state, rng.normal(size=model.nv), (1e-3, 1e-2, 1e-1))


def bouncing(restitution):
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.2, 0.3, 0.4), mass=1.0)
    builder.add_body("ball", joint=so.Joint("free"), inertia=solid)
    touch = {"restitution": restitution, "friction": 0.3}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    geoms.append(so.Geom("ball", "ball", so.Sphere(0.1), **touch))
    return so.Scene(builder.build(), geoms)


@pytest.mark.compiled
def test_several_impacts_of_a_body_that_spins():
    """Under a lid a little above the floor: several in one step."""
    scene = bouncing(0.9)
    lid = so.Geom("lid", "world", so.Box((2.0, 2.0, 0.1)), position=(0, 0, 0.26), restitution=0.9)
    simulator = so.Simulator(so.Scene(scene.model, [*scene.geoms, lid]), dt=0.02, time=EXACT)
    turn = np.array([0.1, 0.2, 0.3, 0.9])
    q = np.array([0.0, 0.0, 0.105, *(turn / np.linalg.norm(turn))])
    state = so.State(q, np.array([1.0, 2.0, 3.0, 0.5, 0.3, -1.5]))
    assert len(check(simulator, state, np.zeros(6), (1e-6, 1e-5, 1e-2)).statuses) >= 2


def test_what_is_not_known_is_refused_in_words():
    upright = np.array([0.0, 0.0, 0.105, 0.0, 0.0, 0.0, 1.0])
    touching = upright - np.array([0.0, 0.0, 0.005, 0.0, 0.0, 0.0, 0.0])
    meets = so.Simulator(bouncing(0.0), dt=0.02, time=EXACT)
    with pytest.raises(ContactError, match="touch and approach"):
        meets.linearize(so.State(touching, np.array([0.0, 0.0, 0.0, 0.0, 0.0, -1.0])))
    gives = so.Simulator(bouncing(0.5), law=Compliant(stiffness=1e4), time=EXACT)
    with pytest.raises(ArgumentError, match="gives way"):
        gives.linearize(so.State(upright, np.zeros(6)))
