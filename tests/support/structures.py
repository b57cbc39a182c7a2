"""Arches, cards, rubble and mixed walls with redundant contacts, as cone problems."""

from __future__ import annotations

import numpy as np

from tests.support.heaps import GROUND, falling, problem_of


def face(center, normal, across, half, n=4):
    """`n` points of a rectangular face: its corners, and more evenly between where n > 4."""
    normal, across = np.asarray(normal, float), np.asarray(across, float)
    other = np.cross(normal, across)
    ring = [(-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)][:n]
    return [np.asarray(center) + half[0] * x * across + half[1] * y * other for x, y in ring]


def arch(blocks, *, mu=0.7, speed=0.0, points=4, ratio=1.0):
    """A half circle of voussoirs on two abutments, four contacts or more a joint.

    The heaviest is `ratio` times the lightest.
    """
    rng = np.random.default_rng(blocks)
    ends = np.pi * np.arange(blocks + 1) / blocks
    middles = 0.5 * (ends[:-1] + ends[1:])
    centers = 5.0 * np.column_stack([-np.cos(middles), np.zeros(blocks), np.sin(middles)])
    contacts = []
    for k, angle in enumerate(ends):
        place = 5.0 * np.array([-np.cos(angle), 0.0, np.sin(angle)])
        along = np.array([np.sin(angle), 0.0, np.cos(angle)])  # towards the next block
        a, b = (k, k - 1) if k < blocks else (k - 1, GROUND)
        normal = along if k < blocks else -along
        b = GROUND if k == 0 else b
        contacts += [
            (a, b, p, normal) for p in face(place, normal, [0.0, 1.0, 0.0], (0.5, 0.4), points)
        ]
    masses = ratio ** rng.random(blocks)
    return problem_of(
        contacts, centers, masses, np.full(blocks, 0.6), falling(blocks, speed=speed), mu
    )


def card_house(stories, *, mu=0.6, speed=0.0):
    """Pairs of cards that lean on each other, a flat one on every two; edges are two points."""
    contacts = []
    centers = []
    masses = []
    lean, rise = 0.35, 1.0

    def edge(a, b, x, z, normal):
        contacts.extend((a, b, [x, y, z], normal) for y in (-0.4, 0.4))

    roofs = {}
    for story in range(stories):
        count, z = stories - story, story * rise
        for k in range(count):
            x = 2.0 * lean * (2 * k + story)
            left, right = len(centers), len(centers) + 1
            centers += [
                [x - lean / 2.0, 0.0, z + rise / 2.0],
                [x + lean / 2.0, 0.0, z + rise / 2.0],
            ]
            masses += [1.0, 1.0]
            for card, foot in ((left, x - lean), (right, x + lean)):
                below = GROUND
                if story:
                    near = [roof for (s, _), roof in roofs.items() if s == story - 1]
                    below = min(near, key=lambda roof: abs(centers[roof][0] - foot))
                edge(card, below, foot, z, [0.0, 0.0, 1.0])
            edge(left, right, x, z + rise, [-1.0, 0.0, 0.0])
        for k in range(count - 1):
            x = 2.0 * lean * (2 * k + 1 + story)
            roofs[story, k] = roof = len(centers)
            centers.append([x, 0.0, z + rise])
            masses.append(1.0)
            first = sum(2 * (stories - s) + max(stories - s - 1, 0) for s in range(story)) + 2 * k
            edge(roof, first, x - 2.0 * lean, z + rise, [0.0, 0.0, 1.0])
            edge(roof, first + 2, x + 2.0 * lean, z + rise, [0.0, 0.0, 1.0])
    size = len(centers)
    return problem_of(contacts, centers, masses, np.full(size, 0.4), falling(size, speed=speed), mu)


def rubble(size, *, mu=0.7, speed=0.0, decades=0.0):
    """A heap of hulls, half of them moving, that meet in faces of three to five points.

    Masses span `decades`.
    """
    rng = np.random.default_rng(size)
    side = max(1.5, (size / 1.5) ** (1.0 / 3.0))
    centers = rng.uniform([0.0, 0.0, 0.3], [side, side, 0.4 + side], (size, 3))
    contacts = []
    for a in range(size):
        near = (
            [(GROUND, np.array([*centers[a, :2], 0.0]), np.array([0.0, 0.0, 1.0]))]
            if centers[a, 2] < 0.8
            else []
        )
        for b in range(a):
            gap = centers[a] - centers[b]
            if 0.1 < np.linalg.norm(gap) < 1.0:
                near.append((b, 0.5 * (centers[a] + centers[b]), gap / np.linalg.norm(gap)))
        for b, place, normal in near:
            across = np.cross(normal, rng.normal(size=3))
            across /= np.linalg.norm(across)
            points = face(place, normal, across, rng.uniform(0.05, 0.3, 2), 5)
            contacts += [
                (a, b, points[i], normal) for i in rng.permutation(5)[: rng.integers(3, 6)]
            ]
    masses = 10.0 ** rng.uniform(-decades / 2.0, decades / 2.0, size)
    velocity = falling(size, speed=speed)
    velocity += speed * rng.normal(size=(size, 6)) * (rng.random(size) < 0.5)[:, None]
    return problem_of(contacts, centers, masses, np.full(size, 0.5), velocity, mu)


def mixed_wall(size, *, mu=0.7, speed=0.0, decades=4.0):
    """`brick_wall` of stones whose masses span decades, and whose joints differ in friction."""
    rng = np.random.default_rng(size)
    contacts, centers = wall_contacts(size)
    count = size * size
    masses = 10.0 ** rng.uniform(-decades / 2.0, decades / 2.0, count)
    mixed = mu * rng.uniform(0.5, 1.5, len(contacts))
    return problem_of(
        contacts, centers, masses, np.full(count, 0.8), falling(count, speed=speed), mixed
    )


def wall_contacts(size):
    """Contacts and centres of `brick_wall`."""
    centers = np.array(
        [[2.0 * p + (row % 2), 0.0, row + 0.5] for row in range(size) for p in range(size)]
    )
    contacts = []
    for k, (left, _, height) in enumerate(centers):
        for start in (left - 1.0, left):
            below = GROUND
            if height > 1.0:
                found = np.flatnonzero(
                    (centers[:, 2] == height - 1.0) & (np.abs(centers[:, 0] - start - 0.5) == 0.5)
                )
                if not found.size:
                    continue
                below = int(found[0])
            for x in (start, start + 1.0):
                contacts += [(k, below, [x, y, height - 0.5], [0.0, 0.0, 1.0]) for y in (-0.5, 0.5)]
    return contacts, centers
