"""Figures and videos without the extra that draws them: one error, and nothing half written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spatialops.errors import MissingLibraryError
from spatialops.io import build, read
from spatialops.models.pendulum import pendulum
from spatialops.simulation.records.record import Record
from spatialops.simulation.simulator import Simulator
from spatialops.view.figures import new_figure
from spatialops.view.operators import draw_sparsity, tree_of_the_page
from spatialops.view.record import KINDS
from spatialops.view.robot import draw_robot

ROBOT = """<robot name="arm"><link name="base"/><link name="link"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="link"/></joint></robot>"""


def run() -> Record:
    return Simulator(pendulum(2).scene(), dt=0.01).run(duration=0.05)


def robot(path: Path) -> None:
    file = path.with_suffix(".urdf")
    file.write_text(ROBOT)
    description = read(file)
    file.unlink()
    model = build(description)
    draw_robot(description, model, model.neutral(), path)


DRAWN: dict[str, Callable[[Path], object]] = {
    **{kind: lambda path, kind=kind: run().plot(path, kind) for kind in KINDS},
    "robot": robot,
    "operators": lambda path: draw_sparsity(path, tree_of_the_page()),
    "video": lambda path: run().video(path.with_suffix(".gif"), size=(64, 48)),
    "video with words": lambda path: run().video(path.with_suffix(".gif"), size=(256, 192)),
}


@pytest.mark.parametrize("library", ["matplotlib", "PIL"])
@pytest.mark.parametrize("name", DRAWN)
def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[plots\]"):
        DRAWN[name](tmp_path / "figure.png")
    assert list(tmp_path.iterdir()) == []


def test_a_figure_has_its_size_and_a_layout() -> None:
    figure = new_figure(7.2, 3.6)
    assert tuple(figure.get_size_inches()) == (7.2, 3.6)
    assert figure.get_constrained_layout()
