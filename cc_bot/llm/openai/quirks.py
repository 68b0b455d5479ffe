"""What each family of models must and must not be sent, as data over host and model name.

Requests have the form that most servers accept. FAMILIES lists the known exceptions; a new one is a row.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

MAX_TOOLS: Final = 128  # platform.openai.com/docs/api-reference/chat/create


@dataclass(frozen=True, slots=True)
class Quirks:
    """The form of the requests to one model."""

    wire: Literal["chat", "responses", "chat only"] = "chat"
    """`chat only`: the server has no Responses API."""
    omit: frozenset[str] = frozenset()
    """Fields of the request that are not sent."""
    effort_with_tools: str = ""
    """The reasoning effort of requests with tools, whatever the operator chose."""
    effort_field: Literal["reasoning_effort", "thinking"] = "reasoning_effort"
    echo: frozenset[str] = frozenset()
    """Fields that an assistant message with calls must have."""
    native: bool = True
    """Send back what the provider gave with earlier calls."""
    skip_signature: bool = False
    """Mark calls without a thought signature as another model's."""
    tools: bool = True
    images: bool = True
    max_tools: int = MAX_TOOLS
    """The first are sent: our own, then those of servers in the order of the operator's file."""
    system_role: Literal["system", "user"] = "system"
    alternate: bool = False
    """Join neighbouring messages of one role."""
    cache_marks: bool = False
    """Mark the stable part of the prompt for Anthropic's prompt cache."""
    plain_schemas: bool = False
    """Reduce tool schemas to the keywords that every server takes."""


def adapt(quirks: Quirks, changes: Mapping[str, Any]) -> Quirks:
    """Sets are added to, other values replaced."""
    sums = {
        name: getattr(quirks, name) | value for name, value in changes.items() if isinstance(value, frozenset)
    }
    return replace(quirks, **{**changes, **sums})


_NO_TEMPERATURE: Final = {"omit": frozenset({"temperature"})}
_NO_CACHE_KEY: Final = {"omit": frozenset({"prompt_cache_key"})}
_REASONING: Final = {"echo": frozenset({"reasoning_content"})}
_DETAILS: Final = {"echo": frozenset({"reasoning_details"})}

# Patterns of host and model, and what they need. Later rows override earlier ones.
FAMILIES: Final[tuple[tuple[str, str, Mapping[str, Any]], ...]] = (
    # Chat Completions takes no tools beside reasoning: livekit/agents#7169, firebase/genkit#6303
    (r"^api\.openai\.com$", r"^(gpt-[5-9]|o[1-9])", {"wire": "responses"}),
    # pydantic-ai profiles/openai.py
    ("", r"(^|/)(gpt-[5-9]|o[1-9])", _NO_TEMPERATURE),
    # CopilotKit#7191
    ("", r"(^|/)o1-(mini|preview)", {"system_role": "user"}),
    # deer-flow#1515
    (r"googleapis\.com$", "", _NO_CACHE_KEY),
    # ai.google.dev/gemini-api/docs/thought-signatures
    ("", r"gemini-(?!2)\d", {"skip_signature": True}),
    # api-docs.deepseek.com/guides/thinking_mode
    (
        r"deepseek\.com$",
        "deepseek-(v[4-9]|flash|pro|chat|reasoner)",
        {**_REASONING, "images": False, "effort_field": "thinking"},
    ),
    # sst/opencode#24722, continuedev/continue#11600
    ("", "deepseek-v[4-9]|kimi-k", _REASONING),
    # HKUDS/nanobot#3939
    (r"moonshot\.(ai|cn)$", "", {"effort_field": "thinking"}),
    # Gemma's chat template
    ("", "gemma", {"alternate": True}),
    # docs.mistral.ai/api
    (r"mistral\.ai$", "", _NO_CACHE_KEY),
    # openrouter.ai/docs/use-cases/reasoning-tokens
    (r"openrouter\.ai$", "", _DETAILS),
    # openrouter.ai/docs/features/prompt-caching
    ("", "claude", {"cache_marks": True}),
    # platform.claude.com/docs: OpenAI SDK compatibility
    (r"anthropic\.com$", "", {"cache_marks": False}),
)


def quirks_of(base_url: str, model: str) -> Quirks:
    """What is known about a model before the first request."""
    host, quirks = urlsplit(base_url).hostname or "", Quirks()
    for host_pattern, model_pattern, changes in FAMILIES:
        if re.search(host_pattern, host) and re.search(model_pattern, model, re.IGNORECASE):
            quirks = adapt(quirks, changes)
    return quirks
