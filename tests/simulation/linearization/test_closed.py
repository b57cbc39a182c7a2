"""Derivatives of steps of closed mechanisms against differences, along motions and off them."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.errors import ArgumentError
from tests.derivatives.test_constrained_dynamics import leg_with_rods
from tests.simulation.linearization.test_linearize import EXACT, differences
from tests.simulation.stepping.constraints.test_loop_constraints import folding
from tests.support.loops import onto, random_loop
from tests.support.trees import random_tree, relative_error

TOLERANCE = 1e-7
INTEGRATORS = ("moreau", "semi-implicit", "rk4")
TOE = (0.05, 0.0, -0.12)


def central(function, h):
    f = [function(c * h) for c in (-2.0, -1.0, 1.0, 2.0)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)


class Course:
    """Closed states along a curve, which begins at q in a random direction of its motions."""

    def __init__(self, scene, q, wish, seed=0):
        rng = np.random.default_rng(seed)
        self.model = scene.model
        self.loops = scene.loops
        self.q = q
        self.along = onto(self.jacobian(q), rng.normal(size=scene.model.nv))
        self.wish, self.change = wish, rng.normal(size=scene.model.nv)

    def jacobian(self, q):
        return so.loop_jacobian(self.model, self.loops, q)

    def at(self, s):
        q = so.integrate(self.model, self.q, s * self.along)
        q = so.close_loops(self.model, self.loops, q) if s else q
        return so.State(q, onto(self.jacobian(q), self.wish + s * self.change))


def check(simulator, course, tau, steps=(1e-3, 1e-1)):
    """A along the course, and B."""
    start = course.at(0.0)
    end, _ = simulator.step(start, tau)

    def moved(state, forces):
        found, _ = simulator.step(state, forces)
        difference = so.difference(course.model, end.q, found.q)
        return np.concatenate([difference, found.v - end.v])

    found = simulator.linearize(start, tau)
    turned = central(lambda s: course.at(s).v, steps[0])
    along = found.A @ np.concatenate([course.along, turned])
    assert relative_error(along, central(lambda s: moved(course.at(s), tau), steps[0])) < TOLERANCE
    for push in np.eye(tau.size):
        numeric = central(lambda s, push=push: moved(start, tau + s * push), steps[1])
        assert np.abs(found.B @ push - numeric).max() < TOLERANCE * np.abs(found.B).max()
    assert np.allclose(found.state.q, end.q, atol=1e-12)
    assert np.allclose(found.state.v, end.v, atol=1e-9)
    opened = course.jacobian(end.q) @ np.hstack([found.A[: tau.size], found.B[: tau.size]])
    assert np.abs(opened).max() < 1e-6 * np.abs(found.A).max()  # no change at the start opens them
    return found


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_planar_linkages(integrator, name, dt):
    """Rows across the plane are redundant, as what moves nothing."""
    linkage = getattr(so.models, name)()
    nv = linkage.model.nv
    rng = np.random.default_rng(2)
    simulator = so.Simulator(linkage.scene(), dt=dt, integrator=integrator, time=EXACT)
    course = Course(linkage.scene(), linkage.state.q, 3.0 * rng.normal(size=nv))
    check(simulator, course, rng.normal(size=nv))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_states_that_are_a_little_open(integrator, name):
    """They are closed first: A is known in all directions, and takes none off the closures.

    More than 1e-8 m is refused, so that rounding leaves differences 1e-7.
    """
    linkage = getattr(so.models, name)()
    rng = np.random.default_rng(2)
    simulator = so.Simulator(linkage.scene(), dt=1e-3, integrator=integrator, time=EXACT)
    course = Course(linkage.scene(), linkage.state.q, 3.0 * rng.normal(size=linkage.model.nv))
    tau = rng.normal(size=linkage.model.nv)
    found = simulator.linearize(course.at(0.0), tau)
    A, _ = differences(simulator, course.at(0.0), tau, (2e-9, 1e-7, 1e-1))
    assert relative_error(found.A, A) < 1e-6


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("kind", "seed"), [("distance", 0), ("ball", 1), ("revolute", 3), ("coupler", 5)]
)
def test_closures_of_random_trees(integrator, kind, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7, ("revolute", "ball", "universal", "prismatic"), each=True)
    q = model.random(rng)
    scene = so.Scene(model, [], loops=[random_loop(rng, model, q, kind, "loop")])
    simulator = so.Simulator(scene, dt=2e-3, integrator=integrator, time=EXACT)
    check(simulator, Course(scene, q, rng.normal(size=model.nv)), rng.normal(size=model.nv))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_springs_and_damping_of_a_linkage(integrator):
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.03, 0.5, mass=1.0).shifted((0.1, 0.0, -0.25))
    for name, parent in (("a", "world"), ("b", "a"), ("c", "b")):
        joint = so.Joint("revolute", axis="y", damping=0.5, stiffness=30.0, armature=0.1)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.0, -0.5))
    model, q = builder.build(), np.array([0.3, -0.8, 0.4])
    end = so.node_positions(model, q, [so.Node("c", (0.0, 0.0, -0.5))])[0]
    pin = so.Loop(kind="distance", a="c", position_a=(0.0, 0.0, -0.5), position_b=end + 0.2, **LONG)
    scene = so.Scene(model, [], loops=[pin])
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    check(simulator, Course(scene, q, np.array([1.0, -2.0, 0.5])), np.array([0.1, 0.2, -0.3]))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_rows_that_others_imply(integrator, dt):
    """A linkage that moves because a row is redundant, which between steps looks independent."""
    linkage = so.models.bricard()
    rng = np.random.default_rng(2)
    simulator = so.Simulator(linkage.scene(), dt=dt, integrator=integrator, time=EXACT)
    course = Course(linkage.scene(), linkage.state.q, 3.0 * rng.normal(size=5))
    check(simulator, course, rng.normal(size=5))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("rate", [1.0, lambda t: 1.0 + 3.0 * t], ids=["steady", "grows"])
@pytest.mark.parametrize("kind", ["distance", "coupler"])
def test_a_length_that_is_driven(integrator, rate, kind):
    """It begins with what the state has: nothing closes what is driven."""
    rng = np.random.default_rng(1)
    model = random_tree(rng, 5, ("revolute", "ball", "universal", "prismatic"), each=True)
    q = model.random(rng)
    loop = replace(random_loop(rng, model, q, kind, "loop"), rate=rate)
    scene = so.Scene(model, [], loops=[loop])
    simulator = so.Simulator(scene, dt=2e-3, integrator=integrator, time=EXACT)
    wish, along, change = 3.0 * rng.normal(size=(3, model.nv))
    tau = rng.normal(size=model.nv)

    def start(s):
        at = so.integrate(model, q, s * along)
        G = so.loop_jacobian(model, scene.loops, at)
        return so.State(at, onto(G, wish + s * change, scene.loops.rates(0.0)))

    end, _ = simulator.step(start(0.0), tau)

    def moved(state, forces):
        there, _ = simulator.step(state, forces)
        return np.concatenate([so.difference(model, end.q, there.q), there.v - end.v])

    found = simulator.linearize(start(0.0), tau)
    given = np.concatenate([along, central(lambda s: start(s).v, 1e-3)])
    expected = central(lambda s: moved(start(s), tau), 1e-3)
    assert relative_error(found.A @ given, expected) < TOLERANCE
    expected = central(lambda s: moved(start(0.0), tau + s * change), 1e-2)
    assert relative_error(found.B @ change, expected) < TOLERANCE


LONG = {"distance": 0.2 * np.sqrt(3.0)}


def standing_leg(friction, restitution=0.0, damping=0.0):
    """The leg with its toe on the floor, and velocities that do not press it in."""
    model, loops, q = leg_with_rods()
    links = model.links.copy()
    links[6:, layout.DAMPING] = damping
    model = replace(model, links=links)
    loops = so.Loops(model, loops.items)
    toe = so.node_positions(model, q, [so.Node("foot", TOE)])[0]
    q = q.copy()
    q[2] += 0.03 - 2e-6 - toe[2]
    touch = {"friction": friction, "restitution": restitution}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    geoms.append(so.Geom("toe", "foot", so.Sphere(0.03), position=TOE, **touch))
    return so.Scene(model, geoms, loops=loops), q


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("law", "speed", "status"),
    [
        ("coulomb", 0.0, "sticking"),
        ("coulomb", 0.5, "sliding"),
        ("cone", 0.5, "sliding"),
        ("frictionless", 0.5, "sliding"),
        ("viscous", 0.5, "dragged"),
    ],
)
def test_a_floating_leg_with_rods_on_its_toe(integrator, law, speed, status):
    """Contacts see the closures answer."""
    scene, q = standing_leg(1.0 if status == "sticking" else 0.3)
    model = scene.model
    wish = 1e-2 * np.random.default_rng(5).normal(size=model.nv)
    wish[3] += speed
    wish = onto(so.loop_jacobian(model, scene.loops, q), wish)
    down = so.jacobian(model, q, [so.Node("foot", TOE)])[5]
    wish[5] -= (down @ wish + 1e-3) / down[5]
    tau = np.zeros(model.nv)
    tau[5] = -30.0
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=law, time=EXACT)
    found = check(simulator, Course(scene, q, wish), tau, (1e-7, 1e-2))
    assert found.statuses == (status,)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("damping", [0.0, 20.0])
def test_a_toe_whose_slip_turns(integrator, seed, damping):
    """Friction of a polygon turns with the slip that there is without contacts, closures held."""
    scene, q = standing_leg(0.3, damping=damping)
    model, rng = scene.model, np.random.default_rng(seed)
    wish = onto(so.loop_jacobian(model, scene.loops, q), 0.3 * rng.normal(size=model.nv))
    down = so.jacobian(model, q, [so.Node("foot", TOE)])[5]
    wish[5] -= (down @ wish + 1e-3) / down[5]
    tau = rng.normal(size=model.nv)
    tau[5] = -60.0
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    found = check(simulator, Course(scene, q, wish, seed), tau, (1e-7, 1e-2))
    assert found.statuses == ("sliding",)


def test_products_of_a_rollout_are_each_others_transpose():
    linkage = so.models.four_bar()
    rng = np.random.default_rng(0)
    simulator = so.Simulator(linkage.scene(), dt=5e-3, time=EXACT)
    rollout = simulator.linearize_rollout(linkage.state, 0.1 * rng.normal(size=(6, 3)))
    dq, dv = rng.normal(size=(2, 3))
    dtau = rng.normal(size=(6, 3))
    by_q, by_v = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))
    ahead, back = rollout.jvp(dq, dv, dtau), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    backwards = back.q @ dq + back.v @ dv + np.sum(back.tau * dtau)
    assert np.isclose(forwards, backwards, rtol=1e-10)


def test_what_is_not_known_is_refused_in_words():
    bar = so.models.four_bar()
    pin = so.Loop(kind="ball", a=bar.model.body_names[0], rate=(1.0, 0.0, 0.0))
    with pytest.raises(ArgumentError, match="frame is driven"):
        so.Simulator(bar.scene(loops=[pin])).linearize(bar.state)
    ring = so.models.bricard()
    with pytest.raises(ArgumentError, match="closures of which some imply others"):
        so.Simulator(ring.scene()).linearize_parameters(ring.state)
    with pytest.raises(ArgumentError, match="open by"):
        so.Simulator(bar.scene()).linearize(so.State(bar.state.q + [0.1, 0.0, 0.0], np.zeros(3)))


@pytest.mark.parametrize("speed", [3.0, 5.0])
@pytest.mark.parametrize("off", [0.0, 1e-4, 1e-3])
def test_a_dead_centre_in_the_middle_of_a_step_is_differentiated(speed, off):
    # In maximal coordinates rows are all but redundant there: LinAlgError at some of them.
    dt = 1e-3
    scene = so.maximal_scene(folding(-speed * dt * (0.5 + off), speed))
    found = so.Simulator(scene, dt=dt).linearize(scene.state)
    assert np.isfinite(found.A).all()
    assert np.isfinite(found.B).all()
