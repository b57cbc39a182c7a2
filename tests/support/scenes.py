"""Random contact problems of scenes as they occur: redundant, at rest, sliding, in impact.

Scenes are given by the Jacobian G of the contacts' frames (normal, tangent, tangent) and the
inverse mass matrix, so that W = G M^-1 G^T has the rank that the mechanism allows, not the number
of contacts.
"""

import numpy as np

import spatialops as so
from spatialops.contact import MixedLCP
from spatialops.contact.formulations.operational_space import assemble_kernel
from spatialops.contact.friction import directions

MOTIONS = ("rest", "slide", "impact", "spin", "noise")
DIRECTIONS = (2, 4, 8)


def body_inverse_mass(rng, count):
    """(6 count, 6 count) inverse inertia of boxes of 0.1 to 10 kg."""
    blocks = []
    for _ in range(count):
        mass, sides = 10.0 ** rng.uniform(-1.0, 1.0), rng.uniform(0.1, 1.0, 3)
        inertia = mass / 12.0 * (np.sum(sides**2) - sides**2)
        blocks.append(np.concatenate([1.0 / inertia, np.full(3, 1.0 / mass)]))
    return np.diag(np.concatenate(blocks))


def frame(normal, rng=None):
    """Rows normal, tangent, tangent; turned about the normal where `rng` is given."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    t = np.cross(normal, helper)
    t /= np.sqrt(t @ t)
    s = np.cross(normal, t)
    angle = 0.0 if rng is None else rng.uniform(0.0, 2.0 * np.pi)
    return np.array(
        [normal, np.cos(angle) * t + np.sin(angle) * s, np.cos(angle) * s - np.sin(angle) * t]
    )


def contact_rows(total, body, arm, axes, other=None, other_arm=None):
    """Rows (3, 6 total) of a contact of `body`, which the normal points to, and `other`."""
    rows = np.zeros((3, 6 * total))
    rows[:, 6 * body : 6 * body + 6] = np.hstack([np.cross(arm, axes), axes])
    if other is not None:
        rows[:, 6 * other : 6 * other + 6] = -np.hstack([np.cross(other_arm, axes), axes])
    return rows


def feet(rng, count):
    """(count, 3) coplanar points under a box, on a rectangle or a regular ring."""
    x, y, z = rng.uniform(0.1, 1.0, 3)
    if rng.random() < 0.5:
        corners = np.array([[x, y, -z], [-x, y, -z], [-x, -y, -z], [x, -y, -z]])
        middles = 0.5 * (corners + np.roll(corners, 1, axis=0))
        return np.vstack([corners, middles])[:count]
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.column_stack([x * np.cos(angles), x * np.sin(angles), np.full(count, -z)])


def box_on_plane(rng):
    """One box on four to eight coplanar feet: rank 6."""
    axes = frame(np.array([0.0, 0.0, 1.0]), rng if rng.random() < 0.5 else None)
    rows = [contact_rows(1, 0, arm, axes) for arm in feet(rng, rng.integers(4, 9))]
    return np.vstack(rows), body_inverse_mass(rng, 1)


def boxes_on_plane(rng):
    """Several boxes apart: islands."""
    count = int(rng.integers(2, 5))
    axes = frame(np.array([0.0, 0.0, 1.0]))
    rows = [contact_rows(count, k, arm, axes) for k in range(count) for arm in feet(rng, 4)]
    return np.vstack(rows), body_inverse_mass(rng, count)


def stack(rng):
    """Two to four boxes one on the other, four contacts each."""
    count = int(rng.integers(2, 5))
    axes = frame(np.array([0.0, 0.0, 1.0]), rng if rng.random() < 0.5 else None)
    rows = []
    for k in range(count):
        for arm in feet(rng, 4):
            above = None if k == 0 else k - 1
            rows.append(contact_rows(count, k, arm, axes, above, arm * np.array([1.0, 1.0, -1.0])))
    return np.vstack(rows), body_inverse_mass(rng, count)


def wedge(rng):
    """A ball or box in a groove or a corner: contacts of several normals through one body."""
    count, rows = int(rng.integers(2, 7)), []
    tilt = rng.uniform(0.2, 1.3)
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        normal = np.array(
            [np.cos(angle) * np.sin(tilt), np.sin(angle) * np.sin(tilt), np.cos(tilt)]
        )
        arm = -normal * 0.3 if rng.random() < 0.5 else rng.uniform(-0.5, 0.5, 3)
        rows.append(contact_rows(1, 0, arm, frame(normal)))
    return np.vstack(rows), body_inverse_mass(rng, 1)


def chain(rng):
    """A pendulum of the package, its links against walls: more contacts than freedoms."""
    links = int(rng.integers(1, 7))
    model = so.models.pendulum(links).model
    q = rng.uniform(-np.pi, np.pi, model.nq)
    bodies = rng.integers(0, links, int(rng.integers(1, 2 * links + 2)))
    nodes = [so.Node(f"link{k + 1}", rng.uniform(-0.3, 0.3, 3)) for k in bodies]
    angles = rng.choice([0.0, np.pi / 2, np.pi, 1.0], len(nodes))
    J, inverse_mass = so.jacobian(model, q, nodes), np.linalg.inv(so.mass_matrix(model, q))
    rows = []
    for i, angle in enumerate(angles):
        G = frame(np.array([np.cos(angle), 0.0, np.sin(angle)])) @ J[6 * i + 3 : 6 * i + 6]
        if (
            G[0] @ inverse_mass @ G[0] > 1e-6
        ):  # else at a dead centre: the simulator leaves such contacts out
            rows.append(G)
    return (np.vstack(rows), inverse_mass) if rows else box_on_plane(rng)


SCENES = (box_on_plane, boxes_on_plane, stack, wedge, chain)


def speeds(rng, motion, count):
    """Generalised velocities before contact; those of free bodies have dt g on the z axes."""
    if motion == "noise":
        return 1e-9 * rng.normal(size=count)
    if count % 6:  # a chain
        return rng.normal(size=count) * (9.81e-3 if motion == "rest" else 1.0)
    v = np.zeros(count)
    v[5::6] -= 9.81e-3
    if motion == "impact":
        v += rng.normal(size=count)
    elif motion == "slide":
        v[3::6] += rng.normal(size=v[3::6].size)
        v[4::6] += rng.normal(size=v[4::6].size)
    elif motion == "spin":
        v[2::6] += rng.normal(size=v[2::6].size)
    return v


def random_contacts(rng):
    """W (3 m, 3 m), velocities (m, 3), friction and offsets of a random scene and motion."""
    G, inverse_mass = SCENES[rng.integers(len(SCENES))](rng)
    motion = MOTIONS[rng.integers(len(MOTIONS))]
    v = speeds(rng, motion, G.shape[1])
    count = len(G) // 3
    if rng.random() < 0.3:  # the same contacts once more, or nearly
        again = rng.integers(0, count, int(rng.integers(1, 4)))
        twice = np.concatenate([G[3 * i : 3 * i + 3] for i in again])
        G = np.vstack([G, twice + rng.choice([0.0, 1e-12, 1e-6]) * rng.normal(size=twice.shape)])
        count = len(G) // 3
    mu = (
        np.full(count, rng.choice([0.0, 0.2, 0.5, 1.0, 2.0]))
        if rng.random() < 0.7
        else rng.uniform(0.0, 2.0, count)
    )
    W = G @ inverse_mass @ G.T
    u = (G @ v).reshape(-1, 3)
    if rng.random() < 0.2:  # gaps that are still open enter as speeds
        u[:, 0] += rng.choice([0.0, 1e-4, 1e-2], count)
    offset = rng.uniform(0.0, 0.1, count) if rng.random() < 0.1 else np.zeros(count)
    return 0.5 * (W + W.T), u, mu, offset


def random_contact_lcp(rng):
    """Its complementarity problem in operational space, with 2, 4 or 8 directions of friction."""
    n_f = int(rng.choice(DIRECTIONS))
    return operational_space(*random_contacts(rng), n_f)


def operational_space(W, u, mu, offset, n_f):
    """[J] 53 of contacts given by their compliance and velocities."""
    n = len(mu) * (n_f + 2)
    A, b = np.empty((n, n)), np.empty(n)
    assemble_kernel(W, u.ravel(), mu, offset, directions(n_f), A, b)
    return MixedLCP(A, b)
