"""Certificates of steps and runs: small where all is well, and failing where a law lies."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.shapes import Box, HalfSpace
from spatialops.contact import Coulomb, NoSlip, certificate
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation import load_record
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.contact_names import names_since


def box_scene(speed=1.0):
    builder = so.TreeBuilder()
    builder.add_body(
        "box", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    )
    model = builder.build()
    pair = {"friction": 0.5, "restitution": 0.5}
    geoms = [
        so.Geom("box", "box", Box((0.2, 0.2, 0.2)), **pair),
        so.Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0)), **pair),
    ]
    q, v = model.neutral(), np.zeros(6)
    q[2], v[3] = 0.11, speed
    return so.Scene(model, geoms, state=so.State(q, v))


def test_a_stop_that_is_passed_is_named():
    builder = so.TreeBuilder()
    hinge = so.Joint("revolute", name="knee", lower=-1.0, upper=0.2)
    builder.add_body("leg", joint=hinge, inertia=so.Inertia.sphere(0.1, mass=1.0))
    scene = so.Scene(builder.build(), state=so.State([0.21], [0.0]))
    stepping = so.Simulator(scene).stepping
    t = stepping.tables()
    load_state(t, scene.state, np.zeros(1), 1)
    t, _ = stepping.prepare(t)
    assert names_since(t, scene).deepest == "knee on upper limit"


def test_the_deepest_pair_is_named_once():
    builder, geoms = so.TreeBuilder(), [so.Geom("floor", "world", HalfSpace())]
    places = {"stands": (0.0, 0.0, 0.1), "left": (1.0, 0.0, 1.0), "right": (1.19, 0.0, 1.0)}
    for name, place in places.items():
        ball = so.Inertia.sphere(0.1, mass=1.0)
        builder.add_body(name, joint="free", inertia=ball, position=place)
        geoms.append(so.Geom(name, name, so.Sphere(0.1)))
    scene = so.Scene(builder.build(), geoms)
    stepping = so.Simulator(scene).stepping
    t = stepping.tables()
    load_state(t, scene.state, np.zeros(scene.model.nv), 1)
    t, _ = stepping.prepare(t)
    assert t.monitor[at.DEEPEST_GAP] == pytest.approx(-0.01)
    assert set(names_since(t, scene).deepest.split(" on ")) == {"left", "right"}
    assert names_since(t, scene).deepest == ""


def test_full_certificates_of_a_run(tmp_path):
    record = so.Simulator(box_scene(), dt=1e-2, certify="full").run(duration=0.2, record_every=4)
    found = record.certificate()
    assert record.certificates.shape == (len(record.times), 11)
    assert len(record.events) >= 1
    assert found.residual <= 1e-12
    assert set(found.to_data()) == set(certificate.UNITS)
    assert found.gap <= 1e-3
    summary = record.summary()["certificate"]
    assert summary["momentum"] == found.momentum
    again = load_record(record.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(again.certificates, record.certificates)


def test_a_plain_run_says_what_its_contacts_show():
    record = so.Simulator(box_scene(), dt=1e-2).run(duration=0.2)
    found = record.certificate()
    assert np.isnan(record.certificates).all()
    assert set(found.to_data()) == {"gap", "pull", "cone", "residual"}
    assert found.pull <= 1e-12
    assert found.cone <= 1e-12
    weak = replace(
        record,
        contact_records=record.contact_records
        * np.where(np.arange(13) >= 10, [1.0] * 12 + [0.1], 1.0),
    )
    assert weak.certificate().cone > 1e-3  # less load under the same friction


@pytest.mark.parametrize("law", ["coulomb", "cone", "no-slip", "frictionless", "max-dissipation"])
def test_steps_of_all_laws_hold(law):
    simulator = so.Simulator(box_scene(0.0), dt=1e-2, law=law, certify="full")
    state = simulator.scene.state
    for _ in range(8):
        state, info = simulator.step(state)
    assert info.certified is not None
    assert info.certificate.residual <= 1e-9
    assert str(info.certificate).startswith("certificate: gap")


class Liar:
    """A law that claims success for impulses that it has changed."""

    def __init__(self, change, law=None, promises=None):
        self.change, self.law = change, law or Coulomb()
        self.promises = promises or certificate.COULOMB

    def solve(self, problem, warm_start=None):
        answer = self.law.solve(problem)
        return replace(answer, impulses=self.change(answer.impulses))


LIES = {
    "approach": lambda p: 0.9 * p,
    "complementarity": lambda p: p * [1.2, 1.0, 1.0],
    "cone": lambda p: p + [0.0, 10.0, 0.0],
    "pull": lambda p: p - [100.0, 0.0, 0.0],
}


@pytest.mark.parametrize("entry", LIES)
def test_lies_are_caught(entry):
    simulator = so.Simulator(box_scene(0.0), dt=1e-2, law=Liar(LIES[entry]), certify="full")
    with pytest.raises(ContactError, match="certificate failed"):
        simulator.run(duration=0.08)


def test_slip_under_a_law_without_slip_is_caught():
    law = Liar(lambda p: p * [1.0, 0.0, 0.0], NoSlip(), certificate.NO_SLIP)
    simulator = so.Simulator(box_scene(1.0), dt=1e-2, law=law, certify="full")
    with pytest.raises(ContactError, match="slip"):
        simulator.run(duration=0.08)


def test_an_honest_step_without_full_certificates_costs_nothing():
    simulator = so.Simulator(box_scene(), dt=1e-2)
    _, info = simulator.step(simulator.scene.state)
    assert info.certified is None
    assert set(info.certificate.to_data()) == {"gap", "pull", "cone", "residual"}
