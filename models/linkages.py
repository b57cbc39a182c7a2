"""Closed mechanisms of one or few degrees of freedom: four-bar, slider-crank, Bricard's linkage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Geom
from spatialops.dynamics.loops.assembly import close_loops, loop_at
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.graph import GraphBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.state import State

_THIN = 1e-3  # m, of a rod that has next to no moment about itself


@dataclass(frozen=True, eq=False)
class Linkage:
    """A closed mechanism.

    Parameters
    ----------
    model : Model
        The tree.
    loops : Loops
        Its closures.
    state : State
        A closed state at rest.
    """

    model: Model
    loops: Loops
    state: State

    def scene(self, *, geoms: Sequence[Geom] = (), loops: Sequence[Loop] = ()) -> Scene:
        """The mechanism among geoms, with further closures such as drives.

        Parameters
        ----------
        geoms : sequence of Geom
            Shapes on its bodies and on the world.
        loops : sequence of Loop
            Closures beside the mechanism's own.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        return Scene(self.model, geoms, loops=[*self.loops.items, *loops], state=self.state)


def rod(length: float, *, density: float = 1.0, width: float = 0.05) -> Inertia:
    """A square rod along x from the origin, of `density` kg/m."""
    return Inertia.box((length, width, width), mass=density * length).shifted(
        (0.5 * length, 0.0, 0.0)
    )


def four_bar(
    lengths: Sequence[float] | Array = (0.9, 0.3, 0.8, 0.6),
    *,
    angle: float = -1.0,
    height: float = 1.0,
) -> Linkage:
    """A planar four-bar linkage in the plane y = 0, of rods of 1 kg/m.

    Parameters
    ----------
    lengths : (4,) array_like
        Ground, crank, coupler, rocker, m. The crank turns fully where it is shortest and shortest +
        longest is at most the sum of the two others (Grashof).
    angle : float
        Of the crank to the ground, rad; positive turns it downwards. The coupler lies on the side
        of positive angles.
    height : float
        Of the two pins "crank" and "rocker" above z = 0, m; they are at x = 0 and x = ground.

    Returns
    -------
    Linkage
        Bodies "crank", "coupler" and "rocker". The tree's joints are "crank", "rocker" and "elbow";
        the pin "knee" between coupler and rocker is closed.

    Raises
    ------
    ArgumentError
        For lengths that do not reach around.
    """
    ground, crank, coupler, rocker = (
        scalar(x, "lengths", low=0.0, strict=True) for x in _four(lengths)
    )
    graph, hinge = GraphBuilder(), Joint("revolute", axis="y")
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        graph.add_body(name, rod(length))
    graph.add_joint("crank", "world", "crank", hinge, position_a=(0.0, 0.0, height))
    graph.add_joint("rocker", "world", "rocker", hinge, position_a=(ground, 0.0, height))
    graph.add_joint("elbow", "crank", "coupler", hinge, position_a=(crank, 0.0, 0.0))
    graph.add_joint(
        "knee",
        "coupler",
        "rocker",
        hinge,
        position_a=(coupler, 0.0, 0.0),
        position_b=(rocker, 0.0, 0.0),
    )
    model, loops = graph.build(cut=["knee"])
    # In the plane with the angle's sense, the pins as complex numbers: the knee by the law of
    # cosines.
    elbow = crank * np.exp(1j * scalar(angle, "angle"))
    span = abs(ground - elbow)
    cosine = (coupler**2 + span**2 - rocker**2) / (2.0 * coupler * span)
    if not -1.0 <= cosine <= 1.0:
        raise ArgumentError(
            f"lengths: coupler and rocker do not meet with the crank at {angle:g} rad"
        )
    along = np.angle(ground - elbow) + math.acos(cosine)
    knee = elbow + coupler * np.exp(1j * along)
    angles = {"crank": angle, "elbow": along - angle, "rocker": np.angle(knee - ground)}
    q = np.array([angles[name] for name in model.joint_names])
    return Linkage(
        model, loops, State(close_loops(model, loops, q, hold=["crank"]), np.zeros(model.nv))
    )


