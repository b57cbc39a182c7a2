"""Formulations of the contact problem: `assemble(problem) -> MixedLCP`, `recover(problem, solution) -> impulses`."""
