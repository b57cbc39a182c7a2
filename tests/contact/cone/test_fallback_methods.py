"""Friction with far more contacts than a structure needs.

Stacks, walls and spheres in a box, 4 to 500 contacts.

``python -m tests.contact.cone.test_fallback_methods`` prints the table of docs/cone.md.
"""

import time

import numpy as np
import pytest

from spatialops.contact import solve
from tests.support.heaps import (
    box_on_plane,
    box_stack,
    brick_wall,
    natural_residual,
    pile,
    spheres_in_box,
)
from tests.support.structures import arch, card_house, mixed_wall, rubble

FRICTIONS, SPEEDS = (0.2, 0.5, 0.9), (0.0, 1.0)  # of the whole heap, sideways, m/s


def box(size, mu, speed):
    return box_on_plane(size, velocity=(speed, 0.0, -0.0981), mu=mu)


def stack(size, mu, speed):
    return box_stack(size, mu=mu, speed=speed)


def growing_stack(size, mu, speed):
    return box_stack(size, mu=mu, speed=speed, ratio=2.0)


def wall(size, mu, speed):
    return brick_wall(size, size, mu=mu, speed=speed)


def columns(size, mu, speed):
    return spheres_in_box(size, mu=mu, speed=speed)


def layers(size, mu, speed):
    return spheres_in_box(size, mu=mu, speed=speed, hexagonal=True)


def heap(size, mu, speed):
    return pile(np.random.default_rng(size), size, mu=mu, speed=speed)


def voussoirs(size, mu, speed):
    return arch(size, mu=mu, speed=speed)


def unequal_voussoirs(size, mu, speed):
    return arch(size, mu=mu, speed=speed, points=9, ratio=1e3)


def cards(size, mu, speed):
    return card_house(size, mu=mu, speed=speed)


def hulls(size, mu, speed):
    return rubble(size, mu=mu, speed=speed)


def unequal_hulls(size, mu, speed):
    return rubble(size, mu=mu, speed=speed, decades=4.0)


def stones(size, mu, speed):
    return mixed_wall(size, mu=mu, speed=speed)


FAMILIES = {
    box: (4, 8, 24, 48),
    stack: (1, 2, 5, 10, 20),
    growing_stack: (2, 5, 8),
    wall: (2, 4, 6),
    columns: (2, 3, 4, 5),
    layers: (2, 3, 4),
    heap: (5, 20, 60),
    voussoirs: (3, 7, 15, 31),
    unequal_voussoirs: (5, 11, 41),
    cards: (1, 2, 4, 6),
    hulls: (6, 10, 25, 50),
    unequal_hulls: (6, 10),
    stones: (2, 4, 6),
}


def check(family, size, mu, speed):
    """Solved, by the solver's account and by a residual of our own.

    Returns contacts, residual, seconds.
    """
    problem = family(size, mu, speed)
    start = time.perf_counter()
    solution = solve(problem)
    taken = time.perf_counter() - start
    residual = natural_residual(problem, solution.r)
    assert not solution.solved or residual <= 1e-8, "success was claimed falsely"
    return problem.n_contacts, residual, solution.solved, taken


@pytest.mark.compiled
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_small_redundant_problems(family):
    for speed in SPEEDS:
        contacts, residual, solved, _ = check(family, FAMILIES[family][0], 0.5, speed)
        assert contacts >= 4
        assert solved
        assert residual <= 1e-8


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_redundant_problems(family):
    for size in FAMILIES[family]:
        for mu in FRICTIONS:
            for speed in SPEEDS:
                _, residual, solved, _ = check(family, size, mu, speed)
                assert solved, (size, mu, speed, residual)
                assert residual <= 1e-8


def main():
    """The table: a line a family."""
    print(
        "| problems | sizes | contacts | solved | worst residual | median, worst ms |\n"
        + "| --- " * 6
        + "|"
    )
    for family, sizes in FAMILIES.items():
        rows = [
            check(family, size, mu, speed) for size in sizes for mu in FRICTIONS for speed in SPEEDS
        ]
        contacts, residuals, solved, times = map(np.array, zip(*rows))
        print(
            f"| {family.__name__} | {sizes} | {contacts.min()}-{contacts.max()} "
            f"| {solved.sum()} of {len(rows)} | "
            f"{residuals.max():.1e} | {1e3 * np.median(times):.1f}, {1e3 * times.max():.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
