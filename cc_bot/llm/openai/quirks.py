"""Servers' refusals, and the quirks of models in requests: known by host and name (FAMILIES), or learned from
refusals (LESSONS)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from cc_bot.domain import errors
from cc_bot.llm.model import AssistantPart, ChatRequest, PromptPart, SystemPart, UserPart

MAX_REFUSAL: Final = 2000  # characters; the rest quotes the request

_BAD_KEY_STATUSES: Final = frozenset({401, 402, 403})  # 402: no credit left
_BAD_KEY: Final = re.compile(r"api key not valid|invalid api key|incorrect api key", re.IGNORECASE)
# Not "exceeded your current quota": Gemini says so after too many requests in a minute.
_NO_CREDIT: Final = re.compile(r"insufficient_quota|credit balance", re.IGNORECASE)
_NO_MODEL: Final = re.compile(
    r"model.{0,100}(?:does not exist|not found)|model_not_found|(?:invalid|unknown) model",
    re.IGNORECASE | re.DOTALL,
)
_TRANSIENT_STATUSES: Final = frozenset({408, 409, 425, 429})

# Refusals of llama.cpp, vLLM, SGLang, TGI, LM Studio, Ollama, Mistral, Gemini, xAI, gateways to Anthropic.
# The pattern is broad, as a false match only shortens the history.
_TOO_LONG: Final = re.compile(
    r"""
      context_length_exceeded | exceed_context_size_error | model_context_window_exceeded
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
      | "n_ctx":\ ?
    )
    (\d{3,8})\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


class ServerError(Exception):
    """A refusal or a failed connection."""

    def __init__(self, body: object, *, status: int | None = None, retries: int = 0) -> None:
        super().__init__(status)
        self.text = refusal_text(body) or f"{status} {body}"[:MAX_REFUSAL]
        self.status = status
        self.retries = retries
        self.problem = type(self).__name__
        self.unreachable_host = ""


class ModelFailure(NamedTuple):
    error: errors.ModelError
    problem: str
    status: int | None = None
    retries: int | None = None


