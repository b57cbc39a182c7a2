"""What leaves a contact as a step begins and is pushed back into it within the step."""

import numpy as np
import pytest

import spatialops as so

STEP = 5e-3
RADIUS = 0.1
SPEED = 0.1


def sliders(n, gap=0.0):
    """Balls in a row along x, so far apart; the first has a stop at 0."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = []
    for i in range(n):
        stop = {"lower": 0.0, "upper": 1.0} if i == 0 else {}
        joint = so.Joint("prismatic", axis="x", **stop)
        ball = so.Inertia.sphere(RADIUS, mass=1.0)
        place = (i * (2.0 * RADIUS + gap), 0.0, 0.0)
        builder.add_body(f"b{i}", joint=joint, inertia=ball, position=place)
        geoms.append(so.Geom(f"g{i}", f"b{i}", so.Sphere(RADIUS)))
    return so.Scene(builder.build(), geoms)


@pytest.mark.parametrize("force", [-50.0, -300.0])
@pytest.mark.parametrize("n", [1, 3])
def test_a_joint_that_leaves_its_stop_is_not_pushed_through_it(n, force):
    # Alone by its motor, else by the last of the row: 3.3 mm beyond, and at rest there.
    simulator = so.Simulator(sliders(n), dt=STEP)
    tau = np.zeros(n)
    tau[-1] = n * force
    state = so.State(np.zeros(n), np.full(n, SPEED))
    state, info = simulator.step(state, tau)
    assert info.penetration <= 1e-9
    assert state.q == pytest.approx(np.zeros(n), abs=1e-9)
    state, info = simulator.step(state, tau)
    assert info.penetration <= 1e-9
    assert state.v == pytest.approx(np.zeros(n), abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [{"law": "cone"}, {"law": "no-slip"}, {"law": "frictionless"}, {"impacts": "propagated"}],
    ids=str,
)
def test_no_law_lets_it_through(options):
    simulator = so.Simulator(sliders(3), dt=STEP, **options)
    state = so.State(np.zeros(3), np.full(3, SPEED))
    state, info = simulator.step(state, np.array([0.0, 0.0, -900.0]))
    assert info.penetration <= 1e-9
    assert state.q == pytest.approx(np.zeros(3), abs=1e-9)


def test_a_ball_that_leaves_the_floor_is_not_pushed_into_it():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -100.0))
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(RADIUS, mass=1.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace()),
        so.Geom("ball", "ball", so.Sphere(RADIUS)),
    ]
    state = so.State([0.0, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, SPEED])
    state, info = so.Simulator(so.Scene(builder.build(), geoms), dt=STEP).step(state)
    assert info.penetration <= 1e-9
    assert state.q[2] == pytest.approx(RADIUS, abs=1e-9)
