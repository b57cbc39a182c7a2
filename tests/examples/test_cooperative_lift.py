"""The box goes up between palms that hardly squeeze more than they must."""

import numpy as np
import pytest

from examples import cooperative_lift


@pytest.mark.compiled
@pytest.mark.slow
def test_cooperative_lift(tmp_path, capsys):
    record = cooperative_lift.main(duration=0.3, lift=0.02, out=tmp_path)
    printed = capsys.readouterr().out
    assert "left_palm: cone" in printed
    box = record.q[:, -7:-4]
    assert np.isclose(box[-1, 2] - box[0, 2], 0.02, atol=1e-4)
    assert np.abs(box[-1, :2] - box[0, :2]).max() < 1e-4
    assert (tmp_path / "record.npz").exists()
