"""A scene in maximal coordinates.

The same bodies, the same motion as the step shrinks, and what has no such form.
"""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ModelError
from tests.support.trees import random_tree

HINGES = ("revolute", "prismatic", "ball", "free", "fixed")


@pytest.fixture
def scene(rng):
    model = random_tree(rng, 7, kinds=HINGES, armature=False)
    state = so.State(model.random(rng), rng.normal(size=model.nv))
    geoms = [so.Geom(f"on {name}", name, so.Sphere(0.05)) for name in model.body_names]
    return so.Scene(
        model,
        [*geoms, so.Geom("floor", "world", so.HalfSpace(), position=(0, 0, -50))],
        state=state,
    )


def test_states_convert_both_ways(scene):
    there = so.maximal_state(scene.model, scene.state)
    back = so.tree_state(scene.model, there)
    turned = so.difference(scene.model, scene.state.q, back.q)
    assert np.abs((turned + np.pi) % (2.0 * np.pi) - np.pi).max() < 1e-11
    assert np.abs(back.v - scene.state.v).max() < 1e-11


def test_the_same_bodies_energies_and_closed_hinges(scene):
    free = so.maximal_scene(scene)
    model = free.model
    assert model.body_names == scene.model.body_names
    assert set(model.frames) == set(scene.model.frames)
    assert model.nv == 6 * model.n_bodies
    assert free.loops.n_rows == model.nv - scene.model.nv
    for one, other in zip(
        so.body_poses(model, free.state.q), so.body_poses(scene.model, scene.state.q), strict=True
    ):
        assert np.allclose(one, other, rtol=0.0, atol=1e-11)
    ours, theirs = (
        so.energy(model, free.state.q, free.state.v),
        so.energy(scene.model, scene.state.q, scene.state.v),
    )
    assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-9)
    if free.loops.n_rows:
        assert np.abs(so.loop_errors(model, free.loops, free.state.q)).max() < 1e-11
        assert (
            np.abs(so.loop_velocities(model, free.loops, free.state.q, free.state.v)).max() < 1e-10
        )
    names = lambda s: {frozenset(s.pair_names(p)) for p in range(len(s.pairs))}  # noqa: E731
    assert names(free) == names(scene)


def test_accelerations_are_the_same(scene, rng):
    """Forces of the closures take the place of coordinates: twists after a short time agree."""
    free, model = so.maximal_scene(scene), scene.model
    v = scene.state.v
    a = so.forward_dynamics(model, scene.state.q, v, np.zeros(model.nv))
    nodes = [so.Node(name) for name in model.body_names]
    expected = so.node_accelerations(model, scene.state.q, v, a, nodes)
    motion = so.constrained_dynamics(
        free.model, free.loops, free.state.q, free.state.v, np.zeros(free.model.nv)
    )
    found = so.node_accelerations(
        free.model, free.state.q, free.state.v, motion.accelerations, nodes
    )
    assert np.allclose(found, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.compiled
def test_motions_draw_together_as_the_step_shrinks():
    from spatialops.compare.trajectories import largest_difference, pendulum_motions

    apart = [
        largest_difference(pendulum_motions(12, dt=dt, duration=0.9), 0.9)
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    # Order 4 would be 16 times less for each half of the step.
    assert apart[0] / apart[1] > 8.0
    assert apart[1] / apart[2] > 8.0
    assert apart[2] < 1e-6


@pytest.mark.compiled
def test_motions_are_one_where_the_integrator_is_exact():
    from spatialops.compare.trajectories import (
        largest_difference,
        pendulum_motion,
        pendulum_motions,
    )

    exact = pendulum_motions(4, dt=1e-3, duration=0.2, time=so.EventDriven(tolerance=1e-13))
    assert len(exact["os"].impacts) == 1
    assert largest_difference(exact, 0.2) < 1e-13
    rk4 = pendulum_motion(4, dt=1e-3, duration=0.2)
    assert largest_difference({"exact": exact["os"], "rk4": rk4}, 0.2) > 1e-12


@pytest.mark.parametrize(
    ("joint", "named"),
    [
        (so.Joint("universal"), "no closure for a universal joint"),
        (so.Joint("revolute", armature=0.1), "armature"),
        (so.Joint("revolute", damping=0.1), "damping"),
    ],
)
def test_what_cannot_be_converted_says_so(joint, named):
    model = (
        so.TreeBuilder()
        .add_body("b", joint=joint, inertia=so.Inertia.sphere(0.1, mass=1.0))
        .build()
    )
    with pytest.raises(ModelError, match=named):
        so.maximal_scene(so.Scene(model))


def test_massless_bodies_are_refused():
    builder = so.TreeBuilder().add_body("light", joint=so.Joint("revolute"))
    builder.add_body(
        "tip",
        parent="light",
        joint=so.Joint("revolute", axis="x"),
        inertia=so.Inertia.sphere(0.1, mass=1.0),
    )
    with pytest.raises(ModelError, match="'light'"):
        so.maximal_scene(so.Scene(builder.build()))


def test_what_pairs_have_of_their_own_goes_over():
    scene = so.models.pendulum(2).scene()
    model, geoms = scene.model, scene.geoms
    pair = so.Pair(a=geoms[0].name, b="floor", friction=0.123)
    joined = [(geoms[0].name, geoms[1].name)]  # of a body and its parent
    free = so.maximal_scene(so.Scene(model, geoms, pair_laws=[pair], include=joined))
    assert free.pair_laws == (pair,)
    assert frozenset(joined[0]) in {frozenset(free.pair_names(p)) for p in range(len(free.pairs))}


@pytest.mark.parametrize("what", ["actuators", "tendons", "weight"])
def test_what_acts_on_the_tree_alone_is_refused(what):
    scene = so.models.pendulum(2).scene()
    if what == "actuators":
        scene.add_actuators([so.Actuator.motor("motor", "pin1")])
    elif what == "tendons":
        scene = so.Scene(scene.model, tendons=[so.Tendon(joints={"pin1": 1.0}, stiffness=1.0)])
    else:
        inertia = so.Inertia.sphere(0.1, mass=1.0)
        builder = so.TreeBuilder()
        builder.add_body("a", joint="ball", inertia=inertia, gravity_compensation=0.5)
        scene = so.Scene(builder.build())
    with pytest.raises(ModelError, match="act on the tree"):
        so.maximal_scene(scene)
