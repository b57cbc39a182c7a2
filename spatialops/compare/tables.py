"""The comparison in words: tables like 1 and 2 of [J], the fits, CSV and plain data."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields

import numpy as np

from spatialops.bench.measure import Quartiles
from spatialops.compare.inverse_products import BAR, FORMS, InverseProduct
from spatialops.compare.measure import GENERAL, Fit, Row
from spatialops.compare.plain import ALL_DENSE, PlainRow
from spatialops.compare.scaling import Growth
from spatialops.compare.simulations import Simulation

# [J] table 2: "paper's speed-up of OS over NMC/OS", and table 1: sizes of the dual-arm problem.
PAPER_SPEEDUP = {3: 3.6, 6: 6.5, 12: 16.1, 15: 25.6, 24: 49.7, 30: 55.6}
PAPER_DUAL_ARM = {"nmc": 310, "mc": 50, "rmc": 24, "os": 24}
_HEAD = (
    f"{'formulation':<12}{'solver':<8}{'rows':>6}{'free':>6}{'assemble':>10}{'solve':>11}"
    f"{'recover':>9}{'total us':>11}{'pivots':>8}{'residual':>10}{'|dv|':>9}"
)


def case_table(title: str, rows: Sequence[Row]) -> str:
    """All formulations of one problem."""
    lines = [title, _HEAD]
    for row in rows:
        if not row.solved:
            lines.append(f"{row.formulation:<12}{row.solver:<8}{row.size or '':>6}  {row.message}")
            continue
        lines.append(
            f"{row.formulation:<12}{row.solver:<8}{row.size:>6}{row.n_free:>6}{row.assemble:>10.0f}{row.solve:>11.0f}"
            f"{row.recover:>9.0f}{row.total:>11.0f}{row.pivots:>8}{row.residual:>10.0e}{row.difference:>9.0e}"
        )
    return "\n".join(lines)


def size_table(rows: Iterable[Row], formulations: Sequence[str]) -> str:
    """Rows of the LCP for each number of links: the upper half of table 2."""
    sizes = {(row.formulation, row.links): row.size for row in rows if row.size}
    links = sorted({n for _, n in sizes})
    lines = ["LCP rows", _links_head(links)]
    for name in formulations:
        lines.append(f"{name:<34}" + "".join(f"{sizes.get((name, n), '-'):>9}" for n in links))
    return "\n".join(lines)


def speedup_table(rows: Sequence[Row], other: str = "nmc/os", base: str = "os") -> str:
    """How many times faster one formulation is than another, beside the paper's figures."""
    links = sorted({row.links for row in rows})
    general = {n: _ratio(rows, n, other, base, GENERAL) for n in links}
    best = {n: _ratio(rows, n, other, base, None) for n in links}
    first = next((n for n in links if math.isfinite(best[n])), None)
    growth = {n: best[n] / best[first] if first else math.nan for n in links}
    growth_general = {n: general[n] / general[first] if first else math.nan for n in links}
    spread = {n: _quartiles(rows, n, other, base, GENERAL) for n in links}
    slopes = {name: _slope(rows, links, name) for name in (other, base)}
    lines = [
        f"How many times faster {base} is than {other} (assemble + solve + recover)",
        _links_head(links),
        _line("paper", {n: PAPER_SPEEDUP.get(n, math.nan) for n in links}),
        _line(f"1. both with dense {GENERAL}", general),
        _line("   lower quartile of the rounds", {n: q.lower for n, q in spread.items()}),
        _line("   upper quartile", {n: q.upper for n, q in spread.items()}),
        _line("2. each with its best solver", best),
        _line("3. growth with n: of 1.", growth_general),
        _line("                  of 2.", growth),
        f"   best solvers, per further link {slopes[other]:.1f} us and {slopes[base]:.2f} us: "
        f"{slopes[other] / slopes[base]:.0f} times",
        f"(a dense solver is not tried above {ALL_DENSE} rows)",
    ]
    return "\n".join(lines)


def fit_lines(links: Fit, contacts: Fit) -> str:
    """The cost of assembling OS, as fitted."""
    a, b = links.coefficients
    c, d, e = contacts.coefficients
    return (
        f"OS assembly over links n:    {a:.1f} + {b:.3f} n us{_quality(links)}\n"
        f"OS assembly over contacts m: {c:.1f} + {d:.2f} m + {e:.3f} m^2 us{_quality(contacts)}"
    )


def growth_lines(growths: Sequence[Growth]) -> str:
    """How costs grow: times and exponents."""
    lines = []
    for growth in growths:
        times = ", ".join(
            f"{count}: {time:.0f}" for count, time in zip(growth.counts, growth.times, strict=True)
        )
        slopes = " ".join(f"{slope:.2f}" for slope in growth.slopes)
        lines.append(
            f"{growth.what:<24} over {growth.over:<9} exponent {growth.exponent:.2f}"
            f"{_bar(growth):<29} us: {times}; from one to the next {slopes}"
        )
    return "\n".join(lines)


def inverse_table(products: Sequence[InverseProduct]) -> str:
    """M^-1 x over forward dynamics, by the number of links; with the bar of `mass_solve`."""
    links = [product.links for product in products]
    lines = [
        f"M^-1 x over so.forward_dynamics at the same q, chains (mass_solve at most {BAR:g}: "
        f"{'holds' if all(product.passed for product in products) else 'MISSED'})",
        _links_head(links),
        _line("forward dynamics, us", {product.links: product.us for product in products}),
    ]
    for form in FORMS:
        shown = "".join(f"{product.ratios[form].median:>9.2f}" for product in products)
        lines.append(f"{form:<34}{shown}")
    return "\n".join(lines)


