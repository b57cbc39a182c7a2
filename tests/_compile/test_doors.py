"""Doors change what a call costs, and nothing else."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import spatialops as so
from spatialops._compile import door_plan as at
from spatialops._compile import doors, layouts
from spatialops._compile.switch import Switch
from spatialops.errors import ArgumentError

pytestmark = pytest.mark.compiled
OF_NODES = ("jacobian", "compliance", "node_positions", "node_velocities")
TUPLES = ("body_poses", "energy")
WITHOUT_OUT = (*TUPLES, "momentum", "center_of_mass", "centroidal_momentum_matrix")
NAMES = ("forward_dynamics", "inverse_dynamics", "bias", "mass_matrix", *OF_NODES, *WITHOUT_OUT)
VECTORS = {
    "forward_dynamics": 3,
    "inverse_dynamics": 3,
    "bias": 2,
    "node_velocities": 2,
    "energy": 2,
    "momentum": 2,
}


@pytest.fixture(scope="module")
def model() -> so.Model:
    return so.models.pendulum(4).model


def arguments(model: so.Model, name: str) -> list[Any]:
    rng = np.random.default_rng(len(name))
    nodes = model.resolve([so.Node(1), so.Node(3, (0.1, 0.2, 0.3))])
    vectors = [rng.normal(size=model.nv) for _ in range(3)]
    return [model, *vectors[: VECTORS.get(name, 1)], *([nodes] if name in OF_NODES else [])]


def ways(function: Any, given: list[Any]) -> Iterator[Any]:
    """The same call, written in different ways."""
    names = list(inspect.signature(function).parameters)
    named = dict(zip(names, given, strict=False))
    yield function(*given)
    yield function(**named)
    yield function(given[0], **dict(list(named.items())[1:]))
    yield function(*[item.tolist() if type(item) is np.ndarray else item for item in given])
    if function.__name__ not in WITHOUT_OUT:
        yield function(*given, out=np.empty_like(function(*given)))


@pytest.mark.parametrize("name", NAMES)
def test_every_way_of_calling_gives_the_same_bits(model: so.Model, name: str) -> None:
    function = getattr(so, name)
    given = arguments(model, name)
    expected = doors.behind(function)(*given)
    for answer in ways(function, given):
        assert type(answer) is type(expected)
        for found, wanted in zip(answer, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    if name in WITHOUT_OUT:
        return
    out = np.full_like(expected, np.nan)
    assert function(*given, out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", OF_NODES)
def test_nodes_by_their_names_pass_once_they_were_looked_up(
    model: so.Model, name: str, monkeypatch
) -> None:
    """Lists and tuples of the same nodes do; others are looked up, whatever was asked last."""
    function = getattr(so, name)
    state = arguments(model, name)[1:-1]
    tip, knee = so.Node("link4", (0.1, 0.2, 0.3)), so.Node("link2")
    asked: list[tuple[Any, ...]] = []
    looked_up = so.Model.resolve
    monkeypatch.setattr(
        so.Model, "resolve", lambda *given: (asked.append(given), looked_up(*given))[1]
    )
    sequences = [[tip], (tip,), [tip, knee], (knee, tip), ["link3"], [knee], []]
    for nodes in sequences:
        expected = doors.behind(function)(model, *state, looked_up(model, nodes))
        function(model, *state, nodes)
        function(model, *state, nodes)
        asked.clear()
        for again in (list(nodes), tuple(nodes)):
            np.testing.assert_array_equal(function(model, *state, again), expected)
        assert not asked
        other = [so.Node("link1"), *nodes]
        other_expected = doors.behind(function)(model, *state, looked_up(model, other))
        looked_up(model, nodes)
        np.testing.assert_array_equal(function(model, *state, other), other_expected)
    changed = [tip]
    function(model, *state, changed)
    changed[0] = knee
    np.testing.assert_array_equal(
        function(model, *state, changed), function(model, *state, model.resolve([knee]))
    )


def test_nodes_of_one_model_are_not_those_of_another() -> None:
    long, short = so.models.pendulum(4).model, so.models.pendulum(2).model
    nodes = [so.Node("link2", (0.0, 0.1, 0.2))]
    for _ in range(3):
        assert so.jacobian(long, np.ones(4), nodes).shape == (6, 4)
        assert so.jacobian(short, np.ones(2), nodes).shape == (6, 2)
        with pytest.raises(ArgumentError, match="link3"):
            so.jacobian(short, np.ones(2), ["link3"])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_fails_as_without_a_door(model: so.Model, name: str) -> None:
    function = getattr(so, name)
    given = arguments(model, name)
    wrong: list[tuple[list[Any], dict[str, Any]]] = [
        ([], {}),
        (given[:-1], {}),
        ([*given, *[None] * 6], {}),
        (given, {"nothing": 1}),
        (given, {"model": model}),
        (given, {"out": np.empty(1)}),
        (given, {"out": 3}),
        ([None, *given[1:]], {}),
        ([given[1], model, *given[2:]], {}),
        ([given[0], np.full(model.nq, np.nan), *given[2:]], {}),
        ([given[0], np.zeros(model.nq + 1), *given[2:]], {}),
        ([given[0], None, *given[2:]], {}),
    ]
    for positional, named in wrong:
        said = []
        for call in (function, doors.behind(function)):
            with pytest.raises((TypeError, ArgumentError)) as caught:
                call(*positional, **named)
            said.append((caught.type, str(caught.value)))
        assert said[0] == said[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_door_says_what_it_is(name: str) -> None:
    function = getattr(so, name)
    written = doors.behind(function)
    assert inspect.isbuiltin(function)
    assert inspect.isfunction(written)
    assert function.__doc__ == inspect.getdoc(written)
    assert (function.__module__, function.__qualname__) == (written.__module__, name)
    bare = [(p.name, p.kind, p.default) for p in inspect.signature(written).parameters.values()]
    seen = [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
    assert seen == bare
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


def test_a_subclass_of_an_array_goes_to_the_function_behind(model: so.Model) -> None:
    class Mine(np.ndarray): ...

    given = [
        item.view(Mine) if type(item) is np.ndarray else item
        for item in arguments(model, "forward_dynamics")
    ]
    expected = so.forward_dynamics(*arguments(model, "forward_dynamics"))
    np.testing.assert_array_equal(so.forward_dynamics(*given), expected)


@pytest.mark.parametrize("name", NAMES)
def test_references_are_counted(model: so.Model, name: str) -> None:
    """No object is kept, and none is given away, by calls that pass and calls that fail."""
    function = getattr(so, name)
    given = arguments(model, name)
    out = function(*given)
    memory = {} if name in WITHOUT_OUT else {"out": out}
    bad = [given[0], np.full(model.nq, np.nan), *given[2:]]

    def call() -> None:
        for _ in range(1000):
            function(*given, **memory)
            function(*given)
            with pytest.raises(ArgumentError):
                function(*bad)

    call()
    gc.collect()
    known = (*given, *bad, out, function, so.Energy, so.Poses, None)
    before = [sys.getrefcount(item) for item in known]
    tracemalloc.start()
    had = tracemalloc.get_traced_memory()[0]
    call()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - had
    tracemalloc.stop()
    assert [sys.getrefcount(item) for item in known] == before
    assert grown < 20_000  # a result each would be 1000 times more


def test_tuples_are_of_their_class_and_own_what_is_in_them(model: so.Model) -> None:
    q, v = np.linspace(0.1, 0.4, model.nq), np.ones(model.nv)
    poses, energy = so.body_poses(model, q), so.energy(model, q, v)
    assert type(poses) is type(doors.behind(so.body_poses)(model, q))
    assert type(energy) is so.Energy
    assert all(type(number) is float for number in energy)
    assert energy.total == energy.kinetic + energy.potential
    assert hash(energy) == hash(tuple(energy))
    assert poses.positions.flags.owndata
    assert poses.rotations.flags.owndata
    plain = doors.behind(so.body_poses)(model, q)
    counts = [sys.getrefcount(item) for item in (*poses, *plain)]
    assert counts[:2] == counts[2:]
    gc.collect()
    assert any(poses is item for item in gc.get_objects())


def test_springs_go_to_the_function_behind() -> None:
    """Their energy is not the kernel's."""
    hinge = so.Joint("revolute", axis="y", stiffness=3.0, reference=0.5)
    ball = so.Inertia.sphere(0.1, mass=1.0)
    model = so.TreeBuilder().add_body("ball", joint=hinge, inertia=ball).build()
    for _ in range(3):
        energy = so.energy(model, np.zeros(1), np.zeros(1))
        assert energy.potential == pytest.approx(0.5 * 3.0 * 0.5**2)


