"""Laws that the loop solves by itself: as their own solvers do, and without a call of these."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import HalfSpace, Sphere
from spatialops.contact import ConeCoulomb, Frictionless, NoSlip, Viscous
from spatialops.contact.newton._layout import CONE, FRICTIONLESS, NO_SLIP, POLYGON, VISCOUS
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.friction_laws import loop_law
from tests.simulation.test_laws import cube
from tests.support.runs import boxes

LAWS = ["cone", "no-slip", "viscous", "frictionless"]
VISCOUS_ONES = [
    Viscous(),
    Viscous(coefficient=3.0),
    Viscous(impact=0.2),
    Viscous(coefficient=2.0, film=0.0),
]


def two_spheres():
    """Spheres that meet above the floor, and a chain whose tip slides over it."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", HalfSpace(), friction=0.4, restitution=0.5)]
    for name in ("a", "b"):
        builder.add_body(name, joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
        geoms.append(so.Geom(name, name, Sphere(0.1), friction=0.4, restitution=0.5))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[:3], q[7:10] = (0.0, 0.0, 0.13), (0.5, 0.02, 0.13)
    v[3:5], v[:3] = (1.5, 0.3), (3.0, -8.0, 2.0)
    return so.Scene(model, geoms, state=so.State(q, v, 0.0))


def external(simulator):
    return int(simulator.stepping.tables().control[at.EXTERNAL])


@pytest.mark.parametrize(
    ("law", "number"),
    [
        (None, POLYGON),
        (ConeCoulomb(), CONE),
        (NoSlip(), NO_SLIP),
        (Frictionless(), FRICTIONLESS),
        (Viscous(coefficient=2.0, impact=0.1, film=1e-3), VISCOUS),
        (ConeCoulomb(solver="newton"), None),
        (ConeCoulomb(tolerance=1e-6), None),
        (NoSlip(hold="all"), None),
        (NoSlip(solver="qp"), None),
        (Viscous(solver="qp"), None),
        (Frictionless(tolerance=1e-6), None),
        (so.contact.MaxDissipation(), None),
    ],
    ids=repr,
)
def test_which_laws_the_loop_has(law, number):
    assert loop_law(law) == number
    simulator = so.Simulator(cube(0.5), law=law or "coulomb")
    assert external(simulator) == (0 if number is not None else 1)


def test_a_pair_with_a_law_of_its_own_is_solved_outside():
    scene = cube(0.5)
    pair = so.Pair(a="s0", b="floor", law="no-slip")
    mixed = so.Scene(scene.model, scene.geoms, state=scene.state, pair_laws=[pair])
    assert external(so.Simulator(mixed, law="cone")) == 1


@pytest.mark.parametrize("law", [*LAWS, *VISCOUS_ONES], ids=str)
@pytest.mark.parametrize(
    "scene", [two_spheres(), cube(0.3, velocity=(1.0, 0.4, 0.0))], ids=["spheres", "cube"]
)
def test_the_loop_answers_as_the_law_does(scene, law):
    # "full" asks the law for every answer. Where the motion is unique, it is the same: not of a
    # cube that trips.
    if law == "no-slip" and scene.model.n_bodies == 1:
        return
    within = so.Simulator(scene, law=law, dt=2e-3).run(duration=0.2)
    outside = so.Simulator(scene, law=law, dt=2e-3, certify="full").run(duration=0.2)
    assert within.contact_counts.max() > 0
    scale = np.abs(outside.v).max()
    assert np.abs(within.v - outside.v).max() < 1e-7 * scale
    assert within.residuals.max() < 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("speed", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("law", ["cone", "viscous", "frictionless"])
def test_the_loop_needs_nobody(law, speed):
    simulator = so.Simulator(boxes(4, speed=speed), law=law)
    record = simulator.run(duration=0.5)
    assert simulator.stepping.external.fallbacks == 0
    assert record.residuals.max() < 1e-9
    assert record.contact_counts.max() >= 12
