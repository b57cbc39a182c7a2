"""Converters to and from other libraries: `spatialops.interop.pinocchio` and `.mujoco`.

Each is loaded, with its library, when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
