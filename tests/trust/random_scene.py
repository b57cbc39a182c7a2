"""Scenes and simulators at random, from one seed: all joints, shapes, laws, integrators and loops.

Masses spread over a factor of a million, steps over 1e-5 to 2e-2 s. Most begin on the ground, or so
high above it that they fall on it within the run, are of few bodies, and have a law that is solved
within the compiled loop: others take ten times as long. Where the draw is nothing that can be, its
constructor says so: that is an answer, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

import spatialops as so
from spatialops.collision.extents import reach
from spatialops.dynamics.jacobian import body_poses
from tests.support.loops import random_loops
from tests.support.trees import KINDS, random_rotation

_FEW_BODIES = 3  # of most scenes
_MOST_BODIES = 8
_STEPS = 16
_STEPS_BETWEEN_EVENTS = 1  # of runs in Python, whose steps adapt
_SHORTEST, _LONGEST = 1e-5, 2e-2  # s, of a step
_DECADES = 3.0  # that masses spread over, up and down
_LAWS = ("cone", "convex", "no-slip", "frictionless", "max-dissipation", "viscous")
_FORMULATIONS = ("nmc", "mc", "rmc", "nmc/os", "trinkle")


class Case(NamedTuple):
    """What one seed stands for.

    Attributes
    ----------
    simulator : Simulator
    state : State
        Where the run begins.
    duration : float
        s.
    tau : (nv,) array
        Constant joint forces, N m or N.
    """

    simulator: so.Simulator
    state: so.State
    duration: float
    tau: np.ndarray


def random_case(seed: int) -> Case:
    """The case of a seed; an error of the package where there is none."""
    rng = np.random.default_rng(seed)
    model = _tree(rng)
    q = _place(rng, model)
    loops = random_loops(rng, model, q, int(rng.integers(1, 4))) if rng.random() < 0.3 else ()
    options = _options(rng)
    steps = _STEPS_BETWEEN_EVENTS if "time" in options else _STEPS
    duration = steps * float(options["dt"])
    speed = rng.choice([0.0, 0.1, 3.0])
    scene = _scene(rng, model, loops, q, rng.choice([-1e-3, 0.0, 0.0, 0.3 * speed * duration]))
    if rng.random() < 0.9:
        scene.state = so.separate(scene)
    if not loops:
        scene.state = so.State(scene.state.q, speed * rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv) * rng.choice([0.0, 0.0, 1.0, 100.0])
    return Case(so.Simulator(scene, **options), scene.state, duration, tau)


def _scene(
    rng: np.random.Generator,
    model: so.Model,
    loops: so.Loops | tuple[()],
    q: np.ndarray,
    gap: float,
) -> so.Scene:
    """The ground is a gap below the lowest point; free bodies come down to it, if nothing holds."""
    restitution = _restitution(rng) if rng.random() < 0.8 else None  # of all, or each its own
    geoms = _geoms(rng, model, restitution)
    lowest = min((_lowest(model, q, geom) for geom in geoms), default=0.0)
    ground = _geom(rng, "ground", "world", _ground(rng), restitution)
    ground = replace(ground, position=(0.0, 0.0, lowest - gap))
    state = so.State(q, np.zeros(model.nv))
    scene = so.Scene(model, [ground, *geoms], loops=loops, state=state)
    if not loops:
        scene.state = so.raised(scene, lowest)
    return scene


def _lowest(model: so.Model, q: np.ndarray, geom: so.Geom) -> float:
    """The height of a geom's lowest point, m."""
    frame = model.frame(geom.body)
    middle = frame.position + frame.rotation @ geom.position
    turn = frame.rotation @ geom.turn
    if frame.body >= 0:
        poses = body_poses(model, q)
        middle = poses.positions[frame.body] + poses.rotations[frame.body] @ middle
        turn = poses.rotations[frame.body] @ turn
    return float(middle[2]) - reach(geom.shape, -turn[2])


def _tree(rng: np.random.Generator) -> so.Model:
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81) if rng.random() < 0.9 else (0.0, 0.0, 0.0))
    spread = _DECADES if rng.random() < 0.3 else 0.5
    most = _FEW_BODIES if rng.random() < 0.75 else _MOST_BODIES
    for i in range(int(rng.integers(1, most + 1))):
        kind = str(rng.choice(KINDS)) if rng.random() < 0.6 else "free"
        hangs = i > 0 and kind != "free" and rng.random() < 0.7
        builder.add_body(
            f"b{i}",
            parent=f"b{rng.integers(i)}" if hangs else "world",
            joint=_joint(rng, kind),
            inertia=_inertia(rng, 10.0 ** rng.uniform(-spread, spread)),
            position=rng.uniform(-0.5, 0.5, 3) + (0.0, 0.0, 0.0 if hangs else 0.8),
            rotation=random_rotation(rng),
        )
    return builder.build()


