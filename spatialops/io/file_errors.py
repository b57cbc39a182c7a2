"""Errors of what is made of a robot file name it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from spatialops.errors import SpatialOpsError
from spatialops.io.description import Description

Given = ParamSpec("Given")
Made = TypeVar("Made")


def naming_file(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Have errors of a function of a description begin with its file, unless they name it."""

    @functools.wraps(make)
    def named(*args: Given.args, **options: Given.kwargs) -> Made:
        try:
            return make(*args, **options)
        except SpatialOpsError as error:
            given = (*args, *options.values())
            paths = [one.path for one in given if isinstance(one, Description)]
            if paths and paths[0] is not None and str(paths[0]) not in str(error):
                error.args = (f"{paths[0]}: {error}", *error.args[1:])
            raise

    return named
