"""The pole learns to stand."""

import pytest


@pytest.mark.compiled
@pytest.mark.slow
def test_cart_pole_learns(capsys):
    pytest.importorskip("gymnasium")
    from examples import cart_pole

    assert cart_pole.main() >= 95
    assert "generation 11" in capsys.readouterr().out
