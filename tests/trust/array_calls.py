"""Public functions that take arrays, each with arguments that are right: from their signatures."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import spatialops as so
from spatialops._compile.doors import behind
from spatialops.contact import MixedLCP
from tests.support.runs import DT, boxes
from tests.support.trees import random_tree

_ROOMS = ("spatialops", "spatialops.contact", "spatialops.collision", "spatialops.simulation")


class Call(NamedTuple):
    """A function, and what it is called with.

    Attributes
    ----------
    arrays : tuple of str
        Names of the arguments that are arrays.
    """

    name: str
    function: Callable[..., object]
    arguments: dict[str, Any]
    arrays: tuple[str, ...]


def array_arguments(function: Callable[..., object]) -> tuple[str, ...]:
    """Names of the arguments that the signature calls arrays."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(item.name for item in parameters if "Array" in str(item.annotation))


def public_functions() -> Iterator[tuple[str, Callable[..., object]]]:
    """All functions that are public and take arrays, by name."""
    for room in _ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(behind(found)) and array_arguments(behind(found)):
                yield name, found


def public_methods() -> Iterator[str]:
    """Names, as "Class.method", of methods that take arrays; not of the class."""
    for room in _ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            found = getattr(module, name)
            if not inspect.isclass(found):
                continue
            for method, function in inspect.getmembers(found, inspect.isfunction):
                if not method.startswith("_") and array_arguments(function):
                    yield f"{name}.{method}"


def calls() -> dict[str, Call]:
    """Every function and method of the tables below, ready to be called."""
    found = {}
    of_functions = _function_arguments()
    for name, function in public_functions():
        if name in EXEMPT:
            continue
        names = inspect.signature(function).parameters
        own = {key: of_functions[key] for key in names if key in of_functions}
        own |= _SPECIAL.get(name, dict)()
        arrays = tuple(key for key in array_arguments(function) if key in own)
        found[name] = Call(name, function, own, arrays)
    for name, (method, arguments) in _methods().items():
        found[name] = Call(name, method, arguments, tuple(arguments))
    return found


def _mechanism() -> so.Model:
    rng = np.random.default_rng(3)
    return random_tree(rng, 4, ("revolute", "ball", "universal", "prismatic"), each=True)


def _function_arguments() -> dict[str, Any]:
    """Arguments by their name, which means the same everywhere."""
    rng = np.random.default_rng(4)
    model = _mechanism()
    q = model.random(rng)
    v, a, tau, dv = rng.normal(size=(4, model.nv))
    loop = so.loop_at(model, q, "ball", 3, "world", point=(0.1, 0.2, 0.3), name="loop")
    problem = _problem()
    return {
        "model": model,
        "q": q,
        "q0": q,
        "q1": model.random(rng),
        "v": v,
        "a": a,
        "tau": tau,
        "dv": dv,
        "u": rng.normal(size=model.nv),
        "external": rng.normal(size=(model.n_bodies, 6)),
        "nodes": [so.Node(1), so.Node(3, (0.1, 0.0, 0.2))],
        "wrenches": rng.normal(size=(2, 6)),
        "loops": so.Loops(model, [loop]),
        "multipliers": rng.normal(size=3),
        "moved": ["b0"],
        "problem": problem,
        "impulses": rng.normal(size=(problem.n_contacts, 3)),
    }


def _problem() -> so.contact.ContactProblem:
    scene = boxes(2)
    problem = so.Simulator(scene, dt=DT).problem(scene.state)
    assert problem is not None
    return problem


def _lcp() -> MixedLCP:
    return MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])


# Arguments that are of one function alone.
_SPECIAL: dict[str, Callable[[], dict[str, Any]]] = {
    "hybrid_dynamics": lambda: {"tau": np.ones(_mechanism().nv), "a": np.ones(_mechanism().nv)},
    "mass_solve": lambda: {"x": np.ones(_mechanism().nv)},
    "loop_at": lambda: {"kind": "ball", "a": 3, "b": "world", "point": np.ones(3), "name": "l"},
    "solve": lambda: {"problem": _lcp(), "warm_start": np.array([0.5, 0.0])},
    "distances": lambda: {
        "scene": boxes(2),
        "q": boxes(2).state.q,
        "pairs": [(boxes(2).geoms[0].name, boxes(2).geoms[1].name)],
    },
    "cast_rays": lambda: {
        "scene": boxes(2),
        "q": boxes(2).state.q,
        "origins": np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 2.0], [0.2, 0.0, 3.0]]),
        "directions": np.array([[0.0, 0.0, -1.0], [0.0, 0.1, -1.0], [0.1, 0.0, -1.0]]),
    },
    "to_log_cholesky": lambda: {"parameters": so.inertial_parameters(_mechanism())[:10]},
    "from_log_cholesky": lambda: {"numbers": np.linspace(-0.5, 0.5, 10)},
    "inverse_kinematics": lambda: {"targets": so.Target(so.Node(3), position=(0.1, 0.2, 0.3))},
    "decompression": lambda: {
        "velocity": np.zeros(12),
        "normal_impulses": np.ones(_problem().n_contacts),
        "restitution": np.full(_problem().n_contacts, 0.5),
    },
}

