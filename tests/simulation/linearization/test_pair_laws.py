"""Derivatives of steps in which every pair has a law of its own, against differences."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Viscous
from spatialops.errors import ContactError
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check
from tests.simulation.linearization.test_parameters import ends, slope
from tests.support.trees import relative_error

SCHEMES = ("moreau", "semi-implicit", "rk4")
OWN = ("coulomb", "cone", "no-slip", "frictionless", "viscous")
PRESSES = {"no-slip": {"sticking"}, "frictionless": {"sliding"}, "viscous": {"dragged"}}


def table(laws, friction=0.3):
    """A table on three feet, one law for each: forces of four would not be determined."""
    builder = so.TreeBuilder()
    top = so.Inertia.box((0.4, 0.3, 0.05), mass=2.0).shifted((0.02, 0.01, 0.1))
    builder.add_body("table", joint=so.Joint("free"), inertia=top)
    touch = {"friction": friction}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    pairs = []
    for i, law in enumerate(laws):
        place = ((0.2, 0.15, -0.1), (0.2, -0.15, -0.1), (-0.2, 0.02, -0.1))[i]
        geoms.append(so.Geom(f"foot {i}", "table", so.Sphere(0.03), position=place, **touch))
        if law is not None:
            pairs.append(so.Pair(a=f"foot {i}", b="floor", law=law))
    return so.Scene(builder.build(), geoms, pair_laws=pairs)


def on_its_feet(speed=1e-2, depth=5e-6):
    q = np.array([0.0, 0.0, 0.13 - depth, 0.0, 0.0, 0.0, 1.0])
    v = speed * np.array([0.0, 0.0, 0.3, 1.0, 0.5, 0.0])
    return so.State(q, v)


PUSH = np.array([0.1, 0.2, 0.0, 1.0, 2.0, 0.0])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize(
    "laws",
    [
        ("cone", None, "frictionless"),
        ("viscous", "cone", None),
        ("frictionless", "cone", "cone"),
        ("no-slip", "frictionless", "viscous"),
        (None, "frictionless", None),
    ],
)
def test_feet_with_laws_of_their_own(integrator, laws):
    simulator = so.Simulator(table(laws), dt=1e-3, integrator=integrator, time=EXACT)
    found = check(simulator, on_its_feet(), PUSH, (1e-7, 1e-6, 1e-2))
    for law, status in zip(laws, found.statuses, strict=True):
        assert status in PRESSES.get(law, {"sliding", "sticking"}) | {"open"}
    assert set(found.statuses) - {"open"}


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES[:2])
@pytest.mark.parametrize("base", ["coulomb", "cone", "viscous", "frictionless", "no-slip"])
@pytest.mark.parametrize("law", OWN)
@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_leg_whose_foot_has_a_law_of_its_own(integrator, base, law, friction):
    """It rests on the floor."""
    own = leg(friction, 0.0)
    pair = so.Pair(a="foot 0", b="floor", law=law)
    scene = so.Scene(own.model, own.geoms, pair_laws=[pair])
    options = {"integrator": integrator, "time": EXACT, "law": base}
    simulator = so.Simulator(scene, dt=1e-3, **options)
    found = check(simulator, above(-1e-6, (0.02, 0.0, 0.0, 0.0)), TAU, (1e-7, 1e-6, 1e-3))
    assert set(found.statuses) <= PRESSES.get(law, {"sliding", "sticking"})


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["cone", "viscous", "frictionless"])
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
def test_impacts(law, restitution):
    """By Newton's coefficients, or inelastic ones."""
    bounce = 0.6 if restitution == "newton" else 0.0
    own = leg(0.3, bounce)
    pair = so.Pair(a="foot 0", b="floor", law=law)
    scene = so.Scene(own.model, own.geoms, pair_laws=[pair])
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT, restitution=restitution)
    heights = (-5e-7, 2e-3) if bounce > 0.0 else (-5e-7,)
    for height in heights:
        check(simulator, above(height), TAU, (3e-8 if height < 0.0 else 1e-5, 1e-4, 1e-3))


def test_poissons_restitution_is_refused_in_words():
    own = leg(0.3, 0.6)
    pair = so.Pair(a="foot 0", b="floor", law="cone")
    scene = so.Scene(own.model, own.geoms, pair_laws=[pair])
    with pytest.raises(ContactError, match="laws of single pairs"):
        so.Simulator(scene, dt=5e-3, time=EXACT).linearize(above(2e-3))


@pytest.mark.compiled
def test_coefficients_of_pairs():
    """Those of a drag, of a cone and of a polygon; one drag for all is no coefficient of a pair."""
    laws = ("viscous", "cone", None)
    state = on_its_feet(0.1)
    for base, by_mu in (("coulomb", {0, 1, 2}), (Viscous(coefficient=5.0), {0, 1})):
        options = {"dt": 1e-3, "law": base, "integrator": "semi-implicit", "time": EXACT}
        found = so.Simulator(table(laws), **options).linearize_parameters(state, PUSH)
        origin, _ = so.Simulator(table(laws), **options).step(state, PUSH)
        h = 1e-4
        steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
        scenes = [table(laws, 0.3 + c) for c in steps]
        expected = slope(ends(scenes, state, PUSH, origin, **options), h)
        by = found.friction
        assert relative_error(by.sum(axis=1), expected) < 1e-7
        for pair in {0, 1, 2} - by_mu:
            assert not by[:, pair].any()
