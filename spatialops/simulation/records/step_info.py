"""What happened in one step."""

from __future__ import annotations

from dataclasses import dataclass

from spatialops._arrays import Array, BoolArray
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.certificate import Certificate, certify_contacts


@dataclass(frozen=True, eq=False)
class StepInfo:
    """What happened in one step.

    Parameters
    ----------
    contacts : ContactSet
        Contacts of the step's last contact problem, with their impulses.
    events : (k, 6) array
        Impacts: time (s), contacts and stops, approach speed (m/s), kinetic energy before and after
        (J), share of the restitution that could be given back without a gain of energy.
    residual : float
        Worst natural residual of the step's problems.
    penetration : float
        Largest penetration, m.
    pivots : int
        Newton steps or pivots of the solver; 0 where the impulses of the step before still held.
    pivoted : int
        Contact problems of the step that only a pivoting method answered: their motion is one of
        several, and not the central one.
    loop_forces : (n_rows,) array
        Forces of the closures along their rows, N or N m, as in `Record`; `loop_forces` turns them
        into wrenches.
    closure_error : float
        Largest error of a closure, m or rad.
    moments : (m, 3) array
        Torsional and rolling friction on A along the frames of `contacts`, N m s.
    stop_impulses : (nv,) array
        What the joints' stops did along each velocity, N m s or N s.
    dry_impulses : (nv,) array
        What the joints' dry friction did along each velocity, N m s or N s.
    clipped : (nv,) bool array
        Where `tau` was cut to the joint's effort limit.
    certified : Certificate or None
        The worst of the step's problems, with ``certify="full"``. Default None.
    """

    contacts: ContactSet
    events: Array
    residual: float
    penetration: float
    pivots: int
    pivoted: int
    loop_forces: Array
    closure_error: float
    moments: Array
    stop_impulses: Array
    dry_impulses: Array
    clipped: BoolArray
    certified: Certificate | None = None

    @property
    def certificate(self) -> Certificate:
        """What the step violates by how much, in units.

        In full with ``certify="full"``, else what contacts show.
        """
        if self.certified is not None:
            return self.certified
        impulses, frictions = self.contacts.impulses, self.contacts.frictions
        return certify_contacts(impulses, frictions, gap=self.penetration, residual=self.residual)
