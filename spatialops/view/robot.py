"""A robot file on paper: tree, masses, limits and shapes as text, plain data and a picture."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import Poses, body_poses
from spatialops.io.description import BodySpec, Description, ShapeSpec
from spatialops.tree.model import Model
from spatialops.view.figures import COLORS, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_FACE, _EDGE = "#56b4e933", "#5b6b7d"  # of shapes; the faces let through what is behind
_UNITS = {"revolute": "rad", "prismatic": "m"}


class RobotData(TypedDict):
    """What a robot file says, as plain data."""

    name: str
    file: str
    bodies: int
    moving_bodies: int
    nq: int
    nv: int
    mass: float
    joints: list[dict[str, object]]
    shapes: dict[str, int]
    loops: list[str]
    actuators: list[str]
    keyframes: list[str]
    warnings: list[str]
    left_out: list[str]


def robot_data(description: Description, model: Model | None) -> RobotData:
    """Everything that a robot file says, counted and summed, as plain data."""
    shapes = Counter(spec.kind for spec in description.shapes if spec.collides)
    return {
        "name": description.name,
        "file": str(description.path),
        "bodies": len(description.bodies),
        "moving_bodies": 0 if model is None else model.n_bodies,
        "nq": 0 if model is None else model.nq,
        "nv": 0 if model is None else model.nv,
        "mass": description.mass,
        "joints": [_joint_data(body) for body in description.bodies if body.joint.kind != "fixed"],
        "shapes": dict(shapes),
        "loops": [f"{loop.name} ({loop.kind})" for loop in description.loops],
        "actuators": [actuator.name for actuator in description.actuators],
        "keyframes": [keyframe.name for keyframe in description.keyframes],
        "warnings": list(description.warnings if model is None else model.warnings),
        "left_out": list(description.left_out),
    }


def robot_text(description: Description, model: Model | None) -> list[str]:
    """The same for people, one string a line."""
    data = robot_data(description, model)
    moving = (
        f"{data['moving_bodies']} moving bodies, nq = {data['nq']}, nv = {data['nv']}"
        if model
        else "nothing moves"
    )
    name = description.name or description.path
    lines = [f"{name}: {data['bodies']} bodies, {moving}, {data['mass']:.4g} kg"]
    shapes: dict[str, list[str]] = {}
    for spec in description.shapes:
        if spec.collides:
            shapes.setdefault(spec.body, []).append(spec.kind)
    depth = {"world": 0}
    for body in _depth_first(description.bodies):
        depth[body.name] = depth[body.parent] + 1
        freed = body.parent == "world" and _set_free(description, model)
        line = _body_line(body, shapes.get(body.name, []), freed)
        lines.append("  " * depth[body.name] + line)
    for title in ("loops", "actuators", "keyframes"):
        if names := data[title]:
            lines.append(f"{title}: {_some(names)}")
    for title, texts in (("Warnings:", data["warnings"]), ("Not read:", data["left_out"])):
        if texts:
            lines += [title, *(f"  {text}" for text in texts)]
    return lines


def draw_robot(
    description: Description, model: Model, q: Array, path: str | os.PathLike[str]
) -> Path:
    """Draw the robot from the front and from the side.

    Joints, centres of mass and the outlines of shapes are drawn; shapes in mesh files are not read.

    Raises
    ------
    RecordError
        If the figure cannot be written.
    MissingLibraryError
        Without the extra `plots`.
    """
    figure = new_figure(10.0, 5.5)
    poses = body_poses(model, q)
    for axes, (across, name) in zip(figure.subplots(1, 2), ((0, "x"), (1, "y")), strict=True):
        _draw(axes, description, model, poses, across)
        axes.set_xlabel(f"{name} [m]")
        axes.set_ylabel("z [m]")
        axes.set_aspect("equal", adjustable="datalim")
        axes.grid(alpha=0.3)
    name = description.name or Path(str(description.path)).stem
    bodies = f"{len(description.bodies)} bodies, {model.n_bodies} moving"
    figure.suptitle(f"{name}: {bodies}, {description.mass:.4g} kg")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, frameon=False)
    return save_figure(figure, path)


def _legend() -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=COLORS[0], marker="o", markersize=3, label="joints"),
        Line2D(
            [], [], color=COLORS[1], marker="o", linestyle="", alpha=0.6, label="centres of mass"
        ),
        Patch(facecolor=_FACE, edgecolor=_EDGE, label="shapes"),
    ]


def _draw(axes: Axes, description: Description, model: Model, poses: Poses, across: int) -> None:
    for spec in description.shapes:
        points = _outline(spec)
        if spec.collides and points is not None:
            position, turn = _pose(model, poses, spec.body)
            world = position + (np.asarray(spec.position) + points @ spec.rotation.T) @ turn.T
            corners = _hull(world[:, [across, 2]])
            axes.fill(
                corners[:, 0],
                corners[:, 1],
                facecolor=_FACE,
                edgecolor=_EDGE,
                linewidth=0.6,
            )
    masses = [body.inertia.mass for body in description.bodies if body.inertia is not None]
    heaviest = max(masses, default=1.0) or 1.0
    for body in description.bodies:
        position, turn = _pose(model, poses, body.name)
        above = _pose(model, poses, body.parent)[0]
        if body.parent != "world":
            axes.plot(
                [above[across], position[across]],
                [above[2], position[2]],
                color=COLORS[0],
                linewidth=1.2,
            )
        if body.joint.kind != "fixed":
            axes.plot(position[across], position[2], "o", color=COLORS[0], markersize=3)
        if body.inertia is not None:
            center = position + turn @ body.inertia.center
            size = 9.0 * (body.inertia.mass / heaviest) ** (1.0 / 3.0)
            axes.plot(
                center[across],
                center[2],
                "o",
                color=COLORS[1],
                markersize=max(size, 1.0),
                alpha=0.6,
            )


def _pose(model: Model, poses: Poses, name: str) -> tuple[Array, Array]:
    frame = model.frame(name)
    if frame.body < 0:
        return frame.position, frame.rotation
    turn = poses.rotations[frame.body]
    return poses.positions[frame.body] + turn @ frame.position, turn @ frame.rotation


def _outline(spec: ShapeSpec) -> Array | None:
    """Points whose convex hull is the shape, nearly."""
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    if spec.kind == "box":
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return signs * np.array(spec.sizes)
    if spec.kind in ("sphere", "ellipsoid", "capsule"):
        rings = [
            ring * np.cos(a) + np.array([0.0, 0.0, np.sin(a)])
            for a in np.linspace(-np.pi / 2, np.pi / 2, 13)
        ]
        ball = np.concatenate(rings) * (
            np.array(spec.sizes) if spec.kind == "ellipsoid" else spec.sizes[0]
        )
        if spec.kind != "capsule":
            return ball
        return ball + np.sign(ball[:, 2:]) * np.array([0.0, 0.0, 0.5 * spec.sizes[1]])
    if spec.kind == "cylinder":
        return np.concatenate(
            [ring * spec.sizes[0] + np.array([0.0, 0.0, s * spec.sizes[1]]) for s in (-0.5, 0.5)]
        )
    if spec.kind == "mesh" and isinstance(spec.mesh, tuple):
        return np.asarray(spec.mesh[0])
    return None


def _hull(points: Array) -> Array:
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # a disc seen from its edge
        return points


def _depth_first(bodies: tuple[BodySpec, ...]) -> list[BodySpec]:
    below: dict[str, list[BodySpec]] = {}
    for body in bodies:
        below.setdefault(body.parent, []).append(body)
    order, stack = [], list(reversed(below.get("world", [])))
    while stack:
        body = stack.pop()
        order.append(body)
        stack += reversed(below.get(body.name, []))
    return order


def _set_free(description: Description, model: Model | None) -> bool:
    """Whether the model's root is free where the file fixes it to the world."""
    if model is None or any(body.joint.kind == "free" for body in description.bodies):
        return False
    return "free" in model.joint_kinds