def _inertia(rng: np.random.Generator, mass: float) -> so.Inertia:
    box = so.Inertia.box(rng.uniform(0.05, 0.5, 3), mass=mass)
    return box.shifted(rng.uniform(-0.1, 0.1, 3) if rng.random() < 0.5 else np.zeros(3))


def _joint(rng: np.random.Generator, kind: str) -> so.Joint:
    options: dict[str, object] = {}
    if kind not in ("ball", "free") and rng.random() < 0.4:
        options |= {"lower": -rng.uniform(0.0, 1.0), "upper": rng.uniform(0.0, 1.0)}
    if rng.random() < 0.3:
        options["dry_friction"] = 10.0 ** rng.uniform(-3.0, 1.0)
    if rng.random() < 0.3:
        options["damping"] = 10.0 ** rng.uniform(-3.0, 3.0)
    if rng.random() < 0.3:
        options["armature"] = 10.0 ** rng.uniform(-4.0, 0.0)
    if rng.random() < 0.2:
        options["effort_limit"] = 10.0 ** rng.uniform(-1.0, 2.0)
    if kind == "screw":
        options["pitch"] = rng.uniform(-0.3, 0.3)
    return so.Joint(kind, axis=rng.normal(size=3), **options)


def _place(rng: np.random.Generator, model: so.Model) -> np.ndarray:
    """Random coordinates, free bodies within a metre or so."""
    q = model.random(rng)
    spread = rng.choice([0.3, 1.0, 2.0])
    for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind == "free":
            q[model.q_slice(name)][:3] = rng.uniform(-spread, spread, 3)
    return q


def _geoms(rng: np.random.Generator, model: so.Model, restitution: float | None) -> list[so.Geom]:
    geoms = []
    for body in model.body_names:
        for k in range(int(rng.choice([0, 1, 1, 1, 2]))):
            geoms.append(_geom(rng, f"{body}-{k}", body, _shape(rng), restitution))
    return geoms


def _restitution(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 0.0, 0.5, 1.0]))


def _geom(
    rng: np.random.Generator, name: str, body: str, shape: object, restitution: float | None
) -> so.Geom:
    """With friction that is slid, turned or rolled against; a restitution of its own if None."""
    moments = rng.random()
    return so.Geom(
        name,
        body,
        shape,
        position=rng.uniform(-0.1, 0.1, 3),
        rotation=random_rotation(rng) if body != "world" else None,
        friction=float(rng.choice([0.0, 0.3, 0.8, 2.0])),
        restitution=_restitution(rng) if restitution is None else restitution,
        torsion=10.0 ** rng.uniform(-4.0, 0.0) if moments < 0.2 else 0.0,
        rolling=10.0 ** rng.uniform(-4.0, -1.0) if moments < 0.1 else 0.0,
    )


def _ground(rng: np.random.Generator) -> object:
    drawn = rng.random()
    if drawn < 0.7:
        return so.HalfSpace()
    if drawn < 0.85:
        return so.HeightField(rng.uniform(-0.1, 0.1, (5, 5)), (4.0, 4.0))
    corners = np.array([[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.2], [-3.0, 3.0, 0.1]])
    return so.Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))


def _shape(rng: np.random.Generator) -> object:
    a, b, c = 10.0 ** rng.uniform(-2.0, -0.5, 3)
    makers = (
        lambda: so.Sphere(a),
        lambda: so.Capsule(a, b),
        lambda: so.Box((a, b, c)),
        lambda: so.Cylinder(a, b),
        lambda: so.Cone(a, b),
        lambda: so.Ellipsoid((a, b, c)),
        lambda: so.ConvexHull(rng.uniform(-1.0, 1.0, (12, 3)) * (a, b, c)),
    )
    last = len(makers) if rng.random() < 0.5 else len(makers) - 1  # a hull takes long to make
    return makers[rng.integers(last)]()


def _options(rng: np.random.Generator) -> dict[str, object]:
    low, high = np.log10([_SHORTEST, _LONGEST])
    options: dict[str, object] = {
        "dt": float(10.0 ** rng.uniform(low, high)),
        "integrator": str(rng.choice(["moreau", "moreau", "semi-implicit", "rk4"])),
        "restitution": str(rng.choice(["poisson", "newton"])),
        "impacts": "propagated" if rng.random() < 0.1 else "simultaneous",
        "certify": "full" if rng.random() < 0.1 else "raise",
    }
    drawn = rng.random()
    if drawn < 0.12:
        options["law"] = str(rng.choice(_LAWS))
    elif drawn < 0.16:
        options["formulation"] = str(rng.choice(_FORMULATIONS))
    elif drawn < 0.17:
        options["time"] = so.EventDriven()
    return options
