"""Moments: friction whose limit the normal impulse of another contact gives."""

import numpy as np
import pytest

from spatialops.contact.friction import directions
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.islands import new_buffers, room_of, solve_islands
from spatialops.contact.newton.no_slip import impulses_of_law
from spatialops.contact.newton.residual import residual_of
from spatialops.contact.newton.statuses import find_parts
from spatialops.contact.rows import FIRST_A, TREE_A, dense_rows
from tests.contact.newton.test_central import FROM_ZERO, TOLERANCE, frame, random_body
from tests.support.contact_rows import contact_rows_of, dense_of, scratch_of

LAWS = [at.POLYGON, at.CONE, at.NO_SLIP, at.VISCOUS]


def with_moments(rng, law=at.POLYGON):
    """A random body whose contacts have torsion, rolling, both or none of them."""
    rows = random_body(rng)._replace(law=law, corners=directions(8))
    L, m = dense_of(rows), rows.friction.size
    if law == at.NO_SLIP:
        rows = rows._replace(friction=np.ones(m))
    spin = np.zeros((3, 6))
    spin[:, :3] = 0.3 * np.sqrt(10.0) * np.eye(3)
    twist = np.linalg.lstsq(L, rows.u, rcond=None)[0]
    more = []
    owners = []
    limits = []
    for kind in range(2):
        for i in range(m):
            if rng.random() < 0.3:
                continue
            axes = frame(rng.normal(size=3)) @ spin
            own = np.stack([0.0 * axes[0], axes[1], axes[2] * kind])
            more.append(own)
            owners.append(i)
            limits.append(rng.uniform(0.01, 0.5))
    extra = np.reshape(more, (-1, 6))
    none = np.zeros(len(owners))
    return contact_rows_of(
        np.concatenate([L, extra]),
        np.concatenate([rows.u, extra @ twist]),
        np.concatenate([rows.friction, limits]),
        np.concatenate([rows.prior, none]),
        np.concatenate([rows.dry, none]),
        rows.corners,
        law=law,
    )._replace(owners=np.array(owners, dtype=np.int64))


def moment_error(rows, p, v, s):
    """Largest violation by a moment of its limit, and of being against the spin at the limit."""
    worst = 0.0
    m = rows.friction.size - rows.owners.size
    inner = np.cos(np.pi / len(rows.corners)) if rows.law == at.POLYGON else 1.0
    for k, owner in enumerate(rows.owners):
        i = m + k
        limit = s * rows.friction[i] * (max(p[owner, 0], 0.0) + rows.prior[owner])
        moment, spin = s * p[i, 1:], v[i, 1:]
        size, rate = np.hypot(*moment), np.hypot(*spin)
        worst = max(worst, size - limit, abs(p[i, 0]))
        if rate > 1e-4:
            worst = max(worst, inner * limit - -moment @ spin / rate)
    return worst


@pytest.mark.parametrize("law", LAWS)
def test_moments_of_random_bodies_obey_their_law(law, rng):
    solved = turned = 0
    for _ in range(60):
        rows = with_moments(rng, law)
        p = np.zeros(rows.u.size)
        scratch = scratch_of(rows)
        _, residual = impulses_of_law(rows, 0.0, FROM_ZERO, p, scratch)
        if residual > TOLERANCE:
            continue
        solved += 1
        L = dense_of(rows)
        v = rows.u + L @ (L.T @ p)
        s = find_parts(rows, scratch)
        scale = max(np.abs(rows.u).max(), 1.0)
        assert moment_error(rows, p.reshape(-1, 3), v.reshape(-1, 3), s) < 1e-7 * scale
        if law != at.NO_SLIP:  # there contacts may have been let go
            assert residual_of(rows, s, scale, p, v) < 1e-8
        turned += (
            np.abs(p.reshape(-1, 3)[rows.friction.size - rows.owners.size :]).max(initial=0.0)
            > 1e-6
        )
    assert solved >= 57
    assert turned > 30


def test_a_moment_without_pressure_is_none(rng):
    rows = with_moments(rng)
    m = rows.friction.size - rows.owners.size
    u = np.where(np.arange(rows.u.size) % 3 == 0, 1.0, rows.u)  # all leave
    p = np.zeros(rows.u.size)
    _, residual = impulses_of_law(rows._replace(u=u), 0.0, FROM_ZERO, p, scratch_of(rows))
    presses = p.reshape(-1, 3)[:m, 0] > 0.0
    assert residual <= TOLERANCE
    for k, owner in enumerate(rows.owners):
        if not presses[owner] and rows.prior[owner] == 0.0:
            assert (p.reshape(-1, 3)[m + k] == 0.0).all()


def test_moments_stay_with_their_contacts_when_islands_are_cut(rng):
    for law in (at.POLYGON, at.CONE):
        parts = [with_moments(rng, law) for _ in range(3)]
        counts = [part.friction.size - part.owners.size for part in parts]
        first = np.concatenate([[0], np.cumsum(counts)])
        chosen, owners = [], []
        for k in range(3):
            chosen += [(k, i) for i in range(counts[k])]
        for k, part in enumerate(parts):
            chosen += [(k, counts[k] + i) for i in range(part.owners.size)]
            owners += (first[k] + part.owners).tolist()
        trees = np.array([k for k, _ in chosen])
        L = np.stack([dense_of(parts[k]).reshape(-1, 3, 6)[i] for k, i in chosen])
        rows = dense_rows(L.reshape(-1, 6))
        rows.places[:, TREE_A] = trees
        rows.places[:, FIRST_A] = 6 * trees
        u = np.concatenate([parts[k].u.reshape(-1, 3)[i] for k, i in chosen])
        of = {
            name: np.array([getattr(parts[k], name)[i] for k, i in chosen])
            for name in ("friction", "prior", "dry")
        }
        whole = parts[0]._replace(
            L=rows, trees=6 * np.arange(4), u=u, owners=np.array(owners, dtype=np.int64), **of
        )
        p = np.zeros(u.size)
        _, residual = solve_islands(whole, FROM_ZERO, p, new_buffers(room_of(whole)))
        fastest = np.abs(u).max()
        for k, part in enumerate(parts):
            alone = np.zeros(part.u.size)
            _, own = impulses_of_law(part, fastest, FROM_ZERO, alone, scratch_of(part))
            if own <= TOLERANCE:
                np.testing.assert_allclose(p.reshape(-1, 3)[trees == k].ravel(), alone, atol=1e-12)
        assert residual <= 1e-3
