"""Tendons of a compiled MuJoCo model that go through space, from site to site, around geoms."""

from __future__ import annotations

import numpy as np

from spatialops.algebra.rotation import from_quaternion
from spatialops.forces.paths import Around, TendonPath
from spatialops.io.mjcf_parts.compiled import Compiled
from spatialops.tree.node import Node

# Of mjtWrap.
_PULLEY = 2
_SITE = 3
_SPHERE = 4
_CYLINDER = 5


def tendon_path(c: Compiled, t: int) -> TendonPath | None:
    """Tendon t as a path; None for one along joints or inside geoms."""
    m = c.m
    branches: list[list[Node | Around]] = [[]]
    divisors = [1.0]
    for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        kind = int(m.wrap_type[w])
        if kind == _PULLEY:
            branches.append([])
            divisors.append(float(m.wrap_prm[w]))
        elif kind == _SITE:
            branches[-1].append(_site(c, int(m.wrap_objid[w])))
        elif kind in (_SPHERE, _CYLINDER):
            around = _around(c, int(m.wrap_objid[w]), kind, round(float(m.wrap_prm[w])))
            if around is None:
                return None
            branches[-1].append(around)
        else:
            return None
    kept = [(branch, by) for branch, by in zip(branches, divisors, strict=True) if branch]
    return TendonPath([branch for branch, _ in kept], [by for _, by in kept])


def _site(c: Compiled, site: int) -> Node:
    place = np.array(c.m.site_pos[site], dtype=np.float64)
    return Node(c.bodies[c.m.site_bodyid[site]], place)


def _around(c: Compiled, geom: int, kind: int, side: int) -> Around | None:
    """A geom that a tendon wraps around; None where it passes inside."""
    m = c.m
    body, radius = int(m.geom_bodyid[geom]), float(m.geom_size[geom][0])
    middle = np.array(m.geom_pos[geom], dtype=np.float64)
    if side >= 0:
        inside = float(np.linalg.norm(m.site_pos[side] - middle)) < radius
        if int(m.site_bodyid[side]) != body or inside:
            return None
    turn = from_quaternion(np.array(m.geom_quat[geom], dtype=np.float64)[[1, 2, 3, 0]])
    return Around(
        middle=Node(c.bodies[body], middle),
        radius=radius,
        axis=None if kind == _SPHERE else turn[:, 2],
        side=None if side < 0 else _site(c, side),
    )