def _bar(growth: Growth) -> str:
    if growth.bar is None:
        return ""
    held = "holds" if growth.passed else "MISSED"
    return f" (bar {growth.bar[0]:.2f} to {growth.bar[1]:.2f}: {held})"


def _quality(fit: Fit) -> str:
    return f"  (rms error of the fit {100.0 * fit.unexplained:.1f} %)"


def as_csv(rows: Sequence[Row]) -> str:
    """All rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        fieldnames=[*(item.name for item in fields(Row) if item.name != "rounds"), "total"],
        extrasaction="ignore",
        lineterminator="\n",
    )
    writer.writeheader()
    writer.writerows(asdict(row) | {"total": row.total} for row in rows)
    return text.getvalue()


def as_data(rows: Sequence[Row]) -> list[dict[str, object]]:
    """All rows as plain data; what was not measured is None."""
    return [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in (asdict(row) | {"total": row.total}).items()
        }
        for row in rows
    ]


def best_total(rows: Iterable[Row], links: int, formulation: str, solver: str | None) -> float:
    """Total time (us) with one solver, or with the fastest; NaN where none solved."""
    totals = [
        row.total
        for row in rows
        if row.links == links
        and row.formulation == formulation
        and row.solved
        and solver in (None, row.solver)
    ]
    return min(totals, default=math.nan)


def _ratio(rows: Sequence[Row], links: int, other: str, base: str, solver: str | None) -> float:
    return best_total(rows, links, other, solver) / best_total(rows, links, base, solver)


def _quartiles(rows: Sequence[Row], links: int, other: str, base: str, solver: str) -> Quartiles:
    """Of the ratios within the rounds, in which both took turns."""
    rounds = {
        row.formulation: np.array(row.rounds)
        for row in rows
        if row.links == links and row.solver == solver and row.solved
    }
    if other not in rounds or base not in rounds:
        return Quartiles(math.nan, math.nan, math.nan)
    return Quartiles.of(rounds[other] / rounds[base])


def ablation_table(rows: Sequence[PlainRow], other: str = "nmc/os", base: str = "os") -> str:
    """Costs in plain NumPy, and the ratio of two formulations."""
    links = sorted({row.links for row in rows})
    totals = {(row.formulation, row.links): row for row in rows}
    lines = [
        "The same in plain dense NumPy, rows and inertias given: assemble, solve, recover (us)",
        _links_head(links),
    ]
    for name in dict.fromkeys(row.formulation for row in rows):
        for part in ("assemble", "solve", "recover"):
            values = {
                n: getattr(totals[name, n], part) if (name, n) in totals else math.nan
                for n in links
            }
            lines.append(_line(f"{name}, {part}", values))
    both = {
        n: totals[other, n].total / totals[base, n].total
        for n in links
        if (other, n) in totals and (base, n) in totals
    }
    lines.append(_line(f"{base} faster than {other}", both))
    return "\n".join(lines)


def simulation_table(runs: Sequence[Simulation]) -> str:
    """Table 2 as whole simulations, all in compiled loops."""
    names = tuple(runs[0].lemke)
    lines = [
        "Whole simulations, us a step, in compiled loops: os and nmc/os (free bodies in every",
        "step) by the loop's own solver; then each formulation's problems by the same dense Lemke",
        f"{'pendulum':<9}{'links':>6}{'contacts':>9}{'problems':>9}{'os':>7}{'nmc/os':>8}{'times':>7}"
        + "".join(f"{name:>8}" for name in names)
        + f"{'times':>7}{'apart':>9}",
    ]
    for run in runs:
        loops, lemke = run.loops, run.lemke
        ratio = loops["nmc/os"] / loops["os"]
        lines.append(
            f"{run.what:<9}{run.links:>6}{run.contacts:>9}{run.problems:>9}{loops['os']:>7.1f}"
            + (
                f"{loops['nmc/os']:>8.0f}{ratio:>7.1f}"
                if math.isfinite(ratio)
                else f"{'-':>8}{'-':>7}"
            )
            + "".join(f"{lemke[name]:>8.1f}" for name in names)
            + f"{lemke['nmc/os'] / lemke['os']:>7.1f}{run.difference:>9.0e}"
            + (f"  ({run.unsolved} left to Python)" if run.unsolved else "")
        )
    return "\n".join(lines)


def _slope(rows: Sequence[Row], links: Sequence[int], formulation: str) -> float:
    """Least-squares growth of the best total, us a link."""
    totals = {n: best_total(rows, n, formulation, None) for n in links}
    known = [n for n in links if math.isfinite(totals[n])]
    return (
        Fit.of(known, [totals[n] for n in known], 1).coefficients[1] if len(known) > 1 else math.nan
    )


def _links_head(links: Sequence[int]) -> str:
    return f"{'links':<34}" + "".join(f"{n:>9}" for n in links)


def _line(label: str, values: dict[int, float]) -> str:
    return f"{label:<34}" + "".join(
        f"{v:>9.1f}" if math.isfinite(v) else f"{'-':>9}" for v in values.values()
    )
