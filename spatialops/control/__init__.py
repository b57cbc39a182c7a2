"""Controllers and planners. Each class is loaded when it is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller, Explanation

if TYPE_CHECKING:
    pass

# name: module that defines it
_LAZY: dict[str, str] = {}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'spatialops.control' has no attribute {name!r}")


__all__ = ["Actuation", "Controller", "Explanation"]
