"""Laws whose forces are functions of motion: viscous friction and compliant ground."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Compliant, ContactProblem, Viscous
from spatialops.errors import ArgumentError
from tests.contact.laws.test_laws import check_normals, motion, problems, weight
from tests.support.contacts import block_problem, feet_problem

DT = 1e-2


def timed(problem, rng, *, gaps=None):
    """The problem as one of a step.

    Gaps, which `gap_bias` has the positive ones of, and the time impulses act in.
    """
    m = problem.n_contacts
    gaps = rng.normal(scale=1e-3, size=m) if gaps is None else gaps
    return dataclasses.replace(
        problem,
        phase="contact",
        prior_normal_impulse=np.zeros(m),
        gaps=gaps,
        gap_bias=np.maximum(gaps, 0.0) / (0.5 * DT),
        duration=DT,
        remaining=0.5 * DT,
    )


# ------------------------------------------------------------------------------------------ viscous


@pytest.mark.parametrize("loops", [(0,), (1, 2)])
@pytest.mark.parametrize("coefficient", [None, 0.0, 3.0, 1e5])
def test_viscous(coefficient, loops, rng):
    law, wet = Viscous(coefficient=coefficient, film=1e-3), 0
    for problem in (timed(problem, rng) for problem in problems(rng, 12, loops)):
        answer = law.solve(problem)
        assert answer.solved, (answer.residual, answer.detail)
        contact, scale, w = check_normals(problem, answer)
        drag = problem.friction if coefficient is None else np.full(problem.n_contacts, coefficient)
        drag = np.where(problem.gaps <= 1e-3, drag * DT, 0.0)[:, None]
        miss = answer.impulses[:, 1:] + drag * contact[:, 1:]
        assert np.abs(miss).max() <= 1e-8 * max(w, drag.max() * scale)
        assert answer.impulses[(drag[:, 0] == 0.0), 1:].any() == np.False_
        wet += (drag > 0.0).sum()
    assert (wet > 10) == (coefficient != 0.0)


@pytest.mark.parametrize("solver", ["qp", "lemke"])
def test_viscous_by_other_solvers_moves_the_same(solver, rng):
    ours, other = Viscous(coefficient=3.0), Viscous(coefficient=3.0, solver=solver)
    for problem in (timed(problem, rng) for problem in problems(rng, 12, (0, 1))):
        one, two = ours.solve(problem), other.solve(problem)
        assert two.solved, (two.residual, two.detail)
        size = max(np.abs(problem.velocity).max(), np.abs(one.velocity).max())
        assert np.abs(one.velocity - two.velocity).max() <= 1e-8 * size


def test_viscous_knows_its_solvers():
    with pytest.raises(ArgumentError, match="solver"):
        Viscous(solver="guess")


def test_viscous_drag_over_a_step_by_hand():
    problem = block_problem((3.0, 0.0, -1.0), mass=2.0)
    step = dataclasses.replace(problem, duration=0.1, remaining=0.05)
    answer = Viscous(coefficient=4.0).solve(step)
    # m (v+ - v) = -c h v+.
    assert answer.velocity[3] == pytest.approx(3.0 / (1.0 + 4.0 * 0.1 / 2.0), rel=1e-12)
    assert answer.velocity[5] == pytest.approx(0.0, abs=1e-12)
    assert answer.impulses[0] == pytest.approx(
        [2.0, -4.0 * 0.1 * answer.velocity[3], 0.0], abs=1e-12
    )


def test_viscous_impacts_have_no_drag_unless_asked():
    problem = dataclasses.replace(block_problem((3.0, 0.0, -1.0), mass=2.0), phase="compression")
    assert Viscous(coefficient=4.0).solve(problem).velocity[3] == pytest.approx(3.0, rel=1e-12)
    dragged = Viscous(coefficient=4.0, impact=2.0).solve(problem)
    assert dragged.velocity[3] == pytest.approx(3.0 / (1.0 + 2.0 / 2.0), rel=1e-12)


# ---------------------------------------------------------------------------------------- compliant


@pytest.mark.parametrize("loops", [(0,), (1, 2)])
def test_compliant(loops, rng):
    law = Compliant(stiffness=2e3, damping=5.0, dissipation=0.3, viscosity=1e3)
    pressed = 0
    slides = 0
    for problem in (timed(problem, rng) for problem in problems(rng, 12, loops)):
        answer = law.solve(problem)
        assert answer.solved, (answer.residual, answer.detail)
        contact, scale = motion_of(problem, answer)
        w = weight(problem, answer)
        # At the end of the step: the spring as deep as it is then, and the damper of those that
        # touch now.
        depth = -(problem.gaps + problem.remaining * contact[:, 0])
        damping = np.where(
            problem.gaps < 0.0, 5.0 + 2e3 * 0.3 * np.maximum(-problem.gaps, 0.0), 0.0
        )
        normal = np.maximum(DT * (2e3 * depth - damping * contact[:, 0]), 0.0)
        assert np.abs(answer.impulses[:, 0] - normal).max() <= 1e-7 * max(w, 2e3 * DT * DT * scale)
        slip = np.hypot(*contact[:, 1:].T)
        drag = np.minimum(DT * 1e3 * slip, problem.friction * normal)
        friction = answer.impulses[:, 1:]
        assert np.abs(np.hypot(*friction.T) - drag).max() <= 1e-7 * max(w, 1e3 * DT * scale)
        assert (friction * contact[:, 1:]).sum(axis=1).max() <= 1e-9 * w * scale
        pressed += (normal > 0.0).sum()
        slides += (drag < DT * 1e3 * slip).sum()
    assert pressed > 10
    assert slides > 5


def motion_of(problem, answer):
    """As `motion`, of contacts that may go into each other."""
    return motion(dataclasses.replace(problem, gap_bias=np.full(problem.n_contacts, 1e9)), answer)


def test_forces_by_hand():
    law = Compliant(stiffness=1e4, damping=10.0, dissipation=2.0, viscosity=100.0)
    gaps = np.array([1e-3, -1e-3, -1e-3, -1e-3])
    velocities = np.array([[0.0, 1.0, 0.0], [0.0, 0.001, 0.0], [-0.1, 0.0, 5.0], [10.0, 1.0, 0.0]])
    forces = law.forces(gaps, velocities, np.full(4, 0.5))
    assert forces[0] == pytest.approx([0.0, 0.0, 0.0])
    assert forces[1] == pytest.approx([10.0, -0.1, 0.0])
    normal = 10.0 + (10.0 + 1e4 * 2.0 * 1e-3) * 0.1
    assert forces[2] == pytest.approx([normal, 0.0, -0.5 * normal])
    assert forces[3] == pytest.approx([0.0, 0.0, 0.0])  # it does not pull


def test_a_stiff_spring_is_rigid_ground():
    problem = feet_problem(
        [(0.1, 0.0, -0.2), (-0.1, 0.1, -0.2), (-0.1, -0.1, -0.2)], velocity=(1.0, 0.2, -1.0)
    )
    step = dataclasses.replace(problem, duration=1.0, remaining=0.5)
    soft = Compliant(stiffness=1e12, viscosity=1e12).solve(step)
    rigid = so.contact.ConeCoulomb().solve(problem)
    assert soft.solved
    assert np.abs(soft.velocity - rigid.velocity).max() < 1e-9


def test_problems_keep_their_gaps(tmp_path, rng):
    problem = timed(next(iter(problems(rng, 1))), rng)
    again = ContactProblem.load(problem.save(tmp_path / "problem.npz"))
    assert np.array_equal(again.gaps, problem.gaps)
    assert (again.duration, again.remaining) == (DT, 0.5 * DT)


def test_bad_options():
    for bad in ({"coefficient": -1.0}, {"impact": -1.0}, {"film": np.nan}):
        with pytest.raises(ArgumentError, match=next(iter(bad))):
            Viscous(**bad)
    with pytest.raises(ArgumentError, match="stiffness"):
        Compliant(stiffness=0.0)
    for bad in (
        {"damping": -1.0},
        {"dissipation": np.inf},
        {"viscosity": 0.0},
        {"solver": "lemke"},
    ):
        with pytest.raises(ArgumentError, match=next(iter(bad))):
            Compliant(stiffness=1.0, **bad)
    for bad in ({"depth": 0.0}, {"mass": -1.0}, {"contacts": 0}, {"creep": 0.0}):
        with pytest.raises(ArgumentError, match=next(iter(bad))):
            Compliant.sinking(**({"depth": 1e-3, "mass": 1.0} | bad))


# ---------------------------------------------------------------------------------- in a simulation


def cube(velocity=(0.0, 0.0, 0.0), *, height=0.05, lean=0.0, mu=0.5):
    builder = so.TreeBuilder(gravity=(9.81 * np.sin(lean), 0.0, -9.81 * np.cos(lean)))
    builder.add_body(
        "cube", joint=so.Joint("free"), inertia=so.Inertia.box((0.1, 0.1, 0.1), mass=1.0)
    )
    model = builder.build()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[3:] = height, velocity
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=mu)]
    geoms.append(so.Geom("cube", "cube", so.collision.Box((0.1, 0.1, 0.1)), friction=mu))
    return so.Scene(model, geoms, state=so.State(q, v))


@pytest.mark.compiled
@pytest.mark.parametrize("dt", [2e-3, 1e-3, 1e-4])
def test_ground_sinks_by_what_is_asked(dt):
    law = Compliant.sinking(1e-3, mass=1.0, contacts=4)
    record = so.Simulator(cube(), law=law, dt=dt).run(duration=0.3)
    assert 0.05 - record.q[-1, 2] == pytest.approx(1e-3, rel=1e-6)
    assert len(record.events) == 0
    dropped = so.Simulator(cube(height=0.2), law=law, dt=dt).run(duration=0.8)
    assert 0.05 - dropped.q[-1, 2] == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.compiled
def test_compliant_friction_creeps_and_slides():
    law = Compliant.sinking(1e-3, mass=1.0, contacts=4, creep=1e-3)
    creeping = so.Simulator(cube(lean=0.2), law=law).run(duration=0.4)
    assert creeping.v[-1, 3] == pytest.approx(9.81 * np.sin(0.2) / (4.0 * law.viscosity), rel=1e-3)
    sliding = so.Simulator(cube((2.0, 0.0, 0.0)), law=law).run(duration=0.2)
    assert sliding.v[-1, 3] == pytest.approx(2.0 - 0.5 * 9.81 * 0.2, rel=1e-2)


@pytest.mark.compiled
def test_viscous_slip_of_a_cube_dies_down():
    errors = []
    for dt in (4e-3, 2e-3):
        record = so.Simulator(
            cube((1.0, 0.0, 0.0), mu=0.0), law=Viscous(coefficient=0.5), dt=dt
        ).run(duration=0.4)
        errors.append(record.v[-1, 3] - np.exp(-2.0 * 0.4))
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.02)
    assert abs(errors[1]) < 2e-3
