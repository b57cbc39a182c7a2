"""Every public function of the core refuses bad input, with an error that says what it was."""

import inspect
from typing import Any

import numba
import numpy as np
import pytest

import spatialops as so
from tests.support.trees import random_tree

MODEL = random_tree(
    np.random.default_rng(0), 4, kinds=("free", "revolute", "ball", "planar"), each=True
)
GOOD: dict[str, Any] = {
    "q": MODEL.neutral(),
    "q0": MODEL.neutral(),
    "q1": MODEL.neutral(),
    "v": np.ones(MODEL.nv),
    "dv": np.ones(MODEL.nv),
    "a": np.ones(MODEL.nv),
    "tau": np.ones(MODEL.nv),
    "external": np.ones((MODEL.n_bodies, 6)),
    "nodes": [so.Node("b1", (0.1, 0.2, 0.3))],
}
FUNCTIONS: dict[Any, str] = {
    so.mass_matrix: "q",
    so.inverse_dynamics: "q v a external",
    so.forward_dynamics: "q v tau external",
    so.bias: "q v external",
    so.body_poses: "q",
    so.node_positions: "q nodes",
    so.node_velocities: "q v nodes",
    so.node_accelerations: "q v a nodes",
    so.jacobian: "q nodes",
    so.jacobian_drift: "q v nodes",
    so.compliance: "q nodes",
    so.energy: "q v",
    so.momentum: "q v",
    so.center_of_mass: "q",
    so.integrate: "q dv",
    so.difference: "q0 q1",
}
# Not compiled, math.cos raises an error of its own for infinity.
NOT_FINITE = (np.nan,) if numba.config.DISABLE_JIT else (np.nan, np.inf, -np.inf)
FORWARD: Any = so.forward_dynamics
CASES = [(function, name) for function, names in FUNCTIONS.items() for name in names.split()]


def wrong(name):
    """Bad values of an argument."""
    if name == "nodes":
        return [
            None,
            3,
            "b1",
            so.Node("b1"),
            [so.Node("ghost")],
            [so.Node("b1", (0.0, np.nan, 0.0))],
            [("b1", 3)],
            [3.5],
        ]
    good = GOOD[name]
    last = np.arange(good.size).reshape(good.shape) == good.size - 1
    poisoned = [np.where(last, bad, good) for bad in NOT_FINITE]
    shapes = [good[:-1], np.append(good, 0.0), good[None], np.zeros(0), 1.0]
    nothing = [] if name == "external" else [None]  # no external wrench is a valid choice
    return [*poisoned, *shapes, *nothing, "text", ["a"] * len(good), {}, good + 1j]


@pytest.mark.parametrize(
    ("function", "name"), CASES, ids=[f"{f.__name__}-{name}" for f, name in CASES]
)
def test_bad_arguments(function, name):
    for bad in wrong(name):
        arguments = {key: GOOD[key] for key in FUNCTIONS[function].split()} | {name: bad}
        with pytest.raises(so.errors.SpatialOpsError) as caught:
            function(MODEL, **arguments)
        assert str(caught.value).startswith((name, "body" if name == "nodes" else name)), repr(bad)


@pytest.mark.parametrize("function", [so.inverse_dynamics, so.forward_dynamics, so.bias])
def test_nan_in_the_position_of_a_free_root(function):
    arguments = {key: GOOD[key].copy() for key in FUNCTIONS[function].split()}
    arguments["q"][0] = np.nan
    with pytest.raises(so.errors.ArgumentError, match="q: holds NaN"):
        function(MODEL, **arguments)


@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if "out" in inspect.signature(f).parameters]
)
def test_bad_outputs(function):
    arguments = {key: GOOD[key] for key in FUNCTIONS[function].split()}
    shape = function(MODEL, **arguments).shape
    frozen = np.empty(shape)
    frozen.flags.writeable = False
    for bad in (
        np.empty(1000),
        np.empty(shape, dtype=np.float32),
        "out",
        frozen,
        np.empty((*shape, 2))[..., 0],
    ):
        with pytest.raises(so.errors.ArgumentError, match=r"^out: expected a writeable"):
            function(MODEL, **arguments, out=bad)


def test_arguments_are_not_changed():
    for function, names in FUNCTIONS.items():
        arguments = {
            key: np.copy(GOOD[key]) if key != "nodes" else GOOD[key] for key in names.split()
        }
        function(MODEL, **arguments)
        for key, value in arguments.items():
            assert key == "nodes" or np.array_equal(value, GOOD[key])


def test_lists_and_integers_are_welcome():
    model = (
        so.TreeBuilder()
        .add_body("a", joint="revolute", inertia=so.Inertia.sphere(0.1, mass=1.0))
        .build()
    )
    assert FORWARD(model, [0], (0,), np.array([1])).shape == (1,)
    assert so.mass_matrix(model, np.zeros(2)[::2]).shape == (1, 1)


def test_one_tree_of_errors():
    from spatialops import errors

    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if kind.__module__ == errors.__name__:
            assert issubclass(kind, (errors.SpatialOpsError, Warning)), name
            assert kind.__doc__, name


def test_failed_solvers_carry_their_problem():
    error = so.errors.SolverFailed("no", problem="p", solution="s")
    assert (error.problem, error.solution, str(error)) == ("p", "s", "no")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: so.Inertia.sphere("thick", mass=1.0), "radius: expected a number, got 'thick'"),
        (lambda: so.Inertia.capsule(0.1, None, mass=1.0), "length: expected a number, got None"),
        (lambda: so.Inertia.box((1, 1, 1), mass="heavy"), "mass: expected a number, got 'heavy'"),
        (lambda: so.Inertia.box((1, 1, 1), density=[1]), "density: expected a number, got"),
        (lambda: so.Actuator.position("s", "j", kp=None), "'s': kp: expected a number, got None"),
        (lambda: so.Actuator.velocity("s", "j", kv="x"), "'s': kv: expected a number, got 'x'"),
        (
            lambda: so.Actuator.dc_motor("s", "j", torque_constant=None, resistance=1.0),
            "torque_constant: expected a number, got None",
        ),
        (lambda: so.Loop.mimic("a", of="a"), "a joint does not follow itself: 'a'"),
        (lambda: so.Loop.mimic("a", of="b", multiplier="x"), "multiplier: expected a number"),
        (
            lambda: so.spanning_tree([("a", "world", "b")]),
            "expected .joint, body, body, rows., got",
        ),
        (lambda: so.Scene(MODEL, tendons=["string"]), "tendons: expected Tendon objects, got"),
        (lambda: so.from_maximal(MODEL, None), "state: expected a MaximalState, got NoneType"),
        (lambda: so.maximal_state(MODEL, 3), "state: expected a State"),
        (lambda: so.tree_state(MODEL, 3), "state: expected a State, got int"),
        (lambda: so.tree_state(MODEL, so.State(np.zeros(3), np.zeros(3))), "state.q: expected"),
        (
            lambda: so.inverse_kinematics(MODEL, so.Target("b1", np.zeros(3)), seed=-1),
            "seed: expected a whole number >= 0, got -1",
        ),
    ],
)
def test_what_was_expected_is_said_and_what_was_given(call, said):
    with pytest.raises(so.errors.SpatialOpsError, match=said):
        call()
