"""What each family of models must and must not be sent, as data, and what a refusal teaches about a model.

The model layer asks in the form that most servers accept. FAMILIES lists the exceptions that are known from a
host or a model's name; LESSONS are refusals that name what to change. A new family is a row of data.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

OPTIONAL: Final = frozenset(
    {"prompt_cache_key", "stream_options", "temperature", "reasoning_effort", "reasoning", "thinking"}
)
"""Fields of a request that a server may do without."""


@dataclass(frozen=True, slots=True)
class Quirks:
    """The form of requests to one model."""

    wire: Literal["chat", "responses", "chat only"] = "chat"
    """`chat only`: the server has no Responses API."""
    omit: frozenset[str] = frozenset()
    """Of OPTIONAL, those that are not sent."""
    effort_with_tools: str = ""
    """The reasoning effort of each request with tools, whatever the operator chose."""
    effort_field: Literal["reasoning_effort", "thinking"] = "reasoning_effort"
    echo: frozenset[str] = frozenset()
    """Fields of an assistant message with calls that the server wants back."""
    skip_signature: bool = False
    """Mark calls without a thought signature as coming from another model."""
    tools: bool = True
    images: bool = True
    system_role: Literal["system", "user"] = "system"
    alternate: bool = False
    """Join neighbouring messages of one role."""
    cache_marks: bool = False
    """Mark where the stable part of a prompt ends, for Anthropic's prompt cache."""
    native: bool = True
    """Send back what the provider gave with earlier calls."""
    plain_schemas: bool = False
    """Send of a tool's schema only what every server takes."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that need the same. Both patterns must match; an empty one matches all."""

    needs: dict[str, Any]
    model: re.Pattern[str]
    host: re.Pattern[str]
    source: str


def _family(needs: dict[str, Any], *, model: str = "", host: str = "", source: str) -> Family:
    return Family(needs, re.compile(model, re.IGNORECASE), re.compile(host), source)


FAMILIES: Final = (
    _family(
        {"wire": "responses", "omit": frozenset({"temperature"})},
        model=r"^(gpt-[5-9]|o[1-9])",
        host=r"^api\.openai\.com$",
        source="Chat Completions takes no tools beside reasoning: livekit/agents#7169, firebase/genkit#6303",
    ),
    _family(
        {"omit": frozenset({"temperature"})},
        model=r"(^|/)(gpt-[5-9]|o[1-9])",
        source="pydantic-ai profiles/openai.py",
    ),
    _family({"system_role": "user"}, model=r"(^|/)o1-(mini|preview)", source="CopilotKit#7191"),
    _family({"omit": frozenset({"prompt_cache_key"})}, host=r"googleapis\.com$", source="deer-flow#1515"),
    _family(
        {"skip_signature": True},
        model=r"gemini-(?!2)\d",
        source="ai.google.dev/gemini-api/docs/thought-signatures",
    ),
    _family(
        {"echo": frozenset({"reasoning_content"}), "images": False, "effort_field": "thinking"},
        model=r"deepseek-(v[4-9]|flash|pro|chat|reasoner)",
        host=r"deepseek\.com$",
        source="api-docs.deepseek.com/guides/thinking_mode",
    ),
    _family(
        {"echo": frozenset({"reasoning_content"})}, model=r"deepseek-v[4-9]", source="sst/opencode#24722"
    ),
    _family({"echo": frozenset({"reasoning_content"})}, model=r"kimi-k", source="continuedev/continue#11600"),
    _family({"effort_field": "thinking"}, host=r"moonshot\.(ai|cn)$", source="HKUDS/nanobot#3939"),
    _family({"alternate": True}, model=r"gemma", source="the chat template of Gemma"),
    _family({"omit": frozenset({"prompt_cache_key"})}, host=r"mistral\.ai$", source="docs.mistral.ai/api"),
    _family(
        {"echo": frozenset({"reasoning_details"})},
        host=r"openrouter\.ai$",
        source="openrouter.ai/docs/use-cases/reasoning-tokens",
    ),
    _family({"cache_marks": True}, model=r"claude", source="openrouter.ai/docs/features/prompt-caching"),
    _family(
        {"cache_marks": False},
        host=r"anthropic\.com$",
        source="platform.claude.com/docs: OpenAI SDK compatibility",
    ),
)


def quirks_of(base_url: str, model: str) -> Quirks:
    """Return what is known of a model before it was asked. A later row overrides an earlier one, and `omit`
    and `echo` add up."""
    host, known = urlsplit(base_url).hostname or "", Quirks()
    for family in FAMILIES:
        if family.host.search(host) and family.model.search(model):
            sums = {
                name: getattr(known, name) | family.needs[name] for name in {"omit", "echo"} & {*family.needs}
            }
            known = replace(known, **{**family.needs, **sums})
    return known


@dataclass(frozen=True, slots=True)
class Lesson:
    """A refusal, and what to change after it."""

    name: str
    refusal: re.Pattern[str]
    change: Callable[[Quirks], Quirks]
    about: str = ""
    """What the refused request must hold: `tools`, `calls` of earlier turns, or `images`."""
    lasting: bool = True
    """False: only the refused request is changed."""


TEACHING_STATUSES: Final = frozenset({400, 404, 405, 422, 500, 501})


def _lesson(
    name: str, refusal: str, change: Callable[[Quirks], Quirks], about: str = "", *, lasting: bool = True
) -> Lesson:
    return Lesson(name, re.compile(refusal, re.IGNORECASE | re.DOTALL), change, about, lasting)


