"""The quadruped's feet stay, and a demand beyond friction is cut down with its reason."""

import numpy as np
import pytest

from examples import friction_cone_control


@pytest.mark.compiled
@pytest.mark.slow
def test_friction_cone_control(tmp_path, capsys):
    record = friction_cone_control.main(duration=0.2, out=tmp_path)
    printed = capsys.readouterr().out
    assert "nearest" in printed
    assert "in the way: " in printed
    assert np.isfinite(record.q).all()
    assert (tmp_path / "record.npz").exists()
