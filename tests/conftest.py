"""Fixtures that every test may ask for; hypothesis runs the same examples every time."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.support.trees import KINDS, random_tree

_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=30 if _COMPILED else 4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("deterministic")


@pytest.fixture
def rng():
    """Random numbers, the same in every run."""
    return np.random.default_rng(20260101)


@pytest.fixture(params=["chain", "bushy", "free roots", "all kinds", "one link"])
def model(request, rng):
    """A few small trees that between them have every kind of joint and of branching."""
    if request.param == "chain":
        return random_tree(rng, 6, kinds=("revolute", "prismatic", "screw"), branching=0.0)
    if request.param == "bushy":
        return random_tree(rng, 7, kinds=("revolute", "ball"), branching=1.0)
    if request.param == "free roots":
        return random_tree(rng, 5, kinds=("free", "revolute", "ball"), branching=0.5)
    if request.param == "one link":
        return random_tree(rng, 1, kinds=("revolute",))
    return random_tree(rng, 2 * len(KINDS), kinds=KINDS, each=True)


@pytest.fixture
def state(model, rng):
    """Random coordinates, velocities and accelerations of `model`."""
    return model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
