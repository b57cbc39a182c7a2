"""Inertias: shapes against integrals, moving and turning, sums, parameters, and what is refused."""

from typing import Any

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import random_inertia, random_rotation

INERTIA: Any = so.Inertia


def sampled(inside, size, n=60):
    """Mass, centre and tensor of a body of density 1, from small cells of a box of `size`."""
    edges = [np.linspace(-0.5, 0.5, n, endpoint=False) + 0.5 / n for _ in range(3)]
    points = np.stack(np.meshgrid(*edges, indexing="ij"), axis=-1).reshape(-1, 3) * size
    points, cell = points[inside(points)], np.prod(size) / n**3
    center = points.mean(axis=0)
    d = points - center
    tensor = (d * d).sum() * np.eye(3) - d.T @ d
    return cell * len(points), center, cell * tensor


def cylinder_part(p, r, h):
    return (np.hypot(p[:, 0], p[:, 1]) < r) & (np.abs(p[:, 2]) < h / 2)


@pytest.mark.parametrize(
    ("inertia", "inside", "size"),
    [
        (so.Inertia.sphere(0.5, density=1.0), lambda p: np.linalg.norm(p, axis=1) < 0.5, (1, 1, 1)),
        (
            so.Inertia.box((0.3, 0.6, 0.9), density=1.0),
            lambda p: np.full(len(p), True),
            (0.3, 0.6, 0.9),
        ),
        (
            so.Inertia.ellipsoid((0.2, 0.3, 0.5), density=1.0),
            lambda p: np.linalg.norm(p / (0.2, 0.3, 0.5), axis=1) < 1.0,
            (0.4, 0.6, 1.0),
        ),
        (
            so.Inertia.cylinder(0.3, 0.8, density=1.0),
            lambda p: cylinder_part(p, 0.3, 0.8),
            (0.6, 0.6, 0.8),
        ),
        (
            so.Inertia.capsule(0.3, 0.8, density=1.0),
            lambda p: np.linalg.norm(p - np.clip(p, (0, 0, -0.4), (0, 0, 0.4)), axis=1) < 0.3,
            (0.6, 0.6, 1.4),
        ),
        (
            so.Inertia.cone(0.3, 0.8, density=1.0),
            lambda p: np.hypot(p[:, 0], p[:, 1]) < 0.3 * (0.4 - p[:, 2]) / 0.8,
            (0.6, 0.6, 0.8),
        ),
    ],
    ids=["sphere", "box", "ellipsoid", "cylinder", "capsule", "cone"],
)
def test_shapes_against_sums_over_cells(inertia, inside, size):
    mass, center, tensor = sampled(inside, np.array(size))
    assert inertia.mass == pytest.approx(mass, rel=0.01)
    assert np.allclose(inertia.center, center, atol=2e-3)
    assert np.allclose(inertia.tensor, tensor, atol=0.01 * np.abs(tensor).max())


def test_mass_and_density_agree():
    by_mass = so.Inertia.box((1.0, 2.0, 3.0), mass=12.0)
    assert np.allclose(by_mass.tensor, so.Inertia.box((1.0, 2.0, 3.0), density=2.0).tensor)


def test_parameters_round_trip(rng):
    inertia = random_inertia(rng)
    again = so.Inertia.from_parameters(inertia.parameters)
    assert again.mass == pytest.approx(inertia.mass)
    assert np.allclose(again.center, inertia.center)
    assert np.allclose(again.tensor, inertia.tensor)


def test_parameters_of_point_masses_round_trip(rng):
    for _ in range(50):  # what is left of the tensor is rounding, and may have either sign
        point = so.Inertia(rng.uniform(0.1, 9.0), rng.normal(size=3))
        assert np.abs(so.Inertia.from_parameters(point.parameters).tensor).max() < 1e-13


def test_parameters_add_up(rng):
    a, b = random_inertia(rng), random_inertia(rng)
    assert np.allclose((a + b).parameters, a.parameters + b.parameters)
    assert np.allclose((a + b).spatial, a.spatial + b.spatial)


def test_spatial_is_the_quadratic_form_of_kinetic_energy(rng):
    inertia = random_inertia(rng)
    w = rng.normal(size=3)
    v = rng.normal(size=3)
    at_center = v + np.cross(w, inertia.center)
    twice = inertia.mass * at_center @ at_center + w @ inertia.tensor @ w
    motion = np.concatenate([w, v])
    assert motion @ inertia.spatial @ motion == pytest.approx(twice)


def test_moving_and_turning(rng):
    inertia = random_inertia(rng)
    turn = random_rotation(rng)
    offset = rng.normal(size=3)
    moved = inertia.rotated(turn).shifted(offset)
    assert np.allclose(moved.center, turn @ inertia.center + offset)
    assert np.allclose(np.linalg.eigvalsh(moved.tensor), np.linalg.eigvalsh(inertia.tensor))
    assert np.allclose(moved.about(offset), turn @ inertia.about(np.zeros(3)) @ turn.T)


def test_scaled():
    inertia = so.Inertia.sphere(1.0, mass=1.0).shifted((1.0, 0.0, 0.0)).scaled(3.0)
    assert inertia.mass == 3.0
    assert np.allclose(inertia.tensor, 1.2 * np.eye(3))
    assert np.allclose(inertia.center, (1.0, 0.0, 0.0))


def test_arrays_are_frozen():
    inertia = so.Inertia.sphere(1.0, mass=1.0)
    with pytest.raises(ValueError, match="read-only"):
        inertia.tensor[0, 0] = 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: so.Inertia(0.0), "mass must be positive"),
        (lambda: so.Inertia(-1.0), "mass must be positive"),
        (lambda: so.Inertia(np.nan), "finite"),
        (lambda: INERTIA("heavy"), "expected numbers"),
        (lambda: INERTIA(None), "expected numbers"),
        (lambda: so.Inertia(1.0, (0, 0)), r"center must be \(3,\)"),
        (lambda: so.Inertia(1.0, (0, 0, np.inf)), "finite"),
        (lambda: so.Inertia(1.0, tensor=np.eye(2)), r"tensor \(3, 3\)"),
        (lambda: so.Inertia(1.0, tensor=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
        (lambda: so.Inertia(1.0, tensor=np.diag([1.0, 1.0, -1.0])), "must not be negative"),
        (lambda: so.Inertia(1.0, tensor=np.diag([1.0, 1.0, 3.0])), "triangle inequality"),
        (lambda: so.Inertia(1.0, tensor=np.diag([1.0, 1e308, 1.0])), "triangle inequality"),
        (lambda: so.Inertia.sphere(0.0, mass=1.0), "radius must be positive"),
        (lambda: so.Inertia.sphere(1.0), "either mass"),
        (lambda: so.Inertia.sphere(1.0, mass=1.0, density=1.0), "either mass"),
        (lambda: so.Inertia.sphere(1.0, density=-1.0), "mass must be positive"),
        (lambda: so.Inertia.box((1.0, 2.0), mass=1.0), "3 lengths"),
        (lambda: so.Inertia.box((1.0, 2.0, -1.0), mass=1.0), "size z must be positive"),
        (lambda: so.Inertia.from_parameters(np.ones(9)), "10 parameters"),
        (lambda: so.Inertia.from_parameters(np.zeros(10)), "mass must be positive"),
    ],
)
def test_refused(make, message):
    with pytest.raises(so.errors.ModelError, match=message):
        make()
