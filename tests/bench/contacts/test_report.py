"""Rows, bars, the table, the plots, and the command on the smallest scene."""

from __future__ import annotations

import csv
import errno
import json
import math
import os

import pytest
from click.testing import CliRunner

from spatialops.bench import command
from spatialops.bench.contacts import page, report
from spatialops.bench.contacts.cases import CASES
from spatialops.bench.contacts.rounds import Measured
from spatialops.bench.contacts.worker import Outcome
from spatialops.bench.measure import BenchError
from spatialops.errors import AssetError

REST, MOTION = CASES["tower 5"], CASES["moving chain 6"]


def seen(**changes):
    values = {
        "steps": [10, 10, 20],
        "ours": [1e-3, 2e-3, 20e-3],
        "peer": [2e-3, 4e-3, 4e-3],
        "contacts": [20, 20, 26],
        "peer_contacts": [20, 20, 20],
        "counts": {"solves": 40, "pivoted": 2, "fallbacks": 1},
        "residual": 1e-12,
        "finished": True,
    }
    return Measured(**{**values, **changes})


def row(case=REST, reason="", **changes):
    return report.row_of(case, Outcome(seen(**changes), reason))


def test_medians_at_rest_and_means_in_motion():
    assert row().ours.median == pytest.approx(2e-4)
    assert row().ratio.median == pytest.approx(2e-4 / 2e-4)
    moving = row(MOTION)
    assert moving.ours.median == pytest.approx(23e-3 / 40)
    assert moving.ratio.median == pytest.approx(23.0 / 10.0)
    assert moving.ratio.lower == pytest.approx(0.5)
    assert moving.contacts == 22.0
    assert (moving.steps, moving.asked, moving.pivoted) == (40, MOTION.steps, 2)


def test_what_is_missed():
    fast = {"ours": [1e-4, 1e-4, 2e-4]}
    assert row(**fast).passed
    assert report.verdict(row(**fast)) == "ok (<= 0.7)"
    assert row().misses == "time"
    assert row(**fast, residual=1e-8).misses == "residual"
    assert row(**fast, residual=math.nan).misses == "residual"
    assert row(**fast, failure="SolverFailed: no").misses == "failed"
    assert row(**fast, finished=False).misses == "stopped"
    nothing = row(steps=[], ours=[], peer=[], contacts=[], peer_contacts=[], finished=False)
    assert not nothing.passed
    assert report.verdict(nothing) == "MISS time, stopped (<= 0.7)"
    assert "no step measured; MISS time, stopped" in report.line(nothing)
    assert "nan" not in page.table([nothing])


def test_left_out_is_no_miss_and_no_pass():
    absent = report.row_of(REST, Outcome(None, "no files"))
    assert absent.status == "left out"
    assert absent.passed
    assert report.line(absent) == f"{'tower 5':<24}left out: no files"
    assert json.loads(json.dumps(absent.to_data(), allow_nan=False))["ours_us"] is None
    assert "left out | | | | | no files" in page.table([absent])


def test_notes_say_what_happened():
    told = row(reason="why", above=3, frictions=4, warnings={"badqacc": 1}, failure="F: x")
    for word in ("why", "F: x", "3 blocks above", "4 pairs with another", "badqacc"):
        assert word in told.note
    assert "2 measured" in row(steps=[2], ours=[1.0], peer=[1.0], finished=False).note


def test_page_gets_table_and_plots(tmp_path):
    target = tmp_path / "contacts.md"
    target.write_text(f"before\n{page.BEGIN}old{page.END}\nafter\n")
    rows = [
        row(),
        row(MOTION),
        row(MOTION, finished=False),
        report.row_of(REST, Outcome(None, "x")),
    ]
    page.write_page(target, rows, {"core": 1})
    text = target.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| tower 5 | 200 | 200 | 1 [" in text
    assert "0 of 3 bars met" in text
    for name in (page.TIMES, page.RATIOS):
        assert (tmp_path / "images" / name).stat().st_size > 1000
        assert f"images/{name}" in text
    page.write_page(target, rows, {"core": 1})
    assert target.read_text() == text


def test_page_without_marks_is_left_alone(tmp_path):
    target = tmp_path / "page.md"
    target.write_text("my own")
    with pytest.raises(BenchError, match="needs the marks"):
        page.write_page(target, [row()], {})
    assert target.read_text() == "my own"


@pytest.mark.compiled
def test_command_on_the_smallest_scenes(tmp_path):
    pytest.importorskip("mujoco")
    target = tmp_path / "page.md"
    target.write_text(f"{page.BEGIN}{page.END}")
    options = ["--only", "contacts", "--scene", "lying chain 1", "--scene", "boxes 1"]
    result = CliRunner().invoke(
        command.bench,
        [*options, "--rounds", "3", "--budget", "5", "--json", "--out", str(tmp_path)]
        + ["--page", str(target)],
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"]
    assert [entry["case"] for entry in rows] == ["lying chain 1", "boxes 1"]
    assert [entry["contacts"] for entry in rows] == [1, 4]
    assert all(entry["ours_us"] > 0.0 and entry["residual"] <= 1e-9 for entry in rows)
    assert "| boxes 1 |" in target.read_text()
    assert (tmp_path / "contacts.md").read_text().count("| boxes 1 |") == 1
    with (tmp_path / "bench.csv").open() as file:
        assert [line["family"] for line in csv.DictReader(file)] == ["lying chain", "boxes"]


def test_command_refuses_unknown_scenes():
    pytest.importorskip("mujoco")
    result = CliRunner().invoke(command.bench, ["--only", "contacts", "--scene", "cathedral"])
    assert result.exit_code == 1
    assert "there is no 'cathedral'" in result.output


def test_contacts_are_measured_on_request_only(monkeypatch):
    ran = []
    for group in command.GROUPS:
        monkeypatch.setitem(
            command.GROUPS,
            group,
            lambda effort, group=group, **options: iter(ran.append(group) or ()),
        )
        monkeypatch.setitem(command.PEERS, group, "numpy")
    assert CliRunner().invoke(command.bench, []).exit_code == 0
    assert ran == [group for group in command.GROUPS if group not in command.ON_REQUEST]
    assert "contacts" in command.ON_REQUEST
    ran.clear()
    CliRunner().invoke(command.bench, ["--only", "contacts"])
    assert ran == ["contacts"]


def test_a_page_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    target = tmp_path / "page.md"
    target.write_text(f"before {page.BEGIN}{page.END} after")
    monkeypatch.setattr(page, "draw", lambda rows, folder: None)

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(AssetError, match=r"page.md: cannot be written: .*No space left"):
        page.write_page(target, [row()], {})
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [
        ("page.md", f"before {page.BEGIN}{page.END} after")
    ]
