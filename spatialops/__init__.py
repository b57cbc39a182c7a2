"""Rigid-body dynamics with exact contact, written around Jain's spatial operators.

Each public name is listed once, in `__init__.pyi`, and loaded when it is first asked for.
"""

from __future__ import annotations

import os

import lazy_loader

from spatialops.errors import InstallationError

__version__ = "0.1.0"


def _check_links(folder: str) -> None:
    """Refuse a folder in which git wrote links as text files, as it does on Windows by default."""
    for name in ("collision", "contact", "models"):
        if os.path.isfile(os.path.join(folder, name)):
            raise InstallationError(
                f"{os.path.join(folder, name)} is a text file where a link to the folder ../{name} "
                "belongs: run `git config core.symlinks true` and `git checkout -- spatialops` "
                "(on Windows in developer mode), or install a wheel"
            )


_check_links(os.path.dirname(__file__))

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
