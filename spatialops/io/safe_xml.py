"""XML from anywhere, read with care: no document type, no entities, bounds on everything.

`defusedxml` refuses declarations of types and entities (the ways to make a small file expand
without end, or to reach another one); the tree made here holds only what a robot file needs, and
knows the line of every element for errors.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from spatialops._files import opened
from spatialops.errors import AssetError

MAX_BYTES = 32 * 2**20
MAX_DEPTH = 500  # as MuJoCo's
MAX_ELEMENTS = 50_000  # or so many as large a file may have
BYTES_AN_ELEMENT = 32  # at least, of files with more; those that we write have 57
MAX_TAG_BYTES = 2**20
MAX_ATTRIBUTES = 1000
_MOST_TEXT = 400

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


@dataclass(slots=True)
class Element:
    """One element: tag, attributes, what is in it, and where it begins in which file.

    Of its text the first `_MOST_TEXT` characters are kept.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    path: str
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """Elements directly inside with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first of them."""
        return next(self.all(tag), None)

    def get(self, name: str, default: str = "") -> str:
        """An attribute, without the blanks around it."""
        return self.attributes.get(name, default).strip()

    def need(self, name: str) -> str:
        """An attribute that must be there and not be empty."""
        value = self.get(name)
        if not value:
            raise self.error(f"<{self.tag}> has no {name!r}")
        return value

    def number(self, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """A finite number (or infinity where allowed); missing without a default is an error."""
        if name not in self.attributes and default is not None:
            return default
        return self._number(name, self.need(name), infinite)

    def value(self) -> float | None:
        """The number that it is: in its attribute "value", or as its text; None without either."""
        if "value" in self.attributes:
            return self.number("value")
        word = self.text.strip()
        if word and not (len(word) < _MOST_TEXT and _NUMBER.fullmatch(word)):
            raise self.error(f"<{self.tag}>: {_short(word)} is not a finite number")
        return float(word) if word else None

    def numbers(
        self, name: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """So many numbers; an error where they are missing without a default."""
        if name not in self.attributes and default is not None:
            return default
        words = self.get(name).split()
        if len(words) != count:
            self._refuse_macro(name)
            raise self.error(
                f"<{self.tag} {name}={_short(self.get(name))}>: expected {count} numbers"
            )
        return tuple(self._number(name, word, infinite=False) for word in words)

    def text_numbers(self, count: int) -> tuple[float, ...]:
        """So many numbers that are its text."""
        whole = replace(self, attributes={"text": self.text})
        return whole.numbers("text", count)

    def _number(self, name: str, word: str, infinite: bool) -> float:
        if infinite and _INFINITE.fullmatch(word):
            return float(word)
        value = float(word) if len(word) < 400 and _NUMBER.fullmatch(word) else math.nan
        if not math.isfinite(value):
            self._refuse_macro(name)
            raise self.error(
                f"<{self.tag} {name}={_short(self.get(name))}>: {_short(word)} is not a finite "
                "number"
            )
        return value

    def _refuse_macro(self, name: str) -> None:
        if "${" in self.get(name) or "$(" in self.get(name):
            raise self.error(
                f"<{self.tag} {name}={_short(self.get(name))}>: is a xacro macro; expand it with "
                "xacro first"
            )

    def error(self, text: str) -> AssetError:
        """The error that names file and line."""
        return AssetError(f"{self.path}:{self.line}: {text}")


class _Numbered(Protocol):
    """The parser beneath, for the line that it is in."""

    CurrentLineNumber: int


class _Target:
    """Receives what the parser finds; stops it where a bound is passed."""

    parser: _Numbered

    def __init__(self, path: str, most: int) -> None:
        self.path = path
        self.most = most
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(
            tag.rpartition("}")[2], attributes, self.parser.CurrentLineNumber, self.path
        )
        self.count += 1
        if self.count > self.most:
            raise element.error(f"more than {self.most} elements")
        if len(attributes) > MAX_ATTRIBUTES:
            raise element.error(f"an element with more than {MAX_ATTRIBUTES} attributes")
        if len(self.stack) >= MAX_DEPTH:
            raise element.error(f"elements are nested more than {MAX_DEPTH} deep")
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, tag: str) -> None:
        self.stack.pop()

    def data(self, text: str) -> None:
        if self.stack and len(self.stack[-1].text) < _MOST_TEXT:
            self.stack[-1].text += text[:_MOST_TEXT]

    def close(self) -> Element | None:
        return self.root


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a plain file of bounded size."""
    try:
        with opened(path) as file:
            content = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise AssetError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    if len(content) > max_bytes:
        raise AssetError(f"{path}: is larger than {max_bytes // 2**20} MB")
    return content


def parse(content: bytes, path: str | os.PathLike[str]) -> Element:
    """The root element of a document.

    Raises
    ------
    AssetError
        If it is not well-formed, declares a document type or entities, or passes a bound; with the
        line.
    """
    name = os.fspath(path)
    if max(map(len, content.split(b">"))) > MAX_TAG_BYTES:
        raise AssetError(f"{name}: holds a tag or text longer than {MAX_TAG_BYTES // 2**10} kB")
    target = _Target(name, max(MAX_ELEMENTS, len(content) // BYTES_AN_ELEMENT))
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.parser = parser.parser
    # Strictly a declaration must come first; files with blank lines before it are about, so these
    # are skipped.
    text = content.lstrip(b" \t\r\n")
    skipped = content[: len(content) - len(text)].count(b"\n")
    try:
        parser.feed(text)
        root = parser.close()
    except DefusedXmlException as error:
        raise AssetError(
            f"{name}:{target.parser.CurrentLineNumber}: document types and entities are refused "
            f"({type(error).__name__})"
        ) from error
    except ParseError as error:
        line, column = error.position
        raise AssetError(
            f"{name}:{line + skipped}:{column}: is not well-formed XML: {error.msg}"
        ) from error
    except (LookupError, ValueError) as error:
        if isinstance(error, AssetError):
            raise
        raise AssetError(f"{name}: is not readable XML: {error}") from error
    if root is None:
        raise AssetError(f"{name}: holds no element")
    element: Element = root
    if skipped:
        _move(element, skipped)
    return element


def _move(root: Element, lines: int) -> None:
    stack = [root]
    while stack:
        element = stack.pop()
        element.line += lines
        stack += element.children


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
