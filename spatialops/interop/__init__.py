"""Bridges to other libraries: converters in `spatialops.interop.pinocchio` and `.mujoco`.

Rollouts with gradients are in `.torch` and `.jax`.

Each is loaded, with its library, when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
