"""Formulations in compiled loops: the same problems and motions as from Python."""

import numpy as np
import pytest

import spatialops as so
from spatialops.compare.formulation_loop import IN_LOOPS, FormulationLoop
from spatialops.errors import ArgumentError

DT = 1e-3


def falling(links, *, restitution, height=0.9):
    """A pendulum over a floor that its last links meet within a few steps."""
    made = so.models.pendulum(links)
    geoms = [
        so.Geom(
            name,
            name,
            so.Sphere(made.radius),
            position=(0.0, 0.0, -made.radius),
            friction=0.5,
            restitution=restitution,
        )
        for name in made.model.body_names
    ]
    floor = so.HalfSpace((0.0, 0.0, 1.0))
    up = {"position": (0.0, 0.0, height), "friction": 0.5, "restitution": restitution}
    geoms.append(so.Geom("floor", "world", floor, **up))
    return so.Scene(made.model, geoms, state=made.state)


def touching(scene):
    """The state a little before the first contact, and steps with impacts and lasting contacts."""
    record = so.Simulator(scene, dt=DT).run(duration=0.1)
    row = int(np.flatnonzero(record.contact_counts + record.impact_counts)[0]) - 2
    return so.State(record.q[row], record.v[row])


@pytest.mark.parametrize("restitution", [0.0, 0.7])
@pytest.mark.parametrize("name", IN_LOOPS)
def test_the_motion_is_that_from_python(name, restitution):
    """Impacts with and without restitution, and the contacts after them."""
    scene = falling(3, restitution=restitution)
    state = touching(scene)
    loop = FormulationLoop(scene, name, DT)
    end = loop.run(state, 40)
    record = so.Simulator(scene, dt=DT, formulation=name, solver="lemke").run(
        state, duration=40 * DT
    )
    assert loop.problems >= (1 if restitution else 3)
    assert loop.unsolved == 0
    assert (record.contact_counts + record.impact_counts).any()
    assert np.abs(end.q - record.q[-1]).max() < 1e-12
    assert np.abs(end.v - record.v[-1]).max() < 1e-10


def two_balls():
    """A free body and another on a ball joint, on a floor over which they slide."""
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("a", joint="free", inertia=ball)
    builder.add_body("b", parent="a", joint="ball", inertia=ball, position=(0.25, 0.0, 0.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.5)]
    geoms += [so.Geom(n, n, so.Sphere(0.1), friction=0.5) for n in ("a", "b")]
    scene = so.Scene(builder.build(), geoms)
    scene.state.q[2] = 0.1
    scene.state.v[3:5] = 1.0, 0.5
    return scene


@pytest.mark.parametrize("name", IN_LOOPS)
def test_joints_of_several_degrees_of_freedom(name):
    """Hinges of no rows and of three."""
    scene = two_balls()
    loop = FormulationLoop(scene, name, DT)
    end = loop.run(scene.state, 20)
    expected = so.Simulator(scene, dt=DT).run(duration=20 * DT).q[-1]
    assert loop.problems >= 20
    assert np.abs(end.q - expected).max() < 1e-8


def test_more_contacts_than_there_was_room_for():
    scene = two_balls()
    whole = FormulationLoop(scene, "nmc/os", DT)
    cramped = FormulationLoop(scene, "nmc/os", DT)
    cramped.tables = cramped.stepping.tables(1)
    cramped._make_room()
    ends = [loop.run(scene.state, 20).q for loop in (whole, cramped)]
    assert len(cramped.tables.ints) == 2
    assert np.array_equal(*ends)


def test_what_it_refuses():
    scene = so.models.pendulum(2).scene()
    with pytest.raises(ArgumentError, match="formulation: expected one of os, rmc"):
        FormulationLoop(scene, "trinkle", DT)
    builder = so.TreeBuilder()
    joint = so.Joint("revolute", axis="y", armature=0.1)
    builder.add_body("a", joint=joint, inertia=so.Inertia.sphere(0.1, mass=1.0))
    with pytest.raises(ArgumentError, match="scene: a formulation's loop takes no closures"):
        FormulationLoop(so.Scene(builder.build()), "os", DT)
