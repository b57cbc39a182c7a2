"""A scene waits for the parts of the loop and of the solver that it meets, and for no others."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled

SCENES = """
import spatialops as so
from spatialops._compile.stage import part_of
from spatialops.contact.newton.active_rows import factor_blocks, solve_rows, substitute_blocks
from spatialops.contact.newton.blocks.structure import analyse
from spatialops.contact.newton.central import central_impulses, sweep_contacts
from spatialops.contact.newton.islands import solve_island, solve_islands
from spatialops.contact.newton.proximal import follow_ray, proximal_steps
from spatialops.simulation.stepping.contact_stage import put_kept_rows, state_without_drift
from spatialops.simulation.stepping.detection_stage import geom_contacts

PARTS = (
    geom_contacts, solve_islands, central_impulses, proximal_steps, solve_rows,
    solve_island, analyse, factor_blocks, substitute_blocks, sweep_contacts, follow_ray,
    put_kept_rows, state_without_drift,
)

def reached(scene):
    so.Simulator(scene, dt=1e-3).run(duration=1e-3)
    return [part_of(item).label for item in PARTS if part_of(item)._compiled]

def box():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    inertia = so.Inertia.box((0.1, 0.1, 0.1), mass=1.0)
    builder.add_body("box", joint="free", inertia=inertia, position=(0.0, 0.0, 0.05))
    floor = so.Geom("floor", "world", so.HalfSpace())
    return so.Scene(builder.build(), [floor, so.Geom("box", "box", so.Box((0.1, 0.1, 0.1)))])

"""


def reached(scene: str) -> list[str]:
    """Parts that a new process reaches in the first step of a scene."""
    code = f"{SCENES}print('|'.join(reached({scene})))"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    return [name for name in ended.stdout.strip().split("|") if name]


def test_what_has_no_geoms_waits_for_nothing_of_contacts() -> None:
    assert reached("so.Scene(so.models.pendulum(3).model, [])") == []


def test_a_box_on_a_floor_waits_for_nothing_of_piles() -> None:
    solver = ["solve islands", "central impulses", "proximal steps", "solve rows"]
    assert reached("box()") == ["geom contacts", *solver]
