"""Gymnasium environments of any scene: one, or many that step together.

Each name is listed once, in `__init__.pyi`, and loaded when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
