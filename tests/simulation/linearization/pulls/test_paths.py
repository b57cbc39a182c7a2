"""Tendons and actuators along paths: how their arms change, and steps that they pull in."""

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.errors import ArgumentError
from spatialops.forces.path_length import Placed, path_length
from spatialops.simulation.linearization.pulls.path_arms import put_path_changes
from tests.simulation.linearization.test_linearize import EXACT, check

ROD = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.05, -0.2))
KINDS = ("ball", "revolute", "prismatic", "screw", "universal")


def chain(floating=False):
    builder = so.TreeBuilder()
    parent = "world"
    for i, kind in enumerate((("free",) if floating else ()) + KINDS):
        own = {"axis": "xyzyx"[i % 5]} if kind in ("revolute", "prismatic") else {}
        own = {"axis": "y", "pitch": 0.1} if kind == "screw" else own
        name, joint = f"link {i}", so.Joint(kind, **own)
        builder.add_body(name, parent=parent, joint=joint, inertia=ROD, position=(0.1, 0.05, -0.3))
        parent = name
    return builder.build()


def paths(first=0):
    """Paths of the chain whose links are counted from the first."""
    a, middle, b, end = (f"link {first + i}" for i in (1, 2, 3, 4))
    world = so.Node("world", (0.5, 0.4, 0.3))
    near, far = so.Node(a, (0.6, 0.1, -0.3)), so.Node(b, (-0.5, 0.1, 0.1))
    ball = so.Around(middle=so.Node(middle, (0.05, 0.05, 0.0)), radius=0.15)
    drum = so.Around(middle=so.Node(middle, (0.0, 0.1, 0.05)), radius=0.15, axis=(0.1, 1.0, 0.2))
    side = so.Node(middle, (0.0, 0.0, -0.6))
    low = so.Around(middle=so.Node(middle), radius=0.15, axis=(0.1, 1.0, 0.1), side=side)
    return {
        "straight": so.TendonPath([[near, so.Node(end, (-0.2, 0.3, 0.1)), world]], factor=1.5),
        "pulley": so.TendonPath([[world, near], [far, near]], divisors=[1.0, 2.0]),
        "around a ball": so.TendonPath([[near, ball, far]]),
        "around a drum": so.TendonPath([[near, drum, far]]),
        "on a side": so.TendonPath([[near, low, far]]),
    }


def near_neutral(model, rng):
    return so.integrate(model, model.neutral(), 0.3 * rng.normal(size=model.nv))


def arms_and_changes(model, path, q):
    own = so.Scene(model, [], tendons=[so.Tendon(path=path, stiffness=1.0)]).elements
    placed = Placed(
        model.tree, model.links, q, np.zeros((model.nv, layout.WORK_COLUMNS)), np.zeros(model.nv)
    )
    poses_kernel(model.tree, model.links, q, placed.work)
    path_length(own.ints, own.joints, own.arms, 0, placed)
    H = np.zeros((model.nv, model.nv))
    put_path_changes(own.ints, own.joints, own.arms, 0, placed, H)
    return placed.arms, H


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", list(paths()))
def test_changes_of_arms_are_differences(name, floating):
    model = chain(floating)
    path = paths(int(floating))[name]
    rng = np.random.default_rng(7)
    turned = wrapped = 0
    for _ in range(12):
        q = near_neutral(model, rng)
        _, H = arms_and_changes(model, path, q)
        h = 1e-4
        expected = np.empty_like(H)
        for j in range(model.nv):
            f = [
                path.arms(model, so.integrate(model, q, bar * h * np.eye(model.nv)[j]))
                for bar in (-2.0, -1.0, 1.0, 2.0)
            ]
            expected[:, j] = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)
        if np.abs(expected).max() > 1e3:
            continue  # the line comes to touch within the steps
        turned += 1
        wrapped += path.length(model, q) > 1.0001 * without_geoms(path).length(model, q)
        assert np.abs(H - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())
    assert turned > 5
    assert wrapped > 2 or name in ("straight", "pulley")


def without_geoms(path):
    """The same from node to node."""
    nodes = [[one for one in branch if isinstance(one, so.Node)] for branch in path.branches]
    return so.TendonPath(nodes, divisors=path.divisors, factor=path.factor)


def pulled(path, floating, stiffness, damping):
    """The chain with a spring and an actuator along paths."""
    own = paths(int(floating))
    springs = [so.Tendon(path=own[path], stiffness=stiffness, damping=damping, rest=0.2)]
    motor = so.Actuator(
        name="servo", path=own["pulley"], gain=(0.5, -4.0, -0.3), bias=(0.2, -9.0, -0.5)
    )
    return so.Scene(chain(floating), [], tendons=springs, actuators=[motor], ctrl=[0.7])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
@pytest.mark.parametrize("path", list(paths()))
@pytest.mark.parametrize(("stiffness", "damping"), [(5.0, 0.0), (20.0, 0.5), (3e4, 30.0)])
def test_steps_with_tendons(path, integrator, stiffness, damping):
    if integrator == "rk4" and stiffness > 1e3:
        pytest.skip("the explicit rule cannot take it")
    for floating in (False, True):
        scene = pulled(path, floating, stiffness, damping)
        rng = np.random.default_rng(3)
        q, v = near_neutral(scene.model, rng), 0.5 * rng.normal(size=scene.model.nv)
        simulator = so.Simulator(scene, dt=2e-3, integrator=integrator, time=EXACT)
        check(simulator, so.State(q, v), rng.normal(size=v.size), (1e-4, 1e-3, 1e-1))


def test_parameters_of_what_paths_pull_are_refused_in_words():
    model = chain()
    tendon = so.Tendon(path=paths()["straight"], stiffness=1.0)
    simulator = so.Simulator(so.Scene(model, [], tendons=[tendon]))
    with pytest.raises(ArgumentError, match="actuators along paths"):
        simulator.linearize_parameters(so.State(model.neutral(), np.zeros(model.nv)))
