"""Meanings of restitution, propagation of impacts, laws of pairs, moments in records, warm laws."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ConeCoulomb, NoSlip, OperationalSpace
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.errors import ArgumentError, ShapeError
from spatialops.simulation.impact_models import Collider
from tests.simulation.test_closed_forms import ball_scene
from tests.support.contacts import feet_problem


def two_balls(*pair_laws, e=0.5, velocity=(0.0, 0.0, -1.0), friction=0.3):
    """Balls "a" and "b" that meet the floor side by side."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=friction, restitution=e)]
    for name in "ab":
        builder.add_body(name, joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
        geoms.append(so.Geom(name, name, so.Sphere(0.1), friction=friction, restitution=e))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    for i in range(2):
        q[7 * i : 7 * i + 3], v[6 * i + 3 : 6 * i + 6] = (0.0, float(i), 0.1), velocity
    return so.Scene(model, geoms, state=so.State(q, v), pair_laws=pair_laws)


def linear(scene, state):
    return so.node_velocities(scene.model, state.q, state.v, [so.Node("a"), so.Node("b")])[:, 3:]


def rod_problem(rng):
    """A rod that strikes with two points at once, sliding.

    Where restitution and friction may add energy.
    """
    feet = [(x, 0.0, rng.uniform(-0.6, 0.0)) for x in rng.uniform(-0.6, 0.6, 2)]
    inertia = so.Inertia(1.0, np.zeros(3), np.diag([0.02, 0.02, 0.02]))
    velocity = (rng.uniform(-3.0, 3.0), 0.0, -1.0)
    return feet_problem(
        feet, velocity=velocity, spin=(0.0, rng.uniform(-5.0, 5.0), 0.0), mu=0.8, inertia=inertia
    )


@pytest.mark.parametrize("newton", [False, True])
def test_restitution_never_adds_energy(newton, rng):
    def solve(problem):
        answer = Coulomb().solve(problem)
        assert answer.solved
        return answer

    collider, reduced = Collider(solve, False, 0.01), 0
    for _ in range(60):
        problem = rod_problem(rng)
        found = collider.resolve(problem, np.full(2, 0.9), np.full(2, newton))
        after = problem.after(found.impulses.ravel())
        M = so.mass_matrix(problem.model, problem.q)
        before = problem.velocity @ M @ problem.velocity
        assert after @ M @ after <= before * (1.0 + 1e-10)
        reduced += found.share < 1.0
        u = (problem.jacobian @ after).reshape(-1, 3)
        asked = -found.share * 0.9 * np.minimum(problem.velocities[::3], 0.0) if newton else 0.0
        assert (u[:, 0] - asked).min() > -1e-9
    if newton:
        assert reduced > 0  # else the rule was never needed here


def test_newton_and_poisson_differ_where_friction_turns_a_body():
    problem = feet_problem([(0.4, 0.0, -0.3)], velocity=(0.5, 0.0, -1.0), mu=0.3)
    speeds = []
    for newton in (False, True):
        found = Collider(Coulomb().solve, False, 0.01).resolve(
            problem, np.array([0.5]), np.array([newton])
        )
        speeds.append((problem.jacobian @ problem.after(found.impulses.ravel()))[0])
    assert speeds[1] == pytest.approx(0.5, abs=1e-9)
    assert speeds[0] == pytest.approx(0.5, abs=1e-9)  # it slides one way throughout: they agree
    problem = feet_problem([(0.4, 0.0, -0.3)], velocity=(-0.05, 0.0, -1.0), mu=0.9)
    for newton in (False, True):
        found = Collider(Coulomb().solve, False, 0.01).resolve(
            problem, np.array([0.5]), np.array([newton])
        )
        speeds.append((problem.jacobian @ problem.after(found.impulses.ravel()))[0])
    assert speeds[3] == pytest.approx(0.5, abs=1e-9)
    assert abs(speeds[2] - 0.5) > 1e-3


def test_restitution_of_a_pair():
    pair = so.Pair(a="floor", b="a", restitution="newton")
    for default in ("poisson", "newton"):
        scene = two_balls(pair)
        state, info = so.Simulator(scene, restitution=default, dt=1e-4).step(scene.state)
        assert linear(scene, state)[:, 2] == pytest.approx([0.5, 0.5], abs=1e-12)
        assert len(info.events) == 1
        assert info.events[0, 5] == 1.0


def test_laws_of_pairs():
    # One is held from slipping whatever its coefficient, one slides without friction, and the scene
    # is as stored.
    pairs = so.Pair(a="a", b="floor", law="no-slip"), so.Pair(a="floor", b="b", law="frictionless")
    for law in ("coulomb", "cone", "no-slip"):
        scene = two_balls(*pairs, velocity=(0.7, 0.0, -1.0), friction=0.01, e=0.0)
        again = so.Scene.from_data(scene.model, scene.to_data(), scene.state)
        assert again.pair_laws == scene.pair_laws
        state, _ = so.Simulator(again, law=law, dt=1e-4).step(scene.state)
        assert linear(scene, state)[:, 0] == pytest.approx([0.5, 0.7], abs=1e-9)
    with pytest.raises(ArgumentError, match="all contacts together"):
        so.Simulator(scene, law="convex", dt=1e-4)


def test_torsion_of_a_pair():
    scene = ball_scene(velocity=(0.0, 0.0, 5.0, 0.0, 0.0, 0.0), friction=0.5)
    geoms, model = scene.geoms, scene.model
    other = so.Scene(
        model, geoms, state=scene.state, pair_laws=[so.Pair(a="ball", b="floor", torsion=0.01)]
    )
    state, info = so.Simulator(other, dt=1e-3).step(other.state)
    assert state.v[2] == pytest.approx(5.0 - 0.01 * 9.81e-3 / (0.4 * 0.01), rel=1e-9)
    assert info.moments[0, 0] == pytest.approx(-0.01 * info.contacts.impulses[0, 0], rel=1e-9)
    held, _ = so.Simulator(other, law="no-slip", dt=1e-3).step(other.state)
    assert held.v[2] == pytest.approx(state.v[2], rel=1e-9)


def test_bad_pairs():
    for bad, text in (
        ([so.Pair(a="a", b="nobody")], "no geom"),
        ([so.Pair(a="a", b="a")], "twice"),
        ([so.Pair(a="a", b="b"), so.Pair(a="b", b="a")], "twice"),
        (["a"], "Pair"),
        (so.Pair(a="a", b="b"), "sequence"),
    ):
        with pytest.raises(ShapeError, match=text):
            two_balls(*bad) if isinstance(bad, list) else so.Scene(two_balls().model, pair_laws=bad)
    for options in ({"law": "sticky"}, {"restitution": "hard"}, {"torsion": -1.0}):
        with pytest.raises((ShapeError, ArgumentError), match=next(iter(options))):
            so.Pair(a="a", b="b", **options)
    for options in ({"restitution": "hard"}, {"impacts": "slow"}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            so.Simulator(two_balls(), **options)
    for name in ("torsion", "rolling"):
        with pytest.raises(ShapeError, match=name):
            so.Geom("g", "world", so.HalfSpace(), **{name: -0.1})


def test_a_box_that_falls_flat_stays_level_when_impacts_are_propagated():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "box", joint=so.Joint("free"), inertia=so.Inertia.box((1.0, 1.0, 0.2), mass=1.0)
    )
    model = builder.build()
    geoms = [so.Geom("floor", "world", so.HalfSpace(), restitution=0.5)]
    geoms.append(so.Geom("box", "box", so.collision.Box((1.0, 1.0, 0.2)), restitution=0.5))
    q, v = model.neutral(), np.zeros(6)
    q[2], v[5] = 0.1, -1.0
    scene = so.Scene(model, geoms, state=so.State(q, v))
    state, _ = so.Simulator(scene, impacts="propagated", dt=1e-4).step(scene.state)
    assert state.v == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 0.5], abs=1e-9)


