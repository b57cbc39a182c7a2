"""A scene as viser draws it: a node a body, arrows of forces, the hand that pulls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import body_poses
from spatialops.simulation.scene.scene import Scene
from spatialops.view.live.pull import Grip
from spatialops.view.parts import Layer, Part, drawn_parts
from spatialops.view.replay import palette
from spatialops.view.tendon_lines import drawn_paths, tendon_lines
from spatialops.view.triangles import shape_triangles

if TYPE_CHECKING:
    from viser import (
        ArrowsHandle,
        FrameHandle,
        LineSegmentsHandle,
        MeshHandle,
        SceneNodeHandle,
        ViserServer,
    )

_STILL = (143, 161, 179)
_PUSH = (0, 121, 90)
_IMPACT = (208, 28, 107)
_HAND = (230, 159, 0)
_TENDON = (179, 38, 30)
_XYZW_TO_WXYZ = [3, 0, 1, 2]
_NOTHING = np.zeros((1, 2, 3))  # an arrow of no length: viser wants one
_LONG = 1.0  # of the scene's size: an arrow of the whole weight
_THICK = 0.008  # of the scene's size
_LINE = 0.0025
_AXES = 0.12
_LEAST_SIZE = 1e-3  # m


class Drawing:
    """Nodes of a viser server that show a scene.

    Attributes
    ----------
    size : float
        Of what moves, m.
    middle : (3,) array
        Of what moves at the start, m.
    """

    def __init__(self, server: ViserServer, scene: Scene) -> None:
        self.server = server
        self.scene = scene
        self.parts = drawn_parts(scene)
        self.collision = False
        self.middle, self.size = _extent(scene, self.parts)
        self._bodies = [self._frame(name) for name in scene.model.body_names]
        self._meshes = [self._mesh(i, part) for i, part in enumerate(self.parts)]
        self._floor()
        self._forces = self._arrows("/forces", _PUSH)
        self._hand = self._arrows("/hand", _HAND)
        self._paths = drawn_paths(scene)
        self._tendons = self._lines(scene.state.q) if self._paths else None
        self.show_collision(False)

    @property
    def cell(self) -> float:
        """Of the grid, m."""
        return float(10.0 ** np.floor(np.log10(0.5 * self.size)))

    @property
    def weight(self) -> float:
        """Of all that moves, N; 1 where nothing has any."""
        gravity = float(np.linalg.norm(self.scene.model.gravity))
        return self.scene.model.mass * gravity or 1.0

    def force_of(self, length: float, stretch: float) -> float:
        """The force whose arrow is so long, N."""
        return length / (stretch * _LONG * self.size) * self.weight

    def each_body_mesh(self, use: Callable[[int, MeshHandle], None]) -> None:
        """Call with the moving body and the node of every part that moves."""
        for part, mesh in zip(self.parts, self._meshes):
            if part.body >= 0 and mesh is not None:
                use(part.body, mesh)

    def show_axes(self, shown: bool) -> None:
        """The frames of the bodies."""
        for body in self._bodies:
            body.show_axes = shown

    def show_collision(self, shown: bool) -> None:
        """What collides, or what files want drawn."""
        layer: Layer = "collision" if shown else "visual"
        for part, mesh in zip(self.parts, self._meshes):
            if mesh is not None:
                mesh.visible = part.layer in ("both", layer)

    def place(self, q: Array) -> None:
        """Put the bodies where they are."""
        poses = body_poses(self.scene.model, q)
        turns = Rotation.from_matrix(poses.rotations).as_quat()[:, _XYZW_TO_WXYZ]
        for body, position, turn in zip(self._bodies, poses.positions, turns):
            body.position = position
            body.wxyz = turn
        if self._tendons is not None:
            self._tendons.points = tendon_lines(self.scene, q[None])[0].astype(np.float32)

    def show_forces(self, arrows: Array, stretch: float) -> None:
        """Arrows (k, 7) of contact forces, linear in the force; none where `stretch` is zero."""
        sizes = np.linalg.norm(arrows[:, 3:6], axis=1)
        kept = arrows[stretch * sizes > 0.0]
        if not len(kept):
            self._forces.visible = False
            return
        along = kept[:, 3:6] * (stretch * _LONG * self.size / self.weight)
        hits = kept[:, 6:] > 0.0
        self._forces.points = np.stack([kept[:, :3], kept[:, :3] + along], axis=1, dtype=np.float32)
        self._forces.colors = np.where(hits, _IMPACT, _PUSH).astype(np.uint8)
        self._forces.visible = True

    def show_hand(self, grip: Grip | None, q: Array) -> None:
        """An arrow from the grabbed point to the hand."""
        self._hand.visible = grip is not None
        if grip is None:
            return
        body, point = grip.node
        poses = body_poses(self.scene.model, q)
        place = poses.positions[int(body)] + poses.rotations[int(body)] @ np.asarray(point)
        self._hand.points = np.array([[place, grip.hand]], dtype=np.float32)

    def _frame(self, body: str) -> FrameHandle:
        """The node of a body, with axes that can be shown."""
        return self.server.scene.add_frame(
            f"/bodies/{body}",
            show_axes=False,
            axes_length=_AXES * self.size,
            axes_radius=0.4 * _THICK * self.size,
        )

    def _arrows(self, name: str, color: tuple[int, int, int]) -> ArrowsHandle:
        """A node of arrows, without any yet."""
        return self.server.scene.add_arrows(
            name,
            _NOTHING,
            color,
            shaft_radius=0.5 * _THICK * self.size,
            head_radius=1.3 * _THICK * self.size,
            head_length=4.0 * _THICK * self.size,
        )

    def _lines(self, q: Array) -> LineSegmentsHandle:
        """The node of all tendons."""
        points = tendon_lines(self.scene, q[None])[0]
        width = 2.0 * _LINE * self.size
        return self.server.scene.add_line_segments("/tendons", points, _TENDON, thickness=width)

    def _mesh(self, i: int, part: Part) -> MeshHandle | None:
        """The node of a part; None for planes, which are drawn as floors and walls."""
        if part.shape["kind"] == "half_space":
            return None
        corners = shape_triangles(part.shape).reshape(-1, 3)
        moving = part.body >= 0
        above = f"/bodies/{self.scene.model.body_names[part.body]}" if moving else "/world"
        given = part.shape.get("color") or palette(len(self._bodies))[part.body]
        color = _STILL if not moving and not part.shape.get("color") else _bytes(str(given))
        return self.server.scene.add_mesh_simple(
            f"{above}/{i}",
            corners,
            np.arange(len(corners)).reshape(-1, 3),
            color=color,
            flat_shading=True,
            side="double",
            position=part.position,
            wxyz=Rotation.from_matrix(part.rotation).as_quat()[_XYZW_TO_WXYZ],
        )

    def _floor(self) -> None:
        """A grid on every plane of the world."""
        nodes: list[SceneNodeHandle] = []
        planes = [part.shape for part in self.parts if part.shape["kind"] == "half_space"]
        for plane in planes:
            normal = np.asarray(plane["normal"], dtype=np.float64)
            upright = normal[2] > 0.7
            nodes.append(
                self.server.scene.add_grid(
                    f"/planes/{len(nodes)}",
                    width=(40.0 if upright else 3.0) * self.size,
                    height=(40.0 if upright else 3.0) * self.size,
                    cell_size=self.cell,
                    section_size=5.0 * self.cell,
                    plane="xy",
                    plane_opacity=0.0 if upright else 0.2,
                    shadow_opacity=0.25,
                    position=_nearest(plane, self.middle),
                    wxyz=_up_to(normal),
                )
            )


def _extent(scene: Scene, parts: list[Part]) -> tuple[Array, float]:
    """Middle (3,) and size of what moves, m."""
    poses = body_poses(scene.model, scene.state.q)
    points = [poses.positions]
    for part in parts:
        if part.body >= 0:
            corners = shape_triangles(part.shape).reshape(-1, 3)
            own = part.position + corners @ part.rotation.T
            points.append(poses.positions[part.body] + own @ poses.rotations[part.body].T)
    joined = np.concatenate(points)
    low, high = joined.min(axis=0), joined.max(axis=0)
    return 0.5 * (low + high), max(float(np.linalg.norm(high - low)), _LEAST_SIZE)


def _nearest(plane: dict[str, object], place: Array) -> Array:
    """The point of a plane that is nearest to a place."""
    normal = np.asarray(plane["normal"], dtype=np.float64)
    point = np.asarray(plane["point"], dtype=np.float64)
    return np.asarray(place - normal * (normal @ (place - point)))


def _up_to(normal: Array) -> Array:
    """Quaternion (w, x, y, z) that turns z to a normal."""
    turn, _ = Rotation.align_vectors([normal], [[0.0, 0.0, 1.0]])
    return np.asarray(turn.as_quat()[_XYZW_TO_WXYZ])


def _bytes(name: str) -> tuple[int, int, int]:
    """Of "#rrggbb"."""
    red, green, blue = (int(name[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue
