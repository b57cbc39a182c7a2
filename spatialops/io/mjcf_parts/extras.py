"""What MuJoCo simulates and nothing here does: listed, with whether it changes the motion."""

from __future__ import annotations

import numpy as np

from spatialops.io.mjcf_parts.compiled import Compiled, disabled

# Things by their count in the compiled model: what they are, and whether leaving them out changes
# the motion.
_COUNTED = (
    ("nflex", "flexible bodies", True),
    ("nskin", "skins", False),
    ("nplugin", "plugins", True),
    ("nmocap", "mocap bodies, fixed to the world here", False),
    ("nuserdata", "user data", False),
)
# Arrays that are zero where a feature is not used.
_FORCES = (
    ("tendon_stiffnesspoly", "springs of tendons that are not linear"),
    ("tendon_dampingpoly", "damping of tendons that is not linear"),
    ("tendon_actfrclimited", "ranges of force of tendons"),
    ("tendon_frictionloss", "friction of tendons"),
    ("tendon_armature", "armature of tendons"),
    ("dof_dampingpoly", "damping that is not linear"),
    ("jnt_stiffnesspoly", "springs that are not linear"),
    ("geom_fluid", "fluid forces on geoms"),
    ("geom_adhesion", "adhesion of geoms"),
    ("actuator_armature", "armature of actuators"),
    ("actuator_damping", "damping of actuators"),
    ("actuator_dampingpoly", "damping of actuators that is not linear"),
    ("jnt_actgravcomp", "compensation of gravity by actuators: it is one by bodies"),
)
# The same of what MuJoCo's solver is soft by, or is told: contacts, stops and closures are exact.
_SOFT = (
    ("jnt_solref", "jnt_solimp", "softness of the limits of joints"),
    ("dof_solref", "dof_solimp", "softness of the dry friction of joints"),
    ("geom_solref", "geom_solimp", "softness of contacts"),
    ("pair_solref", "pair_solimp", "softness of contact pairs"),
)
_MARGINS = (
    ("geom_margin", "margins of contacts"),
    ("geom_gap", "gaps of contacts"),
    ("pair_margin", "margins of contact pairs"),
    ("jnt_margin", "margins of the limits of joints"),
)
_SOLVER_FLAGS = (
    "WARMSTART",
    "REFSAFE",
    "SENSOR",
    "MIDPHASE",
    "EULERDAMP",
    "AUTORESET",
    "NATIVECCD",
    "ISLAND",
    "MULTICCD",
)
_DEFAULT_SOLREF = (0.02, 1.0)
_DEFAULT_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)


def list_features(c: Compiled) -> None:
    """Count all that is left out."""
    m = c.m
    for attribute, text, moves in _COUNTED:
        count = int(getattr(m, attribute, 0))
        if count:
            (c.warnings if moves else c.left_out).add(f"{text}: {count}")
    for attribute, text in _FORCES:
        values = np.asarray(getattr(m, attribute, 0.0))
        if values.any():
            count = int(np.count_nonzero(values.reshape(len(values), -1).any(axis=1)))
            c.warnings.add(f"not simulated: {text}, {count}")
    if m.opt.density or m.opt.viscosity:
        c.warnings.add("not simulated: forces of a fluid around")
    _list_flags(c)
    _list_softness(c)
    if np.any(m.tendon_limited):
        c.left_out.add(
            f"softness of the limits of tendons: {int(np.sum(m.tendon_limited))}; they are buffers"
        )
    if m.neq:
        c.left_out.add(f"softness of equality constraints: {m.neq}; they are exact")


def _list_flags(c: Compiled) -> None:
    """Flags and options that are not obeyed."""
    m = c.m
    off = [name.lower() for name in _SOLVER_FLAGS if disabled(c, name)]
    if off:
        c.left_out.add(f"switched off for MuJoCo's own solver: {', '.join(off)}")
    if disabled(c, "FILTERPARENT"):
        c.warnings.add("contacts of neighbours are left out, which the file asks for")
    if m.opt.enableflags:
        c.left_out.add(f"flags that switch on parts of MuJoCo: {int(m.opt.enableflags):#x}")
    for name, text in (("cone", "kind of friction cone"), ("impratio", "impratio")):
        if float(getattr(m.opt, name)) not in (0.0, 1.0):
            c.left_out.add(f"{text}, of MuJoCo's solver")
    if np.any(m.opt.wind):
        c.warnings.add("not simulated: wind; give `external=so.Wind(...)`")


def _list_softness(c: Compiled) -> None:
    """What is soft, or acts at a distance, where the file does not leave it at its default."""
    m = c.m
    for reference, impedance, text in _SOFT:
        soft, firm = getattr(m, reference), getattr(m, impedance)
        odd = (soft != _DEFAULT_SOLREF).any(axis=1) | (firm != _DEFAULT_SOLIMP).any(axis=1)
        if odd.any():
            c.left_out.add(f"{text}: {int(odd.sum())}; they are exact")
    for name, text in _MARGINS:
        count = int(np.count_nonzero(getattr(m, name, np.zeros(1))))
        if count:
            c.left_out.add(f"{text}: {count}")
    if (m.geom_solmix != 1.0).any():
        c.left_out.add("solmix of geoms: friction is mixed by maximum and priority")