def slider_crank(
    crank: float = 0.25, rod_length: float = 0.6, *, mass: float = 0.5, angle: float = 0.5
) -> Linkage:
    """A crank, a connecting rod and a piston that slides along x, in the plane y = 0.

    Parameters
    ----------
    crank : float
        Length of the crank, m.
    rod_length : float
        Length of the connecting rod, m; longer than the crank.
    mass : float
        Of the piston, kg; rods have 1 kg/m.
    angle : float
        Of the crank to the x axis, rad; joints turn about -y.

    Returns
    -------
    Linkage
        Bodies "crank", "rod" and "piston". Joints "crank", "piston" (its coordinate is the distance
        of its pin from the crank's axis) and "big end"; the "small end" at the piston is closed.
    """
    r = scalar(crank, "crank", low=0.0, strict=True)
    length = scalar(rod_length, "rod_length", low=0.0, strict=True)
    if length <= r:
        raise ArgumentError(f"rod_length: must be longer than the crank, {r:g} m, got {length:g}")
    graph, hinge = GraphBuilder(), Joint("revolute", axis=(0.0, -1.0, 0.0))
    graph.add_body("crank", rod(r)).add_body("rod", rod(length))
    graph.add_body("piston", Inertia.box((0.1, 0.1, 0.1), mass=mass))
    graph.add_joint("crank", "world", "crank", hinge)
    graph.add_joint("piston", "world", "piston", Joint("prismatic", axis="x"))
    graph.add_joint("big end", "crank", "rod", hinge, position_a=(r, 0.0, 0.0))
    graph.add_joint("small end", "rod", "piston", hinge, position_a=(length, 0.0, 0.0))
    model, loops = graph.build(cut=["small end"])
    lean = -math.asin(r * math.sin(angle) / length)
    values = {
        "crank": angle,
        "big end": lean - angle,
        "piston": r * math.cos(angle) + length * math.cos(lean),
    }
    q = np.array([values[name] for name in model.joint_names])
    return Linkage(
        model, loops, State(close_loops(model, loops, q, hold=["crank"]), np.zeros(model.nv))
    )


def bricard(size: float = 1.0) -> Linkage:
    """Bricard's trihedral linkage: six equal rods in a ring, along edges of a cube.

    They are hinged about x, y and z in turn. Counting says that it has no freedom (5 joints of the
    tree, 5 closure rows); it moves because a row is redundant.

    Parameters
    ----------
    size : float
        Length of a rod, m.

    Returns
    -------
    Linkage
        Bodies "rod1" .. "rod5", the sixth being the world; "last hinge" is closed.

    References
    ----------
    R. Bricard, Lecons de cinematique II, 1927. As benchmark: M. Gonzalez et al., A
    benchmarking system for MBS simulation software, Multibody System Dynamics 16 (2006), problem
    A03.
    """
    side = scalar(size, "size", low=0.0, strict=True)
    corners = side * np.array(
        [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1], [0, 0, 0]],
        dtype=float,
    )
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    builder, bodies = TreeBuilder(), [f"rod{i}" for i in range(1, 6)]
    for i, name in enumerate(bodies):
        length = corners[i + 1] - corners[i]
        builder.add_body(
            name,
            parent="world" if i == 0 else bodies[i - 1],
            joint=Joint("revolute", axis=tuple(axes[i])),
            inertia=_thin_rod(length, side),
            position=tuple(corners[i] - corners[max(i - 1, 0)]),
        )
    model = builder.build()
    q = model.neutral()
    loop = loop_at(model, q, "revolute", "rod5", point=corners[5], axis=axes[5], name="last hinge")
    return Linkage(model, Loops(model, [loop]), State(q, np.zeros(model.nv)))


def _thin_rod(line: Array, mass: float) -> Inertia:
    """A thin rod along `line` from the origin."""
    length = float(np.linalg.norm(line))
    extents = tuple(length if x else _THIN for x in line)
    return Inertia.box(extents, mass=mass).shifted(tuple(0.5 * line))


def _four(lengths: Sequence[float] | Array) -> tuple[float, float, float, float]:
    try:
        ground, crank, coupler, rocker = lengths
    except (TypeError, ValueError):
        raise ArgumentError(f"lengths: expected 4 numbers, got {lengths!r}") from None
    return ground, crank, coupler, rocker
