"""The force-closure grasp: its contacts, that it holds under every law, what loses it."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import NoSlip
from spatialops.errors import ArgumentError
from spatialops.models import grasp


def test_twelve_contacts_a_pair():
    boxes = grasp()
    assert boxes.n_contacts == 36
    problem = so.Simulator(boxes.scene(), dt=0.01).problem(boxes.state, boxes.tau)
    assert problem.n_contacts == 36
    np.testing.assert_allclose(
        np.abs(problem.frames[:, 0]), np.tile([1.0, 0.0, 0.0], (36, 1)), atol=1e-12
    )
    faces, counts = np.unique(problem.points[:, 0].round(9), return_counts=True)
    np.testing.assert_allclose(faces, [-0.1, 0.0, 0.1])
    assert (counts == 12).all()
    np.testing.assert_array_equal(problem.friction, 100.0)


@pytest.mark.parametrize("count", [4, 36, 37, 400])
def test_any_number_of_contacts(count):
    problem = grasp().problem(count)
    assert problem.n_contacts == count
    answer = NoSlip().solve(problem)
    assert answer.solved
    assert answer.slip.max() <= 1e-12
    assert np.abs(answer.velocity).max() <= 1e-12  # nothing falls, nothing moves
    # Every face bears the push of one step, and the shear across a box changes by its weight; the
    # shear itself is indeterminate, as the grippers may pull against each other.
    faces = [
        answer.impulses[problem.points[:, 0].round(6) == x].sum(axis=0) for x in (-0.1, 0.0, 0.1)
    ]
    np.testing.assert_allclose([face[0] for face in faces], 50.0 * 0.01)
    np.testing.assert_allclose(-np.diff(faces, axis=0), [[0.0, 0.0, 9.81 * 0.01]] * 2, atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["no-slip", NoSlip(solver="lemke"), "cone"])
def test_it_holds_without_a_trace(law):
    boxes = grasp()
    simulator, state = so.Simulator(boxes.scene(), dt=0.01, law=law), boxes.state
    for _ in range(30):
        state, info = simulator.step(state, boxes.tau)
    assert boxes.sag(state.q) <= 1e-9
    assert np.abs(state.v).max() <= 1e-9
    assert len(info.contacts) == 36


@pytest.mark.compiled
def test_a_weak_push_loses_the_boxes():
    """Half the weight of a box is the least that keeps the row from folding.

    Friction cannot make up for it.
    """
    sags = {}
    for push in (4.0, 6.0):
        boxes = grasp(push=push)
        simulator, state = (
            so.Simulator(boxes.scene(), dt=0.01, law="no-slip", certify="warn"),
            boxes.state,
        )
        for _ in range(10):
            state, _ = simulator.step(state, boxes.tau)
        sags[push] = boxes.sag(state.q)
    assert sags[4.0] > 1e-3
    assert sags[6.0] < 1e-9


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("options", [{}, {"law": "no-slip"}], ids=["coulomb", "no-slip"])
def test_it_holds_ten_thousand_steps(options):
    boxes = grasp()
    simulator, state = so.Simulator(boxes.scene(), dt=0.01, **options), boxes.state
    for _ in range(10_000):
        state, _ = simulator.step(state, boxes.tau)
    assert boxes.sag(state.q) <= 1e-3


@pytest.mark.parametrize(
    ("contacts", "push"), [(6, 50.0), (0, 50.0), (12, 0.0), (12, -1.0), (2.5, 50.0)]
)
def test_what_cannot_be_grasped(contacts, push):
    with pytest.raises(ArgumentError):
        grasp(contacts, push=push)


def test_too_few_contacts():
    with pytest.raises(ArgumentError):
        grasp().problem(2)
