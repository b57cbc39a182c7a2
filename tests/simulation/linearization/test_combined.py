"""Derivatives of what is known by itself, together: closures, dry friction, impacts, masses."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_closed import (
    INTEGRATORS,
    TOE,
    Course,
    check,
    leg_with_rods,
)
from tests.simulation.linearization.test_closed_impacts import approaching, timed
from tests.simulation.linearization.test_joints import arm, moving
from tests.simulation.linearization.test_linearize import EXACT
from tests.simulation.linearization.test_parameters_dense import check_masses

pytestmark = pytest.mark.compiled  # many steps, of code that others run uncompiled


def rubbing_leg(shape, height):
    """A floating leg with rods whose joints rub, its foot so high above the floor."""
    model, loops, q = leg_with_rods()
    rubs = np.zeros(model.nv)
    rubs[6:] = 0.2
    model = replace(model, dry_friction=rubs)
    toe = so.node_positions(model, q, [so.Node("foot", TOE)])[0]
    q = q.copy()
    q[2] += 0.03 - 5e-7 + height - toe[2]
    touch = {"friction": 0.3, "restitution": 0.5}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    geoms.append(so.Geom("toe", "foot", shape, position=TOE, **touch))
    return so.Scene(model, geoms, loops=so.Loops(model, loops.items)), q


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "cone", "max-dissipation", "convex", "viscous"])
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
def test_a_leg_with_rods_that_rub_lands(integrator, law, restitution):
    scene, q = rubbing_leg(so.Sphere(0.03), 0.0)
    simulator = timed(scene, integrator=integrator, law=law, restitution=restitution)
    course = Course(scene, q, approaching(scene, q, so.Node("foot", TOE), 0.8))
    found = check(simulator, course, 0.1 * np.ones(scene.model.nv), (1e-7, 1e-3))
    assert found.statuses[-1] == "sliding"


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_leg_with_rods_lands_on_a_shape(integrator):
    """Its point and normal follow the ellipsoid."""
    scene, q = rubbing_leg(so.Ellipsoid((0.03, 0.03, 0.03)), 0.0)
    course = Course(scene, q, approaching(scene, q, so.Node("foot", TOE), 0.8))
    simulator = timed(scene, integrator=integrator)
    assert check(simulator, course, 0.1 * np.ones(scene.model.nv), (1e-7, 1e-3)).statuses


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("speed", "height"), [(1e-3, -1e-6), (0.8, 0.0), (0.8, 2e-3)])
def test_masses_of_a_leg_with_rods_that_rub(integrator, speed, height):
    scene, q = rubbing_leg(so.Sphere(0.03), height)
    v = approaching(scene, q, so.Node("foot", TOE), speed)
    tau = np.random.default_rng(1).normal(size=scene.model.nv)
    tau[5] = -60.0
    dt = 1e-3 if speed < 0.1 else 5e-3
    options = {"dt": dt, "integrator": integrator, "time": EXACT}
    assert np.isfinite(check_masses(scene, so.State(q, v), tau, options).inertial).all()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("joint", "v", "first"),
    [
        ({"dry_friction": 0.3}, (1.5, -2.0, 3.0), 0.1),
        ({"gap": 1e-3}, (1.5, -2.0, 3.0), 0.1),
        ({"gap": -1e-6, "damping": 0.5}, (-1e-4, -1e-3, 1e-3), 40.0),
    ],
)
def test_masses_of_an_arm_that_rubs_or_strikes_or_presses_a_stop(integrator, joint, v, first):
    options = {"dt": 2e-3, "integrator": integrator, "time": EXACT, "stop_restitution": 0.5}
    found = check_masses(arm(**joint), moving(v), np.array([first, 0.2, 0.3]), options)
    assert np.isfinite(found.inertial).all()
