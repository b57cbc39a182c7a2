"""The comparison: its cases, its rows, its tables, and its command."""

import csv
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import spatialops as so
from spatialops.bench.measure import Effort
from spatialops.cli import main
from spatialops.compare import tables
from spatialops.compare.measure import Fit, assembly_costs, compare
from spatialops.compare.problems import dual_arm_case, named_case, pendulum_case
from spatialops.contact.formulations import FORMULATIONS
from spatialops.errors import ArgumentError, AssetError
from tests.support.contacts import random_problem

FAST = Effort(rounds=3, block=1e-5)


@pytest.mark.compiled
def test_every_formulation_gets_a_row_and_all_agree():
    rows = compare(dual_arm_case(), effort=FAST)
    assert [(row.formulation, row.solver) for row in rows] == [
        (f, s) for f in FORMULATIONS for s in ("lemke", "auto")
    ]
    assert {row.formulation: row.size for row in rows} == {
        "nmc": 310,
        "mc": 50,
        "rmc": 24,
        "os": 24,
        "nmc/os": 154,
        "trinkle": 284,
    }
    for row in rows:
        assert row.solved
        assert row.residual <= 1e-9
        assert row.difference <= 1e-8
        assert row.total == pytest.approx(row.assemble + row.solve + row.recover)
        assert min(row.assemble, row.solve, row.recover) > 0.0


def test_what_cannot_be_stated_says_why(rng):
    builder = so.TreeBuilder()
    builder.add_body("light", joint=so.Joint("revolute", axis="y", armature=0.1))
    builder.add_body(
        "tip", parent="light", joint=so.Joint("prismatic"), inertia=so.Inertia.sphere(0.1, mass=1.0)
    )
    model = builder.build()
    from spatialops.compare.problems import Case, touching

    problem = touching(
        model, np.zeros(2), np.ones(2), [so.Node("tip")], [(0.0, 0.0, 1.0)], radius=0.1
    )
    rows = {
        row.formulation: row
        for row in compare(Case("light", problem), ("os", "nmc/os"), ("auto",), effort=FAST)
    }
    assert rows["os"].solved
    assert not rows["nmc/os"].solved
    assert "'light'" in rows["nmc/os"].message
    assert "'light'" in tables.case_table("light", list(rows.values()))


def test_speedups_and_sizes():
    rows = [row for n in (3, 6) for row in compare(pendulum_case(n), ("os", "nmc/os"), effort=FAST)]
    text = tables.size_table(rows, ("os", "nmc/os"))
    assert text.splitlines()[2].split() == ["os", "24", "24"]
    assert text.splitlines()[3].split() == ["nmc/os", "39", "54"]
    expected = tables.best_total(rows, 6, "nmc/os", "lemke") / tables.best_total(
        rows, 6, "os", "lemke"
    )
    line = next(line for line in tables.speedup_table(rows).splitlines() if line.startswith("1."))
    assert float(line.split()[-1]) == pytest.approx(expected, abs=0.06)
    assert "3.6" in tables.speedup_table(rows)
    assert math.isnan(tables.best_total(rows, 4, "os", None))


def test_fits_find_what_is_there():
    counts = (1, 2, 4, 8, 16)
    fit = Fit.of(counts, [3.0 + 2.0 * n + 0.5 * n * n for n in counts], 2)
    assert fit.coefficients == pytest.approx((3.0, 2.0, 0.5))
    assert fit.unexplained < 1e-10
    rough = Fit.of(counts, [3.0 + 2.0 * n + 0.5 * n * n for n in counts], 1)
    assert rough.unexplained > 0.05
    times = assembly_costs([pendulum_case(n) for n in (3, 30)], effort=FAST)
    assert len(times) == 2
    assert min(times) > 0.0


def test_cases_by_name(tmp_path, rng):
    assert named_case("pendulum:5").links == 5
    assert named_case("pendulum").links == 12
    assert named_case("dual-arm").problem.n_contacts == 4
    path = random_problem(rng, 2).save(tmp_path / "mine.npz")
    case = named_case(str(path))
    assert (case.name, case.problem.n_contacts) == ("mine", 2)
    for wrong in ("pendulum:x", "pendulum:1", "robot", "pendulum:-3"):
        with pytest.raises(ArgumentError, match="scene"):
            named_case(wrong)
    with pytest.raises(AssetError):
        named_case("missing.npz")


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_command(tmp_path, rng):
    path = random_problem(rng, 2, armature=False).save(tmp_path / "mine.npz")
    out = tmp_path / "out"
    table = tmp_path / "rows.csv"
    scenes = ("--scene", str(path), "--scene", "pendulum:3", "--scene", "pendulum:4")
    files = ("--out", str(out), "--csv", str(table))
    done = run("compare", *scenes, "--quick", "--json", "--formulations", "os,mc", *files)
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert len(data["rows"]) == 3 * 2 * 2
    assert data["unsolved"] == 0
    assert {row["case"] for row in data["rows"]} >= {"mine"}
    assert sorted(item.name for item in out.iterdir()) == [
        "compare.csv",
        "compare.json",
        "compare.png",
        "compare.txt",
    ]
    assert len(list(csv.DictReader(table.open()))) == len(data["rows"])
    assert "|dv|" in (out / "compare.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--formulations", "os,osc"), "osc"),
        (("--solvers", "auto,guess"), "guess"),
        (("--scene", "robot"), "scene"),
        (("--scene", "pendulum:3", "--n-f", "3"), "n_f"),
    ],
)
def test_command_refuses(arguments, named):
    done = run("compare", "--quick", *arguments)
    assert done.exit_code != 0
    assert named in done.output


def test_solve_command(tmp_path, rng):
    problem = random_problem(rng, 2, loops=1, armature=False)
    path = str(problem.save(tmp_path / "contact.npz"))
    slips = []
    for formulation in FORMULATIONS:
        done = run("solve", path, "--formulation", formulation, "--solver", "auto", "--json")
        assert done.exit_code == 0, done.output
        data = json.loads(done.stdout)
        assert data["solved"]
        assert data["residual"] <= 1e-9
        slips.append(data["slip"])
    assert np.allclose(slips, slips[0], rtol=0.0, atol=1e-8)
    lcp = str(so.contact.MixedLCP([[2.0]], [-4.0]).save(tmp_path / "lcp.npz"))
    done = run("solve", lcp, "--solver", "lemke")
    assert done.exit_code == 0
    assert "solved" in done.output
    unsolvable = str(so.contact.MixedLCP([[0.0]], [-1.0]).save(tmp_path / "none.npz"))
    done = run("solve", unsolvable, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["solved"] is False
    (tmp_path / "text.npz").write_text("nothing")
    for arguments in (
        (str(tmp_path / "text.npz"),),
        (path, "--formulation", "osc"),
        (path, "--solver", "guess"),
    ):
        done = run("solve", *arguments)
        assert done.exit_code != 0
        assert "Error" in done.output
