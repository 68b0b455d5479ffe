"""A message of the history as the parts of a prompt that it becomes."""

from collections.abc import Iterator

from cc_bot.context.attachments import as_prompt_text
from cc_bot.domain.message import Message
from cc_bot.llm.model import AssistantPart, PromptPart, ToolRequest, ToolResultPart, UserPart


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


def _assistant_parts(message: Message) -> Iterator[PromptPart]:
    """The calls with their results first, then what was said: a call without its result is refused by
    most servers, so the two are never apart."""
    if message.tool_calls:
        yield AssistantPart(
            "",
            tuple(ToolRequest(call.id, call.name, call.arguments) for call in message.tool_calls),
            message.tainted,
        )
        for call in message.tool_calls:
            yield ToolResultPart(call.id, call.name, call.result, message.tainted)
    if message.content:
        yield AssistantPart(message.content, tainted=message.tainted)
