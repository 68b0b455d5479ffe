"""Untrusted XML as a small tree: no entities are expanded, nothing is fetched, and its size is limited."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from cc_bot.reading.content import DocumentRefused

MAX_ELEMENTS = 400_000
MAX_DEPTH = 200


@dataclass(slots=True)
class Element:
    """An element. Names have no namespaces; only attributes that are used are kept."""

    name: str
    attributes: dict[str, str]
    children: "list[Element | str]" = field(default_factory=list)

    def elements(self) -> "Iterator[Element]":
        """Yield the child elements."""
        return (child for child in self.children if not isinstance(child, str))

    def all(self, name: str) -> "Iterator[Element]":
        """Yield the elements of this name at any depth, in order."""
        for child in self.elements():
            if child.name == name:
                yield child
            yield from child.all(name)

    def first(self, name: str) -> "Element | None":
        return next(self.all(name), None)

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def parse(pieces: Iterable[bytes], leaving_out: frozenset[str] = frozenset()) -> Element:
    """Parse XML, skipping some elements. Raises DocumentRefused."""
    reading = _Reading(leaving_out)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    parser.EntityDeclHandler = reading.refuse
    try:
        for piece in pieces:
            parser.Parse(piece)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DocumentRefused("unreadable") from error
    return reading.root


_READ = frozenset(
    [
        *("id", "Id", "type", "Type", "val", "styleId", "c", "Target", "TargetMode"),
        *("full-path", "href", "idref", "number-columns-repeated"),
    ]
)
"""Attributes that are used."""
_NO_ATTRIBUTES: dict[str, str] = {}
"""Shared by elements without attributes, as dictionaries would take most of the memory."""


def _attributes(found: dict[str, str]) -> dict[str, str]:
    named = ((key.rpartition("}")[2], value) for key, value in found.items())
    return {name: value for name, value in named if name in _READ} or _NO_ATTRIBUTES


class _Reading:
    def __init__(self, leaving_out: frozenset[str]) -> None:
        self.root = Element("", {})
        self._path = [self.root]
        self._leaving_out = leaving_out
        self._within_left_out = 0
        self._elements = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = sys.intern(name.rpartition("}")[2])
        if self._within_left_out or name in self._leaving_out:
            self._within_left_out += 1
            return
        self._elements += 1
        if self._elements > MAX_ELEMENTS or len(self._path) > MAX_DEPTH:
            raise DocumentRefused("too_long" if self._elements > MAX_ELEMENTS else "unreadable")
        element = Element(name, _attributes(attributes))
        self._path[-1].children.append(element)
        self._path.append(element)

    def end(self, _: str) -> None:
        if self._within_left_out:
            self._within_left_out -= 1
        else:
            self._path.pop()

    def text(self, text: str) -> None:
        if not self._within_left_out:
            self._path[-1].children.append(text)

    def refuse(self, *_: object) -> None:
        raise DocumentRefused("unreadable")
