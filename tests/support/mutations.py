"""Damaged robot files, made from good ones: what a fuzz run of the readers feeds on."""

from __future__ import annotations

import re

import numpy as np

_NUMBERS = re.compile(rb'(?<=["\s])-?\d+\.?\d*(?:e-?\d+)?(?=["\s])')
_TAGS = re.compile(rb"<[^>]*>")
_EMPTY = re.compile(rb"<[^<>/]*/>")
_VALUES = (
    *(
        b"nan",
        b"inf",
        b"-inf",
        b"-1",
        b"0",
        b"1",
        b"1e308",
        b"-1e308",
        b"1e-320",
        b"1e9",
        b"",
        b" ",
        b"0x1",
        b"1_0",
        b"1,",
    ),
    *(
        b"1 2 3",
        b"0 0 0",
        b"1 2 3 4",
        b"1e300 1e300 1e300",
        "\u0661".encode(),
        b"floating",
        b"planar",
        b"spherical",
    ),
    *(
        b"fixed",
        b"continuous",
        b"prismatic",
        b"revolute",
        b"world",
        b"../../x",
        b"package://a/b",
        b"${x}",
        b"&lt;",
        b"a",
    ),
)
_RAW = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"&#0;",
        b"&x;",
        b"<",
        b">",
        b'"',
        b"]]>",
        b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
        b"<a",
        b"</a>",
    ),
    *(
        b"<?xml version='1.0' encoding='utf-16'?>",
        b"<link name='a'/>",
        b"<joint/>",
        b"<mimic joint='a'/>",
        b"<limit/>",
    ),
)


def mutate(text: bytes, rng: np.random.Generator, times: int) -> bytes:
    """The text after so many random changes, most of which leave it well-formed."""
    for _ in range(times):
        kinds = _WILD if rng.random() < 0.15 else _TAME
        text = kinds[rng.integers(len(kinds))](text, rng)
    return text


def _word(rng: np.random.Generator) -> bytes:
    return _VALUES[rng.integers(len(_VALUES))]


def _replace_match(pattern: re.Pattern[bytes]):
    def change(text: bytes, rng: np.random.Generator) -> bytes:
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = found[rng.integers(len(found))]
        return text[: match.start()] + _word(rng) + text[match.end() :]

    return change


def _swap_tags(text: bytes, rng: np.random.Generator) -> bytes:
    found = list(_TAGS.finditer(text))
    if len(found) < 2:
        return text
    a, b = (found[rng.integers(len(found))] for _ in range(2))
    return text[: a.start()] + b.group() + text[a.end() :]


def _rename(text: bytes, rng: np.random.Generator) -> bytes:
    """One quoted word becomes another of the same file: clashes, cycles, wrong kinds."""
    found = list(re.finditer(rb'"[^"<>]*"', text))
    if len(found) < 2:
        return text
    a, b = (found[rng.integers(len(found))] for _ in range(2))
    return text[: a.start()] + b.group() + text[a.end() :]


def _insert(text: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(text) + 1))
    return text[:at] + _RAW[rng.integers(len(_RAW))] + text[at:]


def _cut(text: bytes, rng: np.random.Generator) -> bytes:
    a = int(rng.integers(len(text) + 1))
    return text[:a] + text[a + int(rng.integers(1, 40)) :]


def _byte(text: bytes, rng: np.random.Generator) -> bytes:
    if not text:
        return text
    at = int(rng.integers(len(text)))
    return text[:at] + bytes([rng.integers(256)]) + text[at + 1 :]


def _drop_or_double(text: bytes, rng: np.random.Generator) -> bytes:
    """An element without content goes away, or comes a second time somewhere."""
    found = list(_EMPTY.finditer(text))
    if not found:
        return text
    a, b = (found[rng.integers(len(found))] for _ in range(2))
    return (
        text[: a.start()] + (b"" if rng.random() < 0.5 else a.group() + b.group()) + text[a.end() :]
    )


_TAME = (_replace_match(_NUMBERS), _rename, _drop_or_double)  # what comes out is XML still
_WILD = (_swap_tags, _replace_match(_TAGS), _insert, _cut, _byte)
