"""Free bodies on a floor: apart, stacked, in walls, dropped on a heap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array
from spatialops.bench.contacts.setting import FRICTION, Setting
from spatialops.collision.fixed_shapes import HalfSpace
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shapes import Box, Geom, Shape, Sphere
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.state import State

EDGE = 0.2  # m, of boxes apart and in towers; also the diameter of balls
BRICK = (0.2, 0.1, 0.1)  # m
JOINT = 1e-3  # m between the bricks of a course: more than any margin, so that they do not touch
COURSES = {20: 5, 50: 5, 100: 10, 200: 10, 500: 20, 1000: 20}  # rows of walls
TORSION, ROLLING = 5e-3, 1e-3  # m
_ROLLS = 0.1  # m/s
_OVERHANG = 0.62  # of a brick: the ends of every other course of a collapsing wall tip over
_DENSITY = 500.0  # kg/m^3


def bodies_scene(
    shapes: Sequence[Shape], positions: Array, turns: Array | None = None, walls: float = 0.0
) -> Scene:
    """Free bodies on a floor, at rest; within four walls so far from the middle, if asked for."""
    builder, geoms = TreeBuilder(), []
    q = np.zeros((len(shapes), 7))
    q[:, :3], q[:, 6] = positions, 1.0
    if turns is not None:
        q[:, 3:] = turns
    for i, shape in enumerate(shapes):
        builder.add_body(f"b{i}", joint=Joint("free"), inertia=shape_inertia(shape, _DENSITY))
        geoms.append(Geom(f"g{i}", f"b{i}", shape, friction=FRICTION))
    model = builder.build()
    ground = [Geom("floor", "world", HalfSpace(), friction=FRICTION)]
    if walls:
        for name, x, y in (("east", 1, 0), ("west", -1, 0), ("north", 0, 1), ("south", 0, -1)):
            side = HalfSpace((-x, -y, 0.0))
            place = (walls * x, walls * y, 0.0)
            ground.append(Geom(name, "world", side, position=place, friction=FRICTION))
    return Scene(model, [*geoms, *ground], state=State(q.ravel(), np.zeros(model.nv)))


def apart(n: int, shape: Shape) -> Setting:
    """Bodies in rows on the floor, none near another."""
    side = int(np.ceil(np.sqrt(n)))
    row, column = np.divmod(np.arange(n), side)
    places = np.column_stack([1.7 * EDGE * column, 1.7 * EDGE * row, np.full(n, 0.5 * EDGE)])
    return Setting(bodies_scene([shape] * n, places))


def balls(n: int) -> Setting:
    """Balls apart: a contact each."""
    return apart(n, Sphere(0.5 * EDGE))


def rolling_balls(n: int) -> Setting:
    """Balls apart that roll at 0.1 m/s, with torsional and rolling friction."""
    return rolling(balls(n))


def rolling_heap(n: int) -> Setting:
    """Spheres dropped on a heap, with torsional and rolling friction."""
    return rolling(dropped(n, round_ones=True))


def rolling(setting: Setting) -> Setting:
    """The same bodies, which roll off at 0.1 m/s, with torsional and rolling friction."""
    scene = setting.scene
    geoms = [replace(geom, torsion=TORSION, rolling=ROLLING, condim=6) for geom in scene.geoms]
    v = scene.state.v.copy().reshape(-1, 6)
    v[:, 3] = _ROLLS
    v[:, 1] = _ROLLS / (0.5 * EDGE)
    state = replace(scene.state, v=v.ravel())
    return replace(setting, scene=Scene(scene.model, geoms, state=state))


def boxes(n: int) -> Setting:
    """Boxes apart: four contacts each."""
    return apart(n, Box((EDGE,) * 3))


def tower(n: int) -> Setting:
    """Boxes on each other: four contacts each."""
    places = np.column_stack([np.zeros((n, 2)), EDGE * (np.arange(n) + 0.5)])
    return Setting(bodies_scene([Box((EDGE,) * 3)] * n, places))


def wall(n: int, courses: int = 0) -> Setting:
    """A wall in running bond, every other course with half a brick at both ends: it stands.

    Of so many courses (0: of as many as COURSES says), the last of which may be shorter.
    """
    long, wide, high = BRICK
    courses = courses or COURSES[n]
    width = -(-(n - courses // 2) // courses)  # bricks of a course without halves
    shapes: list[Shape] = []
    places: list[tuple[float, float, float]] = []
    for course in range(courses):
        edges = long * np.arange(width + 1)
        if course % 2:
            edges = np.concatenate([[0.0], edges[:-1] + 0.5 * long, edges[-1:]])
        for left, right in pairwise(edges.tolist()):
            shapes.append(Box((right - left - JOINT, wide, high)))
            places.append((0.5 * (left + right), 0.0, high * (course + 0.5)))
    return Setting(bodies_scene(shapes[:n], np.array(places[:n])))


def collapsing_wall(n: int) -> Setting:
    """A wall without half bricks: every other course is shifted, and its last brick tips over."""
    courses = COURSES[n]
    long, wide, high = BRICK
    count = n // courses
    column, course = np.divmod(np.arange(n), courses)
    places = np.column_stack(
        [long * (column + _OVERHANG * (course % 2)), np.zeros(n), high * (course + 0.5)]
    )
    assert n == count * courses
    return Setting(bodies_scene([Box((long - JOINT, wide, high))] * n, places))


def dropped(n: int, *, round_ones: bool) -> Setting:
    """Spheres, or boxes of any attitude, in layers above the floor of a pen."""
    rng = np.random.default_rng(n)
    side = 10 if round_ones else 5
    pitch = 0.125 if round_ones else 0.3
    index = np.arange(n)
    grid = np.column_stack([index % side, index // side % side, index // side**2]).astype(float)
    places = pitch * (grid + np.array([0.5, 0.5, 0.5]) - np.array([0.5 * side, 0.5 * side, 0.0]))
    places += rng.uniform(-0.01, 0.01, (n, 3))
    half = 0.5 * pitch * side + 0.05
    if round_ones:
        return Setting(bodies_scene([Sphere(0.05)] * n, places, walls=half))
    shapes: list[Shape] = [Box(rng.uniform(0.1, 0.17, 3)) for _ in range(n)]
    turns = Rotation.random(n, random_state=rng).as_quat()
    return Setting(bodies_scene(shapes, places, turns, walls=half))
