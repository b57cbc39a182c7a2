"""What a MJCF file refers to, kept inside the package before MuJoCo sees it."""

from __future__ import annotations

import os
from pathlib import Path

from spatialops.errors import AssetError
from spatialops.io.packages import Resolver
from spatialops.io.safe_xml import Element, parse, read_bytes

_MAX_INCLUDES = 200


def check_files(root: Element, path: Path, resolver: Resolver) -> list[Element]:
    """Refuse a file that includes others without end, dangerous XML, or what lies outside.

    Returns the documents: the file's own, and all that it includes.

    Raises
    ------
    AssetError
    """
    main = path.resolve().parent
    pending, seen = [(root, main)], 0
    documents = list[Element]()
    folders = {main}
    while pending:
        document, folder = pending.pop()
        documents.append(document)
        seen += 1
        if seen > _MAX_INCLUDES:
            raise AssetError(f"{path}: includes more than {_MAX_INCLUDES} files, or itself")
        elements = _all(document)
        _refuse_nan(elements)
        for element in elements:
            if element.tag == "compiler":
                for key in ("meshdir", "texturedir", "assetdir"):
                    if element.get(key):
                        _check_inside(element, element.get(key), {main, folder}, resolver)
                        folders |= {base / element.get(key) for base in (main, folder)}
        for element in elements:
            for key, name in element.attributes.items():
                if not key.startswith("file") or not name.strip():
                    continue
                _check_inside(element, name, folders | {folder}, resolver)
                if element.tag == "include":
                    below = next(
                        (base / name for base in (main, folder) if (base / name).is_file()), None
                    )
                    if below is not None:  # MuJoCo says best what is missing
                        pending.append((parse(read_bytes(below), below), below.parent))
    return documents


def _all(root: Element) -> list[Element]:
    found, stack = [], [root]
    while stack:
        element = stack.pop()
        found.append(element)
        stack += element.children
    return found


def _refuse_nan(elements: list[Element]) -> None:
    """MuJoCo takes what is no number for what is not given: a limit would be none."""
    if any(_is_nan(element.get("name")) for element in elements):
        return
    for element in elements:
        for key, value in element.attributes.items():
            if any(map(_is_nan, value.split())):
                raise element.error(f"<{element.tag} {key}={value[:60]!r}>: nan is no number")


def _is_nan(word: str) -> bool:
    return word.lower() in ("nan", "+nan", "-nan")


def _check_inside(element: Element, name: str, folders: set[Path], resolver: Resolver) -> None:
    """Refuse a name that leads out of the package, unless nothing is there."""
    if "\0" in name:
        raise element.error(f"<{element.tag}>: {name!r} is not the name of a file")
    allowed = (resolver.package, *(folder.resolve() for folder in resolver.packages.values()))
    for folder in folders:
        try:
            real = (folder / name).resolve()
            lexical = Path(os.path.normpath(folder / name))
            inside = any(
                real.is_relative_to(root) and lexical.is_relative_to(root) for root in allowed
            )
            if not inside and (real.exists() or len(folders) == 1):
                raise element.error(
                    f"<{element.tag}>: {name!r} lies outside {resolver.package}; if that is "
                    "meant, name its folder in "
                    "packages={...}"
                )
        except (OSError, RuntimeError, ValueError) as error:
            if isinstance(error, AssetError):
                raise
            raise element.error(
                f"<{element.tag}>: {name[:60]!r} cannot be looked up: {error}"
            ) from error
