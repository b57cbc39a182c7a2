"""Robot files: URDF and MJCF become one neutral `Description`, and that a `Model`."""

from spatialops.io.build import build, load_model
from spatialops.io.description import Description
from spatialops.io.read import read
from spatialops.io.writing.save_model import save_model

__all__ = ["Description", "build", "load_model", "read", "save_model"]
