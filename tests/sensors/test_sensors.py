"""Sensors against closed forms: what a step computed is what they read."""

import copy
import pickle

import numpy as np
import pytest

import spatialops as so
from spatialops.sensors import (
    IMU,
    CenterOfMass,
    ContactForce,
    ForceTorque,
    FramePose,
    JointPositions,
    JointTorques,
    JointVelocities,
    Noise,
    Rangefinder,
    Touch,
)

G = 9.81


def body(joint, inertia=None, **options):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    inertia = so.Inertia.box((0.1, 0.2, 0.3), mass=2.0) if inertia is None else inertia
    builder.add_body("body", joint=joint, inertia=inertia, **options)
    return builder.build()


def box_on_floor():
    model = body("free")
    q = model.neutral()
    q[2] = 0.15
    geoms = [
        so.Geom("floor", "world", so.HalfSpace()),
        so.Geom("box", "body", so.Box((0.1, 0.2, 0.3))),
    ]
    return so.Scene(model, geoms, state=so.State(q, np.zeros(6)))


def ball_and_wall(tip, where, speed, restitution):
    """A ball at a node, and a wall that it meets where its centre is at x = `where`."""
    side, radius = np.sign(speed), 0.05
    place = (where + radius * side, 0.0, 0.0)
    return [
        so.Geom("ball", tip.body, so.Sphere(radius), tip.position, restitution=restitution),
        so.Geom("wall", "world", so.HalfSpace((-side, 0.0, 0.0)), place, restitution=restitution),
    ]


def read(scene, *sensors, duration=0.02, **options):
    simulator = so.Simulator(scene, sensors=sensors, **options)
    return simulator.run(duration=duration)


def test_an_accelerometer_at_rest_reads_gravity_upwards():
    found = read(box_on_floor(), IMU("imu", "body")).sensors["imu"]
    assert np.isnan(found[0]).all()  # no step yet
    assert abs(found[1:] - [0, 0, G, 0, 0, 0]).max() < 1e-9


def test_a_turned_imu_reads_along_its_own_axes():
    quarter = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))  # its x axis points down
    found = read(box_on_floor(), IMU("imu", so.Node("body", (0.0, 0.0, 0.1)), quarter))
    assert abs(found.sensors["imu"][-1] - [-G, 0, 0, 0, 0, 0]).max() < 1e-9


def test_an_accelerometer_on_a_turntable_reads_the_centripetal_acceleration():
    model = body(so.Joint("revolute", axis="z"))
    spin, radius = 7.0, 0.5
    scene = so.Scene(model, state=so.State(np.zeros(1), np.array([spin])))
    found = read(scene, IMU("imu", so.Node("body", (radius, 0.0, 0.0)))).sensors["imu"]
    assert abs(found[1:] - [-(spin**2) * radius, 0, G, 0, 0, spin]).max() < 1e-12


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
def test_an_accelerometer_in_free_fall_reads_nothing(integrator):
    model = body("free", so.Inertia.sphere(0.1, mass=2.0))
    scene = so.Scene(model, state=so.State(model.neutral(), np.array([1.0, 2, 3, 10, 20, 5])))
    found = read(scene, IMU("imu", "body"), integrator=integrator).sensors["imu"]
    assert abs(found[1:, :3]).max() < 1e-9


@pytest.mark.compiled
def test_contact_forces_of_a_standing_quadruped_bear_its_weight():
    robot = so.models.quadruped()
    scene = robot.scene()
    feet = [geom.name for geom in scene.geoms if geom.body in robot.feet]
    rest = robot.state.q[7:]

    def stand(time, state, contacts):
        tau = np.zeros(scene.model.nv)
        tau[6:] = 40.0 * (rest - state.q[7:]) - 1.0 * state.v[6:]
        return tau

    sensors = [ContactForce(name, name, by="ground") for name in feet]
    sensors += [Touch(f"touch {name}", name) for name in feet]
    simulator = so.Simulator(scene, sensors=sensors)
    record = simulator.run(robot.state, duration=3.0, controller=stand, record_every=100)
    forces = sum(record.sensors[name] for name in feet)
    weight = scene.model.mass * G
    a = np.linalg.norm(record.v[-1])
    assert a < 1e-10  # it stands
    assert abs(forces[-1] - [0.0, 0.0, weight]).max() < 1e-9 * weight
    touches = sum(record.sensors[f"touch {name}"][-1, 0] for name in feet)
    assert abs(touches - weight) < 1e-9 * weight


