"""The prompt as the offline model reads it: what was said before, what is asked now, what the tools gave."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    PromptPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)

_FOLDED_SYSTEM = Phrase(r"\A\[[^\]\n]*\]\n\n")
"""The second system message where an operator has it folded into the question (context/prompt.py)."""

LONGEST_SAID: Final = 4000
"""Characters of an earlier message that are read: as many as a memory may have."""

_FILE = Phrase(
    r'^The user attached the file "[^"\n]*":\n(?P<fence>`{3,})\n.*?^(?P=fence)$', re.DOTALL | re.MULTILINE
)
"""An attached text file, as it stands in a question (context/attachments.py): not the user's own words."""


@dataclass(frozen=True, slots=True)
class Round:
    """One tool call of this turn and its result."""

    request: ToolRequest
    result: dict[str, Any]

    @property
    def error(self) -> str | None:
        error = self.result.get("error")
        return None if error is None else str(error)

    @property
    def proposed(self) -> bool:
        """Whether nothing was done, and its user is asked."""
        return self.result.get("proposed") is True


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of the conversation before the present one."""

    by_user: bool
    text: str
    place: int


@dataclass(frozen=True, slots=True)
class Conversation:
    before: tuple[Utterance, ...]
    """Oldest first."""
    message: str
    """What the user says now, without attached files."""
    has_files: bool
    rounds: tuple[Round, ...]
    kept: tuple[tuple[int, int], ...]
    """(place, memory id) of what earlier turns remembered."""
    tools: frozenset[str]
    calls: int
    """Tool calls in the whole prompt."""
    past: tuple[PromptPart, ...]
    """The prompt before the present message."""

    @property
    def first_reply(self) -> bool:
        return not any(isinstance(part, AssistantPart) for part in self.past)


def read(request: ChatRequest) -> Conversation:
    """The conversation of a request. Without any user message there is an empty one."""
    places = [place for place, part in enumerate(request.prompt) if isinstance(part, UserPart)]
    at = places[-1] if places else len(request.prompt)
    past, present = request.prompt[:at], request.prompt[at:]
    user = present[0] if present and isinstance(present[0], UserPart) else UserPart("")
    return Conversation(
        before=tuple(_said(past)),
        message=_plain(user.text),
        has_files=bool(user.images or _FILE.search(user.text)),
        rounds=tuple(_rounds(present)),
        kept=tuple(_kept(past)),
        tools=_names(request.tools),
        calls=sum(len(part.tool_requests) for part in request.prompt if isinstance(part, AssistantPart)),
        past=past,
    )


def _said(parts: tuple[PromptPart, ...]) -> Iterator[Utterance]:
    for place, part in enumerate(parts):
        if isinstance(part, UserPart) and (text := _plain(part.text)[:LONGEST_SAID]):
            yield Utterance(True, text, place)
        elif isinstance(part, AssistantPart) and part.text:
            yield Utterance(False, part.text, place)


def _plain(text: str) -> str:
    return _FILE.sub("", _FOLDED_SYSTEM.sub("", text)).strip()


def _rounds(parts: tuple[PromptPart, ...]) -> Iterator[Round]:
    results = {part.request_id: part.text for part in parts if isinstance(part, ToolResultPart)}
    for part in parts:
        if isinstance(part, AssistantPart):
            for request in part.tool_requests:
                if request.id in results:
                    yield Round(request, json_object(results[request.id]))


def _kept(parts: tuple[PromptPart, ...]) -> Iterator[tuple[int, int]]:
    for place, part in enumerate(parts):
        if isinstance(part, ToolResultPart):
            remembered = json_object(part.text).get("remembered")
            if isinstance(remembered, dict) and isinstance(remembered.get("id"), int):
                yield place, remembered["id"]


def json_object(text: str) -> dict[str, Any]:
    """A result as a JSON object; whatever else it is counts as an error."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return {"error": text}
    return value if isinstance(value, dict) else {"error": text}


def _names(tools: tuple[ToolSchema, ...]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools)
