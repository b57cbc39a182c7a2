"""Objects of CPython and NumPy are laid out as doors read them; a failure says what broke."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from spatialops._compile import layouts
from spatialops.tree.branches import Branches
from spatialops.tree.model import Model
from spatialops.tree.node import FewNodes, Nodes

WITHOUT_DOORS = """
import numpy as np
from spatialops._compile import layouts
layouts.FAULTS.append("something")
import spatialops as so
model = so.models.pendulum(3).model
q, out = np.array([0.1, 0.2, 0.3]), np.empty(3)
for _ in range(2):
    a = so.forward_dynamics(model, q, q, q, out=out)
    assert a is out
print(type(so.forward_dynamics).__name__, a.tobytes().hex())
"""


def test_nothing_is_elsewhere() -> None:
    """What this lists has moved: doors are closed until `layouts` says where to."""
    assert layouts.faults() == []


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("CLASS", "class of an object"),
        ("DATA", "numbers of an array"),
        ("NDIM", "dimensions of an array"),
        ("DIMS", "shape of an array"),
        ("STRIDES", "strides of an array"),
        ("DTYPE", "dtype of an array"),
        ("FLAGS", "flags of an array"),
        ("LENGTH", "length of a tuple, length of a list"),
        ("ITEMS", "items of a tuple"),
        ("HASH", "hash of a tuple"),
        ("LIST_ITEMS", "items of a list"),
    ],
)
def test_what_is_elsewhere_is_named(place, named, monkeypatch) -> None:
    monkeypatch.setattr(layouts, place, layouts.NDIM + 4 if place != "NDIM" else layouts.FLAGS)
    if place in ("DIMS", "STRIDES"):  # addresses, which are followed
        monkeypatch.setattr(layouts, place, layouts.DATA)
    if place == "LIST_ITEMS":  # an address too: of the class, which is no row of items
        monkeypatch.setattr(layouts, place, layouts.CLASS)
    assert ", ".join(layouts.faults()) == named


def test_threads_that_run_at_once_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert layouts.faults() == ["one lock for the whole interpreter"]


def test_slots_are_found_and_hold_what_they_say() -> None:
    nodes = FewNodes(np.arange(2), np.zeros((2, 3)))
    for kind in (Nodes, FewNodes):
        for name in ("links", "offsets"):
            found = layouts._word(nodes, layouts.slot_offset(kind, name))
            assert found == id(getattr(nodes, name))
    offsets = {layouts.slot_offset(Model, name) for name in ("tree", "links", "held", "branches")}
    assert len(offsets) == 4
    assert layouts.slot_offset(Branches, "tree") != layouts.slot_offset(Branches, "work")


def test_what_is_no_slot_is_not_found() -> None:
    class Plain:
        pass

    with pytest.raises(LookupError, match=r"Plain\.name is not a slot"):
        layouts.slot_offset(Plain, "name")


@pytest.mark.compiled
def test_answers_are_the_same_without_doors() -> None:
    with_doors = WITHOUT_DOORS.replace('layouts.FAULTS.append("something")', "")
    said = [
        subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True
        ).stdout.split()
        for text in (WITHOUT_DOORS, with_doors)
    ]
    assert [kind for kind, _ in said] == ["function", "builtin_function_or_method"]
    assert said[0][1] == said[1][1]
