"""The names that users may rely on, and that the face says what it exports."""

import subprocess
import sys

import numpy as np
import pytest

import spatialops as so

NAMES = (
    "GraphBuilder",
    "Loop",
    "Loops",
    "TreeBuilder",
    "Node",
    "Scene",
    "Simulator",
    "SpatialOperators",
    "bias",
    "body_poses",
    "close_loops",
    "compliance",
    "constrained_dynamics",
    "contact",
    "difference",
    "energy",
    "forward_dynamics",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "compose",
    "load_model",
    "load_record",
    "loop_errors",
    "loop_forces",
    "loop_jacobian",
    "load_scene",
    "mass_matrix",
    "models",
    "spanning_tree",
)


@pytest.mark.parametrize("name", NAMES)
def test_name_is_exported(name):
    assert getattr(so, name) is not None
    assert name in so.__all__


def test_all_lists_what_exists_once():
    assert len(set(so.__all__)) == len(so.__all__)
    for name in so.__all__:
        assert hasattr(so, name)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_name"):
        so.no_such_name


CONTACT_NAMES = (
    "ContactProblem",
    "MixedLCP",
    "LCPSolution",
    "Status",
    "solve",
    "OperationalSpace",
    "Lemke",
)
CONE_NAMES = (
    "ConeProblem",
    "ConeSolution",
    "ConeLadder",
    "ConeGaussSeidel",
    "ConeNewton",
    "ConeInteriorPoint",
    "ConvexCone",
)


@pytest.mark.parametrize("name", CONTACT_NAMES + CONE_NAMES)
def test_contact_names(name):
    assert name in so.contact.__all__
    assert hasattr(so.contact, name)


def test_model_and_its_names():
    pendulum = so.models.pendulum(3)
    model = pendulum.model
    assert (model.nq, model.nv, model.n_bodies) == (3, 3, 3)
    assert model.body_names == ("link1", "link2", "link3")
    assert model.joint_names == ("pin1", "pin2", "pin3")
    assert model.q_slice("pin2") == model.v_slice("pin2") == slice(1, 2)
    q = model.random(np.random.default_rng(1))
    assert q.shape == model.neutral().shape == (3,)
    assert isinstance(pendulum.scene(), so.Scene)


def test_a_problem_goes_through_one_door():
    solution = so.contact.solve(
        so.contact.MixedLCP([[2.0]], [-4.0], n_free=0), solver="auto", warm_start=None
    )
    assert solution.status == so.contact.Status.SOLVED
    assert solution.z.tolist() == [2.0]


def test_importing_loads_no_heavy_parts_of_scipy():
    code = "import sys, spatialops; print([m for m in ('scipy.sparse', 'scipy.optimize', 'scipy.linalg', 'trimesh') if m in sys.modules])"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