def _body_line(body: BodySpec, shapes: list[str], freed: bool) -> str:
    mass = "no mass" if body.inertia is None else f"{body.inertia.mass:.4g} kg"
    kinds = ", ".join(
        f"{count} x {kind}" if count > 1 else kind for kind, count in Counter(shapes).items()
    )
    joint = body.joint
    text = f"{body.name}: {'free' if freed else joint.kind}"
    if joint.kind != "fixed":
        text += f" {joint.name or body.name!r}"
        lower, upper = joint.values("lower"), joint.values("upper")
        if np.isfinite(lower).any() or np.isfinite(upper).any():
            text += f" in [{lower[0]:.4g}, {upper[0]:.4g}] {_UNITS.get(joint.kind, '')}".rstrip()
    return f"{text}, {mass}" + (f"; {kinds}" if kinds else "")


def _joint_data(body: BodySpec) -> dict[str, object]:
    joint = body.joint
    data: dict[str, object] = {
        "name": joint.name or body.name,
        "kind": joint.kind,
        "body": body.name,
        "parent": body.parent,
    }
    for key in (
        "lower",
        "upper",
        "velocity_limit",
        "effort_limit",
        "damping",
        "dry_friction",
        "armature",
    ):
        values = [float(x) if np.isfinite(x) else None for x in joint.values(key)]
        if any(values):
            data[key] = values[0] if len(values) == 1 else values
    return data


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
