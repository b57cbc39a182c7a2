"""What must hold under every law that claims it: no creep, Coulomb's sliding, no lift, bounces.

``python -m tests.simulation.test_every_law`` prints the figures of docs/laws.md.
"""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import Box
from spatialops.contact import Compliant, Pairwise
from tests.simulation.test_closed_forms import GRAVITY, ball_scene
from tests.simulation.test_laws import SIDE, cube

LAWS = ("coulomb", "cone", "no-slip", "convex", "max-dissipation", "frictionless")
STICKING = ("coulomb", "cone", "no-slip", "convex", "max-dissipation")
EXACT = ("coulomb", "cone")
BOUNCING = (
    "coulomb",
    "cone",
    "no-slip",
    "frictionless",
)  # the others have no normal complementarity


def creep(law, *, dt=1e-3):
    """Speed (m/s, rad/s) on a slope of 20 degrees at mu = 0.5, after 0.1 s."""
    record = so.Simulator(cube(0.5, slope=20.0, heading=17.0), law=law, dt=dt).run(duration=0.1)
    return float(np.abs(record.v).max())


def sliding(law, *, dt=1e-3):
    """Effective friction and drift (degrees) on a slope of 45 degrees, 22.5 to the axes."""
    heading, duration = np.radians(22.5), 0.1
    record = so.Simulator(cube(0.5, slope=45.0, heading=22.5), law=law, dt=dt, certify="off").run(
        duration=duration
    )
    along = np.array([np.cos(heading), np.sin(heading)])
    v = record.v[-1, 3:5]
    mu = (GRAVITY * np.sin(np.pi / 4.0) - v @ along / duration) / (GRAVITY * np.cos(np.pi / 4.0))
    return float(mu), float(np.degrees(np.arctan2(v @ [-along[1], along[0]], v @ along)))


def lift(law, *, dt=1e-3):
    """How far (m) a cube that slides at 6 m/s rises in 0.1 s."""
    record = so.Simulator(cube(0.5, velocity=(6.0, 0.0, 0.0)), law=law, dt=dt, certify="off").run(
        duration=0.1
    )
    return float(np.abs(record.q[:, 2] - SIDE / 2.0).max())


def bounce(law, e, dt, **options):
    """Largest relative error of a ball's restitution, and gain of energy in an impact.

    Of bounces faster than the impact threshold and what a step's gravity adds: slower ones end by
    the stated rule."""
    scene = ball_scene(
        height=0.05, restitution=e, velocity=(0.0, 3.0, 0.0, 0.3, 0.0, 0.0), friction=0.2
    )
    record = so.Simulator(scene, law=law, dt=dt, **options).run(duration=0.35)
    approach = record.events[:, 2]
    approach = approach[approach > 0.01 + GRAVITY * dt]
    assert len(approach) >= 2
    errors = np.abs(approach[1:] / approach[:-1] / e - 1.0)
    return float(errors.max()), float((record.events[:, 4] / record.events[:, 3] - 1.0).max())


@pytest.mark.compiled
@pytest.mark.parametrize("law", STICKING)
def test_no_creep(law):
    assert creep(law) < 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("law", EXACT)
def test_sliding_off_the_axes(law):
    mu, drift = sliding(law)
    assert abs(mu - 0.5) < 0.5e-3
    assert abs(drift) < 0.05


@pytest.mark.compiled
@pytest.mark.parametrize("law", EXACT)
def test_no_lift(law):
    assert lift(law) < 1e-6


@pytest.mark.compiled
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
@pytest.mark.parametrize("law", BOUNCING)
def test_bounces(law, restitution):
    for dt in (4e-3, 5e-4):
        for e in (0.5, 1.0):
            error, gain = bounce(law, e, dt, restitution=restitution)
            assert error < 1e-3
            assert gain <= 1e-12


ALL = (*LAWS, "viscous", "compliant", "mixed")
FLOOR = {"friction": 0.4}
MEANINGS = (("poisson", 0.0), ("poisson", 0.6), ("newton", 0.6))


def arm(e):
    """A tree: two links that swing down onto the floor, its tip a ball."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    rod = so.Inertia(1.0, (0.15, 0.0, 0.0), np.diag([1e-3, 8e-3, 8e-3]))
    builder.add_body("upper", joint=so.Joint("ball"), position=(0.0, 0.0, 0.35), inertia=rod)
    builder.add_body(
        "lower",
        parent="upper",
        joint=so.Joint("revolute", axis="y"),
        position=(0.3, 0.0, 0.0),
        inertia=rod,
    )
    geoms = [so.Geom("tip", "lower", so.Sphere(0.03), (0.3, 0.0, 0.0), restitution=e, **FLOOR)]
    geoms += [so.Geom("elbow", "lower", so.Sphere(0.03), restitution=e, **FLOOR)]
    q, v = np.array([0.0, 0.25, 0.0, 0.97, -0.1]), np.array([0.3, 3.0, 0.5, 0.0])
    q[:4] /= np.linalg.norm(q[:4])
    return builder, geoms, [], q, v


def ring(e):
    """A loop: four rods hinged to a ring, free, that falls on two of its corners."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    rod = so.Inertia(0.5, (0.1, 0.0, 0.0), np.diag([1e-4, 2e-3, 2e-3]))
    geoms = []
    for k in range(4):
        joint = so.Joint("free") if k == 0 else so.Joint("revolute", axis="y")
        more = {"parent": f"r{k - 1}", "position": (0.2, 0.0, 0.0)} if k else {}
        builder.add_body(f"r{k}", joint=joint, inertia=rod, **more)
        geoms.append(so.Geom(f"g{k}", f"r{k}", so.Sphere(0.03), restitution=e, **FLOOR))
    loop = so.Loop(kind="ball", a="r3", b="r0", position_a=(0.2, 0.0, 0.0))
    q = np.concatenate([[0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0], np.full(3, np.pi / 2.0)])
    v = np.concatenate([[0.2, 0.0, 0.1, 0.8, 0.1, -1.0], np.zeros(3)])
    return builder, geoms, [loop], q, v


