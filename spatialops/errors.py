"""One tree of errors: `SpatialOpsError` is the base of all that this package raises on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record
    from spatialops.tree.state import State


class SpatialOpsError(Exception):
    """Base of every error of this package.

    Attributes
    ----------
    record : Record or None
        Of an error within `Simulator.run`: what was recorded until then.
    state : State or None
        Likewise: the last state before the error that is a state.
    """

    record: Record | None = None
    state: State | None = None


class ModelError(SpatialOpsError, ValueError):
    """A mechanism that cannot be: wrong topology, impossible inertia, bad joint."""


class ArgumentError(SpatialOpsError, ValueError):
    """An argument of a public function has the wrong shape, type or value."""


class ShapeError(SpatialOpsError, ValueError):
    """A collision shape that cannot be, or that the requested operation does not support."""


class AssetError(SpatialOpsError, ValueError):
    """A file that cannot be read as what it claims to be."""


class AssetWarning(UserWarning):
    """Something in a file that was repaired, or that could not be taken over."""


class ContactError(SpatialOpsError):
    """A contact problem that is ill-posed, or a certificate that does not hold."""


class RecordError(SpatialOpsError, ValueError):
    """A record that cannot be written, read or understood."""


class SolverFailed(ContactError):
    """No solver of the chosen ladder reached the required residual.

    Attributes
    ----------
    problem : MixedLCP or ContactProblem
        What was to be solved; save it with ``problem.save(path)`` and replay it in any solver.
    solution : LCPSolution, LawSolution or None
        The best point found, with its residual.
    """

    def __init__(self, message: str, problem: object = None, solution: object = None) -> None:
        super().__init__(message)
        self.problem = problem
        self.solution = solution


class MissingLibraryError(SpatialOpsError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


class InstallationError(SpatialOpsError, ImportError):
    """The package's own files are not as they must be; the message says what to do."""


class PainleveError(ContactError):
    """Sliding friction leaves no forces that keep rigid bodies apart (Painleve's paradox)."""


class PainleveWarning(UserWarning):
    """Sliding friction may admit several motions, or none: a configuration of Painleve's kind."""


class StepSizeWarning(UserWarning):
    """A body spins too fast for the integrator and its step; the message says what would do."""
