"""The Stewart (Gough) platform: a platform on six legs of variable length."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import to_quaternion
from spatialops.dynamics.loops.assembly import close_loops
from spatialops.errors import ArgumentError
from spatialops.models.linkages import Linkage
from spatialops.tree.graph import GraphBuilder
from spatialops.tree.joint import Joint, z_to
from spatialops.tree.state import State

_LOWEST = 1e-3  # height, of the base's radius, below which the legs lie in its plane


def stewart_platform(
    base: float = 1.0,
    platform: float = 0.6,
    height: float = 1.0,
    *,
    mass: float = 5.0,
    spread: float = 0.35,
) -> Linkage:
    """A platform on six legs: universal joints on the world, slides, balls at the platform.

    Parameters
    ----------
    base : float
        Radius of the circle of universal joints, m.
    platform : float
        Radius of the circle of ball joints, m.
    height : float
        Of the platform above the base at the start, m; negative hangs it below.
    mass : float
        Of the platform, kg; each leg has two rods of 0.5 kg.
    spread : float
        Half the angle between the two joints of a pair, rad.

    Returns
    -------
    Linkage
        Bodies "platform", and "cylinder1", "rod1" .. "rod6"; joints "foot1", "slide1" (its
        coordinate is the leg's length) and "head1" .. "head6". The tree keeps one head, the other
        five are closed: 21 velocities less 15 rows are 6.

    Examples
    --------
    >>> import spatialops as so
    >>> stewart = so.models.stewart_platform()
    >>> stewart.model.nv, stewart.loops.n_rows
    (21, 15)
    """
    radius = scalar(base, "base", low=0.0, strict=True)
    top = scalar(platform, "platform", low=0.0, strict=True)
    if abs(scalar(height, "height")) < _LOWEST * radius:
        raise ArgumentError(
            f"height: the platform must not lie in the plane of the base, got {height:g}"
        )
    third = 2.0 * np.pi / 3.0 * np.arange(3)
    feet = _ring(radius, np.stack([third - spread, third + spread], axis=1).ravel())
    # Heads are paired between the pairs of feet: legs lean in turn to either side.
    heads = _ring(
        top,
        np.stack(
            [third - third[1] / 2.0 + spread, third + third[1] / 2.0 - spread], axis=1
        ).ravel(),
    )
    graph = GraphBuilder()
    graph.add_body("platform", Inertia.cylinder(top, 0.05, mass=mass))
    values: dict[str, Array] = {}
    for i in range(6):
        line = heads[i] + (0.0, 0.0, height) - feet[i]
        length = float(np.linalg.norm(line))
        leg, rod = Inertia.cylinder(0.03, 0.5 * length, mass=0.5), f"rod{i + 1}"
        graph.add_body(f"cylinder{i + 1}", leg.shifted((0.0, 0.0, 0.25 * length)))
        graph.add_body(rod, leg.shifted((0.0, 0.0, -0.25 * length)))
        turn = z_to(line / length)
        foot = Joint("universal", axis="x", second_axis="y")
        graph.add_joint(
            f"foot{i + 1}", "world", f"cylinder{i + 1}", foot, position_a=feet[i], rotation_a=turn
        )
        graph.add_joint(f"slide{i + 1}", f"cylinder{i + 1}", rod, Joint("prismatic", axis="z"))
        graph.add_joint(f"head{i + 1}", rod, "platform", "ball", position_b=heads[i])
        values[f"slide{i + 1}"], values[f"head{i + 1}"] = np.array([length]), to_quaternion(turn.T)
    model, loops = graph.build()
    q = model.neutral()
    for name, value in values.items():
        if name in model.joint_names:
            q[model.q_slice(name)] = value
    return Linkage(model, loops, State(close_loops(model, loops, q), np.zeros(model.nv)))


def _ring(radius: float, angles: Array) -> Array:
    return np.stack(
        [radius * np.cos(angles), radius * np.sin(angles), np.zeros_like(angles)], axis=1
    )