def refusal_text(body: object) -> str:
    """Return the text of `{"error": {…}}`, a list of that (Gemini), `{"detail": …}` (FastAPI), or a
    string."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return str(body)[:MAX_REFUSAL]
    if isinstance(body, list):
        body = body[0] if body else {}
    if not isinstance(body, Mapping):
        return ""
    inner = body.get("error") or body
    if not isinstance(inner, Mapping):
        return str(inner)[:MAX_REFUSAL]
    fields = [inner.get(name) for name in ("message", "code", "type", "param", "detail", "error", "metadata")]
    if isinstance(inner.get("n_ctx"), int):  # llama.cpp
        fields.append({"n_ctx": inner["n_ctx"]})
    texts = (each if isinstance(each, str) else json.dumps(each) for each in fields if each)
    return " ".join(text[:MAX_REFUSAL] for text in texts)


def find_length_refusal(text: str) -> errors.ContextTooLong | None:
    if not _TOO_LONG.search(text):
        return None
    limit = _LIMIT.search(text)
    return errors.ContextTooLong(limit=int(limit[1])) if limit else errors.ContextTooLong()


def classify(error: Exception, model: str) -> ModelFailure:
    if not isinstance(error, ServerError):
        return ModelFailure(errors.ModelUnavailable(), type(error).__name__)
    return ModelFailure(_to_model_error(error, model), error.problem, error.status, error.retries)


def _to_model_error(error: ServerError, model: str) -> errors.ModelError:
    if error.unreachable_host:
        return errors.ModelUnreachable(host=error.unreachable_host)
    text, status = error.text, error.status
    if refused := find_length_refusal(text):
        return refused
    if status in _BAD_KEY_STATUSES or _BAD_KEY.search(text) or _NO_CREDIT.search(text):
        return errors.ModelRefusedKey()
    if status == 404 or (status == 400 and _NO_MODEL.search(text)):
        return errors.ModelNotFound(model=model)
    final = status is not None and status < 500 and status not in _TRANSIENT_STATUSES
    return errors.ModelRefusedRequest() if final else errors.ModelUnavailable()


MAX_TOOLS: Final = 128  # platform.openai.com/docs/api-reference/chat/create


@dataclass(frozen=True, slots=True)
class Quirks:
    wire: Literal["chat", "responses", "chat only"] = "chat"  # the API; chat only: Responses was refused
    omit: frozenset[str] = frozenset()  # fields of requests
    effort_with_tools: str = ""  # replaces the reasoning effort if tools are offered
    effort_field: Literal["reasoning_effort", "thinking"] = "reasoning_effort"
    reasoning: frozenset[str] = frozenset()  # fields that messages with calls must have
    return_native: bool = True  # send back the reasoning, ids and signatures of earlier calls
    mark_unsigned_calls: bool = False  # as calls of another model, which need no signature
    tools: bool = True
    images: bool = True
    max_tools: int = MAX_TOOLS
    system_role: Literal["system", "user"] = "system"
    alternate: bool = False  # join messages of the same role in a row
    cache_marks: bool = False  # mark cacheable prefixes for Anthropic
    plain_schemas: bool = False  # send only keywords of JSON Schema that every server accepts


def adapt(quirks: Quirks, changes: Mapping[str, Any]) -> Quirks:
    """Return changed quirks. Sets are extended, other values replaced."""
    unions = {key: getattr(quirks, key) | new for key, new in changes.items() if isinstance(new, frozenset)}
    return replace(quirks, **{**changes, **unions})


_NO_TEMPERATURE: Final = {"omit": frozenset({"temperature"})}
_NO_CACHE_KEY: Final = {"omit": frozenset({"prompt_cache_key"})}
_REASONING: Final = {"reasoning": frozenset({"reasoning_content"})}
_DETAILS: Final = {"reasoning": frozenset({"reasoning_details"})}

# Host pattern, model pattern, changes. Later rows win.
FAMILIES: Final[tuple[tuple[str, str, Mapping[str, Any]], ...]] = (
    # Chat Completions refuses tools with reasoning: livekit/agents#7169, firebase/genkit#6303
    (r"^api\.openai\.com$", r"^(gpt-[5-9]|o[1-9])", {"wire": "responses"}),
    # pydantic-ai profiles/openai.py
    ("", r"(^|/)(gpt-[5-9]|o[1-9])", _NO_TEMPERATURE),
    # CopilotKit#7191
    ("", r"(^|/)o1-(mini|preview)", {"system_role": "user"}),
    # deer-flow#1515
    (r"googleapis\.com$", "", _NO_CACHE_KEY),
    # ai.google.dev/gemini-api/docs/thought-signatures
    ("", r"gemini-(?!2)\d", {"mark_unsigned_calls": True}),
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


def known_quirks(base_url: str, model: str) -> Quirks:
    host, quirks = urlsplit(base_url).hostname or "", Quirks()
    for host_pattern, model_pattern, changes in FAMILIES:
        if re.search(host_pattern, host) and re.search(model_pattern, model, re.IGNORECASE):
            quirks = adapt(quirks, changes)
    return quirks


OPTIONAL_FIELDS: Final = frozenset(
    {"prompt_cache_key", "stream_options", "temperature", "reasoning_effort", "reasoning", "thinking"}
)
_MAX_LESSONS: Final = 4
_TEACHING_STATUSES: Final = frozenset({400, 404, 405, 422, 500, 501})
_NUMBERED: Final = re.compile(r"(?<![\w-])(?:(?!\d)[\w-])*+\d[\w-]*+")  # an index, or the id of a request
_TOOL_LIMIT: Final = re.compile(
    r"\btools\b(?!\[|\.\w).{0,80}(?:maximum|at most|up to|no more than)\D{1,20}([1-9]\d{0,2})\b",
    re.IGNORECASE,
)
_ESCAPED_WHEN_QUOTED: Final = re.compile(r"[^ -~]|\\")


@dataclass(frozen=True, slots=True)
class Lesson:
    name: str
    needs: str  # a feature of the refused request (`_list_features`); empty: any request
    refusal: re.Pattern[str]
    changes: Mapping[str, Any]
    lasting: bool = True  # True if it also applies to later requests


def _lesson(name: str, needs: str, refusal: str, *, lasting: bool = True, **changes: object) -> Lesson:
    return Lesson(name, needs, re.compile(refusal, re.IGNORECASE | re.DOTALL), changes, lasting)


_EFFORT_REFUSED: Final = r"'?reasoning_?effort'? does not support|parameter reasoning_?effort"
# No match on the path of a part, such as `tools[0].function` or `tools.function_declarations`.
_TOOLS_NAMED: Final = r"\b(?:tools(?!\[|\.\w|['\"], ?\d)|tool (?:use|calling|choice)|function calling)\b"
_IMAGES_REFUSED: Final = (
    r"unknown variant.{0,5}image_url|image_url.{0,5}is only supported|support image input"
    r"|(?:not|n't) support (?:\w+ )?images?\b|image inputs? (?:are|is) not (?:supported|enabled)"
    r"|images? (?:are|is) not supported|required for image input|at most 0 image|not a multimodal model"
)

LESSONS: Final = (
    _lesson("responses", "chat", r"/v1/responses|responses api", wire="responses"),
    _lesson("effort none", "new wire", r"\A(?:404|405|501)\b", wire="chat only", effort_with_tools="none"),
    _lesson("no tools beside effort", "effort none sent", _EFFORT_REFUSED, effort_with_tools="", tools=False),
    _lesson("no effort", "", _EFFORT_REFUSED, omit=frozenset({"reasoning_effort"})),
    _lesson("signature", "calls", r"thought_?signature", mark_unsigned_calls=True),
    _lesson(
        "nothing sent back",
        "calls",
        r"(?:property|extra|unknown|unsupported|unrecognized).{0,60}reasoning_(?:content|details)"
        r"|reasoning_(?:content|details)\W{0,3} is (?:unsupported|not (?:supported|permitted|allowed))"
        r"|item with id .{0,80} not found|items are not persisted|without its required|encrypted content",
        return_native=False,
    ),
    _lesson("reasoning_content", "calls", r"reasoning_content", reasoning=frozenset({"reasoning_content"})),
    _lesson("reasoning_details", "calls", r"reasoning.details", reasoning=frozenset({"reasoning_details"})),
    _lesson("no images", "images", _IMAGES_REFUSED, images=False),
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
        rf"{_TOOLS_NAMED}.{{0,40}}(?:not supported|unsupported|requires|not permitted|not (?:been )?enabled)"
        rf"|(?:(?:not|n't) support|unsupported|unknown|unrecognized|extra)\b.{{0,60}}{_TOOLS_NAMED}"
        r"|no endpoints found that support tool use",
        tools=False,
    ),
    _lesson(
        "no images this time",
        "images",
        r"\bimages?\b|image_url|multimodal|(?:must|should) be a (?:valid )?string",
        images=False,
        lasting=False,
    ),
)


def is_transient(body: str, status: int) -> bool:
    text = refusal_text(body)
    lessons = (lesson for lesson in (*LESSONS, *_LAST_LESSONS) if lesson.lasting)
    teaches = status in _TEACHING_STATUSES and any(lesson.refusal.search(text) for lesson in lessons)
    if teaches or find_length_refusal(text) or _NO_CREDIT.search(text):
        return False
    return status in _TRANSIENT_STATUSES or status >= 500


class Attempts:
    """The attempts of one request. Each applies the lessons of the refusals so far."""

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
        """Learn from a refusal. Returns whether to send the request again."""
        text, status = error.text, error.status
        final = isinstance(classify(error, "").error, errors.ContextTooLong | errors.ModelRefusedKey)
        if final or self._request.answer_begun:
            return False
        if "tool_use_failed" in text:  # Groq: the call was not JSON; a repetition mostly succeeds
            repeat = "repeat" not in self._tried
            self._tried.add("repeat")
            self.started_s = None
            return repeat
        if len(self._tried) == _MAX_LESSONS or status not in {None, *_TEACHING_STATUSES}:
            return False
        last_refusal, self._refusal = self._refusal, _NUMBERED.sub("", text)
        if self.lessons and last_refusal == self._refusal:
            self.lessons.pop()  # the last lesson did not help
        if lesson := self._find_lesson(f"{status} {text}"):
            self._tried.add(lesson.name)
            self.lessons.append(lesson)
        return lesson is not None

    def _find_lesson(self, refusal: str) -> Lesson | None:
        request_features, specific = self._list_features(), list[Lesson]()
        if named := sorted(name for name in OPTIONAL_FIELDS & {*self.sent} if name in refusal):
            specific.append(_lesson("no " + ", ".join(named), "", "|".join(named), omit=frozenset(named)))
        limit = _TOOL_LIMIT.search(refusal)
        if limit and int(limit[1]) < self.quirks.max_tools:
            pattern = re.escape(limit[0])
            specific.append(_lesson(f"{limit[1]} tools", "tools", pattern, max_tools=int(limit[1])))
        for lesson in (*LESSONS, *specific, *_LAST_LESSONS):
            fits = lesson.name not in self._tried and lesson.needs in request_features
            if fits and lesson.refusal.search(refusal) and adapt(self.quirks, lesson.changes) != self.quirks:
                quoted = any(_may_quote(lesson, refusal, part) for part in self._request.prompt)
                return replace(lesson, lasting=lesson.lasting and not quoted)
        return None

    def _list_features(self) -> set[str]:
        quirks, prompt = self.quirks, self._request.prompt
        request_features = {"", quirks.wire, *self.sent}
        if quirks.wire != self._known.wire:
            request_features.add("new wire")
        if self.sent.get("reasoning_effort") == "none" and "tools" in self.sent:
            request_features.add("effort none sent")
        if any(isinstance(part, UserPart) and part.images for part in prompt):
            request_features.add("images")
        if any(isinstance(part, AssistantPart) and part.tool_requests for part in prompt):
            request_features.add("calls")
        return request_features


def _may_quote(lesson: Lesson, refusal: str, part: PromptPart) -> bool:
    """Return whether the refusal may match because it quotes this part: a user's text must not change later
    requests."""
    if isinstance(part, SystemPart):
        return lesson.refusal.search(f"{part.text}\n{_ESCAPED_WHEN_QUOTED.sub(' ', part.text)}") is not None
    calls = part.tool_requests if isinstance(part, AssistantPart) else ()
    texts = " ".join([part.text, *(call.arguments for call in calls)]).lower()
    found = lesson.refusal.search(refusal)
    words = re.findall("[a-z_]+", found[0].lower()) if found else []
    return bool(words) and words[0] in texts and words[-1] in texts
