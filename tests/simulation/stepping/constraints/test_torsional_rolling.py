"""Torsional and rolling friction in the loop, against the laws outside of it."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation import _layout as at

LAWS = ["coulomb", "cone", "no-slip", "viscous"]


def rolling_scene(shape, count=4, *, bounces=0.5):
    """Bodies that roll, spin and slide on a floor; only some have torsion, some rolling."""
    rng = np.random.default_rng(0)
    builder, geoms = so.TreeBuilder(), []
    q = np.zeros((count, 7))
    for i in range(count):
        builder.add_body(
            f"b{i}", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, density=500.0)
        )
        given = {"torsion": 5e-3 * (i != 1), "rolling": 2e-3 * (i != 2), "condim": 6}
        geoms.append(
            so.Geom(f"g{i}", f"b{i}", shape, friction=0.4, restitution=bounces * (i % 2), **given)
        )
        q[i, :3] = [0.25 * i, 0.02 * i, 0.1 + 0.02 * i]
        q[i, 6] = 1.0
    floor = so.HalfSpace()
    geoms.append(
        so.Geom(
            "floor", "world", floor, friction=0.5, torsion=5e-3, rolling=2e-3, condim=6,
            restitution=bounces,
        )
    )  # fmt: skip
    state = so.State(q.ravel(), rng.normal(size=6 * count))
    return so.Scene(builder.build(), geoms, state=state)


def states_of(scene, rows):
    """The states that rows of coordinates and velocities are."""
    nq = scene.model.nq
    return [so.State(row[:nq], row[nq:]) for row in rows]


def steps_from(simulator, states):
    """States and moments of a step from each: a reversing slip turns polygons by what it is off."""
    made = [steps_of(simulator, state, 1) for state in states]
    return np.concatenate([m[0] for m in made]), np.concatenate([m[1] for m in made])


def steps_of(simulator, state, n):
    """States and moments of so many steps."""
    states, moments = [], []
    for _ in range(n):
        state, info = simulator.step(state)
        states.append(np.concatenate([state.q, state.v]))
        moments.append(np.abs(info.moments).sum())
    return np.array(states), np.array(moments)


@pytest.mark.compiled
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shape", [so.Sphere(0.1), so.Box((0.2, 0.16, 0.12))], ids=["ball", "box"])
def test_the_loop_answers_as_the_law_outside_does(law, shape):
    # Polygons of rolling turn with the spin between the phases of an impact outside, not here.
    scene = rolling_scene(shape, bounces=0.0 if law == "coulomb" else 0.5)
    inside = so.Simulator(scene, dt=2e-3, law=law)
    outside = so.Simulator(scene, dt=2e-3, law=law, certify="full")
    wanted, of_law = steps_of(outside, scene.state, 50)  # a slip of the box reverses in the 55th
    states, moments = steps_from(inside, [scene.state, *states_of(scene, wanted)[:-1]])
    assert of_law.any()
    assert inside.fallbacks == 0
    np.testing.assert_allclose(states, wanted, atol=1e-9)
    if isinstance(shape, so.Sphere):  # else forces are not unique, though motion is
        np.testing.assert_allclose(moments, of_law, atol=1e-9)


def test_a_record_has_one_row_for_both_moments_of_a_contact():
    scene = rolling_scene(so.Sphere(0.1))
    record = so.Simulator(scene, dt=2e-3).run(duration=0.3)
    rows = record.moments
    assert len(rows)
    assert (rows[:, at.RECORD_PAIR] >= 0).all()
    names = [tuple(row) for row in rows[:, [at.RECORD_TIME, at.RECORD_PAIR, at.RECORD_KIND]]]
    assert len(set(names)) == len(names)
    normals = rows[:, at.RECORD_NORMAL : at.RECORD_NORMAL + 3]
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_a_scene_with_moments_goes_on_from_a_copy_to_the_bit():
    simulator = so.Simulator(rolling_scene(so.Sphere(0.1)), dt=2e-3)
    whole = simulator.stepper()
    for _ in range(80):
        whole.step()
    other = simulator.stepper()
    other.restore(whole.save())
    for _ in range(20):
        whole.step()
        other.step()
    assert (whole.q == other.q).all()
    assert (whole.v == other.v).all()


@pytest.mark.compiled
def test_balls_with_rolling_friction_come_to_rest_and_sleep():
    scene = rolling_scene(so.Sphere(0.1))
    geoms = [dataclasses.replace(geom, torsion=0.01, rolling=0.02) for geom in scene.geoms]
    scene = so.Scene(scene.model, geoms, state=scene.state)
    simulator = so.Simulator(scene, dt=2e-3)
    record = simulator.run(duration=4.0)
    assert np.abs(record.v[-1]).max() == 0.0
    assert (record.q[-1] == record.q[-2]).all()
    assert simulator.fallbacks == 0
