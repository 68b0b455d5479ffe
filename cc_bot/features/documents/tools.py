"""The tool that reads documents too long for the prompt. Their text taints the turn, and is not stored with
the answer: a document may be another user's, and deleting the document must delete its text."""

import asyncio
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from cc_bot.chat.tools import InvalidToolCall, ToolContext, ToolOutcome, none_if_empty, succeeded, tool
from cc_bot.domain.message import Attachment, Document
from cc_bot.features.memory.search.passages import find_passages

MAX_CHARACTERS: Final = 9000  # 7,000 tokens of Japanese
MAX_PASSAGES: Final = 5
_CONTEXT_CHARACTERS: Final = 1200
_RANGE: Final = re.compile(r"\A\s*+(\d{1,4}+)\s*+(?:[-–〜~]\s*+(\d{1,4}+)\s*+)?\Z")
_MAX_RANGES: Final = 20


Pages = Annotated[
    str | None,
    BeforeValidator(none_if_empty),
    BeforeValidator(lambda pages: str(pages) if isinstance(pages, int) else pages),
    Field(description="Such as 3, 5-8 or 2,9."),
]


@tool(writes=False, personal=False, subject="file")
async def read_file(
    context: ToolContext,
    file: str,
    pages: Pages = None,
    query: Annotated[str | None, BeforeValidator(none_if_empty)] = None,
) -> ToolOutcome:
    """Read more of a document that was attached: the given pages (or slides, parts), or with
    query the passages about it. Use the user's own words as query."""
    name, document = _find_document(context.files, file)
    if query:
        fields = await asyncio.to_thread(_search, document, query)
    else:
        fields = _read_parts(document, _parse_numbers(pages or "1", len(document.parts)))
    return succeeded(
        {"file": name, f"{document.unit}s": len(document.parts), **fields}, tainted=True, ephemeral=True
    )


def _find_document(files: Sequence[Attachment], name: str) -> tuple[str, Document]:
    """Return the newest document with this name, else one whose name contains it, else the only document."""
    documents = [(each.name, each.document) for each in reversed(files) if each.document is not None]
    part = name.casefold().strip()
    matches = [each for each in documents if each[0] == name]
    matches += [each for each in documents if part in each[0].casefold()]
    if matches:
        return matches[0]
    if len(documents) == 1:
        return documents[0]
    names = ", ".join(name for name, _ in documents) or "none"
    raise InvalidToolCall(f"No such document. Files that are not listed are shown whole. Documents: {names}.")


def _parse_numbers(pages: str, count: int) -> list[int]:
    numbers = list[int]()
    for text in re.split("[,、，]", pages)[:_MAX_RANGES]:
        page_range = _RANGE.match(text)
        if not page_range:
            raise InvalidToolCall("pages: numbers such as 3, 5-8 or 2,9.")
        first = int(page_range[1])
        numbers += range(first, min(int(page_range[2] or first), count) + 1)
    numbers = [number for number in dict.fromkeys(numbers) if 1 <= number <= count]
    if not numbers:
        raise InvalidToolCall(f"pages: from 1 to {count}.")
    return numbers


def _read_parts(document: Document, numbers: Sequence[int]) -> dict[str, Any]:
    text, shown_numbers = "", list[int]()
    for number in numbers:
        part = document.text_with_labels((number,)) + "\n"
        if shown_numbers and len(text) + len(part) > MAX_CHARACTERS:
            break
        text += part
        shown_numbers.append(number)
    remaining = numbers[len(shown_numbers) :]
    fields: dict[str, Any] = {"text": text[:MAX_CHARACTERS].rstrip()}
    if len(text) > MAX_CHARACTERS:
        fields["cut"] = "This is too long to be shown whole: look the rest up with query."
    if remaining:
        fields["not_shown"] = f"{remaining[0]}-{remaining[-1]}: call again for these."
    return fields


def _search(document: Document, query: str) -> dict[str, Any]:
    texts = [f"{part.name}\n{part.text}" if part.name else part.text for part in document.parts]
    passages = find_passages(query, texts, MAX_PASSAGES)
    if not passages:
        return {"found": [], "note": "Nothing matches these words. Try others, or read pages."}
    found, characters_left = list[str](), MAX_CHARACTERS
    for passage in passages:
        text = texts[passage.text_index]
        if len(text) > 2 * _CONTEXT_CHARACTERS:
            text = text[max(passage.start - _CONTEXT_CHARACTERS, 0) : passage.end + _CONTEXT_CHARACTERS]
        excerpt = f"{document.part_label(passage.text_index + 1)}\n{text}"[:characters_left]
        found.append(excerpt)
        characters_left -= len(excerpt)
        if characters_left < _CONTEXT_CHARACTERS:
            break
    return {"found": found}
