"""What JSON can say: the shape of headers, metadata and summaries."""

from __future__ import annotations

from typing import Any, TypeAlias

PlainData: TypeAlias = dict[str, Any]  # numbers, strings, lists and the like
