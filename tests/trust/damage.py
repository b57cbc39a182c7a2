"""Damage done to files on purpose: to numbers that kernels follow, to texts, and to bytes."""

from __future__ import annotations

import functools
import io
import itertools
import json
import struct
import zipfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.support.mutations import mutate

_NUMBERS = (0, 1, -1, 2, -2, 7, 255, 10**6, -(10**6), 2**31, 2**40, -(2**40), 2**62, 2**63 - 1)
_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-320, 1e-30, 1e9, 1e30, 1e300, -1e300)
_LEAVES = (None, True, -1, 0, 2**40, 1e308, -1e308, float("nan"), "", "x", "world", [], {}, [[]])
_DEPTH = 100_000  # brackets


def aimed(content: bytes, rng: np.random.Generator) -> bytes:
    """An .npz file with one to three of its arrays changed, its checksums as they must be."""
    with np.load(io.BytesIO(content)) as data:
        arrays = {name: data[name] for name in data.files}
    for _ in range(int(rng.integers(1, 4))):
        names = sorted(arrays)
        if not names:
            break
        name = names[rng.integers(len(names))]
        arrays[name] = _changed(arrays, name, rng)
        if arrays[name] is None:
            del arrays[name]
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def texts(content: bytes, rng: np.random.Generator) -> bytes:
    """XML with one to four of its words, numbers or elements changed."""
    return mutate(content, rng, int(rng.integers(1, 5)))


