"""All cases, with their bars from the project's issue on contacts by the thousand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from spatialops.bench.contacts import falling_shapes, mechanisms, piles, robots
from spatialops.bench.contacts.setting import Case
from spatialops.bench.measure import BenchError
from spatialops.collision.shapes import Box, Cylinder

QUICK = ("lying chain 3", "balls 10", "boxes 10", "tower 5", "wall 20")
# What rests, once more with every step made.
AWAKE = (
    "lying chain 6",
    "lying chain 48",
    "balls 100",
    "boxes 125",
    "tower 20",
    "wall 100",
    "standing quadruped",
    "standing solo12",
    "gripped box",
    "dual-arm wheel",
)
_SECOND = 1000  # steps


def _chains() -> list[Case]:
    lying = [
        Case(f"lying chain {n}", "lying chain", partial(mechanisms.lying_chain, n), 0.35)
        for n in (1, 3, 6, 12, 24, 48)
    ]
    moving = [
        Case(
            f"moving chain {n}",
            "moving chain",
            partial(mechanisms.moving_chain, n),
            0.7,
            steps=_SECOND,
        )
        for n in (6, 12, 24, 48)
    ]
    return [*lying, *moving]


def _separate() -> list[Case]:
    balls = [
        Case(f"balls {n}", "balls", partial(piles.balls, n), 0.5)
        for n in (1, 10, 50, 100, 250, 1000)
    ]
    boxes = [
        Case(f"boxes {n}", "boxes", partial(piles.boxes, n), 0.5)
        for n in (1, 10, 25, 50, 125, 250, 1000)
    ]
    return [*balls, *boxes]


def _stacked() -> list[Case]:
    towers = [Case(f"tower {n}", "tower", partial(piles.tower, n), 0.7) for n in (5, 10, 20, 50)]
    walls = [Case(f"wall {n}", "wall", partial(piles.wall, n), 0.5) for n in piles.COURSES]
    return [*towers, *walls]


def _in_motion() -> list[Case]:
    falls = partial(piles.collapsing_wall, 100)
    boxes = partial(piles.dropped, 200, round_ones=False)
    spheres = partial(piles.dropped, 1000, round_ones=True)
    family, bar = "in motion", 2.5
    return [
        Case("collapsing wall 100", family, falls, bar, steps=_SECOND),
        Case("heap of 200 boxes", family, boxes, bar, dt=2e-3, steps=600),
        Case("heap of 1000 spheres", family, spheres, bar, dt=2e-3, steps=400),
    ]


def _rolling() -> list[Case]:
    one, many = (partial(piles.rolling_balls, n) for n in (1, 100))
    heap = partial(piles.rolling_heap, 140)
    return [
        Case("rolling balls 1", "rolling", one, None, steps=_SECOND),
        Case("rolling balls 100", "rolling", many, None, steps=_SECOND),
        Case("heap of 140 rolling spheres", "rolling", heap, None, dt=2e-3, steps=400),
    ]


def _holding() -> list[Case]:
    return [
        Case("standing quadruped", "holding", robots.standing_quadruped, 0.4, settle=2 * _SECOND),
        Case("standing solo12", "holding", robots.standing_solo12, 0.4, settle=2 * _SECOND),
        Case("gripped box", "holding", robots.gripped_box, 0.5, settle=2 * _SECOND),
        Case("dual-arm wheel", "holding", robots.held_wheel, 0.7, settle=2 * _SECOND),
    ]


def _limp() -> list[Case]:
    return [
        Case(
            f"limp {name}{', self' if own else ''}",
            "limp robots",
            partial(robots.limp, name, self_collision=own),
            1.5 if own else 1.0,
            steps=_SECOND,
        )
        for name in robots.FILES
        for own in (False, True)
    ]


def _of_other_shapes() -> list[Case]:
    strewn, penned = falling_shapes.strewn, falling_shapes.penned
    makers = {
        "40 rods": partial(strewn, Box((0.5, 0.01, 0.01)), 40, 0.035),
        "40 bars": partial(strewn, Box((0.3, 0.05, 0.02)), 40, 0.04),
        "40 sheets": partial(strewn, Box((0.2, 0.2, 0.004)), 40, 0.015),
        "40 coins": partial(strewn, Cylinder(0.05, 0.005), 40, 0.02),
        "60 cylinders": partial(penned, "cylinders", 60),
        "40 hulls": partial(penned, "hulls", 40),
        "100 mixed shapes": partial(penned, "mixed", 100),
    }
    return [
        Case(f"pile of {name}", "other shapes", make, None, steps=800)
        for name, make in makers.items()
    ]


def _overlapping() -> list[Case]:
    return [
        Case(
            f"limp {name}, self",
            "overlapping robots",
            partial(robots.limp, name, self_collision=True),
            None,
            steps=800,
        )
        for name in robots.OVERLAPPING
    ]


def _awake(cases: Sequence[Case]) -> list[Case]:
    return [
        replace(case, name=f"awake: {case.name}", family="kept awake", bar=None, sleep=False)
        for case in cases
        if case.name in AWAKE
    ]


def _cases() -> list[Case]:
    piled = [*_separate(), *_stacked(), *_in_motion(), *_rolling(), *_of_other_shapes()]
    cases = [*_chains(), *piled, *_holding(), *_limp(), *_overlapping()]
    return [*cases, *_awake(cases)]


CASES = {case.name: case for case in _cases()}


def chosen(names: Sequence[str], *, quick: bool = False) -> list[Case]:
    """Cases by their names, families, or patterns such as "wall *"; all where none is given.

    Raises
    ------
    BenchError
        For a name that fits none.
    """
    if not names:
        return [CASES[name] for name in QUICK] if quick else list(CASES.values())
    found: dict[str, Case] = {}
    for name in names:
        fitting = {
            key: case
            for key, case in CASES.items()
            if name in (key, case.family) or fnmatchcase(key, name)
        }
        if not fitting:
            raise BenchError(f"scene: there is no {name!r}; there are {', '.join(CASES)}")
        found |= fitting
    return [case for key, case in CASES.items() if key in found]
