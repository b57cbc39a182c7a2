"""What must hold under every law that claims it: no creep, Coulomb's sliding, no lift, bounces.

``python -m tests.simulation.test_every_law`` prints the figures of docs/laws.md.
"""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.test_closed_forms import GRAVITY, ball_scene
from tests.simulation.test_laws import SIDE, cube

LAWS = ("coulomb", "cone", "no-slip", "convex", "max-dissipation", "frictionless")
STICKING = ("coulomb", "cone", "no-slip", "convex", "max-dissipation")
EXACT = ("coulomb", "cone")
BOUNCING = ("coulomb", "cone", "no-slip", "frictionless")  # the others have no normal complementarity


def creep(law, *, dt=1e-3):
    """Speed (m/s, rad/s) on a slope of 20 degrees at mu = 0.5, after 0.1 s."""
    record = so.Simulator(cube(0.5, slope=20.0, heading=17.0), law=law, dt=dt).run(duration=0.1)
    return float(np.abs(record.v).max())


def sliding(law, *, dt=1e-3):
    """Effective friction and sideways drift (degrees) on a slope of 45 degrees, 22.5 degrees to the axes."""
    heading, duration = np.radians(22.5), 0.1
    record = so.Simulator(cube(0.5, slope=45.0, heading=22.5), law=law, dt=dt, certify="off").run(duration=duration)
    along = np.array([np.cos(heading), np.sin(heading)])
    v = record.v[-1, 3:5]
    mu = (GRAVITY * np.sin(np.pi / 4.0) - v @ along / duration) / (GRAVITY * np.cos(np.pi / 4.0))
    return float(mu), float(np.degrees(np.arctan2(v @ [-along[1], along[0]], v @ along)))


def lift(law, *, dt=1e-3):
    """How far (m) a cube that slides at 6 m/s rises in 0.1 s."""
    record = so.Simulator(cube(0.5, velocity=(6.0, 0.0, 0.0)), law=law, dt=dt, certify="off").run(duration=0.1)
    return float(np.abs(record.q[:, 2] - SIDE / 2.0).max())


def bounce(law, e, dt, **options):
    """Largest relative error of a ball's restitution, and largest gain of energy in an impact, relative.

    Of bounces faster than the impact threshold and what a step's gravity adds: slower ones end by the stated rule.
    """
    scene = ball_scene(height=0.05, restitution=e, velocity=(0.0, 3.0, 0.0, 0.3, 0.0, 0.0), friction=0.2)
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


def main():
    """The figures."""
    print("| law | creep m/s | mu | drift degrees | lift m | bounce error | gain |\n" + "| --- " * 7 + "|")
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


if __name__ == "__main__":
    main()
