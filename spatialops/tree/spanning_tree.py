"""Which joints of a mechanism with loops make its tree, and which are cut.

The choice is free ([J] section 4 leaves it open). Here: never a joint that a closure cannot stand
for; then those that leave the fewest closure rows, so that the tree is as small as it can be; then
those furthest from the world, so that the tree is shallow. `SpanningTree` says what was chosen, and
`cut` overrides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import lazy_loader

from spatialops._arrays import is_one_of, several
from spatialops.errors import ModelError
from spatialops.tree.builder import WORLD

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # when it is used: a fifth of the time to import us

# A joint by name, the two bodies that it joins, and the rows of a closure in its place.
Edge: TypeAlias = tuple[str, str, str, int | None]
_NEVER_CUT = 100.0  # rows; more than any joint has, of one that no closure stands for


@dataclass(frozen=True)
class SpanningTree:
    """What `spanning_tree` chose.

    Parameters
    ----------
    steps : tuple of (joint, from body, to body)
        Joints of the tree in the order in which they reach bodies from the world.
    cut_joints : tuple of str
        Joints left to be closures.
    floating : tuple of str
        Bodies that get a free joint, since nothing else leads to them from the world.
    """

    steps: tuple[tuple[str, str, str], ...]
    cut_joints: tuple[str, ...]
    floating: tuple[str, ...]

    @property
    def tree_joints(self) -> tuple[str, ...]:
        """Names of the joints of the tree."""
        return tuple(step[0] for step in self.steps)


def spanning_tree(
    edges: Iterable[Edge],
    *,
    root: str | None = None,
    cut: Sequence[str] = (),
) -> SpanningTree:
    """Choose the joints of a tree among those of a mechanism.

    Parameters
    ----------
    edges : iterable of (joint, body, body, rows)
        Joints by name; `rows` that a closure in its place would have, None where there is no such
        closure.
    root : str, optional
        Body that gets a free joint where a part of the mechanism has no joint to the world
        (default: the first named).
    cut : sequence of str
        Joints that must be cut; default: none.

    Returns
    -------
    SpanningTree
        Its steps, the joints that it cuts, and the bodies that float.

    Raises
    ------
    ModelError
        For an unknown name, or a loop all of whose joints are such that no closure can stand for
        them.

    Examples
    --------
    >>> import spatialops as so
    >>> sides = [("A", "world", "left"), ("B", "left", "right"), ("C", "right", "world")]
    >>> triangle = [(*side, 5) for side in sides]
    >>> so.spanning_tree(triangle).cut_joints
    ('B',)
    """
    given = several(edges, "edges", "(joint, body, body, rows)", ModelError)
    edges, graph = [_edge(item) for item in given], nx.MultiGraph()
    graph.add_node(WORLD)
    for joint, a, b, rows in edges:
        graph.add_edge(a, b, key=joint, rows=rows)
    _check_overrides(graph, edges, root, cut)
    floating = _floating(graph, root)
    depth = nx.multi_source_dijkstra_path_length(graph, {WORLD, *floating}, weight=None)
    last = 1.0 + max(depth.values())
    kept = nx.MultiGraph()
    kept.add_nodes_from(graph)
    for joint, a, b, rows in edges:
        if joint not in cut:  # rows decide, then depth: the sum of two depths is below 2 last
            weight = (
                (_NEVER_CUT if rows is None else float(rows)) * 4.0 * last - depth[a] - depth[b]
            )
            kept.add_edge(a, b, key=joint, weight=weight)
    tree = nx.MultiGraph()
    tree.add_nodes_from(kept)
    tree.add_edges_from(
        (a, b, key) for a, b, key in nx.maximum_spanning_edges(kept, keys=True, data=False)
    )
    chosen = {key for _, _, key in tree.edges(keys=True)}
    for joint, a, b, rows in edges:
        if joint not in chosen and rows is None:
            raise ModelError(
                f"joint {joint!r} between {a!r} and {b!r}: closes a loop of which no joint is a "
                "ball, revolute, "
                "prismatic or fixed one without damping, spring, limits or armature, which a "
                "closure could stand for"
            )
    starts = [WORLD, *floating]
    if nx.number_connected_components(tree) > len(starts):
        raise ModelError(f"cut: {', '.join(map(repr, cut))} would take the mechanism apart")
    steps = []
    for start in starts:
        for a, b in nx.bfs_edges(tree, start):
            steps.append((next(iter(tree[a][b])), a, b))
    return SpanningTree(
        tuple(steps), tuple(joint for joint, *_ in edges if joint not in chosen), tuple(floating)
    )


def _edge(item: object) -> Edge:
    """One of the edges, where it is one."""
    if not (isinstance(item, (tuple, list)) and len(item) == 4):
        raise ModelError(f"edges: expected (joint, body, body, rows), got {item!r}")
    joint, a, b, rows = item
    return joint, a, b, rows


def _check_overrides(
    graph: nx.MultiGraph, edges: list[Edge], root: str | None, cut: Sequence[str]
) -> None:
    names = {joint: rows for joint, _, _, rows in edges}
    for joint in several(cut, "cut", "names of joints", ModelError):
        if not is_one_of(joint, names):
            raise ModelError(f"cut: there is no joint {joint!r}")
        if names[joint] is None:
            raise ModelError(
                f"cut: no closure can stand for joint {joint!r}; choose a ball, revolute, "
                "prismatic or fixed one"
            )
    if root is not None and root not in graph:
        raise ModelError(f"root: there is no body {root!r}")
    if root not in (None, WORLD) and nx.has_path(graph, WORLD, root):
        raise ModelError(f"root: {root!r} is joined to the world, which is the root there")


def _floating(graph: nx.MultiGraph, root: str | None) -> list[str]:
    """One body of every part that is not joined to the world: `root`, or the first named."""
    order = {name: i for i, name in enumerate(graph)}
    parts = [part for part in nx.connected_components(graph) if WORLD not in part]
    return [
        root if root is not None and root in part else min(part, key=order.__getitem__)
        for part in parts
    ]
