"""The public names that pages and examples call most have an example; `make doctest` runs it."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from tests.style.test_docstrings import FACES, public_names

ROOT = Path(__file__).resolve().parents[2]
MOST_USED = 50
# Methods of NumPy and Matplotlib have names of ours: np.stack, plt.show.
CALL = re.compile(r"(?<!\bnp)(?<!\bplt)(\.?\b\w+)\(")


def public_callables() -> dict[str, Callable[..., object]]:
    """Functions, classes and methods that faces export, each once."""
    found = {}
    for name in public_names():
        face = max((f for f in FACES if name.startswith(f"{f}.")), key=len)
        kind, _, member = name.removeprefix(f"{face}.").partition(".")
        item = getattr(import_module(face), kind)
        if member:
            item = inspect.getattr_static(item, member)
            item = getattr(item, "__func__", item)
        if callable(item):
            found[name] = item
    return found


def most_used(names: list[str], pages: str, count: int) -> list[str]:
    """Names by their calls; those of a method are shared by the classes that have it."""
    calls = Counter(CALL.findall(pages))
    methods = {name: name.split(".")[-1] for name in names if is_method(name)}
    owners = Counter(methods.values())

    def uses(name: str) -> float:
        if name in methods:
            return calls[f".{methods[name]}"] / owners[methods[name]]
        last = name.split(".")[-1]
        return calls[last] + calls[f".{last}"]

    return sorted(names, key=lambda name: (-uses(name), name))[:count]


def is_method(name: str) -> bool:
    return name.rpartition(".")[0] not in FACES


def test_the_names_used_most_have_an_example():
    sources = ("README.md", "docs/**/*.md", "examples/**/*.py")
    pages = "\n".join(path.read_text() for glob in sources for path in sorted(ROOT.glob(glob)))
    public = public_callables()
    used = most_used(list(public), pages, MOST_USED)
    without = [name for name in used if ">>> " not in (public[name].__doc__ or "")]
    assert not without, f"without an example: {', '.join(without)}"


@pytest.mark.parametrize(
    ("pages", "first"),
    [
        ("so.Scene(x); so.Scene(y); r.plot(); np.stack(z)", "spatialops.Scene"),
        ("so.Scene(x); r.plot(); r.plot()", "spatialops.Record.plot"),
        ("np.stack(x); np.stack(y); so.Scene(z)", "spatialops.Scene"),
    ],
)
def test_calls_are_counted(pages, first):
    names = ["spatialops.Scene", "spatialops.Record.plot", "spatialops.Model.stack"]
    assert most_used(names, pages, 1) == [first]
