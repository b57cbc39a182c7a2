"""Damaged robot files, made from good ones: what a fuzz run of the readers feeds on."""

from __future__ import annotations

import re

import numpy as np

_NUMBERS = re.compile(rb'(?<=["\s])-?\d+\.?\d*(?:e-?\d+)?(?=["\s])')
_TAGS = re.compile(rb"<[^>]*>")
_WORDS = (
    b"nan", b"inf", b"-1", b"0", b"1e308", b"-1e308", b"1e-320", b"1e9", b"", b" ", b"\x00", b"\xff\xfe", b"&lt;", b"&#0;",
    b"&x;", b"<", b">", b'"', b"]]>", b"<!DOCTYPE a [<!ENTITY x 'y'>]>", b"<?xml version='1.0' encoding='utf-16'?>",
    b"<link name='a'/>", b"<joint/>", b"<mimic joint='a'/>", b"floating", b"planar", b"spherical", b"fixed", b"continuous",
    b"prismatic", b"world", b"../../x", b"package://a/b", "\u0661".encode(), b"1_0", b"0x1", b"1 2 3", b"1 2 3 4",
)  # fmt: skip


def mutate(text: bytes, rng: np.random.Generator, times: int) -> bytes:
    """The text after so many random changes: numbers, tags, words, bytes, cuts and copies."""
    for _ in range(times):
        text = _MUTATIONS[rng.integers(len(_MUTATIONS))](text, rng)
    return text


def _word(rng: np.random.Generator) -> bytes:
    return _WORDS[rng.integers(len(_WORDS))]


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
    """One quoted word becomes another one of the same file: names that clash, cycles, wrong kinds."""
    found = list(re.finditer(rb'"[^"<>]*"', text))
    if len(found) < 2:
        return text
    a, b = (found[rng.integers(len(found))] for _ in range(2))
    return text[: a.start()] + b.group() + text[a.end() :]


def _insert(text: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(text) + 1))
    return text[:at] + _word(rng) + text[at:]


def _cut(text: bytes, rng: np.random.Generator) -> bytes:
    a = int(rng.integers(len(text) + 1))
    return text[:a] + text[a + int(rng.integers(1, 40)) :]


def _byte(text: bytes, rng: np.random.Generator) -> bytes:
    if not text:
        return text
    at = int(rng.integers(len(text)))
    return text[:at] + bytes([rng.integers(256)]) + text[at + 1 :]


_NUMBER = _replace_match(_NUMBERS)
_MUTATIONS = (
    _NUMBER,
    _NUMBER,
    _NUMBER,
    _rename,
    _rename,
    _rename,
    _swap_tags,
    _replace_match(_TAGS),
    _insert,
    _cut,
    _byte,
)
