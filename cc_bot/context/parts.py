"""A message of the history as the parts of a prompt that it becomes."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from cc_bot.context.attachments import as_prompt_text
from cc_bot.domain.message import Message
from cc_bot.llm.model import AssistantPart, PromptPart, ToolRequest, ToolResultPart, UserPart

UNSAID: Final = "…"
"""What stands for an answer without words, as older versions stored them."""


def message_parts(message: Message) -> Iterator[PromptPart]:
    if message.role == "user":
        yield user_part(message)
    else:
        yield from _assistant_parts(message)


def user_part(message: Message) -> UserPart:
    """The text with the text files that came with it, and the images."""
    files = (as_prompt_text(attachment) for attachment in message.attachments if not attachment.is_image)
    images = tuple(attachment for attachment in message.attachments if attachment.is_image)
    return UserPart("\n\n".join(filter(None, (message.content, *files))), images, message.taints)


def call_parts(message: Message) -> Iterator[PromptPart]:
    """The calls of an answer with their results: a call without its result is refused by most servers, so the
    two are never apart."""
    if message.tool_calls:
        calls = [(_call_id(message, index), call) for index, call in enumerate(message.tool_calls)]
        requests = (ToolRequest(id_, call.name, call.arguments) for id_, call in calls)
        yield AssistantPart("", tuple(requests), message.tainted)
        for id_, call in calls:
            yield ToolResultPart(id_, call.name, call.told, message.tainted)


def _assistant_parts(message: Message) -> Iterator[PromptPart]:
    """The calls first, then what was said: a result with a question after it is refused by many."""
    yield from call_parts(message)
    yield AssistantPart(message.content or UNSAID, tainted=message.tainted)


def _call_id(message: Message, index: int) -> str:
    """Of a call of the past. The model's own may have come in several rounds, which are one message here, and
    from another server: Mistral's refuses all but nine letters and digits."""
    return blake2b(f"{message.id}:{index}".encode()).hexdigest()[:9]
