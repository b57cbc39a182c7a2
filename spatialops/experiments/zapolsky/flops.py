"""Tables 1 and 2 of [Z] 6.2.3: operations that set up stage I, with and without what 6.2.2 saves.

Operations are counted as there, after R. Hunger, Floating point operations in matrix-vector
calculus (2007): a product of (a, b) and (b, c) takes 2 a b c - a c, L D L^T of n rows
n^3 / 3 + n^2 - 7 n / 3 + 1, a solution with it 2 n^2. There are m velocities, nq of them with
motors, and n contacts of k directions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from spatialops.simulation.plain_data import PlainData


class FlopSizes(NamedTuple):
    """Velocities, motors, contacts, directions of friction."""

    m: int
    nq: int
    n: int
    k: int


SIZES = (FlopSizes(18, 16, 4, 4), FlopSizes(18, 12, 4, 4))
# Sums that [Z] prints, without and with the savings, for these.
PRINTED = ((77_729, 73_163), (62_109, 102_457))


def product(a: int, b: int, c: int) -> float:
    """Of an (a, b) and a (b, c) matrix."""
    return 2.0 * a * b * c - a * c


def factors(n: int) -> float:
    """L D L^T of a symmetric matrix."""
    return n**3 / 3.0 + n * n - 7.0 * n / 3.0 + 1.0


def inverse(n: int) -> float:
    """Of a symmetric matrix: its factors, the inverse of L, and their product."""
    return factors(n) + (n**3 + 2.0 * n) / 3.0 + n**3 / 3.0 + 0.5 * n * n + n / 6.0


def table_one(of: FlopSizes) -> dict[str, float]:
    """Tasks of table 1, by the block matrix X ([Z] 63).

    As printed, but that F X^-1 F^T has n squared, with which the rows add up to the sums that the
    text prints.
    """
    m, nq, n, k = of
    size = m + nq
    solved = 2.0 * n * size * size
    return {
        "LDL^T(X)": factors(size),
        "X^-1 N^T": size + solved,
        "X^-1 F^T": size + k * solved,
        "N X^-1 N^T": 2.0 * m * n * n - m * n,
        "F X^-1 N^T": 2.0 * m * n * n * k - m * n,
        "F X^-1 F^T": 2.0 * m * n * n * k * k - m * n * k,
        "kappa": product(m, m, 1),
        "X^-1 kappa": 2.0 * size * size,
        "N X^-1 kappa": m * n - m,
        "F X^-1 kappa": m * n * k - m,
        "tau": 2.0 * size * size,
    }


def table_two(of: FlopSizes) -> dict[str, float]:
    """Tasks of 6.2.2, counted from [Z] 83-101.

    The text prints sums that are several times as large; its rows are not at hand.
    """
    m, nq, n, k = of
    nb = m - nq
    c = n * (k + 1)
    return {
        "M^-1": inverse(m),
        "E G^-1": factors(nq) + 2.0 * nb * nq * nq,
        "[D E] - E G^-1 [E^T G]": product(nb, nq, m) + nb * m,
        "Z": product(nb, m, c),
        "Z^T A Z": product(nb, nb, c) + product(c, nb, c),
        "j, k": product(m, m, 1) + m,
        "p": 2.0 * nq + product(nb, nq, 1) + nb,
        "Z^T (A p + B v)": product(nb, nb, 1) + product(nb, nq, 1) + nb + product(c, nb, 1),
        "N (Z, p; v)": product(n, nb, c) + product(n, m, 1),
        "x": product(m, c, 1) + product(nq, m, 1) + 2.0 * nq + 2.0 * nq * nq,
    }


def ours(of: FlopSizes) -> dict[str, float]:
    """What our controllers do instead: A = C C^T alone is factored, W = (G_b C^-T)(G_b C^-T)^T.

    Contacts have three rows each, whatever the directions of friction.
    """
    m, nq, n, _ = of
    nb = m - nq
    rows = 3 * n
    return {
        "C^-1": factors(nb) + (nb**3 + 2.0 * nb) / 3.0,
        "C^-1 B": nb * nb * nq,
        "G_b C^-T": rows * nb * nb,
        "W": rows * rows * nb,
        "u": 2.0 * nb * (nb + nq) + product(rows, m, 1),
        "tau": product(nq, m, 1) + product(nq, rows, 1) + nq,
    }


def tables() -> PlainData:
    """Both tables and ours for the sizes of the text, with the sums that it prints."""
    rows = []
    for of, printed in zip(SIZES, PRINTED, strict=True):
        counted = (table_one(of), table_two(of), ours(of))
        names = ("table 1", "table 2", "ours")
        for name, tasks, total in zip(names, counted, (*printed, None), strict=True):
            rows.append(
                {
                    "table": name,
                    **of._asdict(),
                    "tasks": tasks,
                    "sum": sum(tasks.values()),
                    "printed": total,
                }
            )
    return {"rows": rows}


def lines(data: PlainData, names: Collection[str]) -> list[str]:
    """Those of the names, and ours, as text."""
    found = []
    for row in data["rows"]:
        if row["table"] not in (*names, "ours"):
            continue
        sizes = f"m = {row['m']}, nq = {row['nq']}, n = {row['n']}, k = {row['k']}"
        printed = "" if row["printed"] is None else f"; [Z] prints {row['printed']:,}"
        found.append(f"{row['table']}, {sizes}: {row['sum']:,.0f} flops{printed}")
        found += [f"  {name:<26}{count:>10,.0f}" for name, count in row["tasks"].items()]
    return found
