"""Calls of the examples in docstrings, each with one argument that is wholly wrong.

What is refused is refused by an error of ours, never by one of Python's from inside.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Coulomb, Frictionless, Lemke, MixedLCP
from spatialops.contact.solve import SOLVERS
from spatialops.control import Gains, JointTracking, Rest, Squeeze, Waypoints
from spatialops.errors import ArgumentError, SpatialOpsError

ROOMS = ("contact", "control", "derivatives", "dynamics", "forces", "gym", "kinematics", "tree")
WRONG: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "a text": lambda: "x",
    "rows of two lengths": lambda: [[1.0, 2.0], [3.0]],
    "texts": lambda: ["x"],
}
# Times are not asked about on the way of a command, nor what a function of the caller gets.
LEFT = {"time", "observation", "motion", "v", "body", "wanted", "start", "state", "change"}


def _examples(room: str) -> Iterator[list[str]]:
    """Statements of each docstring."""
    package = importlib.import_module(f"spatialops.{room}")
    finder = doctest.DocTestFinder(exclude_empty=True)
    for found in pkgutil.walk_packages(package.__path__, f"spatialops.{room}."):
        for test in finder.find(importlib.import_module(found.name), found.name):
            if test.examples:
                yield [example.source for example in test.examples]


def _calls(statements: list[str]) -> Iterator[tuple[Callable[..., object], list[object], dict]]:
    """Calls of ours, before the statement that makes them."""
    names: dict[str, object] = {"__name__": "example"}

    def value(node: ast.expr) -> object:
        return eval(compile(ast.Expression(node), "example", "eval"), names)

    for statement in statements:
        for node in ast.walk(ast.parse(statement)):
            if not isinstance(node, ast.Call) or any(item.arg is None for item in node.keywords):
                continue
            try:
                function = value(node.func)
                arguments = [value(item) for item in node.args]
                options = {item.arg: value(item.value) for item in node.keywords}
            except Exception:  # of a comprehension, or starred
                continue
            if str(getattr(function, "__module__", "")).startswith("spatialops"):
                yield function, arguments, options
        try:
            exec(compile(statement, "example", "exec"), names)
        except SpatialOpsError:  # what a call above has already added
            return


def _refused(function: Callable[..., object], arguments: list[object], options: dict) -> str:
    """What an error that is not ours says."""
    try:
        function(*arguments, **options)
    except SpatialOpsError:
        return ""
    except (TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _places(function: Callable[..., object], given: int, options: dict) -> Iterator[int | str]:
    """Arguments by their number, options by their name."""
    names = list(inspect.signature(function).parameters)
    for i in range(min(given, len(names))):
        if names[i] not in LEFT:
            yield i
    for name in options:
        if name not in LEFT:
            yield name


@pytest.mark.compiled
@pytest.mark.parametrize("room", ROOMS)
def test_what_is_wholly_wrong_is_refused_in_words(room):
    bad = set()
    seen = set()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for statements in _examples(room):
            for function, arguments, options in _calls(statements):
                name = getattr(function, "__qualname__", type(function).__qualname__)
                key = name, len(arguments), *options
                if key in seen:
                    continue
                seen.add(key)
                for place in _places(function, len(arguments), options):
                    for what, make in WRONG.items():
                        changed, named = list(arguments), dict(options)
                        (named if isinstance(place, str) else changed)[place] = make()
                        said = _refused(function, changed, named)
                        if said:
                            bad.add(f"{name}, {place} is {what}: {said}")
    assert len(seen) > 3
    assert not bad, "\n".join(sorted(bad))


def test_the_walk_notices_what_python_says():
    def careless(model: object) -> object:
        return model.nv

    assert _refused(careless, [None], {}).startswith("AttributeError")


@pytest.mark.parametrize("kind", [*SOLVERS.values()])
def test_solvers_look_at_problems_and_starts(kind):
    solver = kind()
    problem = MixedLCP(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, 1.0]))
    for wrong in (None, [[1.0]], "x"):
        with pytest.raises(ArgumentError, match="problem: expected a MixedLCP"):
            solver.solve(wrong)
    assert solver.solve(problem, [0.5, 0.0]).solved
    if not solver.handles.warm_start:
        return
    for wrong in ("x", [1.0], [np.nan, 0.0], [[1.0], []]):
        with pytest.raises(ArgumentError, match="warm_start"):
            solver.solve(problem, wrong)


@pytest.mark.parametrize("wrong", [np.nan, "x", -1.0, None])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: Gains(position=x),
        lambda x: Lemke(tolerance=x),
        lambda x: Coulomb(tolerance=x),
        lambda x: Frictionless(tolerance=x),
        lambda x: Rest(q=[0.0], stiffness=x),
        lambda x: Squeeze(x),
        lambda x: Waypoints(speed=x),
        lambda x: JointTracking(so.models.pendulum(1).model, print, dt=x),
        lambda x: so.Simulator(so.models.pendulum(2).scene(), joint_limits=x),
    ],
)
def test_settings_are_looked_at_where_they_are_given(make, wrong):
    with pytest.raises(SpatialOpsError, match="expected"):
        make(wrong)
