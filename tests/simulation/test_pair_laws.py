"""Pairs with laws of their own: what goes with what, and that each pair does what its law says."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ShapeError

OWN = ("coulomb", "cone", "no-slip", "frictionless", "viscous")
G = 9.81
MU = 0.3
SPEED = 2.0
DT = 1e-3
pytestmark = pytest.mark.compiled


def sliders(laws, **options):
    """Balls that cannot turn, one after the other, slide over one floor at 2 m/s."""
    builder, geoms = (
        so.TreeBuilder(gravity=(0.0, 0.0, -G)),
        [so.Geom("floor", "world", so.HalfSpace(), friction=MU, **options)],
    )
    for k in range(len(laws)):
        parent = "world"
        for axis in "xyz":
            name = f"b{k}" if axis == "z" else f"b{k}{axis}"
            inertia = so.Inertia.sphere(0.1, mass=1.0 if axis == "z" else 1e-9)
            builder.add_body(
                name, parent=parent, joint=so.Joint("prismatic", axis=axis), inertia=inertia
            )
            parent = name
        geoms.append(so.Geom(f"g{k}", f"b{k}", so.Sphere(0.1), friction=MU, **options))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2::3] = 0.1
    v[::3] = SPEED * np.cos(0.4)
    v[1::3] = SPEED * np.sin(0.4)
    pairs = [so.Pair(a=f"g{k}", b="floor", law=law) for k, law in enumerate(laws) if law]
    ignore = [(f"g{i}", f"g{j}") for i in range(len(laws)) for j in range(i)]
    return so.Scene(model, geoms, state=so.State(q, v), pair_laws=pairs, ignore=ignore)


def expected(law, time):
    """Speed of a ball of 1 kg after a time."""
    steps = round(time / DT)
    return {
        "no-slip": 0.0,
        "frictionless": SPEED,
        "viscous": SPEED / (1.0 + MU * DT) ** steps,
    }.get(law, SPEED - MU * G * time)


@pytest.mark.parametrize("law", OWN)
def test_five_laws_on_one_floor(law):
    scene = sliders([*OWN, None])
    record = so.Simulator(scene, law=law, dt=DT, certify="full").run(duration=0.02)
    speeds = np.hypot(record.v[-1, ::3], record.v[-1, 1::3])
    for own, speed in zip([*OWN, law], speeds, strict=True):
        assert speed == pytest.approx(expected(own, 0.02), abs=2e-9), (law, own)
    assert record.certificate().residual < 1e-8
    assert np.abs(record.v[:, 2::3]).max() < 1e-9


@pytest.mark.parametrize("law", [None, "viscous", "cone"])
def test_single_steps_and_restitution(law):
    scene = sliders(["cone", "viscous", law], restitution=0.6)
    v = scene.state.v.copy()
    v[2::3] = -1.0
    state, info = so.Simulator(scene, dt=1e-5).step(so.State(scene.state.q, v))
    assert state.v[2::3] == pytest.approx(0.6, abs=1e-3)
    speeds = np.hypot(state.v[::3], state.v[1::3])
    assert speeds[0] == pytest.approx(SPEED - MU * 1.6, abs=1e-3)  # friction answers both phases
    assert speeds[1] == pytest.approx(SPEED, abs=1e-3)  # a drag has no impulse in no time
    assert info.events[0, 4] <= info.events[0, 3]


def test_laws_of_all_contacts_do_not_mix():
    for law in ("convex", "max-dissipation", so.contact.Compliant(stiffness=1e4)):
        for own in ("coulomb", "cone", "no-slip", "viscous"):
            with pytest.raises(ArgumentError, match="all contacts together"):
                so.Simulator(sliders([own]), law=law)
        state, _ = so.Simulator(sliders(["frictionless"]), law=law, dt=DT).step(
            sliders([None]).state
        )
        assert np.hypot(*state.v[:2]) == pytest.approx(SPEED, abs=1e-12)
    for own in ("convex", "max-dissipation", "compliant"):
        with pytest.raises(ShapeError, match="no law of one pair"):
            so.Pair(a="a", b="b", law=own)
    for options in (
        {"solver": "lemke"},
        {"formulation": "mc"},
        {"law": so.contact.NoSlip(hold="all")},
    ):
        with pytest.raises(ArgumentError, match="law"):
            so.Simulator(sliders(["cone"]), **options)


def test_the_simplest_law_that_has_all_of_them():
    for law, own, kind in (
        ("coulomb", ["coulomb"], None),
        ("coulomb", ["no-slip", "frictionless"], so.contact.Coulomb),
        ("no-slip", ["cone"], so.contact.ConeCoulomb),
        ("frictionless", ["no-slip"], so.contact.NoSlip),
        ("viscous", ["frictionless"], so.contact.Pairwise),
        ("coulomb", ["cone"], so.contact.Pairwise),
        ("pairwise", ["no-slip"], so.contact.ConeCoulomb),
        ("pairwise", ["coulomb"], so.contact.Pairwise),
    ):
        made = so.Simulator(sliders([*own, None]), law=law).law
        assert made is None if kind is None else isinstance(made, kind), (law, own)


def test_a_pairs_own_drag():
    scene = sliders(["viscous", None])
    record = so.Simulator(scene, law=so.contact.Viscous(coefficient=5.0), dt=DT).run(duration=0.02)
    speeds = np.hypot(record.v[-1, ::3], record.v[-1, 1::3])
    assert speeds == pytest.approx(
        [SPEED / (1.0 + MU * DT) ** 20, SPEED / (1.0 + 5.0 * DT) ** 20], abs=1e-9
    )