# Left out, with the reason.
EXEMPT = {
    "load_hull": "reads a file",
    "load_mesh": "reads a file",
    "save_fclib": "writes a file",
    "modified_ppm": "an algorithm as printed, in plain NumPy",
    "find_indices": "likewise",
    "Batch.reset": "tests/simulation/batch has its shapes, which may be of one or of all",
    "Batch.rollout": "likewise",
    "Simulator.run": "`ctrl` and `external`: tests/forces has what does not fit",
    "Simulator.run_to_disk": "likewise",
    "Simulator.resume": "likewise",
    "Simulator.view": "likewise; tests/view/live has its own",
    "Simulator.linearize": "what checks the arguments of `step` checks its",
    "Simulator.linearize_controls": "likewise",
    "Simulator.linearize_geoms": "likewise",
    "Simulator.linearize_parameters": "likewise",
    "Simulator.linearize_rollout": "tests/simulation/linearization has what does not fit",
    "LinearizedRollout.jvp": "likewise",
    "LinearizedRollout.vjp": "likewise",
    "LinearizedRollout.vjp_parameters": "likewise",
    "Scene.sides_of": "tests/collision/test_pair_runs.py has numbers of no pair",
    "LoadedScene.sides_of": "likewise",
    "Scene.classes_of": "likewise",
    "LoadedScene.classes_of": "likewise",
    "Scene.coefficients_of": "likewise",
    "LoadedScene.coefficients_of": "likewise",
    "Scene.checked_ctrl": "tests/forces has what does not fit",
    "LoadedScene.checked_ctrl": "likewise",
    "Scene.add_actuators": "tests/forces/test_actuators.py has controls that do not fit",
    "LoadedScene.add_actuators": "likewise",
    "Tendon.energy": "plain NumPy",
    "ContactProblem.part": "an index of NumPy",
    "Compliant.forces": "plain NumPy on a contact set",
    "Viscous.drag": "plain NumPy",
    "indeterminacy": "`pushing` is a mask of NumPy",
    "Recovery.residual": "plain NumPy",
    "GraphBuilder.add_joint": "a constructor",
    "TreeBuilder.add_body": "a constructor",
}


def _methods() -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Methods with the arrays that they take."""
    problem = _problem()
    scene = boxes(2)
    simulator = so.Simulator(scene, dt=DT)
    n = 3 * problem.n_contacts
    cone = so.contact.ConeProblem(
        problem.compliance + 1e-3 * np.eye(n), problem.velocities, problem.friction
    )
    pair = so.collision.ShapePair(so.Box((0.2, 0.2, 0.2)), so.Sphere(0.1))
    place = {"position": np.ones(3), "rotation": np.eye(3)}
    inertia = so.Inertia.box((0.1, 0.2, 0.3), mass=1.0)
    batch = so.Batch(simulator, 2)
    nv = scene.model.nv
    lcp, closed = _lcp(), _function_arguments()

    def step(tau: Any) -> object:
        return simulator.step(scene.state, tau)[0].v

    def problem_of(tau: Any) -> object:
        found = simulator.problem(scene.state, tau)
        return None if found is None else found.velocity

    def stepper(tau: Any) -> object:
        made = simulator.stepper()
        made.step(tau)
        return made.v.copy()

    def batch_step(taus: Any) -> object:
        batch.reset()
        batch.step(taus)
        return batch.v.copy()

    operators = so.SpatialOperators(closed["model"], closed["q"])

    def sensitivity(direction: Any) -> object:
        return operators.sensitivities(direction).mass_matrix @ np.ones(closed["model"].nv)

    tendon = so.TendonPath([[so.Node(1), so.Node(3, (0.1, 0.0, 0.2))]])

    def tendon_length(q: Any) -> object:
        return tendon.length(closed["model"], q)

    def tendon_arms(q: Any) -> object:
        return tendon.arms(closed["model"], q)

    return {
        "TendonPath.length": (tendon_length, {"q": closed["q"]}),
        "TendonPath.arms": (tendon_arms, {"q": closed["q"]}),
        "SpatialOperators.sensitivities": (sensitivity, {"direction": closed["u"]}),
        "ContactProblem.after": (
            problem.after,
            {"impulses": np.ones(n), "moments": np.ones((problem.n_contacts, 3))},
        ),
        "ContactProblem.slip": (problem.slip, {"velocity": np.ones(nv)}),
        "ConstraintEmbedding.forward_dynamics": (
            so.ConstraintEmbedding(closed["model"], closed["loops"]).forward_dynamics,
            {name: closed[name] for name in ("q", "v", "tau", "external")},
        ),
        "Simulator.step": (step, {"tau": np.ones(nv)}),
        "Simulator.problem": (problem_of, {"tau": np.ones(nv)}),
        "Stepper.step": (stepper, {"tau": np.ones(nv)}),
        "Batch.step": (batch_step, {"taus": np.ones((2, nv))}),
        "MixedLCP.evaluate": (lcp.evaluate, {"z": np.ones(2)}),
        "MixedLCP.residual": (lcp.residual, {"z": np.ones(2)}),
        "ConeProblem.residual": (cone.residual, {"r": np.ones(n)}),
        "ConeProblem.residuals": (cone.residuals, {"r": np.ones(n)}),
        "ConeProblem.velocities": (cone.velocities, {"r": np.ones(n)}),
        "ShapePair.separation": (pair.separation, place),
        "ShapePair.contacts": (pair.contacts, place),
        "Inertia.about": (inertia.about, {"point": np.ones(3)}),
        "Inertia.shifted": (inertia.shifted, {"offset": np.ones(3)}),
        "Inertia.rotated": (inertia.rotated, {"rotation": np.eye(3)}),
    }
