"""Broad and narrow phase of a heap of boxes against FCL's manager with its Python callback."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.bench.measure import BenchError, Effort, Row, take_turns
from spatialops.bench.peers import LibraryObject, require
from spatialops.collision import _layout as col
from spatialops.collision._layout import CONTACT_PAIR
from spatialops.collision.shapes import Box, Geom, HalfSpace
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.detection_stage import detect_contacts
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.state import State

BAR = 0.1
BOXES = (50, 200)
EDGE, DEPTH = 0.4, 1e-4  # m


def heap(n: int) -> Scene:
    """Boxes in rows on a floor, pushed into each other and into it by a little."""
    builder, side = TreeBuilder(), int(np.ceil(np.sqrt(n)))
    q, inertia = np.zeros((n, 7)), Inertia.box((EDGE,) * 3, mass=1.0)
    geoms = [Geom(f"box{i}", f"b{i}", Box((EDGE,) * 3)) for i in range(n)]
    for i in range(n):
        builder.add_body(f"b{i}", joint=Joint("free"), inertia=inertia)
        q[i, :3] = (EDGE - DEPTH) * (i % side), (EDGE - DEPTH) * (i // side), 0.5 * EDGE - DEPTH
        q[i, 6] = 1.0
    model = builder.build()
    floor = Geom("floor", "world", HalfSpace())
    return Scene(model, [*geoms, floor], state=State(q.ravel(), np.zeros(model.nv)))


class Ours:
    """What the stepping loop does to see its contacts, with lists made anew at every look."""

    def __init__(self, scene: Scene) -> None:
        simulator = Simulator(scene, certify="off")
        self.tables = simulator.stepping.tables(8 * len(scene.geoms) + scene.most_contacts // 8)
        load_state(self.tables, scene.state, np.zeros(scene.model.nv), 0)

    def __call__(self) -> None:
        """Poses, near pairs from scratch, contacts."""
        self.tables.near[-1, col.NEAR_PAIR] = -1
        detect_contacts(self.tables)

    def pairs(self) -> int:
        """Pairs in contact."""
        self()
        t = self.tables
        return len(np.unique(t.seen_ints[: t.control[at.SEEN], CONTACT_PAIR]))


class Fcl:
    """FCL's dynamic tree with all boxes; a half-space crashes it, so that its floor is a box."""

    def __init__(self, fcl: LibraryObject, scene: Scene) -> None:
        self.fcl = fcl
        q = scene.state.q.reshape(-1, 7)
        self.poses: list[tuple[Array, Array]] = [
            (Rotation.from_quat(row[3:]).as_matrix(), row[:3]) for row in q
        ]
        shape = fcl.Box(EDGE, EDGE, EDGE)
        self.objects = [fcl.CollisionObject(shape, fcl.Transform(*pose)) for pose in self.poses]
        self.floor = fcl.CollisionObject(
            fcl.Box(100.0, 100.0, 1.0), fcl.Transform(np.array([0.0, 0.0, -0.5]))
        )
        self.manager = fcl.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects([*self.objects, self.floor])
        self.manager.setup()

    def __call__(self) -> LibraryObject:
        """Poses, the tree, and contacts of all pairs through `defaultCollisionCallback`."""
        for made, pose in zip(self.objects, self.poses, strict=True):
            made.setTransform(self.fcl.Transform(*pose))
        self.manager.update()
        request = self.fcl.CollisionRequest(num_max_contacts=100000, enable_contact=True)
        data = self.fcl.CollisionData(request=request)
        self.manager.collide(data, self.fcl.defaultCollisionCallback)
        return data.result


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """All rows of this group."""
    fcl = require("fcl")
    for n in BOXES[:1] if quick else BOXES:
        ours, theirs = Ours(heap(n)), Fcl(fcl, heap(n))
        if not ours.pairs() >= n:
            raise BenchError(f"{n} boxes: only {ours.pairs()} pairs touch")
        timing = take_turns({"ours": ours, "fcl": theirs}, effort)
        count = ours.tables.control[at.SEEN]
        note = f"{count} contacts of {ours.pairs()} pairs; FCL {len(theirs().contacts)}"
        times = timing.of("ours"), timing.of("fcl")
        ratio = timing.ratio("ours", "fcl")
        yield Row(
            "collision",
            "see contacts",
            f"{n} boxes on a floor",
            *times,
            "FCL manager",
            ratio,
            BAR,
            0.0,
            note,
        )