def box(e):
    """A free body: a box with a ball in its face that falls on an edge and slides."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(
        "box",
        joint=so.Joint("free"),
        inertia=so.Inertia(1.0, np.zeros(3), np.eye(3) * SIDE**2 / 6.0),
    )
    geoms = [so.Geom("g0", "box", Box((SIDE, SIDE, SIDE)), restitution=e, **FLOOR)]
    geoms.append(
        so.Geom(
            "g1",
            "box",
            so.Sphere(0.2 * SIDE),
            (0.4 * SIDE, 0.0, -0.4 * SIDE),
            restitution=e,
            **FLOOR,
        )
    )
    q = np.array([0.0, 0.0, 0.09, 0.1, 0.05, 0.0, 0.99])
    q[3:] /= np.linalg.norm(q[3:])
    return builder, geoms, [], q, np.array([0.3, 0.0, 0.2, 1.0, 0.3, -0.8])


MECHANISMS = {"tree": arm, "loop": ring, "free body": box}


def scene_of(mechanism, e, law):
    """The scene on a floor; "mixed" has a law of its own for one geom and torsional friction."""
    builder, geoms, loops, q, v = MECHANISMS[mechanism](e)
    geoms = [so.Geom("floor", "world", so.HalfSpace(), restitution=e, **FLOOR), *geoms]
    pairs = (
        [so.Pair(a=geoms[1].name, b="floor", law="cone", torsion=1e-3)] if law == "mixed" else []
    )
    return so.Scene(builder.build(), geoms, loops=loops, state=so.State(q, v), pair_laws=pairs)


def holds(law, mechanism, meaning, e, *, duration=0.2, dt=2e-3):
    """Worst certificate, gain of energy, error of closures, steps against the run, impacts."""
    given = {
        "compliant": Compliant(stiffness=2e4, damping=20.0, viscosity=200.0),
        "mixed": "coulomb",
    }.get(law, law)
    scene, steps = scene_of(mechanism, e, law), round(duration / dt)
    options = {
        "law": given,
        "restitution": meaning,
        "dt": dt,
        "certify": "full",
        "depth_limit": 5e-3,
    }
    simulator = so.Simulator(scene, **options)
    record = simulator.run(duration=duration)
    assert law != "mixed" or isinstance(simulator.law, Pairwise)
    state = so.State(record.q[0], record.v[0], 0.0)
    apart = 0.0
    for k in range(steps):
        state, info = simulator.step(state)
        apart = max(apart, float(np.abs(info.certificate.residual)))
        if (
            k == min(steps, 30) - 1
        ):  # one after the other they part by rounding where motion is chaotic
            distance = np.abs(so.difference(scene.model, state.q, record.q[k + 1])).max()
    gains = record.events[:, 4] / np.maximum(record.events[:, 3], 1e-300) - 1.0
    return {
        "residual": max(record.certificate().residual, apart),
        "gain": float(gains.max(initial=0.0)),
        "open": float(record.closure_errors.max(initial=0.0)),
        "apart": float(distance),
        "impacts": len(record.events),
        "contacts": int(record.contact_counts.sum()),
    }


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("law", ALL)
def test_every_law_on_every_mechanism(law, mechanism):
    for meaning, e in MEANINGS:
        found = holds(law, mechanism, meaning, e)
        assert found["contacts"] > 0 or e > 0.0  # what bounces may not have come to rest by then
        assert found["residual"] < 1e-8
        assert found["gain"] <= 1e-12
        assert found["open"] < 1e-8
        assert found["apart"] < 1e-9
        assert found["impacts"] > 0 or law == "compliant"


def main():
    """The figures."""
    print(
        "| law | creep m/s | mu | drift degrees | lift m | bounce error | gain |\n"
        + "| --- " * 7
        + "|"
    )
    for law in LAWS:
        cells = [f"{creep(law):.0e}", *(f"{x:.6g}" for x in sliding(law)), f"{lift(law):.1e}"]
        if law in BOUNCING:
            found = [
                bounce(law, e, dt, restitution=kind)
                for dt in (4e-3, 2e-3, 5e-4, 1e-4)
                for e in (0.5, 1.0)
                for kind in ("poisson", "newton")
            ]
            cells += [f"{max(x[0] for x in found):.1e}", f"{max(x[1] for x in found):.1e}"]
        print(f"| {law} | " + " | ".join(cells) + " |", flush=True)

    print("\nWorst of both meanings of restitution, with and without it:\n")
    print(
        "| law | mechanism | certificate | gain | closures | steps against run | impacts |\n"
        + "| --- " * 7
        + "|"
    )
    for law in ALL:
        for mechanism in MECHANISMS:
            found = [holds(law, mechanism, meaning, e) for meaning, e in MEANINGS]
            worst = {name: max(one[name] for one in found) for name in found[0]}
            cells = [f"{worst[name]:.0e}" for name in ("residual", "gain", "open", "apart")]
            print(
                f"| {law} | {mechanism} | " + " | ".join(cells) + f" | {worst['impacts']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
