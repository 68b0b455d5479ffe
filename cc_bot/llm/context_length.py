"""Recognises a refusal that means 'too long for the model', which each server words in its own way.

OpenAI has a code for it, which some imitate; the rest is prose. The patterns below are what llama.cpp, vLLM,
SGLang, TGI, LM Studio, Ollama, Mistral, Gemini, xAI and gateways to Anthropic send. A false match costs one
more request with a shorter history; a missed one costs the user the answer. So they are broad.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_CODES: Final = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
)

_TOO_LONG: Final = re.compile(
    r"""
      context_length_exceeded
    | (?:maximum|model'?s?|available|exceed\w{0,3}|the|greater\ than)\ (?:\w+\ ){0,3}
      context\ (?:length|size|window)\b
    | context\ (?:length|size|window)\ (?:has\ been\ |is\ |was\ |limit\ )?(?:exceeded|of\ only|reached)
    | exceeds?\ (?:the\ )?(?:max\w{0,5}\ )?context
    | exceeds?\ context\ (?:length|size|window|limit)
    | when\ context\ the\ overflows
    | (?:prompt|input|request)\ (?:\w+\ )?(?:is\ )?too\ (?:long|large)\b
    | too\ large\ for\ model\ with
    | longer\ than\ the\ (?:maximum\ model|model's\ context)\ length
    | maximum\ prompt\ length
    | greater\ than\ max_seq_len
    | input\ token\ count\b.{0,40}\bexceeds
    | inputs?`?\ tokens\ \+\ `?max_new_tokens
    | must\ have\ less\ than\ \d+\ tokens
    """,
    re.IGNORECASE | re.VERBOSE,
)

_LIMIT: Final = re.compile(
    r"""
    (?: (?:context|prompt|model)\ (?:length|size|window)\ (?:is|of)\ (?:only\ )?
      | context\ (?:length|size|window)\ \(
      | maximum\ model\ length\ of\ | must\ be\ <=\ | max_seq_len\ | with\ | tokens\ >\ | allowed\ \(
      | context\ length\ \(
    )
    (\d{3,8})\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_LONGEST_MESSAGE: Final = 2000
"""Characters that are looked at: what comes later quotes the request."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """What the server said: at most how many tokens, None where it did not say."""

    limit: int | None = None


def read_refusal(body: object, message: str) -> TooLong | None:
    """What an error says about the length of the request; None when it is about something else.

    `body` is the error as JSON, in whatever form it came; `message` its text.
    """
    error = _error(body)
    text = _text(error.get("message")) or _text(error.get("error")) or message
    text = text[:_LONGEST_MESSAGE]
    coded = {_text(error.get("code")), _text(error.get("type"))} & _CODES
    if not coded and not _TOO_LONG.search(text):
        return None
    told = error.get("n_ctx")
    found = _LIMIT.search(text)
    return TooLong(told if isinstance(told, int) else int(found[1]) if found else None)


def _error(body: object) -> Mapping[str, object]:
    """The innermost object of `{"error": {…}}`, `{"error": "…"}` or `{"message": …}`."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {}
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, Mapping) else body


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
