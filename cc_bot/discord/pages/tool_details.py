"""The tools of a server as an owner reads them before agreeing, as a file.

All of it is the server's own words, and they may be made to deceive its reader. So each of their lines stands
behind a bar, where it is none of ours, and what nobody would see in them is written out.
"""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from cc_bot.domain.tool_server import HELD_BACK, ToolDetails, ToolWording
from cc_bot.texts import Texts

LARGEST: Final = 4_000_000
"""Bytes of the file: Discord takes 10 MiB."""
MOST_PIECES: Final = 50_000
"""Of an indented schema; one that is made to grow by that stands on one line."""


@dataclass(frozen=True, slots=True)
class DetailsFile:
    """The text of a file, and whether it had to be cut."""

    text: str
    cut: bool


def details_file(server: str, tools: Sequence[ToolDetails], words: Texts) -> DetailsFile:
    """Write the tools of a server down, in their order."""
    lines, left = [f"{server} ({len(tools)})"], LARGEST
    for line in _lines(tools, words):
        left -= len(line.encode()) + 1
        if left < 0:
            return DetailsFile("\n".join((*lines, words.tool_servers.details_cut)) + "\n", cut=True)
        lines.append(line)
    return DetailsFile("\n".join(lines) + "\n", cut=False)


def _lines(tools: Sequence[ToolDetails], words: Texts) -> Iterator[str]:
    told = words.tool_servers
    for tool in tools:
        yield from ("", f"■ {tool.full_name}", told.standing.format(standing=told.standings[tool.standing]))
        if tool.standing not in HELD_BACK:
            yield from _wording(tool.now or tool.agreed, words)
            continue
        if tool.agreed:
            yield from ("", told.wording_agreed, *_wording(tool.agreed, words))
        if tool.now:
            yield from ("", told.wording_new, *_wording(tool.now, words))
        if tool.now == tool.agreed:
            yield told.wording_alike


def _wording(wording: ToolWording | None, words: Texts) -> Iterator[str]:
    told = words.tool_servers
    if wording is None:
        return
    yield told.reads if wording.read_only else told.writes
    yield told.waits if wording.waits else told.does_not_wait
    yield told.description
    yield from map(_barred, wording.description.split("\n"))
    yield told.arguments
    yield from (
        map(_barred, _indented(wording.schema).split("\n")) if wording.schema else [told.schema_too_large]
    )


def _barred(line: str) -> str:
    return f"  | {''.join(map(_visible, line))}"


def _visible(sign: str) -> str:
    """Write a sign so that it is seen: controls, marks that turn a line around, and what has no width."""
    seen = sign.isprintable() or unicodedata.category(sign) == "Zs"
    return sign if seen else sign.encode("unicode_escape").decode("ascii")


def _indented(schema: str) -> str:
    """Return JSON over several lines."""
    document, encoder = json.loads(schema), json.JSONEncoder(ensure_ascii=False, indent=2)
    pieces = list(islice(encoder.iterencode(document), MOST_PIECES + 1))
    written = "".join(pieces)
    fits = len(pieces) <= MOST_PIECES and len(written) <= LARGEST // 8
    return written if fits else json.dumps(document, ensure_ascii=False)
