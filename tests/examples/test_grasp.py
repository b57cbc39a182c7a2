"""The grasp's example."""

import pytest

from examples import grasp


@pytest.mark.compiled
def test_grasp(capsys: pytest.CaptureFixture[str]) -> None:
    sags = grasp.main(steps=20)
    assert sags["no-slip"] <= 1e-12
    assert sags["coulomb"] <= 1e-3
    printed = capsys.readouterr().out
    assert "Lemke: 216 unknowns" in printed
    assert "no slip: 36 unknowns, 4 pivots" in printed
