"""Scenes and a controller for runs that are put away and taken up again.

As a program it begins or goes on with such a run: `python -m tests.support.runs FOLDER SECONDS`.
"""

import sys
from dataclasses import fields
from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.collision.shapes import Box, HalfSpace
from spatialops.simulation.runs import run_folder

DT = 2e-3


def boxes(count, *, speed=0.3):
    """Boxes that fall on one another, slide and bounce."""
    builder = so.TreeBuilder()
    pair = {"friction": 0.5, "restitution": 0.3}
    geoms = [so.Geom("floor", "world", HalfSpace(), **pair)]
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    for i in range(count):
        builder.add_body(f"box{i}", joint=so.Joint("free"), inertia=inertia)
        geoms.append(so.Geom(f"box{i}", f"box{i}", Box((0.2, 0.2, 0.2)), **pair))
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    for i in range(count):
        q[7 * i], q[7 * i + 2] = 0.01 * i, 0.1 + 0.205 * i
        v[6 * i], v[6 * i + 3] = speed * i, speed
    return so.Scene(model, geoms, state=so.State(q, v, 3.0))


def driven_crank():
    """A slider crank whose motor turns at a rate that varies."""
    linkage = so.models.slider_crank()
    motor = so.Loop(
        kind="coupler",
        joints={"crank": 1.0},
        rate=lambda t: 3.0 + np.sin(40.0 * t),
        name="motor",
    )
    scene = linkage.scene(loops=[motor])
    _, v = so.close_loops(
        linkage.model, linkage.loops, linkage.state.q, [3.0, 0.0, 0.0], hold=["crank"]
    )
    scene.state = so.State(linkage.state.q, v)
    return scene


def stopped_links():
    """Two links that meet their stops, with dry friction and damping."""
    builder = so.TreeBuilder()
    bob = so.Inertia.sphere(0.1, mass=1.0).shifted((0.0, 0.0, -0.5))
    for name, parent, height in (("upper", "world", 0.0), ("lower", "upper", -0.5)):
        joint = so.Joint(
            "revolute", axis="y", lower=-0.4, upper=0.4, dry_friction=0.05, damping=0.1
        )
        builder.add_body(name, parent=parent, joint=joint, inertia=bob, position=(0.0, 0.0, height))
    model = builder.build()
    return so.Scene(model, state=so.State(np.array([0.3, -0.2]), np.array([2.0, -3.0])))


class Sums:
    """A controller with a memory: how often it was asked, and what has pressed."""

    def __init__(self):
        self.count = 0
        self.pressed = 0.0

    def __call__(self, time, state, contacts):
        self.count += 1
        self.pressed += float(contacts.impulses[:, 0].sum())
        return np.full(len(state.v), 1e-2 * np.sin(self.count) + 1e-4 * np.sin(self.pressed))

    def save(self):
        return {"count": self.count, "pressed": self.pressed}

    def restore(self, kept):
        self.count, self.pressed = int(kept["count"]), float(kept["pressed"])


def differing(one, other):
    """Names of the arrays of two records that differ in any bit."""
    names = [item.name for item in fields(so.Record) if item.name not in ("scene", "metadata")]
    return [
        name
        for name in names
        if not np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
    ]


def begin_or_go_on(folder, duration):
    """Run two boxes to disk, a file every 64 kB; from where it is, if it has begun."""
    run_folder._BYTES = 64e3
    simulator = so.Simulator(boxes(2), dt=DT)
    controller = Sums()  # which makes every step a call
    if any(Path(folder).glob("*.npz")):
        return simulator.resume(folder, duration, controller=controller)
    return simulator.run_to_disk(folder, duration=duration, controller=controller)


if __name__ == "__main__":
    begin_or_go_on(sys.argv[1], float(sys.argv[2]))
