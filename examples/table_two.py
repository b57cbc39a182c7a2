"""Table 2 of [J] once more, in plain NumPy: how much faster OS is than NMC/OS, by own code.

    python examples/table_two.py [--rounds 30]

Nothing of the library's dynamics or formulations is used: the pendulum's poses, rows, inertias and
the complementarity problem are written out below, dense. What both contestants share with the
library is Lemke's method. Rows and inertias are given; assembling, solving and recovering are
timed. `spatialops compare` prints the same ratios for the library's compiled code, rows included;
they should differ little, since they are what the formulations cost.
"""

import argparse
import os
from collections.abc import Callable
from functools import partial
from time import thread_time
from timeit import repeat, timeit

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # several threads only wait for each other

import numpy as np

import spatialops as so

LENGTH = 12.0  # m, of all links together
MU = 0.5
FACETS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
COMBINED = np.block([[np.ones((1, 1)), np.zeros((1, 2))], [np.zeros((4, 1)), FACETS]])
CONTACTS = 4


class Pendulum:
    """Spheres of 1 kg on pins about -y, links in line at 45 degrees, given in world axes."""

    def __init__(self, links: int) -> None:
        self.n = links
        self.link = LENGTH / links
        self.radius = self.link / 2.0
        down = np.array([-np.sqrt(0.5), 0.0, -np.sqrt(0.5)])
        self.pins = np.outer(np.arange(links), self.link * down)
        self.centres = self.pins + self.radius * down
        self.rates = np.linspace(1.0, 2.0, links) * np.where(np.arange(links) % 3 == 2, -1.0, 1.0)
        self.inertia = 0.4 * self.radius**2  # of a solid sphere about its centre, per kg

    def velocities(self) -> np.ndarray:
        """Maps joint rates to [angular; linear] of all centres, (6 n, n)."""
        S = np.zeros((self.n, 6, self.n))
        lower = np.tril(np.ones((self.n, self.n)))
        arms = self.centres[:, None] - self.pins[None]
        S[:, 1] = -lower
        S[:, 3] = -lower * arms[:, :, 2]
        S[:, 5] = lower * arms[:, :, 0]
        return S.reshape(6 * self.n, self.n)

    def contacts(self) -> np.ndarray:
        """Rows (3 m, 6 n) at the last spheres: below, and to the right, two a sphere."""
        G = np.zeros((3 * CONTACTS, 6 * self.n))
        frames = np.array([[[0, 0, 1], [0, -1, 0], [1, 0, 0]], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]])
        for i in range(CONTACTS):
            body, frame = self.n - 1 - i // 2, frames[i % 2].astype(float)
            G[3 * i : 3 * i + 3, 6 * body + 3 : 6 * body + 6] = frame
            arm = -self.radius * frame[0]
            G[3 * i : 3 * i + 3, 6 * body : 6 * body + 3] = np.cross(arm, frame)
        return G

    def hinges(self) -> np.ndarray:
        """Rows (5 n, 6 n): pins stay together, and turn about y only."""
        G = np.zeros((self.n, 5, self.n, 6))
        for body in range(self.n):
            for other, sign in ((body, 1.0), (body - 1, -1.0)):
                if other >= 0:
                    arm = self.pins[body] - self.centres[other]
                    G[body, 0, other, 0] = sign
                    G[body, 1, other, 2] = sign
                    G[body, 2:, other, 3:] = sign * np.eye(3)
                    G[body, 2:, other, :3] = sign * np.cross(arm, np.eye(3))
        return G.reshape(5 * self.n, 6 * self.n)

    def weights(self) -> np.ndarray:
        """The bodies' inertias, all diagonal."""
        return np.tile(np.repeat([self.inertia, 1.0], 3), self.n)


class Rows:
    """Rows of one formulation, what the mass matrix makes of them, and their velocities."""

    def __init__(self, G: np.ndarray, M: np.ndarray, velocity: np.ndarray, n_b: int) -> None:
        self.G = G
        self.M = M
        self.velocity = velocity
        self.n_b = n_b
        self.D = np.eye(n_b + 5 * CONTACTS, n_b + 3 * CONTACTS)
        self.D[n_b:, n_b:] = np.kron(np.eye(CONTACTS), COMBINED)
        self.E = np.kron(np.eye(CONTACTS), [[0.0], [1.0], [1.0], [1.0], [1.0]])
        self.cones = np.kron(np.eye(CONTACTS), [MU, -1.0, -1.0, -1.0, -1.0])


def next_velocity(rows: Rows) -> np.ndarray:
    """Equation 53 assembled, solved, and velocities recovered from its impulses."""
    last, n_b = len(rows.D), rows.n_b
    X = np.linalg.solve(rows.M, rows.G.T) if rows.M.ndim == 2 else rows.G.T / rows.M[:, None]
    W = rows.G @ X
    scale = W.diagonal()[n_b:].max()  # unknowns are speeds then
    A, b = np.zeros((last + CONTACTS, last + CONTACTS)), np.zeros(last + CONTACTS)
    A[:last, :last] = rows.D @ (W / scale) @ rows.D.T
    A[n_b:last, last:] = rows.E
    A[last:, n_b:last] = rows.cones
    b[:last] = rows.D @ (rows.G @ rows.velocity)
    solution = so.contact.solve(so.contact.MixedLCP(A, b, n_b), "lemke")
    assert solution.solved, solution.status.message
    return rows.velocity + X @ (rows.D.T @ solution.z[:last]) / scale


def tree(pendulum: Pendulum) -> Rows:
    """OS: contacts alone, in joint rates, with a dense mass matrix."""
    S = pendulum.velocities()
    M = S.T @ (pendulum.weights()[:, None] * S)
    return Rows(pendulum.contacts() @ S, M, pendulum.rates, 0)


def free_bodies(pendulum: Pendulum) -> Rows:
    """NMC/OS: hinges and contacts, in the bodies' velocities, with a diagonal mass matrix."""
    G = np.concatenate([pendulum.hinges(), pendulum.contacts()])
    V = pendulum.velocities() @ pendulum.rates
    return Rows(G, pendulum.weights(), V, 5 * pendulum.n)


def medians(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """Median seconds of calls that take turns, in blocks of some 2 ms."""
    repeats = [max(1, round(2e-3 / min(repeat(call, number=1, repeat=3)))) for call in calls]
    spent = np.empty((rounds, len(calls)))
    for i in range(rounds):
        for j, call in enumerate(calls):
            spent[i, j] = timeit(call, timer=thread_time, number=repeats[j]) / repeats[j]
    return [float(median) for median in np.median(spent, axis=0)]


def main(links: tuple[int, ...] = (3, 6, 12, 15, 24, 30), rounds: int = 30) -> dict[int, float]:
    """Print a line a pendulum; returns how many times faster OS is."""
    ratios = {}
    print(f"{'links':>5}{'OS us':>10}{'NMC/OS us':>11}{'times':>8}{'velocities differ by':>23}")
    for n in links:
        pendulum = Pendulum(n)
        one, other = tree(pendulum), free_bodies(pendulum)
        rates, V = next_velocity(one), next_velocity(other)
        apart = np.abs(pendulum.velocities() @ rates - V).max()
        spent = medians([partial(next_velocity, rows) for rows in (one, other)], rounds)
        ratios[n] = spent[1] / spent[0]
        print(
            f"{n:>5}{1e6 * spent[0]:>10.0f}{1e6 * spent[1]:>11.0f}{ratios[n]:>8.1f}{apart:>23.0e}"
        )
    return ratios


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    main(rounds=parser.parse_args().rounds)