def test_a_force_sensor_agrees_with_the_motors_of_a_chain():
    pendulum = so.models.pendulum(4)
    scene = so.Scene(pendulum.model, state=pendulum.state)
    names = pendulum.model.body_names
    sensors = [ForceTorque(name, name) for name in names] + [JointTorques("tau")]

    def drive(time, state, contacts):
        return 30.0 * np.sin(time + np.arange(4.0))

    record = so.Simulator(scene, sensors=sensors).run(duration=0.5, controller=drive)
    axes = np.array([record.sensors[name][1:, 3:] for name in names])
    tau = record.sensors["tau"][1:]
    assert abs(tau).max() > 20.0
    # The pins turn about -y; along them only the motors act.
    assert abs(-axes[:, :, 1].T - tau).max() < 1e-7


@pytest.mark.compiled
@pytest.mark.parametrize(("integrator", "bar"), [("moreau", 1e-9), ("semi-implicit", 1e-6)])
def test_a_force_sensor_in_a_closed_four_bar_agrees_with_virtual_work(integrator, bar):
    """Turning a pin alone, of what its wrench does only the motor's torque works.

    Wrenches are of the parent on the body and the pins turn it about its +y: tau has the sign of
    the torque read there. Semi-implicit Euler states forces and rates at different instants.
    """
    linkage = so.models.four_bar()
    names = linkage.model.body_names
    sensors = [ForceTorque(name, name) for name in names] + [JointTorques("tau")]
    errors = []
    exact = so.TimeStepping(settled=1e-13)
    for dt in (1e-3, 5e-4):
        options = {"dt": dt, "integrator": integrator, "time": exact}
        simulator = so.Simulator(linkage.scene(), sensors=sensors, **options)
        record = simulator.run(
            linkage.state,
            duration=0.2,
            controller=lambda time, state, contacts: [2.0 * np.sin(3.0 * time), 0.5, 0.2],
        )
        tau = record.sensors["tau"][1:]
        turning = np.array([record.sensors[name][1:, 4] for name in names]).T
        forces = abs(record.sensors["crank"][1:, :3]).max()
        errors.append(abs(turning - tau).max() / forces)
    assert errors[0] < bar
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.compiled
def test_redundant_closures_are_read_by_what_is_independent_of_them():
    """Bricard's linkage is closed by five rows, four of which hold the other; all pins turn."""
    linkage = so.models.bricard()
    names = linkage.model.body_names
    sensors = [ForceTorque(name, name) for name in names] + [JointTorques("tau")]

    def drive(time, state, contacts):
        return 0.5 * np.sin(3.0 * time + np.arange(linkage.model.nv))

    errors = []
    for dt in (1e-3, 5e-4):
        simulator = so.Simulator(linkage.scene(), sensors=sensors, dt=dt)
        record = simulator.run(linkage.state, duration=0.2, controller=drive)
        torques = [record.sensors[name][1:, 3:] for name in names]
        turning = np.array([torques[i][:, (1, 2, 0, 1, 2)[i]] for i in range(5)]).T
        forces = abs(record.sensors[names[0]][1:, :3]).max()
        errors.append(abs(turning - record.sensors["tau"][1:]).max() / forces)
    assert errors[0] < 1e-7  # the rows hold each other only where they are closed
    assert errors[1] < 0.3 * errors[0]


def test_joints_frames_and_the_centre_of_mass_are_those_of_the_row():
    pendulum = so.models.pendulum(3)
    scene = so.Scene(pendulum.model, state=pendulum.state)
    node = so.Node("link3", (0.1, 0.0, -0.2))
    record = read(
        scene,
        JointPositions("q"),
        JointVelocities("v", ["pin2"]),
        FramePose("tip", node),
        CenterOfMass("com"),
    )
    model = pendulum.model
    assert np.array_equal(record.sensors["q"], record.q)
    assert np.array_equal(record.sensors["v"][:, 0], record.v[:, 1])
    for q, pose, com in zip(record.q, record.sensors["tip"], record.sensors["com"]):
        assert abs(pose[:3] - so.node_positions(model, q, [node])[0]).max() < 1e-14
        assert abs(com - so.center_of_mass(model, q)).max() < 1e-14


