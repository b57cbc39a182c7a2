"""Two robots of a URDF file and a ball, dropped on a floor."""

from __future__ import annotations

import tempfile
from pathlib import Path

import spatialops as so
from spatialops.simulation.scene.placement import raised

BODY = """<inertial><mass value="{mass}"/>
<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial>
<collision><geometry><sphere radius="{radius}"/></geometry></collision>"""


def urdf() -> str:
    """A hub with three feet on hinges, the third of which mimics the second."""
    hub = f'<link name="hub">{BODY.format(mass=2, i=0.008, radius=0.1)}</link>'
    parts = ['<robot name="tripod">', hub]
    for k, mimic in enumerate(("", "", '<mimic joint="hinge1" multiplier="-1"/>')):
        turn = 2.0943951 * k
        parts.append(f'<link name="foot{k}">{BODY.format(mass=0.3, i=0.0003, radius=0.05)}</link>')
        parts.append(
            f'<joint name="hinge{k}" type="revolute"><origin xyz="0 0 0" rpy="0 0 {turn}"/>'
            f'<parent link="hub"/><child link="shin{k}"/><axis xyz="0 1 0"/>'
            '<limit lower="-1" upper="1" effort="5" velocity="9"/>'
            f'<dynamics damping="0.05"/>{mimic}</joint><link name="shin{k}"/>'
            f'<joint name="ankle{k}" type="fixed"><origin xyz="0.3 0 -0.2"/>'
            f'<parent link="shin{k}"/><child link="foot{k}"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def main(duration: float = 1.0) -> so.Record:
    """Read, compose, simulate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tripod.urdf"
        path.write_text(urdf())
        robot = so.load_scene(path, floating_base=True)
    print(robot.model, robot.loops)
    ball = (
        so.TreeBuilder()
        .add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=0.5))
        .build()
    )
    thing = so.Scene(ball, [so.Geom("ball", "ball", so.Sphere(0.1))])
    scene = so.compose(
        [
            so.Part(source=robot, name="left"),
            so.Part(
                source=robot, name="right", position=(0.0, 1.5, 0.0), rotation=(0.0, 0.0, 0.6, 0.8)
            ),
            so.Part(source=thing, position=(0.6, 0.7, 0.0)),
        ],
        floor=True,
    )
    scene.state = raised(scene, 0.05)
    record = so.Simulator(scene, dt=1e-3).run(duration=duration)
    for name, value in record.summary().items():
        print(f"{name}: {value}")
    return record


if __name__ == "__main__":
    main()
