"""The links of a file in an order in which trees are built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spatialops.io.safe_xml import Element


def parents_first(
    links: Mapping[str, Element], children: Mapping[str, Sequence[str]], roots: Sequence[str]
) -> list[str]:
    """Names of links, each after its parent, children in the order of the file.

    Raises
    ------
    AssetError
        For a link that hangs on itself, with its line.
    """
    order: list[str] = []
    stack = list(reversed(roots))
    while stack:
        name = stack.pop()
        order.append(name)
        stack += reversed(children[name])
    lost = links.keys() - order
    if lost:
        name = next(name for name in links if name in lost)
        raise links[name].error(f"link {name!r} hangs on itself: joints form a cycle")
    return order
