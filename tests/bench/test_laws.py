import pytest

from spatialops.bench import laws
from spatialops.bench.measure import Effort


@pytest.mark.compiled
def test_every_law_goes_its_way_without_a_call_outside():
    rows = list(laws.run(Effort(rounds=1, block=1e-6), quick=True))
    assert len(rows) == 16
    assert {row.what for row in rows} == {"cone", "no-slip", "viscous", "frictionless"}
    for row in rows:
        assert "0 outside" in row.note
        residual = float(row.note.split("residual ")[1].split(",")[0])
        assert residual <= 1e-9


def test_boxes_that_slide_go_apart_and_turn():
    v = laws.sliding(4).state.v.reshape(4, 6)
    assert (v[:, 2] == 1.0).all()
    assert v[:, 3] ** 2 + v[:, 4] ** 2 == pytest.approx([4.0] * 4)
    assert v[0, 4] != v[1, 4]
