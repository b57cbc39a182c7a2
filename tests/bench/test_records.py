"""What recording costs is measured of every way."""

import pytest

from spatialops.bench.records import WAYS, box_at_rest, measure
from spatialops.simulation.simulator import Simulator


@pytest.mark.parametrize("way", WAYS)
def test_every_way_is_measured(way):
    found = measure(way, 50)
    assert found["seconds"] > 0.0
    assert found["memory"] >= 0.0
    assert (found["disk"] > 0.0) == ("disk" in way)


def test_the_box_has_four_contacts():
    record = Simulator(box_at_rest(), dt=1e-3).run(duration=0.01)
    assert (record.contact_counts[1:] == 4).all()
