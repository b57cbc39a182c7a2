"""A pole on a cart learns to stand: Gymnasium environments and the cross-entropy method.

    python -m examples.cart_pole

The force on the cart is a linear function of what is seen. Each environment of a batch tries other
weights; the best of them say where the next are drawn (Rubinstein, "The Cross-Entropy Method for
Combinatorial and Continuous Optimization", 1999). Needs gymnasium: `pip install spatialops[gym]`.
"""

from __future__ import annotations

import time

import numpy as np

import spatialops as so
from spatialops.gym import Moment, SceneVectorEnv, Task

CANDIDATES = 48
BEST = 8
HIGHEST_ANGLE = 0.4  # rad
LONGEST_WAY = 1.0  # m
MAX_FORCE = 10.0  # N


def cart_pole() -> so.Scene:
    rod = so.Inertia.cylinder(0.01, 0.6, mass=0.2).shifted((0.0, 0.0, 0.3))
    builder = so.TreeBuilder()
    slide, hinge = so.Joint("prismatic", axis="x"), so.Joint("revolute", axis="y")
    builder.add_body("cart", joint=slide, inertia=so.Inertia.sphere(0.1, mass=1.0))
    builder.add_body("pole", parent="cart", joint=hinge, inertia=rod)
    return so.Scene(builder.build())


def balance_task() -> Task:
    """Keep the pole upright and the cart near the middle, for 10 s."""

    def reward(moment: Moment) -> np.ndarray:
        return 1.0 - moment.q[:, 0] ** 2 - moment.q[:, 1] ** 2

    def ended(moment: Moment) -> np.ndarray:
        fallen = np.abs(moment.q[:, 1]) > HIGHEST_ANGLE
        return fallen | (np.abs(moment.q[:, 0]) > LONGEST_WAY)

    def begin(rng: np.random.Generator) -> so.State:
        return so.State(rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.1, 0.1, 2))

    return Task(
        simulator=so.Simulator(cart_pole(), dt=0.01),
        reward=reward,
        ended=ended,
        begin=begin,
        joints=["cart"],
        action_limit=MAX_FORCE,
        steps=2,
        duration=10.0,
    )


def returns(envs: SceneVectorEnv, weights: np.ndarray, seed: int) -> np.ndarray:
    """Sums of rewards until each falls, of one row of weights an environment."""
    seen, _ = envs.reset(seed=seed)
    alive = np.ones(envs.num_envs, dtype=bool)
    sums = np.zeros(envs.num_envs)
    while alive.any():
        actions = (weights * seen).sum(axis=1, keepdims=True)
        seen, rewards, ended, cut, _ = envs.step(actions)
        sums += alive * rewards
        alive &= ~(ended | cut)
    return sums


def train(generations: int, seed: int = 0) -> np.ndarray:
    """Weights of (x, angle, their rates) that the cross-entropy method finds."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(4), np.full(4, 20.0)
    envs = SceneVectorEnv(balance_task(), CANDIDATES, threads=1)
    for generation in range(generations):
        weights = mean + spread * rng.normal(size=(CANDIDATES, 4))
        sums = returns(envs, weights, seed=1000 * generation)
        best = weights[np.argsort(sums)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.5
        print(f"generation {generation}: mean return {sums.mean():.0f}, best {sums.max():.0f}")
    envs.close()
    return mean


def main(generations: int = 12) -> int:
    """Train; how many of 100 new beginnings then stand for 10 s."""
    start = time.perf_counter()
    weights = train(generations)
    seconds = time.perf_counter() - start
    trials = SceneVectorEnv(balance_task(), 100, threads=1)
    sums = returns(trials, np.tile(weights, (100, 1)), seed=10**6)
    trials.close()
    stood = int((sums > 0.95 * 500).sum())  # of 500 actions
    print(f"trained in {seconds:.1f} s; {stood} of 100 new beginnings stand for 10 s")
    print("force = " + np.array2string(weights, precision=1) + " (x, angle, x rate, angle rate)")
    return stood


if __name__ == "__main__":
    main()
