"""The form of requests to each model: known by host and model name (FAMILIES), or learned from refusals
(LESSONS)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from cc_bot.domain.errors import ContextTooLong, ModelRefusedKey
from cc_bot.llm.model import AssistantPart, ChatRequest, PromptPart, SystemPart, UserPart
from cc_bot.llm.openai.refusals import ServerError, classify

MAX_TOOLS: Final = 128  # platform.openai.com/docs/api-reference/chat/create


@dataclass(frozen=True, slots=True)
class Quirks:
    wire: Literal["chat", "responses", "chat only"] = "chat"
    omit: frozenset[str] = frozenset()
    effort_with_tools: str = ""
    """Whatever the operator chose."""
    effort_field: Literal["reasoning_effort", "thinking"] = "reasoning_effort"
    echo: frozenset[str] = frozenset()
    """Fields that messages with calls must have."""
    native: bool = True
    """Send back what came with earlier calls."""
    skip_signature: bool = False
    """Mark calls without a signature as another model's."""
    tools: bool = True
    images: bool = True
    max_tools: int = MAX_TOOLS
    """The first are sent."""
    system_role: Literal["system", "user"] = "system"
    alternate: bool = False
    cache_marks: bool = False
    """For Anthropic's prompt cache."""
    plain_schemas: bool = False
    """Only keywords that every server takes."""


def adapt(quirks: Quirks, changes: Mapping[str, Any]) -> Quirks:
    """Add to sets, replace other values."""
    sums = {key: getattr(quirks, key) | new for key, new in changes.items() if isinstance(new, frozenset)}
    return replace(quirks, **{**changes, **sums})


_NO_TEMPERATURE: Final = {"omit": frozenset({"temperature"})}
_NO_CACHE_KEY: Final = {"omit": frozenset({"prompt_cache_key"})}
_REASONING: Final = {"echo": frozenset({"reasoning_content"})}
_DETAILS: Final = {"echo": frozenset({"reasoning_details"})}

# Host pattern, model pattern, needs. Later rows win.
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
    host, quirks = urlsplit(base_url).hostname or "", Quirks()
    for host_pattern, model_pattern, changes in FAMILIES:
        if re.search(host_pattern, host) and re.search(model_pattern, model, re.IGNORECASE):
            quirks = adapt(quirks, changes)
    return quirks


OPTIONAL: Final = frozenset(
    {"prompt_cache_key", "stream_options", "temperature", "reasoning_effort", "reasoning", "thinking"}
)
"""A request can do without them."""
_MAX_LESSONS: Final = 4
_TEACHING_STATUSES: Final = frozenset({400, 404, 405, 422, 500, 501})
_NUMBERED: Final = re.compile(r"(?<![\w-])(?:(?!\d)[\w-])*+\d[\w-]*+")  # an index, or the id of a request
_MAX_TOOLS: Final = re.compile(
    r"\btools\b(?!\[|\.\w).{0,80}(?:maximum|at most|up to|no more than)\D{1,20}([1-9]\d{0,2})\b",
    re.IGNORECASE,
)
_NOT_PLAIN: Final = re.compile(r"[^ -~]|\\")


@dataclass(frozen=True, slots=True)
class Lesson:
    name: str
    about: str
    """Needed in the refused request: see `_contents`."""
    refusal: re.Pattern[str]
    changes: Mapping[str, Any]
    lasting: bool = True
    """False: for this request only."""


def _lesson(name: str, about: str, refusal: str, *, lasting: bool = True, **changes: object) -> Lesson:
    return Lesson(name, about, re.compile(refusal, re.IGNORECASE | re.DOTALL), changes, lasting)


_EFFORT: Final = r"'?reasoning_?effort'? does not support|parameter reasoning_?effort"
# Not a path into one of them, such as `tools[0].function` or `tools.function_declarations`.
_TOOLS: Final = r"\b(?:tools(?!\[|\.\w|['\"], ?\d)|tool (?:use|calling|choice)|function calling)\b"
_IMAGES: Final = (
    r"unknown variant.{0,5}image_url|image_url.{0,5}is only supported|support image input"
    r"|(?:not|n't) support (?:\w+ )?images?\b|image inputs? (?:are|is) not (?:supported|enabled)"
    r"|images? (?:are|is) not supported|required for image input|at most 0 image|not a multimodal model"
)

