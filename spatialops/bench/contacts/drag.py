"""Viscous drag put into the joints of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spatialops._layout import DAMPING
from spatialops.simulation.scene.scene import Scene


def with_drag(scene: Scene, drag: Mapping[str, float]) -> Scene:
    """The scene with viscous drag, N m s or N s/m, in the joints named."""
    links = scene.model.links.copy()
    for name, value in drag.items():
        links[scene.model.v_slice(name), DAMPING] = value
    return Scene(
        replace(scene.model, links=links),
        scene.geoms,
        state=scene.state,
        ignore=scene.ignore,
        include=scene.include,
    )
