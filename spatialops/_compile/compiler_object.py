"""The type of what Numba and LLVM hand over while they compile."""

from typing import Any, TypeAlias

CompilerObject: TypeAlias = Any
"""They have no types that mypy could read."""
