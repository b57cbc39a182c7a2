"""Table 2 of [J] once more, in plain NumPy: how much faster OS is than NMC/OS, by own code.

    python examples/table_two.py [--rounds 30]

Nothing of the library's dynamics or formulations is used: the pendulum's poses, rows, inertias and
the complementarity problem are written out below, dense. What both contestants share with the
library is Lemke's method. As `spatialops compare` does for the library's compiled code, assembling
from a pose, rows and inertias included, solving and recovering are timed; what is the same at every
pose is made before. The ratios should differ little, since they are what the formulations cost.
"""

import argparse
import os
from collections.abc import Callable, Sequence
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
ENDS = CONTACTS // 2  # spheres that touch
# Of their velocities those that are not zero: all turning about y, then all sliding along x and z.
MOVING = [6 * i + axis for axis in (1, 3, 5) for i in range(ENDS)]
FRAMES = np.array(
    [
        [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]],
        [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
    ]
)


def moments(arms: np.ndarray) -> np.ndarray:
    """Arm x e of the unit forces along x, y, z, (m, 3, 3)."""
    made = np.zeros((len(arms), 3, 3))
    x, y, z = arms.T
    made[:, 0, 1] = z
    made[:, 0, 2] = -y
    made[:, 1, 0] = -z
    made[:, 1, 2] = x
    made[:, 2, 0] = y
    made[:, 2, 1] = -x
    return made


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
        inertia = 0.4 * self.radius**2  # of a solid sphere about its centre, per kg
        self.weights = np.tile(np.repeat([inertia, 1.0], 3), links)
        self.plane = np.repeat([inertia, 1.0, 1.0], links)
        self.carried = np.tril(np.ones((links, links)))  # by each joint
        self.contacts = self._contacts()

    def _contacts(self) -> np.ndarray:
        """Rows (3 m, 6 m / 2) at the last spheres: below, and to the right, two a sphere."""
        G = np.zeros((ENDS, 2, 3, ENDS, 6))
        arms = FRAMES @ moments(-self.radius * FRAMES[:, 0])
        for i in range(ENDS):
            G[i, :, :, ENDS - 1 - i, 3:] = FRAMES
            G[i, :, :, ENDS - 1 - i, :3] = arms
        return G.reshape(3 * CONTACTS, 6 * ENDS)

    def velocities(self) -> np.ndarray:
        """Maps joint rates to turning about y and sliding along x, z of all centres, (3, n, n)."""
        S = np.empty((3, self.n, self.n))
        S[0] = -self.carried
        S[1] = -self.carried * (self.centres[:, 2, None] - self.pins[:, 2])
        S[2] = self.carried * (self.centres[:, 0, None] - self.pins[:, 0])
        return S

    def twists(self) -> np.ndarray:
        """The same with all six rows of each body, (6 n, n): what the bodies' velocities are."""
        S = np.zeros((self.n, 6, self.n))
        S[:, [1, 3, 5]] = self.velocities().swapaxes(0, 1)
        return S.reshape(6 * self.n, self.n)

    def hinges(self) -> np.ndarray:
        """Rows (5 n, 6 n): pins stay together, and turn about y only."""
        G = np.zeros((self.n, 5, self.n, 6))
        i = np.arange(self.n)
        for child, body, sign in ((i, i, 1.0), (i[1:], i[:-1], -1.0)):
            G[child, 0, body, 0] = sign
            G[child, 1, body, 2] = sign
            G[child, 2:, body, 3:] = sign * np.eye(3)
            G[child, 2:, body, :3] = sign * moments(self.pins[child] - self.centres[body])
        return G.reshape(5 * self.n, 6 * self.n)


class Cones:
    """Directions and limits of friction behind n_b bilateral rows."""

    def __init__(self, n_b: int) -> None:
        self.n_b = n_b
        self.D = np.eye(n_b + 5 * CONTACTS, n_b + 3 * CONTACTS)
        self.D[n_b:, n_b:] = np.kron(np.eye(CONTACTS), COMBINED)
        self.E = np.kron(np.eye(CONTACTS), [[0.0], [1.0], [1.0], [1.0], [1.0]])
        self.limits = np.kron(np.eye(CONTACTS), [MU, -1.0, -1.0, -1.0, -1.0])


def next_velocity(cones: Cones, G: np.ndarray, X: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Equation 53 of rows G and X = M^-1 G*, solved, and velocities from its impulses."""
    last, n_b = len(cones.D), cones.n_b
    W = G @ X
    scale = W.diagonal()[n_b:].max()  # unknowns are speeds then
    A, b = np.zeros((last + CONTACTS, last + CONTACTS)), np.zeros(last + CONTACTS)
    A[:last, :last] = cones.D @ (W / scale) @ cones.D.T
    A[n_b:last, last:] = cones.E
    A[last:, n_b:last] = cones.limits
    b[:last] = cones.D @ (G @ velocity)
    solution = so.contact.solve(so.contact.MixedLCP(A, b, n_b), "lemke")
    assert solution.solved, solution.status.message
    return velocity + X @ (cones.D.T @ solution.z[:last]) / scale


def by_tree(pendulum: Pendulum, cones: Cones) -> np.ndarray:
    """OS: contacts alone, in joint rates, with a dense mass matrix."""
    S = pendulum.velocities()
    flat = S.reshape(-1, pendulum.n)
    M = flat.T @ (pendulum.plane[:, None] * flat)
    G = pendulum.contacts[:, MOVING] @ S[:, -ENDS:].reshape(-1, pendulum.n)
    return next_velocity(cones, G, np.linalg.solve(M, G.T), pendulum.rates)


def by_free_bodies(pendulum: Pendulum, V: np.ndarray, cones: Cones) -> np.ndarray:
    """NMC/OS: hinges and contacts, in the bodies' velocities, with a diagonal mass matrix."""
    G = np.zeros((5 * pendulum.n + 3 * CONTACTS, V.size))
    G[: cones.n_b] = pendulum.hinges()
    G[cones.n_b :, -6 * ENDS :] = pendulum.contacts
    return next_velocity(cones, G, G.T / pendulum.weights[:, None], V)


def medians(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
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
        S = pendulum.twists()
        calls = [
            partial(by_tree, pendulum, Cones(0)),
            partial(by_free_bodies, pendulum, S @ pendulum.rates, Cones(5 * n)),
        ]
        rates, V = (call() for call in calls)
        apart = np.abs(S @ rates - V).max()
        spent = medians(calls, rounds)
        ratios[n] = spent[1] / spent[0]
        print(
            f"{n:>5}{1e6 * spent[0]:>10.0f}{1e6 * spent[1]:>11.0f}{ratios[n]:>8.1f}{apart:>23.0e}"
        )
    return ratios


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    main(rounds=parser.parse_args().rounds)
