"""What every way through time works with: a scene under checked options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.contact.friction import directions
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.law import Law, is_rigid
from spatialops.contact.laws.viscous import Viscous
from spatialops.errors import ArgumentError
from spatialops.forces.effort_limits import Effort
from spatialops.simulation import _layout as at
from spatialops.simulation import scales as usual
from spatialops.simulation.options import INTEGRATORS, SETTLED, TOLERANCE, Options
from spatialops.simulation.pair_laws import pair_friction
from spatialops.simulation.runs.sensing import Sensing, Sensor
from spatialops.simulation.scales import Scales
from spatialops.simulation.scene.joint_constraints import joint_rows, outside_limits
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.external_solver import ExternalSolver, ImpactRule, Method
from spatialops.tree.state import State, checked_state

_NEVER = 1e300  # m/s and m, beyond all approach and depth
_FLOAT = np.dtype(np.float64)


class Setup:
    """A scene, options, and the tables and rules that follow from them.

    Attributes
    ----------
    scene : Scene
        What is simulated.
    options : Options
        With the law that has all that pairs of the scene ask for.
    scales : Scales
        Of the scene.
    sensing : Sensing
        What is read after recorded steps.
    effort : Effort
        What becomes of joint forces.
    joints : JointRows
        Stops and dry friction of joints.
    pairs : PairFriction
        Friction of all pairs of geoms.
    settings : (SETTINGS,) array
        Of the compiled loop.
    stepping : Stepping
        The compiled loop.
    probe : Held or None
        Tables to detect contacts in without a trace in anybody's run; made when it is needed.
    """

    def __init__(
        self, scene: Scene, options: Options, scales: Scales, sensors: Sequence[Sensor] = ()
    ) -> None:
        self.scene = scene
        self.scales = scales
        self.sensing = Sensing(scene, sensors)
        self.effort = Effort(scene.model, options.clip_effort)
        self.joints = joint_rows(
            scene.model,
            limits=options.joint_limits,
            dry_friction=options.dry_friction,
            restitution=options.stop_restitution,
        )
        self.settings = _settings(scene, options, scales)
        self.pairs = pair_friction(
            scene,
            options.law or Coulomb(formulation=options.formulation, solver=options.solver),
        )
        self.options = replace(options, law=self.pairs.law) if self.pairs.special else options
        self.stepping = self._stepping(self.options.law if self.pairs.mixed else options.law)
        limits = np.isfinite(scene.model.lower) | np.isfinite(scene.model.upper)
        self._has_limits = bool(limits.any())
        self.probe: Held | None = None

    @property
    def rigid(self) -> bool:
        """Whether contacts are rigid: their depth is an error then."""
        return is_rigid(self.options.law)

    @property
    def full(self) -> bool:
        """Whether every contact problem is certified by itself."""
        return self.options.certify == "full"

    def checked(self, state: object) -> State:
        """The state, checked.

        Raises
        ------
        ArgumentError
            For anything else, and for a joint farther beyond its limits than a step can leave it.
        """
        own = self.options
        checked = checked_state(state, self.scene.model)
        if len(checked.activation) not in (0, self.scene.elements.n_states):
            raise ArgumentError(
                f"state.activation: expected {self.scene.elements.n_states} numbers, got "
                f"{len(checked.activation)}"
            )
        watched = own.joint_limits and own.certify == "raise" and self.rigid
        if not (watched and self._has_limits):
            return checked
        fault = outside_limits(self.scene.model, checked.q, own.depth_limit)
        if fault:
            raise ArgumentError(
                f"state: {fault}; start within them, or simulate with joint_limits=False"
            )
        return checked

    def in_form(self, tau: object, state: object) -> TypeGuard[Array]:
        """Whether kernels may take forces and a state as they are, and look at numbers alone."""
        if not isinstance(state, State) or self._has_limits or type(state.time) is not float:
            return False
        model, activation = self.scene.model, state.activation
        if type(activation) is not np.ndarray or activation.size:
            return False
        return (
            _is_vector(state.q, model.nq)
            and _is_vector(state.v, model.nv)
            and _is_vector(tau, model.nv)
        )

    def clipped(self) -> dict[str, int]:
        """How often the effort of each joint was cut since it was counted anew, where it was."""
        counts = self.effort.clipped
        if not np.count_nonzero(counts):
            return {}
        name = self.scene.model.joint_of_link
        return {name(int(k)): int(counts[k]) for k in np.flatnonzero(counts)}

    def _stepping(self, in_loop: Law | None) -> Stepping:
        table = self.scene.pair_table
        own = self.options
        newton = own.restitution == "newton"
        impacts = ImpactRule(
            own.impacts == "propagated", (table.newton | newton) & ~table.poisson, newton
        )
        method = Method(own.law, own.formulation, own.solver, in_loop)
        directions(method.n_f)  # refuses odd ones
        external = ExternalSolver(self.scene, self.joints, method, self.pairs, impacts, self.full)
        scheme = INTEGRATORS[own.integrator]
        return Stepping(self.scene, self.joints, self.settings, external, scheme)


def _is_vector(values: object, size: int) -> bool:
    """Whether `values` are an array as `vector` returns it."""
    return (
        type(values) is np.ndarray
        and values.dtype is _FLOAT
        and values.shape == (size,)
        and values.flags.carray
    )


def _settings(scene: Scene, options: Options, scales: Scales) -> Array:
    """Numbers that the compiled loop goes by."""
    settings = np.zeros(at.SETTINGS)
    settings[at.DT] = options.dt
    settings[at.THRESHOLD] = options.impact_threshold
    settings[at.MARGIN] = options.margin
    settings[at.TOUCH] = usual.TOUCH * scales.length
    settings[at.TOLERANCE] = TOLERANCE
    settings[at.SETTLED] = SETTLED
    settings[at.SLEEPS] = 1.0
    settings[at.DEPTH] = usual.DEPTH * scales.length
    settings[at.SKIN] = 0.5 * scene.smallest_radius + 4.0 * options.margin
    settings[at.WIDTH] = scene.least_width
    if isinstance(options.law, Viscous):
        coefficient = options.law.coefficient
        settings[at.VISCOSITY] = -1.0 if coefficient is None else coefficient
        settings[at.VISCOSITY_IN_IMPACTS] = options.law.impact
        settings[at.FILM] = options.law.film
    # Other laws say of impacts, or of what touches, something of their own.
    same = isinstance(options.law, (type(None), Coulomb, ConeCoulomb, Frictionless))
    together = same and options.impacts == "simultaneous"
    settings[at.CUTS] = usual.INELASTIC_CUTS if together else _NEVER
    if not is_rigid(options.law):  # no impacts, and depth is what bears a load
        settings[[at.THRESHOLD, at.DEPTH]] = _NEVER
    return settings
