"""Feet that carry the base along."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Gait, Legs, Trot
from spatialops.errors import ArgumentError


def test_standing_feet_move_with_the_ground():
    robot, dt = so.models.quadruped(), 1e-3
    legs = Legs(robot.model, robot.feet)
    trot = Trot(
        legs, robot.state.q[legs.angles], lambda time, state: (0.2, 0.0, 0.3), dt=dt, change=1e6
    )
    before = None
    for k in range(150):
        reference = trot(k * dt, robot.state)
        feet = legs.positions(legs.by_legs(reference.q))
        if before is not None:
            rates, down = (
                (feet - before) / dt,
                trot.gait.standing((k - 1) * dt) & trot.gait.standing(k * dt),
            )
            middle = 0.5 * (feet + before)
            ground = np.column_stack(
                [0.3 * middle[:, 1] - 0.2, -0.3 * middle[:, 0], 0.0 * middle[:, 0]]
            )
            if k > 2:
                assert rates[down] == pytest.approx(ground[down], abs=1e-6)
        before = feet
    assert trot.missed < 1e-12


def test_soles_turn_with_the_ground():
    build = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    build.add_body("base", joint=so.Joint("free"), inertia=ball)
    for side in (-1.0, 1.0):
        parent, place = "base", np.array([0.0, 0.1 * side, 0.0])
        for j, axis in enumerate(("z", "x", "y", "y", "y", "x")):
            name = f"leg{side:.0f}{j}"
            build.add_body(
                name, parent=parent, joint=so.Joint("revolute", axis), inertia=ball, position=place
            )
            parent = name
            place = np.array([0.0, 0.0, -0.4]) if j in (2, 3) else np.zeros(3)
    model = build.build()
    nodes = [so.Node(f"leg{side}5", (0.02, 0.0, -0.05)) for side in (-1, 1)]
    legs = Legs(model, nodes, soles=True)
    stance = np.tile([0.0, 0.0, -0.4, 0.8, -0.4, 0.0], (2, 1))
    gait = Gait(period=0.6, duty=0.6, touchdown=(0.0, 0.5))
    dt = 1e-3
    turning = 0.4
    trot = Trot(legs, stance, lambda time, state: (0.1, 0.0, turning), dt=dt, gait=gait, change=1e6)
    state = so.State(model.neutral(), np.zeros(model.nv))
    headings = []
    for k in range(1200):
        reference = trot(k * dt, state)
        attitudes = legs.attitudes(legs.by_legs(reference.q))
        assert attitudes[:, :, 2] == pytest.approx(np.tile([0.0, 0.0, 1.0], (2, 1)), abs=1e-9)
        headings.append(np.arctan2(attitudes[:, 1, 0], attitudes[:, 0, 0]))
        assert reference.q.shape == reference.a.shape == (12,)
    assert trot.missed < 1e-12
    headings = np.array(headings)
    for k in range(700, 1200):
        down = gait.standing((k - 1) * dt) & gait.standing(k * dt)
        rates = (headings[k] - headings[k - 1]) / dt
        assert rates[down] == pytest.approx(np.full(down.sum(), -turning), abs=1e-6)
        lands = gait.standing((k + 1) * dt) & ~gait.standing(k * dt)
        half = 0.5 * turning * gait.stance_time
        assert headings[k][lands] == pytest.approx(np.full(lands.sum(), half), abs=2 * turning * dt)


def test_references_are_in_the_order_of_the_velocities():
    """Whatever the order of the feet: a robot file may name its right legs first."""
    robot = so.models.quadruped()
    for feet in (robot.feet, [robot.feet[i] for i in (1, 0, 3, 2)]):
        legs = Legs(robot.model, feet)
        trot = Trot(legs, robot.state.q[legs.angles], lambda time, state: (0.3, 0.1, 0.3), dt=1e-3)
        for k in range(100):
            reference = trot(k * 1e-3, robot.state)
        assert legs.joints.ravel()[legs.joints.ravel().argsort()].tolist() == list(range(6, 18))
        q = robot.state.q.copy()
        q[7:] = reference.q
        assert legs.positions(q[legs.angles]) == pytest.approx(
            legs.positions(legs.by_legs(reference.q)), abs=1e-15
        )
        assert np.abs(reference.q - robot.state.q[7:]).max() > 0.01
        assert legs.in_order(legs.by_legs(reference.v)).tolist() == reference.v.tolist()


def test_a_gait_of_other_feet_is_refused():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    stance = robot.state.q[legs.angles]
    with pytest.raises(ArgumentError, match="a phase for each of 4 feet, got 2"):
        Trot(legs, stance, lambda t, state: (0.0,) * 3, dt=1e-3, gait=Gait(touchdown=(0.0, 0.5)))


def test_a_command_that_is_not_finite_is_not_remembered():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    asked = [(0.2, 0.0, 0.0)]
    trots = [
        Trot(legs, robot.state.q[legs.angles], lambda time, state: asked[0], dt=1e-3)
        for _ in range(2)
    ]
    for k in range(5):
        wanted = trots[0](k * 1e-3, robot.state)
        asked[0] = (np.nan, 0.0, 0.0)
        with pytest.raises(ArgumentError, match="command"):
            trots[1](k * 1e-3, robot.state)
        asked[0] = (0.2, 0.0, 0.0)
        found = trots[1](k * 1e-3, robot.state)
        assert found.q.tolist() == wanted.q.tolist()
        assert found.a.tolist() == wanted.a.tolist()
