"""The dual-arm robot: the paper's counts, a sensible robot, and a run of its scene."""

import numpy as np
import pytest

import spatialops as so


@pytest.fixture(scope="module")
def robot():
    return so.models.dual_arm()


def test_counts_of_the_paper(robot):
    model = robot.model
    assert (model.n_bodies, model.nv, model.nq) == (26, 26, 26)
    count = {
        part: sum(name.startswith(part) for name in model.body_names)
        for part in ("head", "left_", "right_")
    }
    assert count == {"head": 4, "left_": 11, "right_": 11}
    assert set(model.joint_kinds) == {"revolute"}


def test_a_plausible_robot(robot):
    model, q = robot.model, robot.state.q
    assert 30.0 < model.mass < 60.0
    assert np.all(model.lower < model.upper)
    assert np.all((model.lower <= q) & (q <= model.upper))
    assert np.all(np.isfinite(model.effort_limit))
    gravity = np.abs(so.bias(model, q, np.zeros(26)))
    assert np.all(gravity < 0.5 * model.effort_limit)  # it can hold itself up, and as much again
    eigenvalues = np.linalg.eigvalsh(so.mass_matrix(model, q))
    assert eigenvalues[0] > 1e-4


def test_it_is_symmetric(robot):
    model, q = robot.model, robot.state.q
    left = [so.Node(name) for name in model.frames if name.startswith("left_")]
    right = [
        so.Node(node.body.replace("left_", "right_")) for node in left if "finger" not in node.body
    ]
    left = [node for node in left if "finger" not in node.body]
    one, other = so.node_positions(model, q, left), so.node_positions(model, q, right)
    arms = [i for i, node in enumerate(left) if "arm" in node.body or "palm" in node.body]
    assert np.allclose(one[arms], other[arms] * (1.0, -1.0, 1.0), rtol=0.0, atol=1e-12)
    palm = so.node_positions(model, q, [so.Node("left_palm")])[0]
    assert np.allclose(palm, (0.503, 0.179, 0.999), rtol=0.0, atol=5e-3)


def test_hands_close(robot):
    model, q = robot.model, robot.state.q.copy()
    tips = [so.Node(name) for name in robot.tips[:3]]
    apart = np.ptp(so.node_positions(model, q, tips)[:, 2])
    for name in ("finger1", "finger2", "thumb"):
        q[model.q_slice(f"left_{name}")] = 0.25
    assert np.ptp(so.node_positions(model, q, tips)[:, 2]) < 0.5 * apart


@pytest.mark.compiled
def test_it_falls_onto_a_table_without_gaining_energy(robot):
    table = so.Geom("table", "world", so.HalfSpace(), position=(0.0, 0.0, 0.75), friction=0.8)
    record = so.Simulator(robot.scene([table]), dt=1e-3).run(duration=1.0, record_every=10)
    assert record.contact_records.shape[0] > 10
    assert record.penetrations.max() <= 1e-3
    assert record.residuals.max() <= 1e-9
    assert record.energy[-1] < record.energy[0]
