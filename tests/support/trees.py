"""Random mechanisms, random nodes and numerical derivatives."""

from __future__ import annotations

import numpy as np

import spatialops as so

KINDS = (
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "planar",
    "ball",
    "free",
    "fixed",
)


def random_rotation(rng):
    """A random rotation matrix."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn * np.sign(np.linalg.det(turn))


def random_inertia(rng):
    """An inertia of a real body: off its origin, turned, with three different moments."""
    box = so.Inertia.box(rng.uniform(0.1, 0.6, 3), mass=rng.uniform(0.3, 3.0))
    return box.shifted(rng.uniform(-0.3, 0.3, 3)).rotated(random_rotation(rng))


def random_joint(rng, kind, armature=True):
    """A joint of a kind with random axes, pitch and armature."""
    nv = so.Joint(kind).nv
    return so.Joint(
        kind,
        axis=rng.normal(size=3),
        second_axis=rng.normal(size=3) if kind in ("universal", "planar") else None,
        pitch=rng.uniform(-0.3, 0.3) if kind == "screw" else 0.0,
        armature=rng.uniform(0.0, 0.2, nv) if armature else 0.0,
    )


def random_tree(
    rng, n, kinds=KINDS, *, each=False, branching=0.4, armature=True, gravity=(0.3, -0.2, -9.81)
):
    """A tree of `n` bodies with random frames, inertias and joints.

    `kinds` are drawn at random, or one after the other where `each` is true. A body hangs on the
    one before it, or with the chance `branching` on any body (or the world). A free body always
    hangs on the world. One body in six that has others below it is massless."""
    builder = so.TreeBuilder(gravity=gravity)
    drawn = [kinds[i % len(kinds)] if each else kinds[rng.integers(len(kinds))] for i in range(n)]
    if all(kind == "fixed" for kind in drawn):
        drawn[0] = "revolute"
    parents = [-1]
    for i in range(1, n):
        parents.append(int(rng.integers(-1, i)) if rng.random() < branching else i - 1)
    parents = [-1 if kind == "free" else parent for kind, parent in zip(drawn, parents)]
    carries = {p for i, p in enumerate(parents) if p >= 0 and drawn[i] != "fixed"}
    for i, kind in enumerate(drawn):
        light = i in carries and kind in ("revolute", "prismatic") and rng.random() < 1.0 / 6.0
        # What hangs on a massless body must not line up with it: give it armature to be sure.
        joint = random_joint(rng, kind, armature)
        builder.add_body(
            f"b{i}",
            parent="world" if parents[i] < 0 else f"b{parents[i]}",
            joint=joint,
            inertia=None if light and armature else random_inertia(rng),
            position=rng.uniform(-0.5, 0.5, 3),
            rotation=random_rotation(rng),
        )
    return builder.build()


def chain(n, *, base=(0.0, 0.0, 0.0), joint="revolute"):
    """A chain of `n` equal rods with axes y and z in turn, its first joint at `base`."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.02, 0.2, mass=0.5).shifted((0.0, 0.0, -0.1))
    for i in range(n):
        builder.add_body(
            f"b{i}",
            parent="world" if i == 0 else f"b{i - 1}",
            joint=so.Joint(joint, axis="yz"[i % 2]),
            inertia=rod,
            position=base if i == 0 else (0.01, 0.0, -0.2),
        )
    return builder.build()


def random_nodes(rng, model, n, *, world=False):
    """`n` nodes at random points of random bodies (or of the world)."""
    low = -1 if world else 0
    bodies = rng.integers(low, model.n_bodies, n)
    return [so.Node("world" if b < 0 else int(b), rng.uniform(-0.4, 0.4, 3)) for b in bodies]


def dense_compliance(model, q, nodes):
    """J M^-1 J^T by Cholesky, symmetric to the last digit."""
    left = np.linalg.solve(
        np.linalg.cholesky(so.mass_matrix(model, q)), so.jacobian(model, q, nodes).T
    )
    return left.T @ left


def relative_error(result, expected):
    """Largest difference over the largest number, 0 for empty arrays."""
    result, expected = np.asarray(result), np.asarray(expected)
    assert result.shape == expected.shape
    if not expected.size:
        return 0.0
    scale = np.abs(expected).max()
    return float(np.abs(result - expected).max() / (scale if scale > 0.0 else 1.0))


def central_difference(function, model, q, direction, step=1e-5):
    """Derivative of `function(q)` along a velocity, on the manifold, to fourth order."""
    f = [
        np.asarray(function(so.integrate(model, q, c * step * direction)))
        for c in (-2.0, -1.0, 1.0, 2.0)
    ]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * step)
