"""Gymnasium environments of any scene: one, or many that step together.

Each name is listed once, in `__init__.pyi`, and loaded when it is first asked for.
"""

from importlib.util import find_spec

import lazy_loader

from spatialops.errors import MissingLibraryError

if find_spec("gymnasium") is None:
    raise MissingLibraryError(
        "spatialops.gym: gymnasium is not installed: pip install spatialops[gym]"
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
