"""The names of `spatialops.control`: listed once, loaded late; controllers end in Controller."""

import inspect
import subprocess
import sys

import pytest

import spatialops.control as control


def test_every_name_is_there_once():
    assert len(set(control.__all__)) == len(control.__all__) > 50
    assert dir(control) == sorted(control.__all__)
    for name in control.__all__:
        assert getattr(control, name).__name__ == name


def test_nothing_is_loaded_before_it_is_asked_for():
    code = (
        "import sys, spatialops.control as c; "
        "late = 'spatialops.control.locomotion.trot'; "
        "assert late not in sys.modules; c.Trot; assert late in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="NoSuchController"):
        control.NoSuchController


def _is_controller(kind):
    if not inspect.isclass(kind):
        return False
    calls = [vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)]
    if not calls:
        return False
    return list(inspect.signature(calls[0]).parameters)[:4] == ["self", "time", "state", "contacts"]


def test_what_a_simulator_takes_ends_in_controller():
    """And nothing else does: planners and feedback laws have no suffix."""
    for name in control.__all__:
        kind = getattr(control, name)
        assert _is_controller(kind) == name.endswith("Controller"), name
        assert not _is_controller(kind) or callable(kind.explain)
