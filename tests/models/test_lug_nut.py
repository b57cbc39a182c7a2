"""A nut on its thread, turned by a socket: contact does the work against the thread's friction."""

import importlib
import math

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import rotation_matrix
from spatialops.dynamics.jacobian import body_poses
from spatialops.simulation import _layout as at

# The functions have the names of their modules.
nut_parts = importlib.import_module("spatialops.models.lug_nut")
runner_parts = importlib.import_module("spatialops.models.nut_runner")
DT = 5e-4
TORQUE = 0.3  # N m


def turning():
    """A driver on springs whose socket is 8 mm over a nut on a thread, and what drives it."""
    runner, nut = so.models.nut_runner(), so.models.lug_nut(torque=TORQUE)
    mouth = runner_parts.SPINDLE[0] + runner_parts.LENGTH
    place = np.array([-0.5 * nut_parts.HEIGHT + 0.008 - mouth, 0.0, -runner_parts.SPINDLE[2]])
    lifted = place - (0.0, 0.0, runner.state.q[2])
    parts = [so.Part(source=runner.scene(), position=lifted), so.Part(source=nut.scene())]
    scene = so.compose(parts)
    weight = 9.81 * scene.model.mass

    def drive(time, state, contacts):
        q, v = state.q, state.v
        goal = place - (nut_parts.PITCH * q[8], 0.0, 0.0)
        turn = rotation_matrix(q[3:7])
        push = 2500.0 * (goal - q[:3]) - 100.0 * (turn @ v[3:6]) + (0.0, 0.0, weight)
        tau = np.zeros(8)
        tau[:3] = -240.0 * q[3:6] - 2.0 * v[:3]
        tau[3:6] = turn.T @ push
        tau[6] = np.clip(0.05 * (-20.0 * min(1.0, time / 0.2) - v[6]), -0.8, 0.8)
        return tau

    return scene, drive


def thread_impulses(scene, record, row):
    """What contacts give a nut along its screw in every step, N m s, and which steps had impacts.

    Its axis goes through the world's origin along -x.
    """
    found, cut = np.zeros(len(record.times) - 1), np.zeros(len(record.times) - 1, dtype=bool)
    for contact in record.contact_records:
        step = math.floor(contact[at.RECORD_TIME] / DT + 1e-6)
        cut[step] |= contact[at.RECORD_KIND] != 0
        names = scene.pair_names(int(contact[at.RECORD_PAIR]))
        sides = [name.startswith("nut") for name in names]
        force = (sides[0] - sides[1]) * contact[at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3]
        point = contact[at.RECORD_POINT : at.RECORD_POINT + 3]
        found[step] -= np.cross(point, force)[0] + nut_parts.PITCH * force[0]
    return found, cut


@pytest.mark.compiled
def test_contact_of_the_socket_does_the_work_against_the_friction_of_the_thread():
    scene, drive = turning()
    record = so.Simulator(scene, dt=DT).run(duration=0.3, controller=drive)
    model = scene.model
    row, column = model.v_slice("nut").start, model.q_slice("nut").start
    inertia = so.mass_matrix(model, scene.state.q)[row, row]
    given, cut = thread_impulses(scene, record, row)
    rates, angles = record.v[:, row], record.q[:, column]
    assert angles[-1] > 2.0
    # Momentum along the screw: what contacts give less what the nut has is what the thread takes.
    turning_now = (rates[:-1] > 1.0) & (rates[1:] > 1.0)  # it has stuck before
    rubbed = (given - inertia * np.diff(rates)) / DT
    assert turning_now.sum() > 200
    assert abs(rubbed[turning_now] - TORQUE).max() < 1e-12
    # Virtual work of the steps that no impact cuts.
    smooth = turning_now & ~cut
    mean = 0.5 * (rates[1:] + rates[:-1])
    gained = 0.5 * inertia * np.diff(rates**2)
    balance = given * mean - TORQUE * np.diff(angles) - gained
    assert abs(balance[smooth]).max() < 1e-12
    assert (given * mean)[smooth].sum() > 0.5


@pytest.mark.compiled
def test_a_nut_advances_by_its_pitch():
    """Travel of its pose along the stud, over the turn of its pose: a right-handed thread."""
    scene, drive = turning()
    record = so.Simulator(scene, dt=DT).run(duration=0.3, controller=drive, record_every=5)
    k = scene.model.body_index("nut")
    poses = [body_poses(scene.model, q) for q in record.q]
    travel = -np.array([pose.positions[k, 0] for pose in poses])
    turns = [pose.rotations[k] for pose in poses]
    angles = np.unwrap([math.atan2(turn[1, 2], turn[1, 1]) for turn in turns])
    assert angles[-1] > 2.0
    assert abs(travel - 1.75e-3 / (2.0 * math.pi) * angles).max() < 1e-15


@pytest.mark.compiled
def test_a_thread_holds_what_pulls_at_its_nut_and_lets_a_wheel_go_without_it():
    hub = so.models.wheel_on_hub()
    pull = np.array([0.0, 0.0, 0.0, -200.0, 0.0, 0.0])
    moved = []
    for nuts in (4, 0):
        parts = [so.Part(source=hub.scene())]
        for i in range(nuts):
            angle = 0.5 * math.pi * i
            place = (-0.0111, 0.05 * math.cos(angle), 0.05 * math.sin(angle))
            nut = so.models.lug_nut(f"nut{i}", torque=TORQUE)
            parts.append(so.Part(source=nut.scene(), position=place))
        scene = so.compose(parts)
        simulator = so.Simulator(scene, dt=DT)
        record = simulator.run(duration=0.1, external={"wheel": pull})
        moved.append(record.q[-1, 0])
    assert abs(moved[0]) < 5e-4  # the air under the nuts
    assert moved[1] < -0.1


def test_a_nut_weighs_what_its_steel_does():
    nut = so.models.lug_nut()
    area = 2.0 * math.sqrt(3.0) * (nut_parts.APOTHEM**2 - nut_parts.BORE**2)
    steel = 7850.0 * area * nut_parts.HEIGHT
    assert nut.model.mass == pytest.approx(steel, rel=0.15)  # chamfer, and steel is steel
    flats = so.collision.inertia.shape_inertia(nut.scene().geoms[0].shape).center
    assert flats[0] > 0.0  # the chamfer is outside


def test_walls_of_a_socket_leave_the_play_that_was_asked_for():
    walls = nut_parts.hexagon_walls(0.0098, 0.003, 0.03)
    for size, turn, place in walls:
        out = np.asarray(turn)[:, 1]
        assert np.dot(place, out) - 0.5 * size[1] == pytest.approx(0.0098, abs=1e-15)
        assert place[0] == 0.5 * size[0] == 0.015


@pytest.mark.parametrize("wrong", [{"pitch": 0.0}, {"torque": -1.0}, {"pitch": np.nan}])
def test_wrong_nuts_are_refused(wrong):
    with pytest.raises(so.errors.ArgumentError):
        so.models.lug_nut(**wrong)


def test_a_wrong_play_is_refused():
    with pytest.raises(so.errors.ArgumentError, match="play"):
        so.models.nut_runner(play=0.0)
