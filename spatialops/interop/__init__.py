"""Converters to and from other libraries: `spatialops.interop.pinocchio` and `.mujoco`.

Each is loaded, with its library, when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["mujoco", "pinocchio"])