def test_a_rangefinder_sees_the_floor_but_not_its_own_body():
    rays = [(0.0, 0.0, -1.0), (0.0, 0.6, -0.8), (0.0, 0.0, 1.0)]
    found = read(box_on_floor(), Rangefinder("range", "body", rays)).sensors["range"]
    assert abs(found[:, :2] - [0.15, 0.15 / 0.8]).max() < 1e-9
    assert np.isinf(found[:, 2]).all()


def test_the_record_keeps_readings_in_a_file(tmp_path):
    record = read(box_on_floor(), IMU("imu", "body"), Touch("touch", "box"))
    loaded = so.load_record(record.save(tmp_path / "run.npz"))
    assert list(loaded.sensors) == ["imu", "touch"]
    assert np.array_equal(loaded.readings, record.readings, equal_nan=True)


def test_noise_is_the_same_for_a_seed_and_after_a_run_was_resumed(tmp_path):
    noisy = [IMU("imu", "body", noise=Noise(std=0.1, bias=[0.5] * 6, seed=3))]
    whole = read(box_on_floor(), *noisy).sensors["imu"]
    simulator = so.Simulator(box_on_floor(), sensors=noisy)
    simulator.run_to_disk(tmp_path / "run", duration=0.01)
    simulator.resume(tmp_path / "run", duration=0.02)
    again = so.load_record(tmp_path / "run").sensors["imu"]
    assert np.array_equal(whole, again, equal_nan=True)
    other = read(box_on_floor(), IMU("imu", "body", noise=Noise(std=0.1, seed=4)))
    assert abs(other.sensors["imu"][1:] - whole[1:]).max() > 0.1


def test_noise_has_the_deviations_that_were_asked_for():
    noise = Noise(std=2.0, bias=1.0)
    drawn = np.array([noise.at("a", i, 1)[0] for i in range(4000)])
    assert drawn.std() == pytest.approx(2.0, rel=0.05)
    offsets = [np.mean(Noise(bias=1.0, seed=i).at("a", 1, 50)) for i in range(300)]
    assert np.std(offsets) * np.sqrt(50) == pytest.approx(1.0, rel=0.15)


def test_without_sensors_a_run_is_the_same_to_the_bit():
    scene = box_on_floor()
    plain = so.Simulator(scene).run(duration=0.02)
    assert plain.readings.shape == (21, 0)
    assert not plain.sensors
    assert np.array_equal(plain.q, read(scene, IMU("imu", "body")).q)


@pytest.mark.parametrize(
    ("sensors", "text"),
    [
        ([IMU("imu", "nobody")], "no body 'nobody'"),
        ([IMU("imu", "body"), Touch("imu", "box")], "'imu' is taken"),
        ([Touch("touch", "nothing")], "no geom 'nothing'"),
        ([IMU], "expected a sensor"),
        (IMU("imu", "body"), "expected a list"),
        ([ForceTorque("ft", "world")], "merged"),
        ([JointPositions("q", ["nothing"])], "no joint 'nothing'"),
        ([IMU("imu", "body", noise=Noise(std=[1.0, 2.0]))], "expected one number or 6"),
        ([Rangefinder("r", "body", (0.0, 0.0, 0.0))], "not zero"),
        ([IMU("", "body")], "expected a text"),
    ],
)
def test_wrong_sensors_are_refused_in_words(sensors, text):
    with pytest.raises(so.errors.ArgumentError, match=text):
        so.Simulator(box_on_floor(), sensors=sensors)


def test_event_driven_runs_have_no_sensors():
    with pytest.raises(so.errors.ArgumentError, match="TimeStepping"):
        so.Simulator(box_on_floor(), sensors=[CenterOfMass("com")], time=so.EventDriven())


