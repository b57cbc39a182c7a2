"""Certificates: small for every law's answer, and large when impulses are tampered with."""

import dataclasses

import numpy as np
import pytest

from spatialops.contact import (
    ConeCoulomb,
    ContactProblem,
    Coulomb,
    Frictionless,
    MaxDissipation,
    NoSlip,
)
from spatialops.contact.certificate import COULOMB, NO_SLIP, UNITS, Certificate, certify, promised
from spatialops.errors import ArgumentError
from tests.support.contacts import random_problem


def answered(law, seed, **options):
    problem = random_problem(np.random.default_rng(seed), 3, **options)
    return problem, law.solve(problem)


@pytest.mark.parametrize(
    "law",
    [Coulomb(n_f=6), ConeCoulomb(), NoSlip(), Frictionless(), MaxDissipation()],
    ids=lambda law: type(law).__name__,
)
@pytest.mark.parametrize("loops", [0, 2])
def test_answers_of_laws_hold(law, loops):
    for seed in range(6):
        problem, answer = answered(law, seed, loops=loops, prior_normal_impulse=seed % 2 == 1)
        if not answer.solved:
            continue
        found = certify(problem, answer.impulses, answer.loop_impulses, promises=promised(law))
        assert found.residual <= 1e-8, str(found)
        assert set(found.to_data()) == set(UNITS) - {"gap"}


def sliding():
    """A block that falls and slides: presses, at the limit of friction."""
    problem, answer = block_problem((3.0, 0.0, -1.0)), None
    answer = ConeCoulomb().solve(problem)
    return problem, answer


def block_problem(velocity, count=1):
    from spatialops import Inertia, Joint, TreeBuilder

    builder = TreeBuilder()
    builder.add_body("block", joint=Joint("free"), inertia=Inertia.box((1.0, 1.0, 1.0), mass=2.0))
    model = builder.build()
    v = np.zeros(6)
    v[3:] = velocity
    links = np.tile([int(model.body_links[0]), -1], (count, 1))
    frames = np.tile([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (count, 1, 1))
    return ContactProblem(
        model, model.neutral(), v, links, np.zeros((count, 3)), frames, np.full(count, 0.5)
    )


def test_each_entry_by_hand():
    problem = block_problem((3.0, 0.0, -1.0))
    good = certify(problem, [[2.0, -1.0, 0.0]])
    assert good.residual <= 1e-15
    assert good.dissipation <= 1e-15
    assert certify(problem, [[1.0, -0.5, 0.0]]).approach == pytest.approx(
        0.5
    )  # half of the fall is left
    assert certify(problem, [[-1.0, 0.0, 0.0]]).pull == 1.0
    assert certify(problem, [[2.0, -1.5, 0.0]]).cone == pytest.approx(0.5)
    assert certify(problem, [[3.0, -1.5, 0.0]]).complementarity == pytest.approx(3.0 * 0.5)
    idle = certify(problem, [[2.0, 0.0, 0.0]])  # no friction while it slides with 3 m/s
    assert idle.dissipation == pytest.approx(0.5 * 2.0 * 3.0)
    assert idle.slip == pytest.approx(1.0)  # the load as a speed, 2 / 2, is less than 3
    assert idle.residual <= 1e-15  # not promised by the polyhedron
    assert certify(problem, [[2.0, 0.0, 0.0]], promises=(*COULOMB, "dissipation")).residual > 0.1


TAMPERED = {
    "approach": lambda p: p * [0.5, 1.0, 1.0],
    "pull": lambda p: p - [2.0 * p[0, 0], 0.0, 0.0],
    "cone": lambda p: p * [1.0, 1.5, 1.5],
    "complementarity": lambda p: p * [1.5, 1.0, 1.0],
    "dissipation": lambda p: p * [1.0, 0.5, 1.0],
    "slip": lambda p: p * [1.0, 0.0, 0.0],
}


@pytest.mark.parametrize("entry", TAMPERED)
def test_tampered_impulses_are_caught(entry):
    problem, answer = sliding() if entry != "slip" else (block_problem((0.1, 0.0, -1.0)), None)
    impulses = ConeCoulomb().solve(problem).impulses if answer is None else answer.impulses
    promises = (*COULOMB, "dissipation") if entry != "slip" else NO_SLIP
    assert certify(problem, impulses, promises=promises).residual <= 1e-8
    found = certify(problem, TAMPERED[entry](impulses), promises=promises)
    assert getattr(found, entry) > 1e-3
    assert found.residual > 1e-3


def test_closures_balances_and_shapes_are_caught(rng, monkeypatch):
    problem, answer = answered(Coulomb(), 3, loops=2)
    assert answer.solved
    tampered = certify(problem, answer.impulses, answer.loop_impulses + 1.0)
    assert tampered.closures > 1e-3
    assert tampered.residual > 1e-3
    wrong = ContactProblem.after  # velocities that do not follow from the impulses
    monkeypatch.setattr(
        ContactProblem, "after", lambda self, p, moments=None: 1.01 * wrong(self, p, moments) + 0.01
    )
    false = certify(problem, answer.impulses, answer.loop_impulses)
    assert false.momentum > 1e-4
    assert false.energy > 1e-4
    assert false.residual > 1e-4
    with pytest.raises(ArgumentError, match="impulses"):
        certify(problem, answer.impulses[:1])


def test_what_is_no_number_is_no_certificate():
    problem = block_problem((0.0, 0.0, -1.0))
    assert np.isnan(certify(problem, [[np.nan, 0.0, 0.0]]).residual)


def test_worst_and_text():
    a, b = Certificate(gap=1e-3, residual=1e-12), Certificate(cone=2.0, gap=0.0)
    worst = Certificate.worst([a, b])
    assert (worst.gap, worst.cone, worst.residual) == (1e-3, 2.0, 1e-12)
    assert np.isnan(worst.energy)
    assert str(worst) == "certificate: gap 1.0e-03 m, cone 2.0e+00 N s; worst residual 1.0e-12"
    assert dataclasses.asdict(Certificate.from_array(worst.to_array()))["cone"] == 2.0
    assert Certificate.worst([]).to_data() == {}
