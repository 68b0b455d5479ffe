import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Json = dict[str, Any]
CONTEXT = "<context>\n"


@dataclass(slots=True)
class RecordedRequest:
    """One request as it came in, and whether its client left before the reply was over, or had all of it."""

    body: Json
    headers: Mapping[str, str]
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def messages(self) -> list[Json]:
        """The messages; context that was folded into a user message is a system message before it."""
        return unfolded(self.body["messages"])

    @property
    def last_user_text(self) -> str:
        return last_user_text(self.body)


def last_user_text(body: Json) -> str:
    """The newest user message's text, without its images; empty when there is none."""
    texts = [message_text(message) for message in unfolded(body["messages"]) if message["role"] == "user"]
    return texts[-1] if texts else ""


def unfolded(messages: list[Json]) -> list[Json]:
    """The messages with each `<context>` of a user message as a system message in front of it."""
    split = list[Json]()
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        text = (parts[0].get("text") or "") if parts else ""
        while message["role"] == "user" and text.startswith(CONTEXT):
            context, _, text = text.removeprefix(CONTEXT).partition("\n</context>\n\n")
            split.append({"role": "system", "content": context})
            rest = [{**parts[0], "text": text}, *parts[1:]]
            message = {**message, "content": rest if isinstance(content, list) else text}  # noqa: PLW2901
        split.append(message)
    return split


def message_text(message: Json) -> str:
    """The text of a message, whose content is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def new_tool_results(body: Json) -> list[str]:
    results: list[str] = []
    for message in reversed(body["messages"]):
        if message["role"] != "tool":
            break
        results.insert(0, message_text(message))
    return results


def protocol_error(body: Json, *, strict: bool = False) -> str | None:
    """Why the real API would answer 400, or None. `strict`: why templates that take one order of roles only
    would."""
    if not body.get("model") or not body.get("messages"):
        return "'model' and 'messages' are required"
    if body.get("stream") is not True:
        return "this server only streams"
    if body.get("tools") == []:
        return "'tools' must not be empty"
    roles = [message["role"] for message in body["messages"]]
    return (
        _calls_error(body["messages"])
        or _order_error(roles)
        or ("System message must be at the beginning." if "system" in roles[1:] else None)
        or (_template_error(roles) if strict else None)
    )


def _calls_error(messages: list[Json]) -> str | None:
    awaited: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in awaited:
                return "a tool message must answer a call of the assistant message before it"
            awaited.remove(message["tool_call_id"])
        elif awaited:
            return "each tool call must be answered right after its assistant message"
        else:
            awaited = {call["id"] for call in message.get("tool_calls") or ()}
    return "a tool call has no answer" if awaited else None


def _order_error(roles: list[str]) -> str | None:
    for before, role in pairwise(roles):
        if before == "tool" and role not in {"tool", "assistant"}:
            return f"Unexpected role '{role}' after role 'tool'"
    return None


def _template_error(roles: list[str]) -> str | None:
    """As most models' templates have it: one system message, which comes first, then user and assistant by
    turns."""
    said = [role for role in roles if role != "system"]
    if said[:1] != ["user"] or any(before == role != "tool" for before, role in pairwise(said)):
        return "Conversation roles must alternate user/assistant/user/assistant/..."
    return None
