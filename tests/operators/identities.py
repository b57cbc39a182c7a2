"""The identities of the appendix of [J] on random trees, each with how far its sides are apart.

`python -m tests.operators.identities` prints the worst of 200 trees, as docs/operators.md has it.

A side is a product or a sum of operators, and its rounding is that of what is added up on the way:
entries of |A| |B| ... for A B ..., which bounds the error of any product by a small multiple of
machine precision (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.13). That
is the size of the operators. It is larger than the product's largest entry where terms cancel, as
in M^-1 M = 1, by up to the condition number.
"""

from __future__ import annotations

import numpy as np

import spatialops as so
from spatialops.operators import SpatialOperators, dense
from tests.support.trees import KINDS, random_nodes, random_tree

# Joints that trees have besides one of each kind: 30 links in all.
AGAIN = ("revolute", "revolute", "prismatic", "screw", "cylindrical", "universal", "planar")
ROUTES = ("recursion", "propagation", "mass-matrix")
BY_RECURSION = "Lambda = B* Omega B by recursion"
BY_PROPAGATION = "Lambda = [...]* D^-1 [1 - H psi K] H phi B by propagation"
# Where terms cancel by the condition number of M, so that the largest entry is no measure:
CONDITIONED = ("M^-1 M = 1", "Lambda = J M^-1 J* by Cholesky", BY_RECURSION, BY_PROPAGATION)


