"""The virtual tree of a set of nodes: which links Lambda's rows are made at, and what is between.

Links that carry no node and where no branches meet are only passed through: the psi of a run of
links is multiplied once, for the *virtual* edge between two vertices. psi is singular, so that
products from the root could not be divided.
"""

from __future__ import annotations

from spatialops._arrays import IntArray
from spatialops._compile.jit import inlined
from spatialops._layout import PARENT

# Integer plan: per link,
BELOW = 0  # nodes on it and below it
CHILDREN = 1  # children that have any
# Its vertex, or the nearest above it, plus one, 0 where there is none; in the sweep from the tips
# the vertex whose edge goes up from it.
VERTEX = 2
OWN = 3  # nodes on it
UP = 4  # its parent: rows of the tree are a line of the cache each
PLAN_COLUMNS = 5
# then per vertex.
LINK = 0
ABOVE = 1  # its virtual parent, -1 for a root
NODE = 2  # -1 for a branch point
SLOT = 3  # which six rows of Omega are its
VERTEX_COLUMNS = 4
# Numbers of its edge, in rows of six and two more: psi to the virtual parent, and
UPSILON = 48  # Upsilon, first what the edge adds to it;
EDGE_COLUMNS = 104  # then what a joint takes of unit forces.


@inlined
def mark_links(tree: IntArray, node_links: IntArray, plan: IntArray) -> None:
    """For every link, how many nodes lie on it and below it, and how many children have any."""
    for k in range(tree.shape[0]):
        plan[k, BELOW] = 0
        plan[k, CHILDREN] = 0
        plan[k, OWN] = 0
        plan[k, UP] = tree[k, PARENT]
    for i in range(node_links.size):
        if node_links[i] >= 0:
            plan[node_links[i], BELOW] += 1
            plan[node_links[i], OWN] += 1
    for k in range(plan.shape[0] - 1, -1, -1):
        parent = plan[k, UP]
        if parent >= 0 and plan[k, BELOW] > 0:
            plan[parent, BELOW] += plan[k, BELOW]
            plan[parent, CHILDREN] += 1


@inlined
def is_vertex(plan: IntArray, k: int) -> bool:
    """Whether link k carries a node, or branches that do meet at it."""
    return plan[k, CHILDREN] > 1 or plan[k, OWN] > 0


@inlined
def number_vertices(node_links: IntArray, plan: IntArray, vertices: IntArray) -> int:
    """The virtual tree, parents first: all nodes, and links where active branches meet.

    How many there are is returned.

    A link's first node stands for the link itself; further nodes of a link hang on the first by a
    pure shift. In `plan`, VERTEX is the vertex of a link (or of the nearest above it), plus one.
    """
    count = 0
    for k in range(plan.shape[0]):
        parent = plan[k, UP]
        above = 0 if parent < 0 else plan[parent, VERTEX]
        plan[k, VERTEX] = above
        if plan[k, BELOW] == 0:
            continue
        if not is_vertex(plan, k):
            continue
        first = True
        for i in range(node_links.size):
            if node_links[i] == k:
                count = add_vertex(vertices, count, k, above if first else plan[k, VERTEX], i)
                if first:
                    plan[k, VERTEX] = count
                first = False
        if first:
            count = add_vertex(vertices, count, k, above, -1)
            plan[k, VERTEX] = count
    return count


@inlined
def add_vertex(vertices: IntArray, count: int, link: int, above: int, node: int) -> int:
    vertices[count, LINK] = link
    vertices[count, ABOVE] = above - 1
    vertices[count, NODE] = node
    return count + 1


@inlined
def assign_slots(vertices: IntArray, count: int, n_nodes: int) -> int:
    """Rows of Omega: a node's are those of the result, made in place; branch points come after."""
    slots = n_nodes
    for j in range(count):
        vertices[j, SLOT] = vertices[j, NODE]
        if vertices[j, NODE] < 0:
            vertices[j, SLOT] = slots
            slots += 1
    return slots
