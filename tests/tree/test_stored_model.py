"""Stored models: what no builder makes is refused before a kernel follows it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatialops as so
from spatialops import _layout as layout
from tests.support.trees import KINDS, random_tree

COLUMNS = ("PARENT", "MOTION", "FRAME", "AXIS", "FIRST_Q", "GROUP", "BODY", "SIZE_Q")


@pytest.fixture
def data(model):
    stored = model.to_arrays()
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in stored.items()
    }


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("value", [2**40, -(2**40), 1_000_000, -2, 77])
def test_an_index_that_points_elsewhere_is_refused(data, column, value):
    data["tree"][-1, getattr(layout, column)] = value
    with pytest.raises(so.errors.ModelError, match="tree: not what these joints make"):
        so.Model.from_arrays(data)


@given(seed=st.integers(0, 10**6), change=st.integers(-3, 3).filter(bool))
def test_any_change_of_an_index_is_refused(seed, change):
    rng = np.random.default_rng(seed)
    data = random_tree(rng, 6, kinds=KINDS).to_arrays()
    tree = data["tree"].copy()
    tree[rng.integers(len(tree)), rng.integers(layout.TREE_COLUMNS)] += change
    with pytest.raises(so.errors.ModelError):
        so.Model.from_arrays(data | {"tree": tree})


def changed(name, change):
    def apply(data):
        data[name] = change(data[name])

    return apply


CHANGES = {
    "body_links": changed("body_links", lambda x: x + 1),
    "body_parents": changed("body_parents", lambda x: x + 10),
    "tree": changed("tree", lambda x: x.astype(float)),
    "links: mass": changed("links", lambda x: x - 1e3 * (np.arange(x.shape[1]) == layout.MASS)),
    "links: NaN": changed("links", lambda x: np.where(np.arange(x.shape[1]) == 13, np.nan, x)),
    "links: shape": changed("links", lambda x: x[:, :-1]),
    "links: rotations": changed("links", lambda x: 2.0 * x),
    "turns": changed("turns", lambda x: 0.5 * x),
    "lower": changed("lower", lambda x: np.full(len(x), np.nan)),
    "upper": changed("upper", lambda x: np.full(len(x), -np.inf)),
    "joint_kinds": changed("joint_kinds", lambda x: ("hinge", *x[1:])),
    "joint_names": changed("joint_names", lambda x: (*x, "more")),
    "body_names": changed("body_names", lambda x: ("nobody", *x[1:])),
    "frame_bodies": changed("frame_bodies", lambda x: x + 100),
    "frame_names": changed("frame_names", lambda x: [x[0]] * len(x)),
    "frame_rotations": changed("frame_rotations", lambda x: x[:-1]),
    "frame_positions": changed("frame_positions", lambda x: x * np.nan),
    "gravity": changed(
        "links",
        lambda x: x + np.arange(len(x))[:, None] * (np.arange(x.shape[1]) == layout.GRAVITY),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_damage_is_refused_by_name(data, name):
    if name == "gravity" and len(data["links"]) == 1:
        pytest.skip("one link has one gravity")
    data["lower"][:] = -1.0
    CHANGES[name](data)
    with pytest.raises(so.errors.ModelError, match="stored model"):
        so.Model.from_arrays(data)


def test_what_a_builder_made_is_taken(model):
    again = so.Model.from_arrays(model.to_arrays())
    assert (again.tree == model.tree).all()
    assert (again.body_links == model.body_links).all()
