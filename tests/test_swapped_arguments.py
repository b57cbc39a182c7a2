"""Public functions say what they were given in the place of a model or a scene."""

import inspect

import numpy as np
import pytest

import spatialops as so

MODEL = so.models.pendulum(2).model


def functions():
    for name in so.__all__:
        function = getattr(so, name)
        if inspect.isroutine(function):
            first = next(iter(inspect.signature(function).parameters), None)
            if first in ("model", "scene"):
                yield name


@pytest.mark.parametrize("name", functions())
def test_swapped_arguments_are_named(name):
    function = getattr(so, name)
    parameters = list(inspect.signature(function).parameters.values())
    plain = [p for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    needed = {p.name: None for p in parameters if p.kind == p.KEYWORD_ONLY and p.default is p.empty}
    values = [np.zeros(2), MODEL, *[np.zeros(2)] * len(plain)][: len(plain)]
    with pytest.raises(so.errors.ArgumentError, match=f"^{plain[0].name}: expected a "):
        function(*values, **needed)
