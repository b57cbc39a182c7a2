"""Records as tables: names, units and values; forces by geom; what notebooks show."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import MissingLibraryError
from spatialops.simulation.records.acting_contacts import acting_together, geom_forces
from spatialops.simulation.records.data_frames import columns


@pytest.fixture(scope="module")
def record():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body("body", joint="free", inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=2.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("box", "body", so.Box((0.2,) * 3))]
    scene = so.Scene(builder.build(), geoms)
    sensors = [so.sensors.Touch("touch", "box")]
    return so.Simulator(scene, sensors=sensors).run(so.raised(scene, 0.01), duration=0.3)


def test_columns_have_names_and_units(record):
    found = {one.name: one for one in columns(record)}
    assert np.array_equal(found["q.body.z"].values, record.q[:, 2])
    assert found["q.body.z"].unit == "m"
    assert np.array_equal(found["v.body.wx"].values, record.v[:, 0])
    assert found["v.body.wx"].unit == "rad/s"
    assert found["touch.force"].unit == "N"
    assert found["kinetic"].unit == "J"
    assert all(one.values.shape == record.times.shape for one in found.values())


def test_a_table_without_its_library_says_what_to_install(record, monkeypatch):
    import sys

    for name in ("pandas", "xarray"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingLibraryError, match=r"spatialops\[tables\]"):
            getattr(record, f"to_{name}")()


def test_pandas_has_a_column_each(record):
    pytest.importorskip("pandas")
    frame = record.to_pandas()
    assert np.array_equal(frame["q.body.z"].to_numpy(), record.q[:, 2])
    assert np.array_equal(frame.index.to_numpy(), record.times)
    assert frame.attrs["units"]["touch.force"] == "N"


def test_xarray_has_a_variable_each(record):
    pytest.importorskip("xarray")
    data = record.to_xarray()
    assert np.array_equal(data["q.body.z"].values, record.q[:, 2])
    assert data["touch.force"].attrs["units"] == "N"
    assert data["time"].attrs["units"] == "s"


def test_contacts_of_a_resting_box_are_four_in_every_row(record):
    """Rows and contacts are told apart by less than a rounding of their times."""
    moments, sizes = acting_together(record.contact_records, 1e-3)
    rows = np.searchsorted(record.times, moments)
    resting = np.arange(200, len(record.times))
    assert set(resting) <= set(rows)
    assert (sizes[rows >= 200] == 4).all()
    assert record.summary()["contacts_max"] == 4


def test_forces_by_geom_are_those_of_the_touch_sensor(record):
    found = geom_forces(record.scene, record.times, record.contact_records, 1e-3)
    assert found.names == ["box"]
    touch = record.sensors["touch"][1:, 0]
    assert touch.max() > 100.0  # the impact
    assert found.forces[1:, 0, 2] == pytest.approx(touch, rel=1e-9, abs=1e-9)
    assert found.forces[-1, 0, 2] == pytest.approx(2.0 * 9.81, rel=1e-9)


def test_contacts_of_impacts_count():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), restitution=1.0),
        so.Geom("ball", "ball", so.Sphere(0.1), restitution=1.0),
    ]
    scene = so.Scene(builder.build(), geoms)
    bounced = so.Simulator(scene).run(so.raised(scene, 0.5), duration=0.5)
    assert bounced.summary()["collisions"] == 1
    assert bounced.summary()["contacts_max"] == 1


def test_notebooks_show_tables(record):
    for shown in (record, record.scene, record.scene.model):
        text = shown._repr_html_()
        assert text.startswith("<table")
        assert text.endswith("</table>")
    assert "touch" in record._repr_html_()
    assert "pairs that may touch" in record.scene._repr_html_()


def test_a_controller_that_returns_nothing_is_refused(record):
    simulator = so.Simulator(record.scene)
    for time in (so.TimeStepping(), so.EventDriven()):
        simulator = so.Simulator(record.scene, time=time)
        with pytest.raises(so.errors.ArgumentError, match="returned None"):
            simulator.run(record.final, duration=0.002, controller=lambda t, s, c: None)