def test_wrenches_of_a_run_before_are_not_read():
    """A simulator works in the tables of its last run; what pushed there is gone."""
    pendulum = so.models.pendulum(2, angle=0.3)
    scene = so.Scene(pendulum.model, state=pendulum.state)
    simulator = so.Simulator(scene, sensors=[ForceTorque("pin", "link1")])
    fresh = simulator.run(duration=0.01).sensors["pin"]
    pushed = simulator.run(duration=0.01, external={"link2": (0, 0, 0, 5.0, 0, 0)}).sensors["pin"]
    assert abs(pushed - fresh)[1:].max() > 0.1
    np.testing.assert_array_equal(simulator.run(duration=0.01).sensors["pin"], fresh)


@pytest.mark.parametrize("offset", [0.1, 0.5, 0.9])
def test_force_sensors_and_accelerometers_in_a_step_with_an_impact(offset):
    """What the pin gives is what the momentum gains beside weight and blow, wherever in the step.

    A chain of two swings into a wall. By the levers of the middle of the step it was 4e-3 off.
    """
    builder = so.TreeBuilder()
    rod = so.Inertia(1.0, (0.0, 0.0, -0.5), np.diag([0.08, 0.08, 0.001]))
    builder.add_body("a", joint=so.Joint("revolute", axis="y"), inertia=rod)
    hinge = so.Joint("revolute", axis="y")
    builder.add_body("b", parent="a", joint=hinge, inertia=rod, position=(0.0, 0.0, -1.0))
    model, dt = builder.build(), 1e-3
    q, v = np.array([0.3, 0.4]), np.array([-4.0, -3.0])
    tip = so.Node("b", (0.0, 0.0, -1.0))
    place = so.node_positions(model, q, [tip])[0]
    speed = so.node_velocities(model, q, v, [tip])[0, 3:]
    geoms = ball_and_wall(tip, place[0] + offset * dt * speed[0], speed[0], restitution=1.0)
    sensors = [ForceTorque("pin", "a"), IMU("imu", tip), ContactForce("blow", "ball")]
    scene = so.Scene(model, geoms, state=so.State(q, v))
    record = so.Simulator(scene, dt=dt, sensors=sensors).run(duration=dt)
    assert len(record.events) == 1
    read = {name: values[1] for name, values in record.sensors.items()}
    turn = so.body_poses(model, q + 0.5 * dt * v).rotations[0]  # where its axes are read
    gained = so.momentum(model, record.q[1], record.v[1]) - so.momentum(model, q, v)
    expected = gained[3:] / dt - model.mass * model.gravity - read["blow"]
    size = np.linalg.norm(read["blow"])
    assert size > 1000.0
    np.testing.assert_allclose(turn @ read["pin"][:3], expected, atol=1e-4 * size)
    rate = so.node_velocities(model, record.q[1], record.v[1], [tip])[0, 3:] - speed
    assert np.linalg.norm(read["imu"][:3]) == pytest.approx(
        np.linalg.norm(rate / dt - model.gravity), rel=1e-12
    )


