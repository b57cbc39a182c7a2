"""A wheel is of one platform where machine code lies beside the sources; else of all."""

from pathlib import Path

from setuptools import Distribution, setup

SHIPPED = Path(__file__).parent / "spatialops" / "_compile" / "shipped"


class PerhapsCompiled(Distribution):
    """The project with what `python -m tools.machine_code` has made, if it has."""

    def has_ext_modules(self) -> bool:
        """Whether the wheel is for one platform and Python only."""
        return SHIPPED.exists()


setup(distclass=PerhapsCompiled)