class Side:
    """A matrix, and the size of what was added up to make it."""

    def __init__(self, value, size=None):
        self.value = value
        self.size = np.abs(value) if size is None else size

    def __matmul__(self, other):
        return Side(self.value @ other.value, self.size @ other.size)

    def __add__(self, other):
        return Side(self.value + other.value, self.size + other.size)

    def __sub__(self, other):
        return Side(self.value - other.value, self.size + other.size)

    @property
    def T(self):
        return Side(self.value.T, self.size.T)

    def blocks(self):
        """The diagonal blocks of six rows and columns."""
        here = np.kron(np.eye(len(self.value) // 6), np.ones((6, 6)))
        return Side(self.value * here, self.size * here)


def apart(left, right):
    """Largest difference over the size of the operators, and over the largest entry."""
    difference = np.abs(left.value - right.value).max()
    size = max(left.size.max(), right.size.max())
    entry = max(np.abs(left.value).max(), np.abs(right.value).max())
    return float(difference / size), float(difference / entry)


def tree(rng):
    """A tree of 30 links: every kind of joint, in any order; with or without armature."""
    kinds = [str(kind) for kind in rng.permutation([*KINDS, *AGAIN])]
    return random_tree(rng, len(kinds), kinds, each=True, armature=bool(rng.integers(2)))


def identities(op, q, nodes):
    """Both sides of every identity of the operators at `q`, by name."""
    model = op.model
    sides = factorisations(op, Side(so.mass_matrix(model, q)))
    sides |= propagations(op)
    sides |= recursions(op)
    J = Side(so.jacobian(model, q, nodes))
    routes = {name: Side(so.compliance(model, q, nodes, method=name)) for name in ROUTES}
    return sides | compliances(op, nodes, J) | by_routes(op, nodes, J, routes)


def factorisations(op, mass):
    """Equation 59, with `mass` from the composite-body kernel."""
    H, phi, psi, K = matrices(op, "H phi psi K")
    one, D, D_inverse = matrices(op, "identity D D_inverse")
    factor = one + H @ phi @ K
    innovation = one - H @ psi @ K
    inverse = innovation.T @ D_inverse @ innovation
    M, armature, root = matrices(op, "M armature square_root")
    return {
        "M = H phi M phi* H* + armature": (mass, H @ phi @ M @ phi.T @ H.T + armature),
        "M = [1 + H phi K] D [1 + H phi K]*": (mass, factor @ D @ factor.T),
        "[1 + H phi K] [1 - H psi K] = 1": (factor @ innovation, one),
        "M^-1 M = 1": (inverse @ mass, one),
        "M^-1 = [1 - H psi K]* D^-1 [1 - H psi K]": (Side(dense(op.mass_matrix_inverse)), inverse),
        "M = square root by its adjoint": (mass, root @ root.T),
    }


def propagations(op):
    """How phi, psi, their steps and K go together."""
    H, phi, psi, K = matrices(op, "H phi psi K")
    E_phi, E_psi, G, tau_bar = matrices(op, "E_phi E_psi G tau_bar")
    one, unit = matrices(op, "identity")[0], Side(np.eye(len(phi.value)))
    return {
        "phi (1 - E_phi) = 1": (phi @ (unit - E_phi), unit),
        "psi (1 - E_psi) = 1": (psi @ (unit - E_psi), unit),
        "psi^-1 = phi^-1 + K H": (Side(dense(op.psi.inv)), Side(dense(op.phi.inv)) + K @ H),
        "phi - psi = phi K H psi": (phi - psi, phi @ K @ H @ psi),
        "phi - psi = psi K H phi": (phi - psi, psi @ K @ H @ phi),
        "[1 - H psi K] H phi = H psi": ((one - H @ psi @ K) @ H @ phi, H @ psi),
        "phi K [1 - H psi K] = psi K": (phi @ K @ (one - H @ psi @ K), psi @ K),
        "E_psi = E_phi (1 - G H)": (E_psi, E_phi @ tau_bar),
        "K = E_phi G": (K, E_phi @ G),
    }


def recursions(op):
    """The equations of Riccati and Lyapunov, of P and of Upsilon."""
    H, M, P, D, armature = matrices(op, "H M P D armature")
    E_phi, E_psi, G, D_inverse = matrices(op, "E_phi E_psi G D_inverse")
    phi, psi, K = matrices(op, "phi psi K")
    upsilon = matrices(op, "upsilon")[0]
    unit = Side(np.eye(len(phi.value)))
    tilde = phi - unit
    joseph = M + E_psi @ P @ E_psi.T + K @ armature @ K.T
    return {
        "P = M + E_psi P E_phi*": (P, M + E_psi @ P @ E_phi.T),
        "P = M + E_psi P E_psi* + K armature K*": (P, joseph),
        "phi M phi* = P + phi~ P + P phi~* + phi K D K* phi*": (
            phi @ M @ phi.T,
            P + tilde @ P + P @ tilde.T + phi @ K @ D @ K.T @ phi.T,
        ),
        "D = H P H* + armature": (D, H @ P @ H.T + armature),
        "G D = P H*": (G @ D, P @ H.T),
        "Upsilon = H* D^-1 H + diag [E_psi* Upsilon E_psi]": (
            upsilon,
            H.T @ D_inverse @ H + (E_psi.T @ upsilon @ E_psi).blocks(),
        ),
        "Upsilon = diag [psi* H* D^-1 H psi]": (
            upsilon,
            (psi.T @ H.T @ D_inverse @ H @ psi).blocks(),
        ),
    }


def compliances(op, nodes, J):
    """Omega and its parts; `J` by its own kernel."""
    H, phi, psi = matrices(op, "H phi psi")
    D_inverse, upsilon, Omega = matrices(op, "D_inverse upsilon Omega")
    B = Side(dense(op.B(nodes)))
    psi_tilde = psi - Side(np.eye(len(psi.value)))
    return {
        "J = B* phi* H*": (J, B.T @ phi.T @ H.T),
        "Omega = psi* H* D^-1 H psi": (Omega, psi.T @ H.T @ D_inverse @ H @ psi),
        "Omega = Upsilon + psi~* Upsilon + Upsilon psi~ + R": (
            Omega,
            upsilon + psi_tilde.T @ upsilon + upsilon @ psi_tilde + Side(others(op)),
        ),
    }


def by_routes(op, nodes, J, routes):
    """Lambda of nodes by the three routes of `so.compliance`, each beside operators.

    Routes have articulated inertias of their own, rounded otherwise than those that Omega is made
    of: what both are off by is a share of what cancels in [1 - H psi K] H phi B.
    """
    H, phi, psi, K, D_inverse = matrices(op, "H phi psi K D_inverse")
    one, inverse, Omega = matrices(op, "identity mass_matrix_inverse Omega")
    B, mass = Side(dense(op.B(nodes))), matrices(op, "mass_matrix")[0]
    half = (one - H @ psi @ K) @ H @ phi @ B
    answers, by_halves = J @ inverse, half.T @ D_inverse @ half
    return {
        BY_RECURSION: (
            routes["recursion"],
            Side((B.T @ Omega @ B).value, by_halves.size),
        ),
        BY_PROPAGATION: (routes["propagation"], by_halves),
        "Lambda = J M^-1 J* by Cholesky": (routes["mass-matrix"], answers @ mass @ answers.T),
    }


def others(op):
    """R: blocks of Omega, by equation 69, of links neither of which carries the other."""
    n = op.model.nv
    carries = np.array([[op.phi_block(i, j).any() for j in range(n)] for i in range(n)])
    blocks = np.zeros((n, 6, n, 6))
    for i, j in np.argwhere(~(carries | carries.T)):
        blocks[i, :, j] = op.omega(int(i), int(j))
    return blocks.reshape(6 * n, 6 * n)


def matrices(op, names):
    """Operators as matrices, by their names."""
    return [Side(dense(getattr(op, name))) for name in names.split()]


def worst(trees, seed=17):
    """Of each identity the worst two figures of so many random trees."""
    rng = np.random.default_rng(seed)
    figures = {}
    for _ in range(trees):
        model = tree(rng)
        nodes = random_nodes(rng, model, 4, world=True)
        q = model.random(rng)
        for name, sides in identities(SpatialOperators(model, q), q, nodes).items():
            figures[name] = np.maximum(figures.get(name, 0.0), apart(*sides))
    return {
        name: (float(by_size), float(by_entry)) for name, (by_size, by_entry) in figures.items()
    }


def main():
    """Print the worst figures."""
    print("apart by, over the size of the operators and over the largest entry")
    for name, (by_size, by_entry) in worst(200).items():
        print(f"{by_size:8.1e} {by_entry:8.1e}  {name}")


if __name__ == "__main__":
    main()
