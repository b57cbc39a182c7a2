"""One door for all kinds of robot files, by suffix."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from spatialops._files import checked_path
from spatialops.errors import AssetError
from spatialops.io.description import Description
from spatialops.io.packages import Resolver
from spatialops.io.sdf import read_sdf
from spatialops.io.urdf import read_urdf


def read(
    path: str | os.PathLike[str], *, packages: Mapping[str, str | os.PathLike[str]] | None = None
) -> Description:
    """Read a URDF, SDF or MJCF file into its neutral description.

    Nothing is built yet, and meshes that a URDF names are not read.

    Parameters
    ----------
    path : path-like
        A .urdf, .sdf, .xml or .mjcf file.
    packages : mapping of str to path, optional
        Folders of the packages that `package://` names; default: none but those found.

    Returns
    -------
    Description
        Bodies, shapes, closures and what was left out.

    Raises
    ------
    AssetError
        For an unknown suffix, or a file that is missing, damaged, or says what cannot be.
    MissingLibraryError
        For a MJCF file without the library `mujoco`.
    """
    file = checked_path(path)
    suffix = file.suffix.lower()
    if suffix not in (".urdf", ".sdf", ".xml", ".mjcf"):
        raise AssetError(
            f"{file}: expected a .urdf, .sdf, .xml or .mjcf file, got suffix {file.suffix!r}"
        )
    resolver = Resolver(file, packages)
    if suffix == ".urdf":
        return replace(read_urdf(file), packages=resolver.packages)
    if suffix == ".sdf":
        return replace(read_sdf(file), packages=resolver.packages)
    from spatialops.io.mjcf import read_mjcf

    return replace(read_mjcf(file, resolver), packages=resolver.packages)
