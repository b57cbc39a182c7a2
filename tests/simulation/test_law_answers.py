"""Laws are judged from the original data, whatever they say of themselves."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ConeCoulomb
from spatialops.contact.certificate import MECHANICS
from spatialops.errors import ArgumentError, ContactError
from tests.simulation.test_separation import RADIUS, balls


def sliding():
    scene = balls((0.0, 0.0, RADIUS))
    state = so.State(scene.state.q, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]))
    return so.Scene(scene.model, [replace(geom, friction=0.2) for geom in scene.geoms], state=state)


class Sticky:
    """Coulomb's law with so many times the friction, which says that its residual is 0."""

    def __init__(self, factor):
        self.factor = factor

    def solve(self, problem, warm_start=None):
        more = replace(problem, friction=self.factor * problem.friction)
        return replace(ConeCoulomb().solve(more), residual=0.0)


class Declared(Sticky):
    """The same, which promises no more than mechanics."""

    promises = MECHANICS


class Derived(ConeCoulomb):
    """One of ours, changed."""

    def solve(self, problem, warm_start=None):
        return Sticky(25.0).solve(problem)


@pytest.mark.parametrize("certify", ["raise", "full"])
@pytest.mark.parametrize("law", [Sticky(25.0), Derived()])
def test_a_law_with_25_times_the_friction_is_found_out(certify, law):
    scene = sliding()
    with pytest.raises(ContactError, match="residual"):
        so.Simulator(scene, law=law, certify=certify).step(scene.state)
    _, info = so.Simulator(scene, law=law, certify="off").step(scene.state)
    assert info.residual > 0.1


@pytest.mark.parametrize("certify", ["raise", "full"])
def test_an_honest_law_and_one_that_promises_less_pass(certify):
    scene = sliding()
    for law in (Sticky(1.0), Declared(25.0)):
        _, info = so.Simulator(scene, law=law, certify=certify).step(scene.state)
        assert info.residual < 1e-9


def test_numbers_that_are_none_are_not_taken_for_zero():
    class Nothing(Sticky):
        def solve(self, problem, warm_start=None):
            answer = super().solve(problem)
            return replace(answer, impulses=answer.impulses * np.nan)

    scene = sliding()
    with pytest.raises(ContactError):
        so.Simulator(scene, law=Nothing(1.0)).step(scene.state)


def test_events_judge_laws_too():
    scene = sliding()
    q = scene.state.q.copy()
    q[2] += 0.01
    fast = so.State(q, np.array([0.0, 0.0, 0.0, 1.0, 0.0, -1.0]))
    with pytest.raises(ContactError, match="residual"):
        so.Simulator(scene, law=Derived(), time=so.EventDriven()).run(fast, duration=0.02)


class Answers:
    """A law or a solver that answers with what it was given."""

    def __init__(self, answer):
        self.answer = answer

    def solve(self, problem, warm_start=None):
        return self.answer


@pytest.mark.parametrize("answer", [None, np.zeros(3)])
def test_what_is_no_solution_is_refused_by_name(answer):
    scene = so.models.pendulum(3).scene()
    told = {"law": "a LawSolution", "solver": r"LCPSolution\(z=, w=, status="}
    for option, expected in told.items():
        simulator = so.Simulator(scene, **{option: Answers(answer)})
        words = rf"{option}: Answers.solve returned {type(answer).__name__}: expected {expected}"
        with pytest.raises(ArgumentError, match=words):
            simulator.run(duration=0.3)