def test_a_model_that_is_gone_leaves_nothing(model: so.Model) -> None:
    """What a door has seen of one model it does not use for the next."""
    for n in (2, 5, 3, 7):
        fresh = so.models.pendulum(n).model
        q = np.linspace(0.1, 1.0, n)
        a = so.forward_dynamics(fresh, q, q, q)
        np.testing.assert_allclose(so.inverse_dynamics(fresh, q, q, a), q, atol=1e-9)
        del fresh
        gc.collect()


@pytest.mark.compiled
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_door_stays_the_key_it_was_when_its_code_arrives(by_hand, monkeypatch):
    """Built-in functions hash by the address of their code, which therefore must not change."""
    asked = []

    def careful(*arguments):
        asked.append(arguments)
        return "careful"

    if not by_hand:  # as on processors whose instructions we do not know
        monkeypatch.setattr("spatialops._compile.switch._MACHINES", ())
    switch = Switch(layouts.address_of("PyObject_Vectorcall"))
    owner = layouts.Owner(__name__, np.zeros(at.WORDS, dtype=np.int64), careful)
    built_in = layouts.BuiltIn("careful", "careful()\n--\n\n", owner, switch.address)
    made = built_in.function  # which does not keep what it was made by
    known = {made: 1}
    assert made(1, 2) == "careful"
    assert asked == [(1, 2)]
    other = Switch(layouts.address_of("PyObject_Vectorcall"))
    switch.turn(other.address)
    assert made(3) == "careful"
    assert known[made] == 1
