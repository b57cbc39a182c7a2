"""Random closures, closed at given coordinates, and dense algebra of mechanisms with them."""

from __future__ import annotations

import numpy as np

import spatialops as so

KINDS = ("ball", "weld", "revolute", "prismatic", "distance", "coupler")


def random_coupler(rng, model, q, name):
    """A coupler of two joints of one velocity, of one where there is no second, or None."""
    joints = [j for j in model.joint_names if model.v_slice(j).stop - model.v_slice(j).start == 1]
    if not joints:
        return None
    chosen = rng.choice(joints, size=min(2, len(joints)), replace=False)
    factors = {str(joint): float(rng.uniform(0.3, 2.0)) for joint in chosen}
    total = sum(factor * float(q[model.q_slice(joint)][0]) for joint, factor in factors.items())
    return so.Loop(kind="coupler", joints=factors, offset=total, name=name)


def random_loop(rng, model, q, kind, name):
    """A closure of a kind between two random bodies (or one and the world), closed at q."""
    if kind == "coupler":
        return random_coupler(rng, model, q, name)
    chosen = rng.choice(model.n_bodies + 1, size=2, replace=False) - 1
    a, b = ("world" if body < 0 else int(body) for body in chosen)
    if kind == "distance":
        position_a, position_b = rng.uniform(-0.4, 0.4, 3), rng.uniform(-0.4, 0.4, 3)
        ends = so.node_positions(model, q, [so.Node(a, position_a), so.Node(b, position_b)])
        length = float(np.linalg.norm(ends[0] - ends[1]))
        return so.Loop(
            kind=kind,
            a=a,
            b=b,
            position_a=position_a,
            position_b=position_b,
            distance=length,
            name=name,
        )
    return so.loop_at(
        model, q, kind, a, b, point=rng.normal(size=3), axis=rng.normal(size=3), name=name
    )


def random_loops(rng, model, q, count, kinds=KINDS):
    """`count` closures of random kinds (or kinds in turn, where `count` is that of the kinds)."""
    drawn = (
        kinds if count == len(kinds) else [kinds[rng.integers(len(kinds))] for _ in range(count)]
    )
    loops = [random_loop(rng, model, q, kind, f"loop {i}") for i, kind in enumerate(drawn)]
    return so.Loops(model, [loop for loop in loops if loop is not None])


def onto(G, v, rates=0.0):
    """Velocities near v with G v = rates."""
    return v - np.linalg.lstsq(G, G @ v - rates, rcond=1e-10)[0]
