"""Several models in one: each moves as it did alone, where it was put."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import from_quaternion
from spatialops.errors import ModelError
from spatialops.tree.forest import Planted, forest, planted_coordinates, planted_loop
from tests.support.trees import relative_error

TURN = from_quaternion([0.1, -0.2, 0.3, 0.9])


def arm():
    builder = so.TreeBuilder()
    builder.add_body("foot", position=(0.1, 0.0, 0.2))
    for name, parent, axis in (("upper", "foot", "y"), ("lower", "upper", "z")):
        inertia = so.Inertia.box((0.1, 0.2, 0.5), mass=2.0).shifted((0.0, 0.1, 0.25))
        joint = so.Joint("revolute", axis=axis, damping=0.3, lower=-1.0)
        builder.add_body(
            name, parent=parent, joint=joint, inertia=inertia, position=(0.0, 0.1, 0.5)
        )
    drone = so.Inertia.box((1.0, 2.0, 3.0), mass=1.0)
    builder.add_body("drone", joint="free", inertia=drone, position=(3, 1, 2), rotation=TURN.T)
    builder.add_body(
        "wheel", parent="drone", joint="ball", inertia=so.Inertia.sphere(0.2, mass=1.0)
    )
    return builder.build()


def test_parts_keep_their_motion(rng):
    model = arm()
    parts = [Planted(model, "a/"), Planted(model, "b/", np.array([1.0, 2.0, 3.0]), TURN)]
    both = forest(parts)
    assert (both.nq, both.nv, both.n_bodies) == (2 * model.nq, 2 * model.nv, 2 * model.n_bodies)
    assert both.joint_names[0] == "a/upper"
    assert both.joint_names[model.n_bodies] == "b/upper"
    q = [model.random(rng), model.random(rng)]
    v, a = rng.normal(size=(2, model.nv)), rng.normal(size=(2, model.nv))
    joined = np.concatenate(
        [planted_coordinates(part, own) for part, own in zip(parts, q, strict=True)]
    )
    for i, part in enumerate(parts):
        rows = slice(i * model.nv, (i + 1) * model.nv)
        alone, together = so.body_poses(model, q[i]), so.body_poses(both, joined)
        bodies = slice(i * model.n_bodies, (i + 1) * model.n_bodies)
        expected = part.position + alone.positions @ np.asarray(part.rotation).T
        assert relative_error(together.positions[bodies], expected) < 1e-12
        assert relative_error(together.rotations[bodies], part.rotation @ alone.rotations) < 1e-12
        mass = so.mass_matrix(both, joined)
        assert relative_error(mass[rows, rows], so.mass_matrix(model, q[i])) < 1e-12
        assert not mass[rows, : rows.start].any()
    # Gravity stays down: forces of the part that is not turned are as before.
    tau = so.inverse_dynamics(both, joined, v.ravel(), a.ravel())
    assert relative_error(tau[: model.nv], so.inverse_dynamics(model, q[0], v[0], a[0])) < 1e-12
    np.testing.assert_array_equal(both.lower[model.nv :], model.lower)


def test_world_frames_and_loops_move_along():
    model = arm()
    loop = so.Loop(
        kind="ball", a="lower", b="world", position_a=(0.0, 0.0, 0.5), position_b=(0.3, 0.2, 1.0)
    )
    part = Planted(model, "b/", np.array([1.0, 2.0, 3.0]), TURN)
    both = forest([Planted(model, "a/"), part])
    np.testing.assert_allclose(
        both.frame("b/foot").position, part.position + TURN @ [0.1, 0.0, 0.2]
    )
    moved = planted_loop(part, loop)
    assert (moved.a, moved.b) == ("b/lower", "world")
    q = np.concatenate([model.neutral(), planted_coordinates(part, model.neutral())])
    before = so.loop_errors(model, [loop], model.neutral())
    np.testing.assert_allclose(so.loop_errors(both, [moved], q), before, atol=1e-12)
    gear = planted_loop(part, so.Loop.mimic("upper", of="lower", multiplier=2.0))
    assert dict(gear.joints) == {"b/upper": 1.0, "b/lower": -2.0}


def test_clashes_are_refused():
    model = arm()
    with pytest.raises(ModelError, match="two bodies 'foot'; give the parts different names"):
        forest([Planted(model), Planted(model)])
    with pytest.raises(ModelError, match="at least one model"):
        forest([])
    light = so.TreeBuilder(gravity=(0.0, 0.0, 0.0)).add_body(
        "m", joint="free", inertia=so.Inertia.sphere(1.0, mass=1.0)
    )
    with pytest.raises(ModelError, match="same gravity"):
        forest([Planted(model, "a/"), Planted(light.build(), "b/")])