def bytewise(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, cut out or put in; within an .npz also behind its checksums."""
    if content[:2] == b"PK" and rng.random() < 0.5:
        return _within(content, rng)
    broken = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        _break(broken, rng)
    return bytes(broken)


def _within(content: bytes, rng: np.random.Generator) -> bytes:
    """An .npz whose entries are damaged as files and then packed rightly."""
    stored = _stored(content)
    chosen = int(rng.integers(len(stored.entries)))
    name, entry = stored.entries[chosen]
    broken = bytearray(entry)
    _break(broken, rng)
    return _replaced(stored, chosen, _packed([(name, bytes(broken))]))


class _Stored(NamedTuple):
    """A zip archive that compresses nothing, in pieces.

    Attributes
    ----------
    entries : sequence of (str, bytes)
        What it holds, by name.
    pieces : list of bytes
        How each begins and what it is.
    records : list of bytes
        Of the directory behind them, which say where each begins.
    end : bytes
        The end, which says where the directory is.
    """

    entries: Sequence[tuple[str, bytes]]
    pieces: list[bytes]
    records: list[bytes]
    end: bytes


_PLACE = struct.Struct("<I")
_IN_RECORD = 42  # byte at which a record says where its entry begins
_IN_END = 16  # byte at which the end says where the directory does
_END = 22  # bytes


@functools.lru_cache
def _stored(content: bytes) -> _Stored:
    """An .npz without compression."""
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        return _packed([(name, whole.read(name)) for name in whole.namelist()])


def _packed(entries: Sequence[tuple[str, bytes]]) -> _Stored:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as new:
        for name, entry in entries:
            new.writestr(name, entry)
        places = [item.header_offset for item in new.infolist()]
    content = stream.getvalue()
    end = content[-_END:]
    bounds = [*places, *_PLACE.unpack_from(end, _IN_END)]
    pieces = [content[a:b] for a, b in itertools.pairwise(bounds)]
    sizes = [46 + len(name.encode()) for name, _ in entries]
    bounds = list(itertools.accumulate(sizes, initial=bounds[-1]))
    return _Stored(entries, pieces, [content[a:b] for a, b in itertools.pairwise(bounds)], end)


def _replaced(stored: _Stored, chosen: int, one: _Stored) -> bytes:
    """The archive with one of its entries from another one, which has no other."""
    pieces = stored.pieces.copy()
    records = stored.records.copy()
    pieces[chosen] = one.pieces[0]
    records[chosen] = one.records[0]
    place = 0
    for i, piece in enumerate(pieces):
        if i >= chosen:
            record = bytearray(records[i])
            _PLACE.pack_into(record, _IN_RECORD, place)
            records[i] = bytes(record)
        place += len(piece)
    end = bytearray(stored.end)
    _PLACE.pack_into(end, _IN_END, place)
    return b"".join((*pieces, *records, end))


def _break(broken: bytearray, rng: np.random.Generator) -> None:
    if not broken:
        return
    at = int(rng.integers(len(broken)))
    drawn = rng.random()
    if drawn < 0.5:
        broken[at] = int(rng.integers(256))
    elif drawn < 0.8:
        broken[at] ^= 1 << int(rng.integers(8))
    elif drawn < 0.9:
        del broken[at : at + int(rng.integers(1, 64))]
    else:
        broken[at:at] = rng.bytes(int(rng.integers(1, 64)))


def _changed(arrays: dict[str, Any], name: str, rng: np.random.Generator) -> Any:
    """Another array in place of one; None for none at all."""
    values = np.array(arrays[name])
    drawn = rng.random()
    if drawn < 0.05:
        return None
    if drawn < 0.12:
        return arrays[sorted(arrays)[rng.integers(len(arrays))]]
    if drawn < 0.2:
        return _reshaped(values, rng)
    if values.dtype.kind == "U":
        return np.array(_text(str(values), rng)) if values.ndim == 0 else _renamed(values, rng)
    if values.size == 0:
        return np.zeros((3, *values.shape[1:]), values.dtype)
    flat = values.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(flat.size))
        if values.dtype.kind == "f":
            with np.errstate(over="ignore"):
                flat[at] = _FLOATS[rng.integers(len(_FLOATS))]
        elif values.dtype.kind in "iu":
            flat[at] = np.array(_NUMBERS[rng.integers(len(_NUMBERS))]).astype(values.dtype)
        else:
            flat[at] = flat[-1 - at]
    return values


def _reshaped(values: Any, rng: np.random.Generator) -> Any:
    drawn = int(rng.integers(6))
    if drawn == 0:
        return values[..., None]
    if drawn == 1:
        return values.reshape(-1)
    if drawn == 2:
        return values.T if values.ndim > 1 else np.concatenate([values.reshape(-1)] * 2)
    if drawn == 3:
        return values[: len(values) // 2] if values.ndim else np.zeros(0)
    if drawn == 4 and values.dtype.kind in "iuf":
        with np.errstate(invalid="ignore", over="ignore"):
            return values.astype(rng.choice(["f4", "i4", "c16", "u1", ">f8"]))
    return np.array(["text"])


def _renamed(values: Any, rng: np.random.Generator) -> Any:
    changed = values.astype("U32")
    if changed.size:
        words = ("", "world", "free", "no such", str(changed.reshape(-1)[0]))
        changed.reshape(-1)[rng.integers(changed.size)] = words[rng.integers(len(words))]
    return changed


def _text(text: str, rng: np.random.Generator) -> str:
    """A header with a leaf or a branch changed, doubled, or with brackets without end."""
    drawn = rng.random()
    if drawn < 0.03:
        return "[" * _DEPTH
    if drawn < 0.06:
        return '{"a":' * _DEPTH
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # damaged before
        return text[: int(rng.integers(len(text) + 1))]
    for _ in range(int(rng.integers(1, 3))):
        data = _pruned(data, rng)
    return json.dumps(data)


def _pruned(data: Any, rng: np.random.Generator) -> Any:
    """Plain data with one place in it changed."""
    if not isinstance(data, (dict, list)) or not data or rng.random() < 0.15:
        return _LEAVES[rng.integers(len(_LEAVES))]
    keys = list(data) if isinstance(data, dict) else range(len(data))
    key = keys[int(rng.integers(len(keys)))]
    changed = dict(data) if isinstance(data, dict) else list(data)
    if rng.random() < 0.1:
        del changed[key]
    else:
        changed[key] = _pruned(data[key], rng)
    return changed


# Damage that knows a format, by the ends of its files.
AIMED = {".npz": aimed, **dict.fromkeys((".urdf", ".sdf", ".xml", ".dae"), texts)}
