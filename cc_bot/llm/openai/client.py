"""The openai client as cc-bot uses it: bounded in bytes, silent about waits that take too long, and failures
read for what they mean."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

import httpx2
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    AsyncOpenAI,
    DefaultAsyncHttpxClient,
    Timeout,
)

from cc_bot.domain.errors import (
    ContextTooLong,
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.llm.openai.quirks import TEACHING_STATUSES, is_known_refusal

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_RETRIES: Final = 2
MAX_BYTES: Final = 64 * 2**20
"""Of one response."""
MAX_REFUSAL: Final = 2000
"""Characters of a refusal that are read: what comes later quotes the request."""
_CONNECT_TIMEOUT_S: Final = 5.0

# ValueError: malformed JSON or UTF-8. RecursionError: endless nesting.
FAILURES: Final = (APIError, httpx2.HTTPError, TimeoutError, ValueError, RecursionError)


class TooManyBytes(ValueError):
    """A server sends more than any answer has, or what can't be measured."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """Why there is no whole answer, in words that may be logged."""

    error: ModelError
    problem: str
    status: int | None = None
    retries: int | None = None
    """How often the client had asked again."""


def open_client(
    *, api_key: str | None, base_url: str | None, timeout_s: float, max_retries: int
) -> AsyncOpenAI:
    """A client that leaves timeouts to its caller, who waits `timeout_s` seconds at most. Building it takes
    over 100 ms."""

    async def bound(response: httpx2.Response) -> None:
        # A body that is compressed, although that was not asked for, could unfold to anything.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooManyBytes
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedBody(response.stream)

    async def choose_retry(response: httpx2.Response) -> None:
        """Ask again only if that can help, and not after a wait beyond our timeout."""
        if response.status_code < 400:
            return
        await response.aread()
        hopeless = _seconds(response.headers.get("retry-after")) >= timeout_s
        if hopeless or is_final(refusal_text(response.text), response.status_code):
            response.headers["x-should-retry"] = "false"

    timeout = Timeout(None, connect=min(_CONNECT_TIMEOUT_S, timeout_s))
    return AsyncOpenAI(
        # Local servers want no key, but the client wants one to send.
        api_key=api_key or "no-key-needed",
        base_url=base_url or OPENAI_URL,  # without one the client reads the environment, also an empty value
        max_retries=max_retries,
        timeout=timeout,
        default_headers={"Accept-Encoding": "identity"},
        http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"response": [bound, choose_retry]}),
    )


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for data in self._body:
            total += len(data)
            if total > MAX_BYTES:
                raise TooManyBytes
            yield data

    async def aclose(self) -> None:
        await self._body.aclose()


def _seconds(text: str | None) -> float:
    """A `Retry-After` in seconds; 0 without one, or for a date, which is left to the client."""
    try:
        return float(text or 0)
    except ValueError:
        return 0


# ---- refusals --------------------------------------------------------------------------------------------

_BAD_KEY_STATUSES: Final = frozenset({401, 402, 403})  # 402: the key's account has no credit left
_BAD_KEY: Final = re.compile(r"api key not valid|invalid api key|incorrect api key", re.IGNORECASE)
_NO_CREDIT: Final = re.compile(r"insufficient_quota|credit balance", re.IGNORECASE)
"""Not "exceeded your current quota": Gemini says so of the requests of one minute."""
_NO_MODEL: Final = re.compile(
    r"model.{0,100}(?:does not exist|not found)|model_not_found|(?:invalid|unknown) model",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL_STATUSES: Final = frozenset({400, 404})
_PASSING_STATUSES: Final = frozenset({408, 409, 425, 429})

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
"""What llama.cpp, vLLM, SGLang, TGI, LM Studio, Ollama, Mistral, Gemini, xAI and gateways to Anthropic say. A
false match costs one request with a shorter history; a missed one costs the answer. So they are broad."""
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


def refusal_text(body: object) -> str:
    """What an error says, whatever its shape: `{"error": {…}}`, a list of these (Gemini), `{"detail": …}`
    (FastAPI), an object as text, or text."""
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
    told = [inner.get(name) for name in ("message", "code", "type", "param", "detail", "error", "metadata")]
    limit = f'"n_ctx": {inner["n_ctx"]}' if isinstance(inner.get("n_ctx"), int) else ""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in told if each]
    return " ".join([text[:MAX_REFUSAL] for text in texts] + [limit])


def too_long(text: str) -> ContextTooLong | None:
    """Read whether a refusal means that the request is too long for the model, and its limit in tokens."""
    if not _TOO_LONG.search(text):
        return None
    found = _LIMIT.search(text)
    return ContextTooLong(limit=int(found[1])) if found else ContextTooLong()


def is_final(text: str, status: int) -> bool:
    """Return whether the same request would be refused again."""
    if too_long(text) or _NO_CREDIT.search(text):
        return True
    return status in TEACHING_STATUSES and is_known_refusal(text)


def text_of_error(error: APIError) -> str:
    return refusal_text(error.body) or error.message[:MAX_REFUSAL]


def classify(error: Exception, model: str) -> ModelFailure:
    """Return what one of FAILURES means when this model was asked for."""
    problem = type(error).__name__
    if not isinstance(error, APIError):
        return ModelFailure(ModelUnavailable(), problem)
    status = error.status_code if isinstance(error, APIStatusError) else None
    retries = int(error.request.headers.get("x-stainless-retry-count", "0"))
    return ModelFailure(_meaning(error, status, model), problem, status, retries)


def _meaning(error: APIError, status: int | None, model: str) -> ModelError:
    if isinstance(error, APIConnectionError):
        return ModelUnavailable()
    text = text_of_error(error)
    if refused := too_long(text):
        return refused
    if status in _BAD_KEY_STATUSES or _BAD_KEY.search(text) or _NO_CREDIT.search(text):
        return ModelRefusedKey()
    if status == 404 or (status in _NO_MODEL_STATUSES and _NO_MODEL.search(text)):
        return ModelNotFound(model=model)
    if status is not None and status < 500 and status not in _PASSING_STATUSES:
        return ModelRefusedRequest()
    return ModelUnavailable()
