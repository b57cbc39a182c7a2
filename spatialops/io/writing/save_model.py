"""The mechanics of a model as a robot file."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from xml.etree.ElementTree import Element, indent, tostring

from spatialops._files import checked_path, save_bytes
from spatialops.errors import ArgumentError, AssetWarning
from spatialops.io.description import Notes
from spatialops.io.writing.mjcf_bodies import settle_bodies
from spatialops.io.writing.mjcf_tree import mjcf_tree
from spatialops.io.writing.urdf_tree import urdf_tree
from spatialops.tree.model import Model, not_a_model


def save_model(model: Model, path: str | os.PathLike[str], *, name: str = "robot") -> Path:
    """Write the mechanics of a model as URDF (.urdf) or MJCF (.xml, .mjcf).

    Numbers are written in full: what is read again moves the same. Bodies, joints, inertias,
    limits, damping, friction and armature go over, springs and gravity to MJCF alone; shapes,
    closures and actuators are of scenes: `save_scene`. Bodies that were merged become links without
    mass that are fixed.

    Parameters
    ----------
    model : Model
        Of revolute, prismatic, ball and free joints.
    path : path-like
        The file; it is written whole or not at all.
    name : str
        Of the robot in the file. Default "robot".

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    ArgumentError
        For something else than a model, and for another suffix.
    ModelError
        For joints that the format does not have; for a URDF also of several roots of which one is
        free; for MJCF also for inertias that no body has, which MuJoCo refuses.
    AssetError
        If the file cannot be written.

    Warns
    -----
    AssetWarning
        With what the model has and the format does not.

    Notes
    -----
    A URDF says nothing of a free base: read it again with ``floating_base=True``. MuJoCo wants mass
    and moments of at least 1e-15 (SI) of what moves: bodies without get these in a MJCF file, and a
    warning says so.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = so.load_model(so.save_model(model, pathlib.Path(folder, "pendulum.urdf")))
    >>> again.joint_names == model.joint_names
    True
    """
    if not isinstance(model, Model):
        raise not_a_model(model)
    notes = Notes()
    return save_tree(tree_of(model, path, name, notes), path, notes)


def tree_of(model: Model, path: str | os.PathLike[str], name: str, notes: Notes) -> Element:
    """The elements of a model for a file, by its suffix."""
    suffix = checked_path(path).suffix.lower()
    if suffix not in (".urdf", ".xml", ".mjcf"):
        raise ArgumentError(f"path: expected a .urdf, .xml or .mjcf file, got {path!s}")
    return (urdf_tree if suffix == ".urdf" else mjcf_tree)(model, name, notes)


def save_tree(tree: Element, path: str | os.PathLike[str], notes: Notes) -> Path:
    """Write elements to a file, and warn of what they cannot say."""
    if tree.tag == "mujoco":
        settle_bodies(tree, notes)
    if notes.texts():
        warnings.warn(AssetWarning(f"{path}: " + "; ".join(notes.texts())), stacklevel=3)
    indent(tree)
    return save_bytes(path, tostring(tree, encoding="utf-8", xml_declaration=True) + b"\n")
