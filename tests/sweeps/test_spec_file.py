"""Sweeps as TOML files: what they hold, and files that are no sweeps."""

import numpy as np
import pytest

from spatialops.errors import AssetError
from spatialops.sweeps.scene_run import drop
from spatialops.sweeps.spec_file import read_spec
from tests.sweeps import functions

POWER = 'function = "tests.sweeps.functions:power"\n'


def spec(folder, text):
    path = folder / "sweep.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_spec(path)


def test_lists_ranges_and_values_are_a_grid(tmp_path):
    found = spec(
        tmp_path,
        POWER
        + "[parameters]\nbase = [1.5, 2.0]\nexponent = {from = 1, to = 2, count = 3}\nx = 4\n",
    )
    assert found.function is functions.power
    assert [(one["base"], one["exponent"]) for one in found.parameters] == [
        (base, exponent) for base in (1.5, 2.0) for exponent in (1.0, 1.5, 2.0)
    ]
    assert {one["x"] for one in found.parameters} == {4}


def test_random_numbers_follow_from_the_seed_and_their_name(tmp_path):
    def drawn(seed, more=""):
        head = f"samples = 200\nseed = {seed}\n[parameters]\n"
        text = POWER + head + "base = {low = 2, high = 5}\n" + more
        return [one["base"] for one in spec(tmp_path, text).parameters]

    once = drawn(3)
    assert once == drawn(3, "exponent = {low = 0, high = 1}\n")
    assert once != drawn(4)
    assert min(once) >= 2.0
    assert max(once) <= 5.0
    assert abs(np.mean(once) - 3.5) < 5 * 3.0 / np.sqrt(12 * 200)


def test_samples_are_combined_with_the_grid(tmp_path):
    text = "samples = 5\n[parameters]\nbase = {low = 0, high = 1}\nexponent = [1, 2]\n"
    found = spec(tmp_path, POWER + text).parameters
    assert len(found) == 10
    assert len({one["base"] for one in found}) == 5


def test_logarithms_are_even(tmp_path):
    text = POWER + "[parameters]\nbase = {from = 0.01, to = 100, count = 5, log = true}\n"
    found = [one["base"] for one in spec(tmp_path, text).parameters]
    np.testing.assert_allclose(found, [0.01, 0.1, 1.0, 10.0, 100.0], rtol=1e-14)


def test_a_scene_is_dropped(tmp_path):
    (tmp_path / "ball.urdf").write_text("<robot/>")
    found = spec(tmp_path, 'scene = "ball.urdf"\n[parameters]\nheight = [0.1, 0.2]\n')
    assert found.function is drop
    assert [one["height"] for one in found.parameters] == [0.1, 0.2]
    assert found.parameters[0]["file"] == str(tmp_path / "ball.urdf")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe\x00", "not TOML"),
        ("function = ", "not TOML"),
        ("x = " + "[" * 50_000, "not TOML"),
        ("x = 1" + "0" * 10_000, "not TOML|unknown"),
        ("#" * 1_000_001, "larger than"),
        ("", "either function"),
        (POWER + 'scene = "x"', "either function"),
        ("paramters = 3", "'paramters' is unknown"),
        ("function = 3", "module:function"),
        ('function = "os"', "module:function"),
        ('function = "..os:getcwd"', "module:function"),
        ('function = "no.such.module:f"', "cannot be imported"),
        ('function = "tests.sweeps.functions:nothing"', "no function nothing"),
        ('function = "tests.sweeps.functions:os"', "no function os"),
        ('scene = "missing.urdf"', "no such file"),
        ('scene = "."', "no such file"),
        (POWER + "parameters = 3", "table"),
        (POWER + "[parameters]\nbase = {from = 0, to = 1}", "count"),
        (POWER + "[parameters]\nbase = {from = 0, to = nan, count = 2}", "base.to"),
        (POWER + '[parameters]\nbase = {from = "a", to = 1, count = 2}', "base.from"),
        (POWER + "[parameters]\nbase = {from = 0, to = 1, count = 1e300}", "count"),
        (POWER + "[parameters]\nbase = {from = 0, to = 1, count = 2, log = true}", "positive"),
        (POWER + "[parameters]\nbase = {from = 1, to = 2, count = 2, log = 1}", "true or false"),
        (POWER + "[parameters]\nbase = {low = 0, hihg = 1}", "'hihg' is unknown"),
        (POWER + "samples = 3\n[parameters]\nbase = [1]", "no random parameter"),
        (
            POWER
            + "[parameters]\na = {from = 0, to = 1, count = 9999999}\n"
            + "b = {from = 0, to = 1, count = 9999999}",
            "more than",
        ),
    ],
)
def test_what_is_no_sweep_is_refused(tmp_path, text, words):
    with pytest.raises(AssetError, match=words) as caught:
        spec(tmp_path, text)
    assert "sweep.toml" in str(caught.value)