@pytest.mark.parametrize("offset", [0.2, 0.7])
def test_a_hinge_of_a_body_that_spins_and_flies_reads_the_blow_on_its_arm(offset):
    """Rates of a free body's velocity along its own axes lack w x v, here 30 N beside a blow."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    box = so.Inertia.box((0.3, 0.2, 0.1), mass=3.0)
    builder.add_body("base", joint="free", inertia=box)
    rod = so.Inertia(1.0, (0.0, 0.0, -0.25), np.diag([0.03, 0.03, 0.001]))
    hinge = so.Joint("revolute", axis="y")
    builder.add_body("arm", parent="base", joint=hinge, inertia=rod, position=(0.0, 0.0, -0.1))
    model, dt = builder.build(), 1e-4
    q, v = model.neutral(), np.array([1.0, 5.0, -2.0, 12.0, 1.0, -0.5, 3.0])
    tip, middle = so.Node("arm", (0.0, 0.0, -0.5)), so.Node("arm", (0.0, 0.0, -0.25))
    place = so.node_positions(model, q, [tip])[0]
    speed = so.node_velocities(model, q, v, [tip])[0, 3]
    geoms = ball_and_wall(tip, place[0] + offset * dt * speed, speed, restitution=0.5)
    sensors = [ForceTorque("hinge", "arm"), ContactForce("blow", "ball")]
    scene = so.Scene(model, geoms, state=so.State(q, v))
    record = so.Simulator(scene, dt=dt, sensors=sensors).run(duration=dt)
    assert len(record.events) == 1
    force, blow = record.sensors["hinge"][1, :3], record.sensors["blow"][1]
    before, after = [
        so.node_velocities(model, record.q[i], record.v[i], [middle])[0, 3:] for i in (0, 1)
    ]
    expected = (after - before) / dt - model.gravity - blow  # of 1 kg
    half = so.integrate(model, q, 0.5 * dt * v)
    turn = so.body_poses(model, half).rotations[1]
    assert np.linalg.norm(blow) > 1e4
    np.testing.assert_allclose(turn @ force, expected, atol=0.5)  # an error of the order of dt


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_simulator_with_sensors_is_copied_and_sent_to_other_processes(again):
    imu = so.sensors.IMU("imu", "link2", noise=so.sensors.Noise(0.1, seed=1))
    sensors = [imu, so.sensors.Columns("x", imu, ("ax",))]
    simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01, sensors=sensors)
    there, here = again(simulator).run(duration=0.05), simulator.run(duration=0.05)
    for name, readings in here.sensors.items():
        assert np.array_equal(there.sensors[name], readings, equal_nan=True)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit", "rk4"])
def test_what_pulls_along_paths_goes_through_no_joint(integrator):
    """Free bodies on springs and a winch, around a drum and over a pulley: no joint bears them."""
    builder = so.TreeBuilder()
    names = ("a", "b", "drum")
    for i, name in enumerate(names):
        builder.add_body(name, joint="free", inertia=so.Inertia.box((0.1, 0.2, 0.3), mass=1.0 + i))
    model = builder.build()
    a, b = so.Node("a", (0.1, 0.0, 0.0)), so.Node("b", (0.0, 0.05, 0.1))
    drum = so.Around(middle=so.Node("drum", (0.0, 0.0, 0.05)), radius=0.1, axis=(0.0, 1.0, 0.2))
    around = so.TendonPath([[a, drum, b]])
    pulley = so.TendonPath([[a, b], [b, so.Node("world", (0.0, 0.0, 2.0))]], [1.0, 2.0])
    q = model.neutral()
    q[[0, 7, 14, 16]] = -0.5, 0.5, 0.0, -0.05  # the line goes around the drum
    scene = so.Scene(
        model,
        actuators=[so.Actuator(name="winch", path=around, gain=(-2.0, 0.0, 0.0))],
        tendons=[
            so.Tendon(path=around, stiffness=30.0, rest=0.3),
            so.Tendon(path=pulley),  # which does nothing
            so.Tendon(path=pulley, stiffness=20.0, rest=(0.1, 0.2)),
        ],
        state=so.State(q, 0.2 * np.random.default_rng(0).normal(size=18)),
        ctrl=[1.5],
    )
    sensors = [so.sensors.ForceTorque(name, name) for name in names]
    record = so.Simulator(scene, dt=1e-4, integrator=integrator, sensors=sensors).run(duration=2e-3)
    assert np.abs(np.diff(record.v, axis=0)).max() > 100.0 * 1e-4  # by tens of newtons
    for name in names:
        assert np.abs(record.sensors[name][1:]).max() < 2e-3


def test_a_pin_bears_what_a_spring_through_space_leaves():
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -10.0))
    rod = so.Inertia(2.0, (0.5, 0.0, 0.0), 0.1 * np.eye(3))
    builder.add_body("rod", joint=so.Joint("revolute", axis="y"), inertia=rod)
    model = builder.build()
    line = so.TendonPath([[so.Node("rod", (0.8, 0.0, 0.0)), so.Node("world", (0.8, 0.0, 1.0))]])
    bears = 2.0 * 10.0 * 0.5 / 0.8  # moments about the pin
    spring = so.Tendon(path=line, stiffness=100.0, rest=1.0 - bears / 100.0)
    pin = so.sensors.ForceTorque("pin", "rod")
    scene = so.Scene(model, tendons=[spring])
    record = so.Simulator(scene, dt=1e-3, sensors=[pin]).run(duration=0.01)
    assert record.sensors["pin"][-1] == pytest.approx([0, 0, 20.0 - bears, 0, 0, 0], abs=1e-9)
