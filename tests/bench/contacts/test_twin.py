"""MuJoCo's model of a scene is the same mechanism: masses, dynamics, shapes, pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.bench.contacts import mechanisms, piles, robots
from spatialops.bench.contacts.drag import with_drag
from spatialops.bench.contacts.twin import Twin, mjcf, unequal_frictions
from spatialops.bench.measure import BenchError
from spatialops.collision import Box, ConvexHull
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.simulation.scene.placement import geom_poses

mujoco = pytest.importorskip("mujoco")

MAKERS = {
    "lying chain": lambda: mechanisms.lying_chain(4),
    "moving chain": lambda: mechanisms.moving_chain(6),
    "boxes of any attitude": lambda: piles.dropped(4, round_ones=False),
    "gripped box": robots.gripped_box,
    "quadruped": robots.standing_quadruped,
    "wheel": robots.held_wheel,
    "solo12": robots.standing_solo12,
    "talos": lambda: robots.limp("talos", self_collision=True),
}


@pytest.fixture(params=MAKERS)
def scene(request):
    setting = MAKERS[request.param]()
    if setting is None:
        pytest.skip("example-robot-data is not installed")
    return setting.scene


def at_state(scene):
    twin = Twin(scene, 1e-3)
    data = mujoco.MjData(twin.model)
    return twin, data


def test_mass_and_start_are_the_same(scene):
    twin, data = at_state(scene)
    twin.put_state(data, scene.state)
    assert twin.model.body_mass.sum() == pytest.approx(scene.model.mass, rel=1e-12)
    back = twin.state(data)
    assert np.abs(back.q - scene.state.q).max() < 1e-12
    assert np.abs(back.v - scene.state.v).max() < 1e-12


def test_accelerations_without_contacts_are_the_same(scene, rng):
    """From rest, under random motor forces; MuJoCo adds what frictionless joints do not have."""
    twin, data = at_state(scene)
    model = scene.model
    twin.model.dof_frictionloss[:] = 0.0
    q = model.random(rng)
    tau = np.zeros(model.nv)
    for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind in ("revolute", "prismatic"):
            tau[model.v_slice(name)] = rng.normal()
    twin.put_state(data, so.State(q, np.zeros(model.nv)))
    twin.put_forces(data, tau)
    mujoco.mj_forward(twin.model, data)
    # From rest, accelerations go over as velocities do.
    data.qvel[:] = data.qacc_smooth
    theirs = twin.state(data).v
    ours = forward_dynamics(model, q, np.zeros(model.nv), tau)
    assert np.abs(ours - theirs).max() <= 1e-8 * np.abs(ours).max()


def test_velocities_go_there_and_back(rng):
    scene = robots.gripped_box().scene
    twin, data = at_state(scene)
    state = so.State(scene.model.random(rng), rng.normal(size=scene.model.nv))
    twin.put_state(data, state)
    assert np.abs(twin.state(data).v - state.v).max() < 1e-12
    mujoco.mj_forward(twin.model, data)
    # The kinetic energy is one number for both only if the velocities are the same.
    twin.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(twin.model, data)
    kinetic, _ = so.energy(scene.model, state.q, state.v)
    assert data.energy[1] == pytest.approx(kinetic, rel=1e-9)


def test_hulls_stand_where_ours_do(scene):
    twin, data = at_state(scene)
    twin.put_state(data, scene.state)
    mujoco.mj_forward(twin.model, data)
    positions, turns = geom_poses(scene, scene.state.q)
    for i, geom in enumerate(scene.geoms):
        number = twin.model.geom(geom.name).id
        place, axes = data.geom_xpos[number], data.geom_xmat[number].reshape(3, 3)
        if not isinstance(geom.shape, ConvexHull):
            assert np.abs(place - positions[i]).max() < 1e-9
            continue
        mesh = twin.model.geom_dataid[number]
        first, count = twin.model.mesh_vertadr[mesh], twin.model.mesh_vertnum[mesh]
        theirs = place + twin.model.mesh_vert[first : first + count] @ axes.T
        ours = positions[i] + geom.shape.vertices @ turns[i].T
        assert np.abs(theirs.min(axis=0) - ours.min(axis=0)).max() < 1e-6  # MuJoCo's are floats
        assert np.abs(theirs.max(axis=0) - ours.max(axis=0)).max() < 1e-6


def test_turned_boxes_are_turned():
    scene = piles.dropped(4, round_ones=False).scene
    twin, data = at_state(scene)
    twin.put_state(data, scene.state)
    mujoco.mj_forward(twin.model, data)
    for i in range(4):
        turn = Rotation.from_quat(scene.state.q[7 * i + 3 : 7 * i + 7]).as_matrix()
        assert np.abs(data.geom(f"g{i}").xmat.reshape(3, 3) - turn).max() < 1e-12


def two_boxes(**options):
    builder = so.TreeBuilder()
    for name in ("a", "b"):
        builder.add_body(name, joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [
        so.Geom("left", "a", Box((0.1, 0.1, 0.1)), friction=0.4),
        so.Geom("right", "a", Box((0.1, 0.1, 0.1)), (0.0, 0.2, 0.0), friction=0.4),
        so.Geom("other", "b", Box((0.1, 0.1, 0.1)), friction=0.9),
        so.Geom("fourth", "b", Box((0.1, 0.1, 0.1)), (0.0, 0.2, 0.0), friction=0.4),
    ]
    return so.Scene(builder.build(), geoms, **options)


def test_bodies_that_are_kept_apart_are_named():
    assert "<exclude" not in mjcf(two_boxes(), 1e-3)
    floor = so.Geom("floor", "world", so.HalfSpace())
    every = [(a, b) for a in ("left", "right") for b in ("other", "fourth")]
    apart = two_boxes(ignore=every)
    apart = so.Scene(apart.model, [*apart.geoms, floor], ignore=apart.ignore)
    # Nothing that moves meets anything that moves: masks say so.
    assert "<exclude" not in mjcf(apart, 1e-3)
    assert Twin(apart, 1e-3).model.geom("left").conaffinity[0] == 1
    builder = so.TreeBuilder()
    for name in ("a", "b", "c"):
        builder.add_body(name, joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    balls = [so.Geom(name, name, so.Sphere(0.1)) for name in ("a", "b", "c")]
    some = so.Scene(builder.build(), balls, ignore=[("a", "b")])
    assert mjcf(some, 1e-3).count("<exclude") == 1


def test_a_geom_without_pairs_needs_no_name():
    model = Twin(two_boxes(ignore=[("left", "other"), ("left", "fourth")]), 1e-3).model
    assert (model.geom("left").contype[0], model.geom("left").conaffinity[0]) == (0, 0)
    assert model.geom("right").contype[0] == 1


def test_pairs_that_mujoco_cannot_have_are_refused():
    with pytest.raises(BenchError, match="would let 1 pairs touch"):
        mjcf(two_boxes(ignore=[("left", "other")]), 1e-3)


def test_frictions_that_differ_are_counted():
    assert unequal_frictions(two_boxes()) == 2
    assert unequal_frictions(piles.boxes(4).scene) == 0


def test_closures_and_strange_joints_are_refused():
    linkage = so.models.four_bar()
    with pytest.raises(BenchError, match="closures"):
        mjcf(so.Scene(linkage.model, loops=linkage.loops), 1e-3)
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("planar"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    with pytest.raises(BenchError, match="planar joints"):
        mjcf(so.Scene(builder.build()), 1e-3)


def test_drag_is_put_where_it_is_asked_for():
    scene = robots.gripped_box().scene
    dragged = with_drag(scene, {"arm1": 7.0})
    assert dragged.model.damping[scene.model.v_slice("arm1")] == 7.0
    assert Twin(dragged, 1e-3).model.dof_damping[0] == 7.0
