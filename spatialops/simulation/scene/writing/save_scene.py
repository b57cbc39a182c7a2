"""A scene as a robot file."""

from __future__ import annotations

import os
from pathlib import Path

from spatialops.errors import ArgumentError
from spatialops.io.description import Notes
from spatialops.io.writing.save_model import save_tree, tree_of
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.scene.writing import mjcf_scene, urdf_scene


def save_scene(scene: Scene, path: str | os.PathLike[str], *, name: str = "robot") -> Path:
    """Write a scene as MJCF (.xml, .mjcf) or URDF (.urdf): mechanics, shapes, closures, actuators.

    To MJCF go geoms and every pair that may touch with its friction, closures that are ball joints,
    welds or couplers, tendons, actuators, and the state as keyframe "start". To URDF go collision
    shapes with the friction of their links, and couplers of two joints as mimic ones.

    Parameters
    ----------
    scene : Scene
        As `save_model` takes its model.
    path : path-like
        The file; meshes of a URDF are written beside it.
    name : str
        Of the robot in the file. Default "robot".

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    ArgumentError
        For something else than a scene, and for another suffix.
    ModelError, AssetError
        As `save_model`.

    Warns
    -----
    AssetWarning
        With what the scene has and the format does not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spatialops as so
    >>> scene = so.models.pendulum(2).scene()
    >>> scene.add_actuators([so.Actuator.position("servo", "pin1", kp=100.0)], [0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = so.load_scene(so.save_scene(scene, pathlib.Path(folder, "pendulum.xml")))
    >>> len(again.pairs) == scene.n_pairs, again.actuators[0].name
    (True, 'servo')
    """
    if not isinstance(scene, Scene):
        raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
    notes = Notes()
    tree = tree_of(scene.model, path, name, notes)
    if tree.tag == "mujoco":
        mjcf_scene.add_scene(tree, scene, notes)
    else:
        urdf_scene.add_scene(tree, scene, Path(path), notes)
    return save_tree(tree, path, notes)
