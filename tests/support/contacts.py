"""Contact problems of random mechanisms and of one body on its feet, and laws of solutions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.friction import directions
from spatialops.contact.problem import ContactProblem
from tests.support.trees import KINDS, random_rotation, random_tree


def free_body(inertia):
    """A model of one free body."""
    return so.TreeBuilder().add_body("body", joint=so.Joint("free"), inertia=inertia).build()


def feet_problem(arms, *, velocity, spin=(0.0, 0.0, 0.0), mu=0.5, inertia=None):
    """A body whose feet, at `arms` from its centre, touch a level floor while it moves."""
    inertia = (
        so.Inertia(1.0, np.zeros(3), np.diag([0.1, 0.1, 0.15])) if inertia is None else inertia
    )
    model, m = free_body(inertia), len(arms)
    frame = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    links = np.tile([model.body_links[0], -1], (m, 1))
    v = np.concatenate([spin, velocity])
    return ContactProblem(
        model, model.neutral(), v, links, np.array(arms), np.tile(frame, (m, 1, 1)), np.full(m, mu)
    )


def block_problem(velocity, *, mass=2.0, mu=0.5):
    """A block that meets the floor right below its centre, so that spin does not matter.

    W = I / mass.
    """
    inertia = so.Inertia(mass, np.zeros(3), np.eye(3))
    return feet_problem([(0.0, 0.0, 0.0)], velocity=velocity, mu=mu, inertia=inertia)


def random_links(rng, model, count):
    """Links of pairs of bodies, or of a body and the world."""
    a = model.body_links[rng.integers(model.n_bodies, size=count)]
    b = np.append(model.body_links, -1)[rng.integers(model.n_bodies + 1, size=count)]
    return np.column_stack([a, np.where(a == b, -1, b)]).reshape(count, 2)


def random_problem(
    rng, m, *, n=6, loops=0, redundant=0, prior_normal_impulse=False, mu=(0.1, 0.8), **tree
):
    """Contacts between bodies of a random tree, and closure rows, `redundant` copies last."""
    model = random_tree(rng, n, **({"kinds": KINDS} | tree))
    q, v = model.random(rng), rng.normal(size=model.nv)
    center = so.body_poses(model, q).positions.mean(axis=0)
    ints = np.column_stack([np.arange(loops), random_links(rng, model, loops)])
    terms = np.hstack([center + rng.normal(size=(loops, 3)), rng.normal(size=(loops, 6))])
    if redundant:
        ints[-redundant:, 1:], terms[-redundant:] = ints[:redundant, 1:], terms[:redundant]
        terms[-redundant:, 3:] *= 2.0
    problem = ContactProblem(
        model,
        q,
        v,
        random_links(rng, model, m),
        center + 0.3 * rng.normal(size=(m, 3)),
        np.array([random_rotation(rng) for _ in range(m)]).reshape(m, 3, 3),
        rng.uniform(*mu, m),
        gap_bias=rng.uniform(0.0, 0.2, m),
        prior_normal_impulse=rng.uniform(0.0, 0.5, m) if prior_normal_impulse else None,
        loop_ints=ints,
        loop_terms=terms,
        loop_targets=np.zeros(loops),
    )
    targets = problem.jacobian[:loops] @ rng.normal(
        size=model.nv
    )  # of some motion, so that they can be met
    return dataclasses.replace(problem, loop_targets=targets)


def check_laws(problem, answer, n_f, tolerance=1e-8):
    """Closures, momentum, unilateral contact, polyhedral friction that works against the slip.

    From the definitions, with the dense mass matrix: no formulation is asked. Returns slip speeds
    over the scale.
    """
    G = problem.jacobian
    n_b = problem.n_loop_rows
    m = problem.n_contacts
    p = np.concatenate([answer.loop_impulses, answer.impulses.ravel()])
    M = so.mass_matrix(problem.model, problem.q)
    momentum = M @ (answer.velocity - problem.velocity) - G.T @ p
    assert np.abs(momentum).max() <= tolerance * max(
        np.abs(M @ problem.velocity).max(), np.abs(G.T @ p).max()
    )
    u = G @ answer.velocity
    scale = max(np.abs(problem.velocities).max(initial=0.0), 1e-12)
    assert np.abs(u[:n_b] - problem.loop_targets).max(initial=0.0) <= tolerance * scale
    if not m:
        return np.zeros(0)
    contact = u[n_b:].reshape(m, 3)
    opening = contact[:, 0] + problem.gap_bias
    weight = max(np.abs(answer.impulses).max(), scale / problem.compliance.diagonal()[n_b:].max())
    assert answer.impulses[:, 0].min() >= -tolerance * weight
    assert opening.min() >= -tolerance * scale
    assert np.abs(answer.impulses[:, 0] * opening).max() <= tolerance * scale * weight
    limit = problem.friction * (answer.impulses[:, 0] + problem.prior_normal_impulse)
    facets, slip = directions(n_f), np.hypot(contact[:, 1], contact[:, 2])
    assert np.all(
        np.hypot(answer.impulses[:, 1], answer.impulses[:, 2]) <= limit + tolerance * weight
    )
    assert np.allclose(answer.slip, slip, rtol=0.0, atol=tolerance * scale)
    for i in np.flatnonzero(
        slip > 1e-6 * scale
    ):  # the most work against the slip that the polyhedron allows
        most = limit[i] * (facets @ contact[i, 1:]).max()
        assert answer.impulses[i, 1:] @ contact[i, 1:] == pytest.approx(
            -most, rel=0.0, abs=10 * tolerance * scale * weight
        )
    return slip / scale
