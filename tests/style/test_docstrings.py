"""Every public name says what it is, what it takes and what it returns, as numpydoc has it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module

import pytest
from numpydoc.validate import validate

FACES = (
    "spatialops",
    "spatialops.contact",
    "spatialops.collision",
    "spatialops.models",
    "spatialops.control",
    "spatialops.simulation",
)

# What must be right. See https://numpydoc.readthedocs.io/en/latest/validation.html.
CODES = {
    "GL06",  # an unknown section
    "GL08",  # no docstring
    "SS01",  # no summary
    "SS04",  # a summary with blanks before it
    "PR01",  # a parameter that is not documented
    "PR02",  # one that does not exist
    "PR03",  # parameters in the wrong order
    "PR04",  # one without a type
    "PR06",  # a type by another name
    "PR07",  # one without a description
    "PR10",  # no blank before the colon
    "RT01",  # no section of what is returned
    "RT03",  # what is returned has no description
    "YD01",  # no section of what is yielded
}

# What numpydoc asks of `*args, **kwargs` of protocols and of the members of enumerations.
NOT_OF_A_CONSTRUCTOR = {"PR01"}


def public_names() -> Iterator[str]:
    """Names of classes and functions that faces export, each once, and of public methods."""
    seen: set[int] = set()
    for face in FACES:
        module = import_module(face)
        for name in sorted(module.__all__):
            item = getattr(module, name)
            if id(item) in seen or not callable(item):
                continue
            seen.add(id(item))
            yield f"{face}.{name}"
            if inspect.isclass(item):
                yield from (f"{face}.{name}.{member}" for member in public_members(item))


def public_members(kind: type) -> list[str]:
    """Methods and properties that a class defines itself and that users call."""
    documented = (property, cached_property, classmethod, staticmethod)
    return [
        name
        for name, item in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(item) or isinstance(item, documented))
    ]


@pytest.mark.parametrize("name", list(public_names()))
def test_a_public_name_is_documented(name):
    found = validate(name)
    codes = CODES - NOT_OF_A_CONSTRUCTOR if without_constructor(name) else CODES
    wrong = [f"{code}: {text}" for code, text in found["errors"] if code in codes]
    assert not wrong, f"{found['file']}:{found['file_line']}"


def without_constructor(name: str) -> bool:
    """Whether it is a protocol or an enumeration, whose `__init__` is Python's own."""
    face, _, item = name.rpartition(".")
    kind = getattr(import_module(face), item) if face in FACES else None
    return inspect.isclass(kind) and (
        getattr(kind, "_is_protocol", False) or issubclass(kind, Enum)
    )


def test_the_validator_finds_what_is_missing():
    assert {"GL08"} == {code for code, _ in validate(f"{__name__}.public_nothing")["errors"]}


def public_nothing(x: float) -> float:
    return x
