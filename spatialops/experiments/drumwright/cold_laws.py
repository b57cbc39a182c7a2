"""Laws as the methods of [D] use them: every problem anew; and what their solutions cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import thread_time
from typing import ClassVar

from spatialops.contact.certificate import promised
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.contact.problem import ContactProblem


@dataclass(frozen=True)
class Cold:
    """A law that begins every problem anew, as the paper's methods do."""

    law: Law
    rigid: ClassVar[bool] = True

    @property
    def promises(self) -> tuple[str, ...]:
        """What the law promises."""
        return promised(self.law)

    def solve(self, problem: ContactProblem, warm_start: object = None) -> LawSolution:
        """The law's answer, whatever came before."""
        return self.law.solve(problem)


@dataclass(frozen=True)
class Timed(Cold):
    """A cold law that notes the thread's seconds and the contacts of every problem."""

    seconds: list[float] = field(default_factory=list, compare=False)
    contacts: list[int] = field(default_factory=list, compare=False)

    def solve(self, problem: ContactProblem, warm_start: object = None) -> LawSolution:
        """The same, noted."""
        begin = thread_time()
        answer = super().solve(problem)
        self.seconds.append(thread_time() - begin)
        self.contacts.append(problem.n_contacts)
        return answer
