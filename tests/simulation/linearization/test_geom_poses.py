"""The derivative of a step by poses of geoms against differences of scenes where they sit aside."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import from_quaternion
from spatialops.errors import ArgumentError
from tests.simulation.linearization.test_both_move import TAU as PUSH
from tests.simulation.linearization.test_both_move import beside, pushed
from tests.simulation.linearization.test_closed import TOE, standing_leg
from tests.simulation.linearization.test_closed_impacts import approaching
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, standing
from tests.simulation.linearization.test_parameters import ends, slope

INTEGRATORS = ("moreau", "semi-implicit")


def aside(scene, name, move):
    """The scene with a geom moved along its axes and turned about them."""

    def moved(geom):
        if geom.name != name:
            return geom
        position = np.asarray(geom.position) + geom.turn @ move[:3]
        turn = from_quaternion(so.integrate(BALL, [0.0, 0.0, 0.0, 1.0], move[3:]))
        return replace(geom, position=position, rotation=geom.turn @ turn)

    geoms = [moved(geom) for geom in scene.geoms]
    given = {"actuators": scene.actuators, "tendons": scene.tendons, "ctrl": scene.ctrl}
    return so.Scene(scene.model, geoms, loops=scene.loops, **given)


BALL = (
    so.TreeBuilder().add_body("b", joint="ball", inertia=so.Inertia.sphere(0.1, mass=1.0)).build()
)


def check_pose(scene, name, state, tau, h, columns, **options):
    """Columns of the derivative against differences of fourth order."""
    simulator = so.Simulator(scene, **options)
    found = simulator.linearize_geoms(state, [name], tau)
    origin, _ = simulator.step(state, tau)
    for j in columns:
        unit = np.eye(6)[j]
        scenes = [aside(scene, name, c * h * unit) for c in (-2.0, -1.0, 1.0, 2.0)]
        expected = slope(ends(scenes, state, tau, origin, **options), h)
        assert np.abs(found[:, j] - expected).max() < 1e-7 * np.abs(found).max(), j
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("height", [-5e-7, 2e-3])
def test_a_foot_that_comes_down(integrator, height):
    """Through an impact, whose time changes."""
    options = {"dt": 5e-3, "integrator": integrator, "time": EXACT}
    found = check_pose(
        leg(0.3), "foot 0", above(height), TAU, 3e-8 if height < 0.0 else 1e-5, range(6), **options
    )
    assert np.abs(found[:, [0, 2]]).max() > 0.1
    assert np.abs(found[:, 3:]).max() < 1e-9 * np.abs(found).max()  # a sphere that turns


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", [1, 6])
def test_feet_of_a_standing_quadruped(integrator, seed):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    rng = np.random.default_rng(seed)
    state = so.State(state.q, 2e-2 * rng.normal(size=18))
    options = {"dt": 1e-3, "integrator": integrator, "time": EXACT}
    name = robot.feet[0] if robot.feet[0] in [g.name for g in robot.scene().geoms] else "lf_foot"
    check_pose(robot.scene(friction=0.3), name, state, tau, 1e-7, range(3), **options)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
def test_sides_of_what_both_move(integrator, thing):
    """The pusher's ball, and the box or ball that it pushes, whose face turns the normal."""
    scene, options = pushed(thing, 0.1), {"dt": 1e-3, "integrator": integrator, "time": EXACT}
    state = beside(thing, -1e-6, (0.02, 0.02, 0.02, 0.0, 0.3))
    for geom in scene.geoms:
        check_pose(scene, geom.name, state, PUSH, 1e-7, range(6), **options)


def test_what_cannot_be_moved_is_refused():
    simulator = so.Simulator(leg(), dt=5e-3)
    for names, text in (
        (["floor"], "half-spaces"),
        (["nothing"], "there is no geom"),
        (["foot 0", "foot 0"], "named twice"),
    ):
        with pytest.raises(ArgumentError, match=text):
            simulator.linearize_geoms(above(1e-3), names)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", [*INTEGRATORS, "rk4"])
@pytest.mark.parametrize("damping", [0.0, 5.0])
@pytest.mark.parametrize(("height", "speed"), [(-1e-6, 1e-3), (2e-3, 0.8)])
def test_a_toe_of_a_leg_with_rods(integrator, damping, height, speed):
    """Closures, and springs that resist; it slides, or lands and bounces."""
    scene, q = standing_leg(0.3, 0.5, damping)
    q[2] += 1.5e-6 + height
    v = approaching(scene, q, so.Node("foot", TOE), speed)
    tau = np.random.default_rng(1).normal(size=scene.model.nv)
    tau[5] = -60.0
    options = {"dt": 1e-3 if speed < 0.1 else 5e-3, "integrator": integrator, "time": EXACT}
    h = 1e-7 if speed < 0.1 else 1e-5
    found = check_pose(scene, "toe", so.State(q, v), tau, h, range(3), **options)
    assert np.abs(found).max() > 0.1


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", [*INTEGRATORS, "rk4"])
def test_a_foot_of_a_leg_on_springs_with_a_servo(integrator):
    scene = leg(0.3, stiffness=10.0, damping=0.1)
    servo = so.Actuator.position("servo", "knee", kp=20.0, kv=2.0)
    scene = so.Scene(scene.model, scene.geoms, actuators=[servo], ctrl=[0.3])
    options = {"dt": 4e-3, "integrator": integrator, "time": EXACT}
    check_pose(scene, "foot 0", above(2e-3), TAU, 1e-5, range(3), **options)
