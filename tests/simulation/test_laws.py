"""Scenes under different laws of contact.

Slopes that hold or slide as they must, rolling, and nothing that lifts.
"""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ConeCoulomb, NoSlip
from spatialops.errors import ArgumentError, SolverFailed

GRAVITY = 9.81
SIDE = 0.1
RADIUS = 0.02
pytestmark = pytest.mark.compiled


def cube(mu, *, velocity=(0.0, 0.0, 0.0), slope=0.0, heading=0.0):
    """A cube of eight spheres on a floor; gravity leans by `slope` towards `heading` (degrees)."""
    slope, heading = np.radians(slope), np.radians(heading)
    down = np.array(
        [np.sin(slope) * np.cos(heading), np.sin(slope) * np.sin(heading), -np.cos(slope)]
    )
    builder = so.TreeBuilder(gravity=tuple(GRAVITY * down))
    inertia = so.Inertia(1.0, np.zeros(3), np.eye(3) * SIDE**2 / 6.0)
    builder.add_body("cube", joint=so.Joint("free"), inertia=inertia)
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=mu)]
    half = SIDE / 2.0 - RADIUS
    corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    geoms += [
        so.Geom(f"s{k}", "cube", so.Sphere(RADIUS), place, friction=mu)
        for k, place in enumerate(corners)
    ]
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], v[3:] = SIDE / 2.0, velocity
    return so.Scene(model, geoms, state=so.State(q, v))


@pytest.mark.parametrize("law", ["coulomb", "cone", "no-slip", "convex"])
def test_a_slope_below_the_friction_angle_holds(law):
    record = so.Simulator(cube(0.5, slope=20.0, heading=17.0), law=law).run(duration=0.1)
    assert np.abs(record.v).max() < 1e-12
    assert np.abs(record.q - record.q[0]).max() < 1e-12


def test_a_slope_above_it_slides_straight_under_the_round_cone():
    heading, duration = 22.5, 0.2
    record = so.Simulator(cube(0.5, slope=45.0, heading=heading), law="cone").run(duration=duration)
    along = np.array([np.cos(np.radians(heading)), np.sin(np.radians(heading))])
    across = np.array([-along[1], along[0]])
    v = record.v[-1, 3:]
    mu = (GRAVITY * np.sin(np.pi / 4.0) - v[:2] @ along / duration) / (
        GRAVITY * np.cos(np.pi / 4.0)
    )
    assert mu == pytest.approx(0.5, rel=1e-6)
    assert abs(v[:2] @ across) < 1e-9
    assert abs(v[2]) < 1e-9


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_a_sliding_cube_does_not_lift(law):
    record = so.Simulator(cube(0.5, velocity=(5.0, 3.3, 0.0)), law=law).run(duration=0.2)
    assert np.abs(record.q[:, 2] - SIDE / 2.0).max() < 1e-9
    speed = np.hypot(5.0, 3.3) - 0.5 * GRAVITY * 0.2
    assert np.hypot(*record.v[-1, 3:5]) == pytest.approx(speed, rel=1e-6)


def test_without_slip_a_ball_rolls_at_once():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(RADIUS, mass=1.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("ball", "ball", so.Sphere(RADIUS))]
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], v[3] = RADIUS, 7.0
    scene = so.Scene(model, geoms, state=so.State(q, v))
    state, info = so.Simulator(scene, law="no-slip").step(scene.state)
    assert info.residual < 1e-9
    # m (v - v0) = -J and 2/5 m r^2 w = J r with v = w r: v = 5/7 v0, whatever the coefficient.
    linear = so.node_velocities(model, state.q, state.v, [so.Node("ball")])[0]
    assert linear[3] == pytest.approx(5.0, rel=1e-12)
    assert linear[1] == pytest.approx(5.0 / RADIUS, rel=1e-12)


@pytest.mark.parametrize("law", ["no-slip", "cone", "convex", "max-dissipation", "frictionless"])
def test_a_fall_on_an_edge_gains_no_energy(law):
    scene = cube(0.5, velocity=(1.0, 0.5, -1.0))
    q = scene.state.q.copy()
    q[3:7] = np.array([0.3, -0.2, 0.1, 0.9]) / np.linalg.norm([0.3, -0.2, 0.1, 0.9])
    q[2] = 0.12
    record = so.Simulator(scene, law=law).run(so.State(q, scene.state.v), duration=0.15)
    assert len(record.events)
    assert (record.events[:, 4] <= record.events[:, 3] * (1.0 + 1e-9)).all()
    energies = [sum(so.energy(scene.model, q, v)[:2]) for q, v in zip(record.q, record.v)]
    assert np.diff(energies).max() < 1e-3 * abs(energies[0])


def test_a_law_with_options_is_written_into_the_record():
    record = so.Simulator(cube(0.5), law=NoSlip(hold="all")).run(duration=2e-3)
    assert record.metadata["law"].startswith("NoSlip(hold='all'")


def test_bad_laws():
    scene = cube(0.5)
    for bad in ("sticky", NoSlip, None):
        with pytest.raises(ArgumentError, match="law"):
            so.Simulator(scene, law=bad)
    with pytest.raises(ArgumentError, match="law"):
        so.Simulator(scene, law="cone", solver="lemke")


def test_a_law_that_fails_says_so():
    strict = ConeCoulomb(tolerance=1e-30)
    with pytest.raises(SolverFailed, match="under Cone") as caught:
        so.Simulator(cube(0.5, velocity=(1.0, 0.3, 0.0)), law=strict).run(duration=5e-3)
    assert caught.value.problem.n_contacts == 4
    assert not caught.value.solution.solved


@pytest.mark.parametrize("law", ["no-slip", NoSlip(solver="qp")], ids=repr)
@pytest.mark.parametrize("turning", [0.0, 3.0])
@pytest.mark.parametrize("shape", [so.Sphere(0.1), so.Box((0.2, 0.2, 0.2))], ids=repr)
def test_what_grazes_a_wall_falls_freely(law, turning, shape):
    # Without slip tangents were held that nothing pressed: a ball rolled down the wall.
    builder = so.TreeBuilder()
    builder.add_body("body", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [
        so.Geom("body", "body", shape, friction=1.0),
        so.Geom("wall", "world", so.HalfSpace(normal=(1.0, 0.0, 0.0)), friction=1.0),
    ]
    model = builder.build()
    state = so.State(model.neutral(), np.array([turning, 0.0, 0.0, 0.0, 0.0, -1.0]))
    state.q[0] = 0.1
    record = so.Simulator(so.Scene(model, geoms, state=state), law=law, dt=2e-3).run(duration=0.1)
    assert record.contact_counts.min(initial=1, where=record.times > 0.0) > 0
    assert record.q[-1, 2] == pytest.approx(-0.1 - 0.5 * GRAVITY * 0.01, abs=1e-12)
    assert np.abs(record.q[-1, :2] - state.q[:2]).max() < 1e-12
