"""Every adapter whose engine is installed says where things are, as the protocol asks."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops.bench.engines.engine import FLOOR
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.probes import friction, smooth
from spatialops.bench.engines.probes.probe import body_spin, start
from spatialops.bench.engines.registry import ENGINES
from spatialops.bench.engines.world import GRAVITY, Ball, Body, Hinge, World, ball, box
from spatialops.bench.measure import BenchError

DT = 1e-3
SINGLE = 2e-6  # relative precision of engines that compute with four bytes

TURN = (0.5, 0.5, 0.5, 0.5)  # x to y, y to z, z to x
FREE = Body(2.0, (0.1, 0.2, 0.25), (0.1, 0.2, 3.0), None, TURN, (1.0, 2.0, 3.0), (0.4, 0.5, 0.6))
HINGE = Hinge((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
# At 2 rad/s about y through a point 0.5 m off along x.
HUNG = Body(
    1.0, (0.1, 0.2, 0.3), (0.5, 0.0, 1.0), None, TURN, (0.0, 2.0, 0.0), (0.0, 0.0, -1.0), HINGE
)

pytestmark = pytest.mark.compiled


@pytest.fixture(params=list(ENGINES.built_in))
def kind(request):
    try:
        return ENGINES.find(request.param)
    except LeftOut as reason:
        pytest.skip(f"{request.param}: {reason}")


def built(kind, world, dt=DT):
    try:
        return kind(world, dt)
    except LeftOut as reason:
        pytest.skip(f"{kind.name}: {reason}")


def test_everything_begins_where_the_world_says(kind):
    world = World((FREE, HUNG), floor=False)
    engine = built(kind, world)
    motion, begin = engine.motion(), start(world)
    for part in ("positions", "spins", "velocities"):
        assert getattr(motion, part) == pytest.approx(getattr(begin, part), abs=SINGLE), part
    same = np.abs(np.sum(motion.quaternions * begin.quaternions, axis=1))
    assert same == pytest.approx(1.0, abs=SINGLE)


def test_a_thrown_body_falls_and_a_hung_one_turns(kind):
    # After one step: v - g dt; a body on a hinge turns faster by r m g / (I + m r^2).
    world = World((FREE, HUNG), floor=False)
    engine = built(kind, world)
    engine.step(1)
    motion = engine.motion()
    falls = np.array(FREE.velocity) - [0.0, 0.0, GRAVITY * DT]
    assert motion.velocities[0] == pytest.approx(falls, abs=1e-2 * GRAVITY * DT)
    # The world's y is the body's x: its moment about the hinge is 0.1 + 0.25.
    faster = 0.5 * GRAVITY / (0.1 + 0.5**2) * DT
    slack = 0.5 if kind.name == "newton" else 1e-2  # its hinges give
    assert motion.spins[1, 1] - 2.0 == pytest.approx(faster, rel=slack)


def test_a_shape_is_where_its_place_is(kind):
    # It stands on a ball 0.3 m below its centre, along its own x: without the ball it would fall.
    down = (0.0, 0.5**0.5, 0.0, 0.5**0.5)
    body = Body(1.0, (0.1, 0.1, 0.1), (0.0, 0.0, 0.4), Ball(0.1), down, place=(0.3, 0.0, 0.0))
    engine = built(kind, World((body,)))
    engine.step(100)
    assert engine.motion().positions[0, 2] == pytest.approx(0.4, abs=2e-3)


def test_coefficients_are_those_of_the_pair(kind):
    # mu = 0.3: in 0.2 s a block loses 0.3 g 0.2 m/s; more while a soft floor takes it up.
    block = box((0.4, 0.4, 0.1), 2.0, (0.0, 0.0, 0.05), velocity=(2.0, 0.0, 0.0))
    engine = built(kind, World((block,), True, 0.3))
    engine.step(200)
    lost = 2.0 - engine.motion().velocities[0, 0]
    assert lost == pytest.approx(0.3 * GRAVITY * 0.2, rel=0.05)


def test_restitution_is_that_of_the_pair(kind):
    # Without gravity a ball comes back at e v. Bullet's is 8 % off, and rests at smaller dt;
    # the square or the root of e would be off by 41 % or more.
    falling = ball(0.1, 1.0, (0.0, 0.0, 0.35), velocity=(0.0, 0.0, -2.0))
    engine = built(kind, World((falling,), True, 0.5, 0.5, (0.0, 0.0, 0.0)), 1e-2)
    engine.step(25)
    assert engine.motion().velocities[0, 2] == pytest.approx(1.0, rel=0.1)


def test_the_floor_bears_weight_and_rubs_against_the_way(kind):
    # The mean over 0.1 s, since soft contacts swing, and push up what they let sink.
    probe = friction.stopping()
    engine = built(kind, probe.world)
    total = np.zeros(3)
    for _ in range(100):
        engine.step(1)
        try:
            contacts = engine.contacts()
        except LeftOut as reason:
            pytest.skip(f"{kind.name}: {reason}")
        for contact in contacts:
            assert {contact.first, contact.second} == {0, FLOOR}
            total += contact.force if contact.first == 0 else -contact.force
    weight = 100.0 * GRAVITY
    assert total == pytest.approx([-0.5 * weight, 0.0, weight], abs=0.1 * weight)


def test_a_body_that_spins_freely_comes_near_the_closed_form(kind):
    world = smooth.spinning().world
    body = world.bodies[0]
    engine = built(kind, world)
    engine.step(2000)
    expected = smooth.free_spin(body.moments, body.spin, 2.0)
    assert expected[1] < -1.0  # it is turning over, fastest there
    assert body_spin(engine.motion(), 0) == pytest.approx(expected, abs=0.1)


def test_unknown_names_are_refused():
    with pytest.raises(BenchError, match="there is no 'physx'"):
        ENGINES.find("physx")
