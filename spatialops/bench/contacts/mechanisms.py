"""Mechanisms in contact: lying and moving chains."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.bench.contacts.setting import FRICTION, Control, Setting
from spatialops.collision.fixed_shapes import HalfSpace
from spatialops.collision.shapes import Geom, Sphere
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

LINK, RADIUS = 0.2, 0.05  # m
LINKS = 30  # of the moving chain
ASIDE = 0.1  # m beside its middle line, in turns left and right, so that it does not roll over
_BEND, _WAVE = 0.6, 1.0  # N m, rad/s x 2 pi: what makes the moving chain crawl
_LOSS = 0.02  # N m s, of its joints

FLOOR = Geom("floor", "world", HalfSpace(), friction=FRICTION)


def lying_chain(n: int) -> Setting:
    """A chain of n links, hinged to the world at the height of its balls: all lie on the floor."""
    builder, geoms = TreeBuilder(), [FLOOR]
    inertia = Inertia.sphere(RADIUS, mass=1.0).shifted((LINK, 0.0, 0.0))
    for i in range(n):
        builder.add_body(
            f"link{i}",
            parent=f"link{i - 1}" if i else "world",
            joint=Joint("revolute", axis="y"),
            inertia=inertia,
            position=(LINK, 0.0, 0.0) if i else (0.0, 0.0, RADIUS),
        )
        geoms.append(
            Geom(f"ball{i}", f"link{i}", Sphere(RADIUS), (LINK, 0.0, 0.0), friction=FRICTION)
        )
    return Setting(Scene(builder.build(), geoms))


def moving_chain(contacts: int) -> Setting:
    """A free chain of 30 links that crawls on so many balls, spread evenly; joints upright."""
    scene = chain_on_balls(LINKS, contacts)
    return Setting(scene, crawl(scene.model))


def chain_on_balls(links: int, contacts: int, height: float = 0.0) -> Scene:
    """A free chain on so many balls, left and right in turns, or so high above the floor."""
    builder, geoms = TreeBuilder(), [FLOOR]
    inertia = Inertia.box((LINK, RADIUS, RADIUS), mass=0.5)
    for i in range(links):
        joint = Joint("revolute", axis="z", damping=_LOSS) if i else Joint("free")
        builder.add_body(
            f"link{i}",
            parent=f"link{i - 1}" if i else "world",
            joint=joint,
            inertia=inertia.shifted((0.5 * LINK, 0.0, 0.0)),
            position=(LINK, 0.0, 0.0) if i else (0.0, 0.0, 0.0),
        )
    for k in range(contacts):
        along = (k + 0.5) * links / contacts
        link = int(along)
        place = (LINK * (along - link), -ASIDE if k % 2 else ASIDE, 0.0)
        geoms.append(Geom(f"ball{k}", f"link{link}", Sphere(RADIUS), place, friction=FRICTION))
    model = builder.build()
    q = model.neutral()
    q[2] = RADIUS + height
    return Scene(model, geoms, state=State(q, np.zeros(model.nv)), ignore=_balls_apart(contacts))


def _balls_apart(contacts: int) -> list[tuple[str, str]]:
    return [(f"ball{a}", f"ball{b}") for a in range(contacts) for b in range(a)]


def crawl(model: Model) -> Control:
    """A wave of moments along the chain."""
    phase = 2.0 * np.pi * np.arange(LINKS - 1) / 10.0

    def moments(state: State) -> Array:
        tau = np.zeros(model.nv)
        tau[6:] = _BEND * np.sin(2.0 * np.pi * _WAVE * state.time - phase)
        return tau

    return moments