def test_propagation_ends_where_collisions_accumulate():
    # A light ball between two heavy ones goes to and fro very often: without a threshold the count
    # ends it.
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    for i, mass in enumerate((100.0, 1e-3, 100.0)):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=mass))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[0::7], v[3] = 0.2 * np.arange(3), 1.0
    geoms = [so.Geom(f"b{i}", f"b{i}", so.Sphere(0.1), restitution=0.9) for i in range(3)]
    scene = so.Scene(model, geoms, state=so.State(q, v))
    state, info = so.Simulator(scene, impacts="propagated", impact_threshold=0.0, dt=1e-4).step(
        scene.state
    )
    speeds = state.v[3::6]
    assert speeds @ [100.0, 1e-3, 100.0] == pytest.approx(100.0, rel=1e-12)
    assert np.diff(speeds).min() > -1e-9
    assert info.events[0, 4] <= info.events[0, 3]


@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_moments_of_many_contacts_find_room(law, tmp_path):
    # A plate on nine feet that turns in place: each foot adds its torsion to the friction's moment.
    torsion = 0.02
    mu = 0.4
    radius = 0.3
    mass = 2.0
    dt = 1e-3
    angles = 2.0 * np.pi * np.arange(9) / 9.0
    feet = [
        so.Geom(f"f{i}", "plate", so.Sphere(0.02), (radius * np.cos(a), radius * np.sin(a), 0.0),
                friction=mu, torsion=torsion)
        for i, a in enumerate(angles)
    ]  # fmt: skip
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(
        "plate", joint=so.Joint("free"), inertia=so.Inertia.box((0.6, 0.6, 0.02), mass=mass)
    )
    model = builder.build()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[2] = 0.02, 4.0
    floor = so.Geom("floor", "world", so.HalfSpace(), friction=mu, torsion=torsion)
    scene = so.Scene(model, [floor, *feet], state=so.State(q, v))
    record = so.Simulator(scene, law=law, dt=dt).run(duration=4 * dt)
    slows = (mu * radius + torsion) * mass * 9.81 / (mass * 0.72 / 12.0)
    assert record.v[:, 2] == pytest.approx(
        4.0 - slows * record.times, rel=2e-3 if law == "coulomb" else 1e-9
    )
    assert len(record.moments) == len(record.contact_records) == 36
    assert (record.contact_counts[1:] == 9).all()
    loaded = so.load_record(record.save(tmp_path / "plate.npz"))
    assert np.array_equal(loaded.moments, record.moments)


