"""Where the files that a robot file names are, inside allowed roots only.

A name is looked up in this order: the explicit map of packages; the folders of ROS_PACKAGE_PATH and
the share folders of AMENT_PREFIX_PATH; the folders above the robot file, up to the one that holds
its package. What comes out must lie in the folder that the name was found in: `..` and links do not
lead out of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from spatialops.errors import AssetError

# What marks the top folder of a package that a robot file belongs to; the first is ROS's.
_MARKS = ("package.xml", "pyproject.toml", "setup.py", ".git", "__init__.py")
_LEVELS = 8  # folders above the file in which a mark is looked for
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//)?(.*)", re.DOTALL)

Packages = Mapping[str, "str | os.PathLike[str]"]


def package_folder(path: Path) -> Path:
    """The folder of the package that a file belongs to, by a mark; else its folder's parent.

    Never the root of the file system.
    """
    folder = path.resolve().parent
    for above in (folder, *folder.parents)[:_LEVELS]:
        if above.parent == above:
            break
        if any((above / mark).exists() for mark in _MARKS):
            while (above / "__init__.py").exists() and (above.parent / "__init__.py").exists():
                above = above.parent
            return above
    return folder if folder.parent.parent == folder.parent else folder.parent


class Resolver:
    """Finds the files that one robot file names.

    Parameters
    ----------
    path : Path
        The robot file.
    packages : mapping of str to path, optional
        Folders of packages by name.
    """

    def __init__(self, path: Path, packages: Packages | None = None) -> None:
        self.folder = path.resolve().parent
        self.package = package_folder(path)
        self.packages = _checked(packages)

    def resolve(self, uri: str, where: str) -> Path:
        """The file that a name stands for.

        Raises
        ------
        AssetError
            If it is not there, lies outside the allowed folders, or has a scheme other than
            package, model and file.
        """
        if "\0" in uri or len(uri) > 4096:
            raise AssetError(f"{where}: {uri[:60]!r} is not the name of a file")
        try:
            return self._resolve(uri, where)
        except (OSError, RuntimeError) as error:  # names that are too long, links in a circle
            raise AssetError(f"{where}: {uri[:60]!r} cannot be looked up: {error}") from error

    def _resolve(self, uri: str, where: str) -> Path:
        match = _SCHEME.fullmatch(uri)
        if match is None:
            return self._inside(self.folder / uri, (self.package, *self._trusted()), uri, where)
        scheme, rest = match[1].lower(), match[3]
        if scheme == "file":
            return self._inside(self.folder / rest, (self.package, *self._trusted()), uri, where)
        if scheme not in ("package", "model"):
            raise AssetError(
                f"{where}: {uri!r}: only package://, model://, file:// and plain paths are read"
            )
        name, _, rest = rest.lstrip("/").partition("/")
        if not name or name in (".", "..") or not rest:
            raise AssetError(f"{where}: {uri!r}: expected {scheme}://PACKAGE/PATH")
        looked = []
        for root in self._roots(name):
            looked.append(root)
            if (root / rest).exists():
                return self._inside(root / rest, (root,), uri, where)
        if looked:
            raise AssetError(f"{where}: {uri!r}: there is no such file in {looked[0]}")
        raise AssetError(
            f"{where}: {uri!r}: package {name!r} was not found; give "
            f"packages={{{name!r}: FOLDER}}, or set "
            "ROS_PACKAGE_PATH"
        )

    def _trusted(self) -> tuple[Path, ...]:
        return tuple(path.resolve() for path in self.packages.values())

    def _roots(self, name: str) -> Iterator[Path]:
        """Folders that may be the package of this name, in order."""
        if name in self.packages:
            yield self.packages[name]
            return
        for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
            if entry:
                yield from (
                    root
                    for root in (Path(entry), Path(entry) / name)
                    if root.name == name and root.is_dir()
                )
        for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
            if entry and (root := Path(entry) / "share" / name).is_dir():
                yield root
        # The file's own folder, and those above it up to the parent of its package, where packages
        # stand side by side.
        for above in (self.folder, *self.folder.parents):
            if above.parent == above:
                return
            if above.name == name:
                yield above
            if (above / name).is_dir():
                yield above / name
            if above == self.package.parent:
                return

    def _inside(self, path: Path, roots: tuple[Path, ...], uri: str, where: str) -> Path:
        lexical = Path(os.path.normpath(path))
        real = path.resolve()
        for root in roots:
            if real.is_relative_to(root.resolve()) and (
                lexical.is_relative_to(root) or root == self.package
            ):
                if not real.is_file():
                    raise AssetError(f"{where}: {uri!r}: there is no file {real}")
                return real
        raise AssetError(
            f"{where}: {uri!r}: lies outside {roots[0]}; if that is meant, name its folder in "
            f"packages={{...}}"
        )


def _checked(packages: Packages | None) -> dict[str, Path]:
    if packages is None:
        return {}
    if not isinstance(packages, Mapping):
        raise AssetError(f"packages: expected folders by names of packages, got {packages!r}")
    result = {}
    for name, folder in packages.items():
        path = Path(folder)
        if not path.is_dir():
            raise AssetError(f"packages: {name!r}: there is no folder {path}")
        result[str(name)] = path
    return result
