"""Where kernels' arguments are found in what public functions are given: for `door`."""

from __future__ import annotations

from spatialops._compile.doors import Classes, Size, Slot, Source
from spatialops.tree.branches import Branches
from spatialops.tree.model import Model
from spatialops.tree.node import FewNodes, Nodes

_READY = Source("model", ((Model, "ready"),))
OF_STATE = {"model": Classes((Model,))}
OF_NODES = {**OF_STATE, "nodes": Classes((Nodes, FewNodes), _READY)}
OF_FEW_NODES = {**OF_STATE, "nodes": Classes((FewNodes,), _READY)}

TREE = Source("model", ((Model, "tree"),))
LINKS = Source("model", ((Model, "links"),))
BODY_LINKS = Source("model", ((Model, "body_links"),))
TURNS = Source("model", ((Model, "turns"),))
HELD = Source("model", ((Model, "held"),))
"""None where calls are long, which sends them to the function behind the door."""

HELD_UNSPRUNG = Source("model", ((Model, "held_unsprung"),))
"""None also where joints have springs, which the kernel does not know."""

NODE_LINKS = Source("nodes", ((Nodes, "links"),))
OFFSETS = Source("nodes", ((Nodes, "offsets"),))


def of_branches(slot: str) -> Source:
    """A table for work on eight links at a time."""
    above: Slot = (Model, "branches")
    return Source("model", (above, (Branches, slot)))


BRANCHES = of_branches("tree"), of_branches("constants")
WORK = of_branches("work")
Q, V, A, TAU = (Source(name) for name in ("q", "v", "a", "tau"))
OUT = Source("out")
LENGTH = (Size(0),)
SQUARE = (Size(0), Size(0))
