"""Contacts counted and problems solved, by the same command."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from spatialops.bench.contacts.cases import CASES
from spatialops.bench.contacts.page import BEGIN, END
from spatialops.bench.engines import contact_counts, plots, tables
from spatialops.bench.engines.adapters.ours import Ours
from spatialops.bench.engines.command import engines
from spatialops.bench.engines.measure import Result
from spatialops.bench.engines.parts import Report
from spatialops.bench.engines.problems import measure, ours, sets
from spatialops.bench.engines.registry import SOLVERS
from spatialops.bench.measure import BenchError
from tests.bench.engines.toy import Flight

FOUND = sorted(SOLVERS.field().entrants)


class Liar:
    name = "liar"
    module = "numpy"
    distribution = "numpy"

    def solve(self, matrix, vector):
        return np.zeros(len(vector))


class Raises(Liar):
    name = "raises"

    def solve(self, matrix, vector):
        if len(vector) > 2:
            raise ZeroDivisionError("no pivot")
        return None


def test_families_have_the_solution_that_they_promise():
    for n in (4, 9):
        last = np.zeros(n)
        last[-1] = 1.0
        assert measure.residual(sets.murty(n), last) == 0.0
        problem = sets.fathi(n)
        assert np.linalg.eigvalsh(problem.matrix).min() > 0.0
        assert np.linalg.matrix_rank(sets.semidefinite(n).matrix) == n // 2


def test_the_residual_is_of_all_three_conditions():
    problem = sets.Problem("", "", np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0]))
    z = np.array([4.0, 7.0]) / 3.0
    assert measure.residual(problem, z) == pytest.approx(0.0, abs=1e-15)
    for wrong in (z * [-1.0, 1.0], z * 1.1, np.zeros(2)):
        assert measure.residual(problem, wrong) > 0.01


@pytest.mark.compiled
@pytest.mark.parametrize("name", FOUND)
def test_solvers_that_are_here_solve_the_small_ones(name):
    solver = SOLVERS.find(name)
    problems = [sets.murty(6), sets.fathi(6), sets.semidefinite(6), sets.tower(1)]
    rows = list(measure.run({name: solver}, problems))
    assert [row.verdict for row in rows] == 4 * ["solved"]
    assert all(row.time_us > 0.0 for row in rows)


def test_who_claims_what_is_none_is_wrong_and_who_raises_has_failed():
    good = sets.murty(4)
    none = sets.Problem("none", "none", -np.eye(3), -np.ones(3), solvable=False)
    rows = {
        (row.solver, row.problem): row
        for row in measure.run({"liar": Liar(), "raises": Raises()}, [good, none])
    }
    assert rows["liar", "Murty 4"].verdict == "wrong"
    assert rows["liar", "none"].verdict == "wrong"
    assert rows["raises", "Murty 4"].verdict == "failed"
    assert rows["raises", "Murty 4"].note == "fails: ZeroDivisionError: no pivot"
    assert rows["raises", "none"].verdict == "no solution"
    text = tables.solvers(list(rows.values()))
    assert "0 of 1, 1 wrong" in text
    assert "| none, 3 to 3 rows |" in text


def test_problems_of_a_folder(tmp_path):
    with pytest.raises(BenchError, match=r"has no \.npz files"):
        list(sets.stored(tmp_path))
    (tmp_path / "lcp").mkdir()
    np.savez(tmp_path / "lcp" / "one.npz", M=np.eye(2), q=-np.ones(2))
    np.savez(tmp_path / "lcp" / "two.npz", M=-np.eye(2), q=-np.ones(2))
    listed = {"lcp": [{"name": "two", "status": "no_solution"}]}
    (tmp_path / "manifest.json").write_text(json.dumps(listed))
    assert [(p.name, p.solvable) for p in sets.stored(tmp_path)] == [("one", True), ("two", False)]


@pytest.mark.compiled
def test_contacts_are_counted_and_what_an_engine_lacks_is_noted():
    rows = list(contact_counts.run({"ours": Ours, "flight": Flight}, [CASES["boxes 1"]], 0.05))
    mine, theirs = rows
    assert (mine.contacts, mine.bodies) == (4, 1)
    assert mine.lower_us <= mine.step_us <= mine.upper_us
    assert mine.moved < 1e-9
    assert theirs.note == "only free flight"
    assert math.isnan(theirs.step_us)
    text = tables.counts(rows)
    assert "[4]<br>" in text
    assert "- flight: only free flight (all)" in text


def test_scenes_are_chosen_by_their_bodies():
    assert {case.name for case in contact_counts.chosen(1)} == {"balls 1", "boxes 1"}
    assert "wall 200" in {case.name for case in contact_counts.chosen()}


def test_errors_of_none_are_drawn_at_the_least_and_unknown_ones_are_not(tmp_path):
    results = [
        Result("a", "p", "m", dt, error, 1.0)
        for dt, error in ((1e-2, 0.0), (1e-3, 1e-3), (1e-4, math.nan))
    ]
    assert plots.work(results, tmp_path).stat().st_size > 1000


@pytest.mark.compiled
def test_one_command_measures_all_parts_into_a_folder(tmp_path):
    (tmp_path / "set" / "lcp").mkdir(parents=True)
    np.savez(tmp_path / "set" / "lcp" / "one.npz", M=np.eye(2), q=-np.ones(2))
    arguments = [
        "--engine", "spatialops", "--probe", "pendulum*", "--dt", "0.01", "--quick",
        "--bodies", "1", "--solver", "spatialops-lemke", "--problems", str(tmp_path / "set"),
        "--out", str(tmp_path / "out"), "--json",
    ]  # fmt: skip
    ran = CliRunner().invoke(engines, arguments)
    assert ran.exit_code == 0, ran.output
    data = json.loads(ran.output)
    assert {row["metric"] for row in data["probes"]} == {
        "angle, of the amplitude", "energy, of m g r",
    }  # fmt: skip
    assert {row["scene"] for row in data["contacts"]} == {"balls 1", "boxes 1"}
    assert {row["family"] for row in data["problems"]} >= {"Murty", "tower", "stored"}
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {
        "engines.json", "engines.md", "probes.csv", "contacts.csv", "problems.csv",
        plots.WORK, plots.COUNTS, plots.SOLVERS,
    }  # fmt: skip


def test_a_page_gets_tables_and_plots_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    report = Report({"machine": "mine"}, {"physx": "not installed"})
    report.problems.extend(measure.run({"liar": Liar()}, [sets.murty(4)]))
    with pytest.raises(BenchError, match="needs the marks"):
        report.put_into(page)
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    report.put_into(page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "machine mine." in text
    assert "- physx: not installed" in text
    assert "](images/solvers.png)" in text
    assert (tmp_path / "images" / plots.SOLVERS).exists()


def test_the_list_says_who_takes_part():
    ran = CliRunner().invoke(engines, ["--list"])
    assert "spatialops: takes part" in ran.output
    assert ours.AUTO.name in SOLVERS.names()
