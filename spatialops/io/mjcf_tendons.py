"""Tendons of a compiled MuJoCo model that go through space, from site to site."""

from __future__ import annotations

import numpy as np

from spatialops.forces.paths import TendonPath
from spatialops.io.mjcf_compiled import Compiled
from spatialops.tree.node import Node

_PULLEY, _SITE = 2, 3  # mjtWrap; 4 and 5 are spheres and cylinders


def tendon_path(c: Compiled, t: int) -> TendonPath | None:
    """Tendon t as straight lines; None for one along joints or around geoms."""
    m = c.m
    branches: list[list[Node]] = [[]]
    divisors = [1.0]
    for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        kind = int(m.wrap_type[w])
        if kind == _PULLEY:
            branches.append([])
            divisors.append(float(m.wrap_prm[w]))
        elif kind == _SITE:
            site = int(m.wrap_objid[w])
            place = np.array(m.site_pos[site], dtype=np.float64)
            branches[-1].append(Node(c.bodies[m.site_bodyid[site]], place))
        else:
            return None
    kept = [(branch, by) for branch, by in zip(branches, divisors, strict=True) if branch]
    return TendonPath([branch for branch, _ in kept], [by for _, by in kept])