LESSONS: Final = (
    _lesson("responses", "chat", r"/v1/responses|responses api", wire="responses"),
    _lesson("effort none", "new wire", r"\A(?:404|405|501)\b", wire="chat only", effort_with_tools="none"),
    _lesson("no tools beside effort", "effort none", _EFFORT, effort_with_tools="", tools=False),
    _lesson("no effort", "", _EFFORT, omit=frozenset({"reasoning_effort"})),
    _lesson("signature", "calls", r"thought_?signature", skip_signature=True),
    _lesson(
        "nothing back",
        "calls",
        r"(?:property|extra|unknown|unsupported|unrecognized).{0,60}reasoning_(?:content|details)"
        r"|reasoning_(?:content|details)\W{0,3} is (?:unsupported|not (?:supported|permitted|allowed))"
        r"|item with id .{0,80} not found|items are not persisted|without its required|encrypted content",
        native=False,
    ),
    _lesson("reasoning_content", "calls", r"reasoning_content", echo=frozenset({"reasoning_content"})),
    _lesson("reasoning_details", "calls", r"reasoning.details", echo=frozenset({"reasoning_details"})),
    _lesson("no images", "images", _IMAGES, images=False),
    _lesson(
        "no system role",
        "",
        r"system role|role.{0,20}['\"]?system['\"]?|'system' with this model|developer instruction is not",
        system_role="user",
    ),
    _lesson("alternate", "", r"roles must alternate", alternate=True),
    _lesson("no cache marks", "", r"cache_control", cache_marks=False),
    _lesson(
        "plain schemas",
        "tools",
        r"\bschema|function_declarations|function\W{1,3}parameters",
        plain_schemas=True,
    ),
)
_LAST_LESSONS: Final = (
    _lesson(
        "no tools",
        "tools",
        rf"{_TOOLS}.{{0,40}}(?:not supported|unsupported|requires|not permitted|not (?:been )?enabled)"
        rf"|(?:(?:not|n't) support|unsupported|unknown|unrecognized|extra)\b.{{0,60}}{_TOOLS}"
        r"|no endpoints found that support tool use",
        tools=False,
    ),
    # Without it, an unreadable image would have every later question refused.
    _lesson(
        "no images this time",
        "images",
        r"\bimages?\b|image_url|multimodal|(?:must|should) be a (?:valid )?string",
        images=False,
        lasting=False,
    ),
)


def is_known_refusal(text: str, status: int) -> bool:
    lessons = (lesson for lesson in (*LESSONS, *_LAST_LESSONS) if lesson.lasting)
    return status in _TEACHING_STATUSES and any(lesson.refusal.search(text) for lesson in lessons)


class Attempts:
    """One request, changed by each refusal."""

    def __init__(self, known: Quirks, request: ChatRequest) -> None:
        self.lessons: list[Lesson] = []
        self.sent: Mapping[str, Any] = {}
        self.sent_bytes = 0
        self.started_s: float | None = None
        self._known = known
        self._request = request
        self._tried = set[str]()
        self._refusal = ""

    @property
    def quirks(self) -> Quirks:
        return reduce(lambda quirks, lesson: adapt(quirks, lesson.changes), self.lessons, self._known)

    def learn(self, error: ServerError) -> bool:
        """Change the request. Returns whether to send it again."""
        text, status = error.text, error.status
        final = isinstance(classify(error, "").error, ContextTooLong | ModelRefusedKey)
        if final or self._request.answer_begun:
            return False
        if "tool_use_failed" in text:  # Groq: the model's call was not JSON; the next one mostly is
            repeat = "repeat" not in self._tried
            self._tried.add("repeat")
            self.started_s = None
            return repeat
        if len(self._tried) == _MAX_LESSONS or status not in {None, *_TEACHING_STATUSES}:
            return False
        before, self._refusal = self._refusal, _NUMBERED.sub("", text)
        if self.lessons and before == self._refusal:
            self.lessons.pop()  # it did not help
        if lesson := self._find(f"{status} {text}"):
            self._tried.add(lesson.name)
            self.lessons.append(lesson)
        return lesson is not None

    def _find(self, refusal: str) -> Lesson | None:
        contents, own = self._contents(), list[Lesson]()
        if named := sorted(name for name in OPTIONAL & {*self.sent} if name in refusal):
            own.append(_lesson("no " + ", ".join(named), "", "|".join(named), omit=frozenset(named)))
        if (most := _MAX_TOOLS.search(refusal)) and int(most[1]) < self.quirks.max_tools:
            own.append(_lesson(f"{most[1]} tools", "tools", re.escape(most[0]), max_tools=int(most[1])))
        for lesson in (*LESSONS, *own, *_LAST_LESSONS):
            fits = lesson.name not in self._tried and lesson.about in contents
            if fits and lesson.refusal.search(refusal) and adapt(self.quirks, lesson.changes) != self.quirks:
                quoted = any(_may_quote(lesson, refusal, part) for part in self._request.prompt)
                return replace(lesson, lasting=lesson.lasting and not quoted)
        return None

    def _contents(self) -> set[str]:
        quirks, prompt = self.quirks, self._request.prompt
        contents = {"", quirks.wire, *self.sent}
        if quirks.wire != self._known.wire:
            contents.add("new wire")
        if self.sent.get("reasoning_effort") == "none" and "tools" in self.sent:
            contents.add("effort none")
        if any(isinstance(part, UserPart) and part.images for part in prompt):
            contents.add("images")
        if any(isinstance(part, AssistantPart) and part.tool_requests for part in prompt):
            contents.add("calls")
        return contents


def _may_quote(lesson: Lesson, refusal: str, part: PromptPart) -> bool:
    """Servers quote the prompt, escaped or cut, and a user's words must not change later requests."""
    if isinstance(part, SystemPart):  # mostly ours
        return lesson.refusal.search(f"{part.text}\n{_NOT_PLAIN.sub(' ', part.text)}") is not None
    calls = part.tool_requests if isinstance(part, AssistantPart) else ()
    said = " ".join([part.text, *(call.arguments for call in calls)]).lower()
    found = lesson.refusal.search(refusal)
    words = re.findall("[a-z_]+", found[0].lower()) if found else []
    return bool(words) and words[0] in said and words[-1] in said
