"""Geoms of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.algebra.rotation import from_quaternion
from spatialops.io.description import Condim, MeshData, PairSpec, ShapeSpec
from spatialops.io.mjcf_parts.compiled import Compiled, MuJoCoObject

# mjtGeom: kind, and sizes of MuJoCo's half lengths
_CONDIMS: dict[int, Condim] = {1: 1, 3: 3, 4: 4, 6: 6}
_PLANE = 0
_HFIELD = 1
_SPHERE = 2
_CAPSULE = 3
_ELLIPSOID = 4
_CYLINDER = 5
_BOX = 6
_MESH = 7
_GREY = (0.5, 0.5, 0.5, 1.0)  # colour of a geom that says none
_SHOWN_GROUPS = 3


def shapes(c: Compiled) -> Iterator[ShapeSpec]:
    """All geoms; those of kinds that have no counterpart are listed."""
    m = c.m
    paired = {*m.pair_geom1.tolist(), *m.pair_geom2.tolist()}
    for g, name in enumerate(c.geoms):
        made = _shape(c, g)
        if made is None:
            continue
        kind, sizes, mesh = made
        body, friction = (
            c.bodies[m.geom_bodyid[g]],
            tuple(float(x) for x in np.maximum(m.geom_friction[g], 0.0)),
        )
        yield ShapeSpec(
            name=name,
            body=body,
            kind=kind,
            sizes=sizes,
            mesh=mesh,
            position=m.geom_pos[g].copy(),
            rotation=from_quaternion(m.geom_quat[g][[1, 2, 3, 0]]),
            friction=(friction[0], friction[1], friction[2]),
            mixing="maximum",
            priority=int(m.geom_priority[g]),
            condim=_CONDIMS[int(m.geom_condim[g])],
            group=int(m.geom_contype[g]) & 0xFFFFFFFF,
            collides_with=int(m.geom_conaffinity[g]) & 0xFFFFFFFF,
            collides=bool(m.geom_contype[g] or m.geom_conaffinity[g] or g in paired),
            visible=_visible(m, g),
            color=_rgba(m, g)[:3],
        )


def _rgba(m: MuJoCoObject, g: int) -> tuple[float, float, float, float]:
    """A geom's own colour where it is not the default, else that of its material."""
    own, material = m.geom_rgba[g], int(m.geom_matid[g])
    rgba = m.mat_rgba[material] if material >= 0 and (own == _GREY).all() else own
    red, green, blue, opacity = (float(x) for x in rgba)
    return red, green, blue, opacity


def _visible(m: MuJoCoObject, g: int) -> bool:
    """Whether MuJoCo's own viewer draws a geom: of the first three groups, and not invisible."""
    return int(m.geom_group[g]) < _SHOWN_GROUPS and _rgba(m, g)[3] > 0.0


def pairs(c: Compiled) -> Iterator[PairSpec]:
    """Explicit pairs; of the two coefficients of sliding friction the first counts."""
    m = c.m
    known = set[frozenset[int]]()
    for p in range(m.npair):
        ends = frozenset((int(m.pair_geom1[p]), int(m.pair_geom2[p])))
        if ends in known:
            c.left_out.add("a contact pair that was given before", c.geoms[m.pair_geom1[p]])
            continue
        known.add(ends)
        slide, across = (max(float(x), 0.0) for x in m.pair_friction[p][:2])
        if slide != across and m.pair_dim[p] > 1:
            c.warnings.add(
                "friction of a pair that differs by direction is taken along the first",
                c.geoms[m.pair_geom1[p]],
            )
        condim = int(m.pair_dim[p])
        torsion, rolling = (max(float(x), 0.0) for x in m.pair_friction[p][2:4])
        yield PairSpec(
            first=c.geoms[m.pair_geom1[p]],
            second=c.geoms[m.pair_geom2[p]],
            friction=slide if condim >= 3 else 0.0,
            torsion=torsion if condim >= 4 else 0.0,
            rolling=rolling if condim >= 6 else 0.0,
        )


def _shape(c: Compiled, g: int) -> tuple[str, tuple[float, ...], MeshData | None] | None:
    m = c.m
    kind, (x, y, z) = int(m.geom_type[g]), (float(s) for s in m.geom_size[g])
    if kind == _SPHERE:
        return "sphere", (x,), None
    if kind in (_CAPSULE, _CYLINDER):
        return ("capsule" if kind == _CAPSULE else "cylinder"), (x, 2.0 * y), None
    if kind == _ELLIPSOID:
        return "ellipsoid", (x, y, z), None
    if kind == _BOX:
        return "box", (2.0 * x, 2.0 * y, 2.0 * z), None
    if kind == _MESH:
        return "mesh", (), _mesh(m, int(m.geom_dataid[g]))
    if kind == _PLANE and m.body_weldid[m.geom_bodyid[g]] == 0:
        if x > 0.0 or y > 0.0:
            c.left_out.add("the size of a plane: it is without end", c.geoms[g])
        return "half_space", (), None
    if kind == _HFIELD:
        i = int(m.geom_dataid[g])
        start = m.hfield_adr[i]
        rows = m.hfield_nrow[i]
        columns = m.hfield_ncol[i]
        heights = (
            m.hfield_data[start : start + rows * columns].reshape(rows, columns)
            * m.hfield_size[i][2]
        )
        return "height_field", tuple(float(s) for s in m.hfield_size[i]), heights.astype(np.float64)
    c.warnings.add(
        "a plane on a body that moves is left out"
        if kind == _PLANE
        else f"a geom of type {kind} is left out"
    )
    return None


def _mesh(m: MuJoCoObject, i: int) -> tuple[Array, IntArray]:
    """Vertices and faces in the geom's frame."""
    vertices = m.mesh_vert[m.mesh_vertadr[i] : m.mesh_vertadr[i] + m.mesh_vertnum[i]]
    faces = m.mesh_face[m.mesh_faceadr[i] : m.mesh_faceadr[i] + m.mesh_facenum[i]]
    return vertices.astype(np.float64), faces.astype(np.int64)