def test_laws_start_from_the_step_before():
    scene = ball_scene(
        velocity=(0.0, 0.0, 5.0, 2.0, 0.0, 0.0), friction=0.5, torsion=0.01, rolling=0.001
    )
    law = ConeCoulomb(tolerance=1e-10)  # with options of its own it is asked outside of the loop
    record = so.Simulator(scene, law=law, dt=1e-3).run(duration=5e-3)
    assert record.pivots[2:].max() < record.pivots[1]


@pytest.mark.parametrize("n_f", [2, 4, 6, 10])
@pytest.mark.parametrize("heading", [0.3, 1.1])
def test_directions_of_any_polyhedron_lie_along_the_slip(n_f, heading):
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    scene = ball_scene(velocity=(0.0, 0.0, 0.0, *(2.0 * along)), friction=0.4)
    state, _ = so.Simulator(scene, formulation=OperationalSpace(n_f=n_f), dt=1e-3).step(scene.state)
    velocity = so.node_velocities(scene.model, state.q, state.v, [so.Node("ball")])[0, 3:]
    assert velocity == pytest.approx((2.0 - 0.4 * 9.81e-3) * along, abs=1e-12)


def test_propagation_does_not_solve_what_is_rounding(rng):
    # A stop may leave -1e-17 m/s: relative to that no answer has a residual.
    collisions = []

    def solve(problem):
        collisions.append(np.abs(problem.velocities).max())
        return NoSlip().solve(problem)

    left = 0
    for _ in range(20):
        problem = feet_problem(rng.uniform(-0.5, 0.5, (1, 3)), velocity=rng.normal(size=3), mu=0.8)
        if problem.velocities[0] > -0.01:
            continue
        found = Collider(solve, True, 0.01).resolve(problem, np.zeros(1), np.zeros(1, dtype=bool))
        after = problem.jacobian @ problem.after(found.impulses.ravel())
        left += after[0] < 0.0
        assert after[0] > -1e-14
    assert left > 0  # else this shows nothing
    assert min(collisions) > 1e-3
