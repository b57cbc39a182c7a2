"""Derivatives of steps in which every pair has a law of its own, against differences."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ConeCoulomb, Viscous
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check
from tests.simulation.linearization.test_parameters import ends, slope
from tests.support.trees import relative_error

pytestmark = pytest.mark.compiled  # many steps, of code that others run uncompiled

SCHEMES = ("moreau", "semi-implicit", "rk4")
OWN = ("coulomb", "cone", "no-slip", "frictionless", "viscous")
PRESSES = {"no-slip": {"sticking"}, "frictionless": {"sliding"}, "viscous": {"dragged"}}


def table(laws, friction=0.3, bounce=0.0, kinds=(None, None, None)):
    """A table on three feet, one law for each: forces of four would not be determined."""
    builder = so.TreeBuilder()
    top = so.Inertia.box((0.4, 0.3, 0.05), mass=2.0).shifted((0.02, 0.01, 0.1))
    builder.add_body("table", joint=so.Joint("free"), inertia=top)
    touch = {"friction": friction, "restitution": bounce}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    pairs = []
    for i, (law, kind) in enumerate(zip(laws, kinds, strict=True)):
        place = ((0.2, 0.15, -0.1), (0.2, -0.15, -0.1), (-0.2, 0.02, -0.1))[i]
        geoms.append(so.Geom(f"foot {i}", "table", so.Sphere(0.03), position=place, **touch))
        own = {"law": law, "restitution": kind}
        own = {name: value for name, value in own.items() if value is not None}
        if own:
            pairs.append(so.Pair(a=f"foot {i}", b="floor", **own))
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
    own = leg(0.3, 0.6)
    pair = so.Pair(a="foot 0", b="floor", law=law)
    scene = so.Scene(own.model, own.geoms, pair_laws=[pair])
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT, restitution=restitution)
    for height in (-5e-7, 2e-3):
        check(simulator, above(height), TAU, (3e-8 if height < 0.0 else 1e-5, 1e-4, 1e-3))


KINDS = ("newton", "poisson", "newton")
LANDING = 0.0, 0.0, 0.1, 0.3, 0.2, -1.0  # m/s and rad/s


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("laws", [(None, None, None), ("cone", None, "frictionless")])
@pytest.mark.parametrize("kinds", [KINDS, ("poisson", "newton", "poisson")])
def test_newtons_and_poissons_restitution_in_one_impact(integrator, laws, kinds):
    """Three feet land at once: Newton's take part in what Poisson's give back."""
    scene = table(laws, 0.3, 0.5, kinds)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    state = so.State(on_its_feet(0.0, 5e-7).q, np.array(LANDING))
    found = check(simulator, state, PUSH, (3e-8, 1e-4, 1e-2))
    assert "open" not in found.statuses[:3]


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["cone", ConeCoulomb(tolerance=1e-12)])
def test_an_impact_of_a_pair_beside_one_with_torsion(law):
    """The loop resolves it, or it is resolved outside for the law's tolerance."""
    scene = leg(0.3, 0.6, feet=2)
    pair = so.Pair(a="foot 1", b="floor", torsion=0.01)
    scene = so.Scene(scene.model, scene.geoms, pair_laws=[pair])
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT, law=law)
    found = check(simulator, above(2e-3), TAU, (1e-5, 1e-4, 1e-3))
    assert found.statuses[0] == "sliding"


@pytest.mark.compiled
def test_both_kinds_of_coefficients():
    options = {"dt": 1e-3, "time": EXACT, "integrator": "semi-implicit"}
    laws = (None, None, None)
    state = so.State(on_its_feet(0.0, 5e-7).q, np.array(LANDING))
    simulator = so.Simulator(table(laws, 0.3, 0.5, KINDS), **options)
    by = simulator.linearize_parameters(state, PUSH)
    origin, _ = simulator.step(state, PUSH)
    h = 1e-4
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    for found, scenes in (
        (by.restitution, [table(laws, 0.3, 0.5 + c, KINDS) for c in steps]),
        (by.friction, [table(laws, 0.3 + c, 0.5, KINDS) for c in steps]),
    ):
        expected = slope(ends(scenes, state, PUSH, origin, **options), h)
        assert relative_error(found.sum(axis=1), expected) < 1e-7


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