def _other_wire(quirks: Quirks) -> Quirks:
    return replace(quirks, wire="responses") if quirks.wire == "chat" else quirks


def _without_effort(quirks: Quirks) -> Quirks:
    return replace(quirks, omit=quirks.omit | {"reasoning_effort"})


def _without_effort_for_tools(quirks: Quirks) -> Quirks:
    """Without an effort of `none` a model that wants it for tools can't be given any on this wire."""
    return replace(quirks, effort_with_tools="", tools=False) if quirks.effort_with_tools else quirks


def _chat_only(quirks: Quirks) -> Quirks:
    fields = quirks.omit - {"reasoning_effort"}
    return replace(quirks, wire="chat only", effort_with_tools="none", omit=fields)


_EFFORT: Final = r"'?reasoning_?effort'? does not support|parameter reasoning_?effort"
_TOOLS: Final = r"\b(?:tools(?!\[|\.\w|['\"], ?\d)|tool (?:use|calling|choice)|function calling)\b"
"""Not a path into one of them, such as `tools[0].function` or `tools.function_declarations`."""

CHAT_ONLY: Final = _lesson("effort none", "", _chat_only)
"""Follows where there is no Responses API after all."""
LESSONS: Final = (
    _lesson("responses", r"/v1/responses|responses api", _other_wire),
    _lesson("no tools beside effort", _EFFORT, _without_effort_for_tools, "tools"),
    _lesson("no effort", _EFFORT, _without_effort),
    _lesson("signature", r"thought_?signature", lambda known: replace(known, skip_signature=True), "calls"),
    _lesson(
        "no reasoning_content",
        r"(?:property|extra|unknown|unsupported|unrecognized).{0,60}reasoning_(?:content|details)"
        r"|reasoning_(?:content|details)\W{0,3} is (?:unsupported|not (?:supported|permitted|allowed))",
        lambda known: replace(known, echo=frozenset(), native=False),
        "calls",
    ),
    _lesson(
        "reasoning_content",
        r"reasoning_content",
        lambda known: replace(known, echo=known.echo | {"reasoning_content"}),
        "calls",
    ),
    _lesson(
        "reasoning_details",
        r"reasoning.details",
        lambda known: replace(known, echo=known.echo | {"reasoning_details"}),
        "calls",
    ),
    _lesson(
        "no native items",
        r"item with id .{0,80} not found|items are not persisted|without its required|encrypted content",
        lambda known: replace(known, native=False),
        "calls",
    ),
    _lesson(
        "no images",
        r"unknown variant.{0,5}image_url|image_url.{0,5}is only supported|support image input"
        r"|(?:not|n't) support (?:\w+ )?images?\b|image inputs? (?:are|is) not (?:supported|enabled)"
        r"|images? (?:are|is) not supported|required for image input|at most 0 image|not a multimodal model",
        lambda known: replace(known, images=False),
        "images",
    ),
    _lesson(
        "no system role",
        r"system role|role.{0,20}['\"]?system['\"]?|'system' with this model|developer instruction is not",
        lambda known: replace(known, system_role="user"),
    ),
    _lesson("alternate", r"roles must alternate", lambda known: replace(known, alternate=True)),
    _lesson("no cache marks", r"cache_control", lambda known: replace(known, cache_marks=False)),
    _lesson(
        "plain schemas",
        r"\bschema|function_declarations|function\W{1,3}parameters",
        lambda known: replace(known, plain_schemas=True),
        "tools",
    ),
)
_LAST_LESSONS: Final = (
    _lesson(
        "no tools",
        rf"{_TOOLS}.{{0,40}}(?:not supported|unsupported|requires|not permitted|not (?:been )?enabled)"
        rf"|(?:(?:not|n't) support|unsupported|unknown|unrecognized|extra)\b.{{0,60}}{_TOOLS}"
        r"|no endpoints found that support tool use",
        lambda known: replace(known, tools=False),
        "tools",
    ),
    # A picture that can't be read would have every question after it refused.
    _lesson(
        "no images this time",
        r"\bimages?\b|image_url|multimodal|(?:must|should) be a (?:valid )?string",
        lambda known: replace(known, images=False),
        "images",
        lasting=False,
    ),
)


def is_known_refusal(text: str) -> bool:
    return any(lesson.lasting and lesson.refusal.search(text) for lesson in (*LESSONS, *_LAST_LESSONS))


def omit(names: Collection[str], *, lasting: bool = True) -> Lesson:
    """The lesson that these of OPTIONAL are not to be sent."""
    fields = sorted(names)
    return _lesson(
        "no " + ", ".join(fields),
        "|".join(fields),
        lambda known: replace(known, omit=known.omit | {*fields}),
        lasting=lasting,
    )


def learn(quirks: Quirks, sent: Collection[str], refusal: str, tried: Collection[str]) -> Lesson | None:
    """Return the first lesson that a refusal teaches, changes anything and was not tried. A refusal that
    names one of OPTIONAL teaches to omit it.

    `sent` is what the refused request held: its fields, and see Lesson.about.
    """
    named = {name for name in OPTIONAL & {*sent} if name in refusal}
    for lesson in (*LESSONS, *([omit(named)] if named else []), *_LAST_LESSONS):
        if (
            lesson.name not in tried
            and lesson.about in {"", *sent}
            and lesson.refusal.search(refusal)
            and lesson.change(quirks) != quirks
        ):
            return lesson
    return None
