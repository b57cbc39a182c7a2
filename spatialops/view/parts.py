"""Parts of a scene that are drawn: what files want drawn, and what collides."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from scipy.spatial.transform import Rotation

from spatialops._arrays import Array
from spatialops.collision.shapes import Geom, HalfSpace
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.scene.visuals import Visual
from spatialops.tree.node import Frame
from spatialops.view.shapes import drawn_shape, drawn_visual

Layer: TypeAlias = Literal["visual", "collision", "both"]


class Part(NamedTuple):
    """A shape as `write_replay` takes it, its moving body (-1: the world), and its pose in that."""

    shape: dict[str, object]
    body: int
    position: Array
    rotation: Array
    layer: Layer


def drawn_parts(scene: Scene) -> list[Part]:
    """All that may be drawn of a scene, each part in its layer.

    Shapes that collide are also what is drawn ("both") of bodies for which no file says better.
    """
    visuals = [_of_visual(scene.model.frame(visual.body), visual) for visual in scene.visuals]
    dressed = {_owner(part.body, visual.body) for part, visual in zip(visuals, scene.visuals)}
    geoms = [_of_geom(scene.model.frame(geom.body), geom, dressed) for geom in scene.geoms]
    return [*visuals, *geoms]


def fixture(part: Part) -> dict[str, object]:
    """A part on the world, with its place."""
    if part.shape["kind"] == "half_space":
        return part.shape
    turn = Rotation.from_matrix(part.rotation).as_quat()
    return {**part.shape, "position": part.position, "quaternion": turn}


def _owner(moving: int, name: str) -> int | str:
    """What visuals and geoms share: a moving body, or one that is fixed to the world."""
    return moving if moving >= 0 else name


def _of_visual(frame: Frame, visual: Visual) -> Part:
    place = frame.position + frame.rotation @ visual.position
    shape = {**drawn_visual(visual), "layer": "visual"}
    return Part(shape, frame.body, place, frame.rotation @ visual.rotation, "visual")


def _of_geom(frame: Frame, geom: Geom, dressed: set[int | str]) -> Part:
    place = frame.position + frame.rotation @ geom.position
    turn = frame.rotation @ geom.turn
    if isinstance(geom.shape, HalfSpace):
        normal = geom.turn @ geom.shape.normal
        plane: dict[str, object] = {
            "kind": "half_space",
            "point": place,
            "normal": normal,
            "name": geom.name,
        }
        return Part(plane, frame.body, place, turn, "both")
    layer: Layer = "collision" if _owner(frame.body, geom.body) in dressed else "both"
    return Part({**drawn_shape(geom), "layer": layer}, frame.body, place, turn, layer)
