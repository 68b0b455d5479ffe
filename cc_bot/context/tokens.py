"""How many tokens a text costs, estimated by script.

Measured with the o200k tokenizer: Japanese prose has about 1.3 characters a token, English prose 5,
code 2.5. One ratio for all would be wrong by a factor of three for Japanese.
"""

import re

from cc_bot.domain.message import Message

MESSAGE_TOKENS = 4
"""What a message costs beside its text."""
IMAGE_TOKENS = 800
"""About what one picture of usual size costs with the common vision models."""

_WORDS = re.compile(r"[A-Za-z]+")
_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has; never 0 for a text that is not empty."""
    words = sum(-(-len(word) // 6) for word in _WORDS.findall(text))
    digits = sum(-(-len(run) // 3) for run in _DIGITS.findall(text))
    ascii_rest = len(_SPACES.sub("", _DIGITS.sub("", _WORDS.sub("", text))).encode("ascii", "ignore"))
    wide = sum(not character.isascii() for character in text)
    return (
        round(words + digits + 0.6 * ascii_rest + 0.75 * wide)
        if text.strip()
        else len(text) // 4 + bool(text)
    )


def message_tokens(message: Message) -> int:
    """About what a message of the history costs, its tool calls and attachments included."""
    calls = sum(
        MESSAGE_TOKENS + estimate_tokens(call.name + call.arguments) + estimate_tokens(call.result)
        for call in message.tool_calls
    )
    files = sum(
        IMAGE_TOKENS if attachment.is_image else estimate_tokens(attachment.data.decode())
        for attachment in message.attachments
    )
    return MESSAGE_TOKENS + estimate_tokens(message.content) + calls + files
