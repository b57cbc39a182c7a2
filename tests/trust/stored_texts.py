"""Small files of text that this package reads: robots in three formats, a sweep, its results."""

from __future__ import annotations

URDF = b"""<robot name="r">
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<contact><lateral_friction value="1"/><restitution value="0.1"/></contact>
<collision><geometry><sphere radius="0.2"/></geometry></collision></link>
<link name="b"><inertial><origin xyz="0 0 1" rpy="1 2 3"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><origin xyz="1 2 3"/><geometry><capsule radius="0.1" length="0.2"/></geometry>
</collision></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1" friction="1"/></joint>
<joint name="k" type="prismatic"><origin xyz="1 2 3" rpy="1 2 3"/><parent link="b"/>
<child link="c"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
<mimic joint="j" multiplier="2" offset="1"/></joint>
<gazebo reference="a"><mu1 value="1"/></gazebo><transmission/></robot>"""

SDF = b"""<sdf version="1.9"><model name="arm"><pose>0 0 0 0 0 0</pose>
<frame name="mount"><pose>1 2 3 0.1 0.2 0.3</pose></frame>
<link name="upper"><pose relative_to="mount"/>
<inertial><pose>0.1 0 0.2 0.3 0 0</pose><mass>2</mass>
<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz><ixy>0.01</ixy></inertia></inertial>
<collision name="box"><pose>0 0 0.5 0 0 0</pose><geometry><box><size>0.1 0.2 1</size></box>
</geometry><surface><friction><ode><mu>0.7</mu></ode></friction></surface></collision></link>
<link name="lower"><pose relative_to="upper">0 0 1 0 0.5 0</pose>
<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
</link><joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child>
<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort></limit>
<dynamics><damping>0.4</damping><friction>0.2</friction></dynamics></axis></joint>
<joint name="elbow" type="prismatic"><parent>upper</parent><child>lower</child>
<axis><xyz>0.6 0 0.8</xyz><limit><lower>0</lower><upper>1</upper></limit></axis></joint>
</model></sdf>"""

MJCF = b"""<mujoco><compiler angle="degree"/><option gravity="0.5 -1 -9"/><worldbody>
<body name="free" pos="1 2 3" quat="0.5 0.1 0.7 0.2"><freejoint/>
<inertial pos=".1 .2 .3" quat="1 2 3 4" mass="2" diaginertia=".2 .3 .4"/>
<body pos=".1 0 .2" quat="1 0 1 0"><joint type="ball" pos=".1 .2 -.3" armature=".1"/>
<geom type="box" size=".1 .2 .3" pos=".2 .1 0"/>
<body pos="0 .3 0"><joint name="slide" type="slide" axis="1 1 0" ref=".2" range="-1 1"/>
<joint name="hinge" type="hinge" axis="1 0 2" ref="40" range="-90 90" armature=".2" damping=".3"/>
<geom type="capsule" size=".1 .2" pos="0 .1 .1"/></body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="slide" coef="2"/><joint joint="hinge" coef="-1"/></fixed>
</tendon><actuator><motor joint="hinge" gear="2" ctrlrange="-1 1"/></actuator></mujoco>"""

TOML = b"""function = "tests.sweeps.functions:power"
samples = 3
seed = 7
[parameters]
base = [1.5, 2.0]
exponent = {from = 1, to = 2, count = 3}
x = {low = 1.0, high = 2.0, log = true}
"""
