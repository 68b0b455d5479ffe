import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import aiohttp

from cc_bot.domain import errors

MAX_REFUSAL: Final = 2000  # characters; what comes later quotes the request

_BAD_KEY_STATUSES: Final = frozenset({401, 402, 403})  # 402: no credit left
_BAD_KEY: Final = re.compile(r"api key not valid|invalid api key|incorrect api key", re.IGNORECASE)
# Not "exceeded your current quota": that is Gemini's for the requests of one minute.
_NO_CREDIT: Final = re.compile(r"insufficient_quota|credit balance", re.IGNORECASE)
_NO_MODEL: Final = re.compile(
    r"model.{0,100}(?:does not exist|not found)|model_not_found|(?:invalid|unknown) model",
    re.IGNORECASE | re.DOTALL,
)
_TRANSIENT_STATUSES: Final = frozenset({408, 409, 425, 429})

# llama.cpp, vLLM, SGLang, TGI, LM Studio, Ollama, Mistral, Gemini, xAI, gateways to Anthropic. Broad: a false
# match costs one request with a shorter history, a missed one the answer.
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
    def __init__(self, body: object, *, status: int | None = None, retries: int = 0) -> None:
        super().__init__(status)
        self.text = refusal_text(body) or f"{status} {body}"[:MAX_REFUSAL]
        self.status = status
        self.retries = retries
        self.problem = type(self).__name__
        self.unreachable_host = ""

    @classmethod
    def unanswered(cls, error: aiohttp.ClientError, host: str, retries: int) -> "ServerError":
        made = cls(str(error), retries=retries)
        made.problem = type(error).__name__
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            made.unreachable_host = host
        return made


class ModelFailure(NamedTuple):
    """All but the error is for the log."""

    error: errors.ModelError
    problem: str
    status: int | None = None
    retries: int | None = None


def refusal_text(body: object) -> str:
    """The text of `{"error": {…}}`, a list of it (Gemini), `{"detail": …}` (FastAPI), or text."""
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


def too_long(text: str) -> errors.ContextTooLong | None:
    """None unless the request is too long."""
    if not _TOO_LONG.search(text):
        return None
    limit = _LIMIT.search(text)
    return errors.ContextTooLong(limit=int(limit[1])) if limit else errors.ContextTooLong()


def is_final(text: str) -> bool:
    return too_long(text) is not None or _NO_CREDIT.search(text) is not None


def classify(error: Exception, model: str) -> ModelFailure:
    if not isinstance(error, ServerError):
        return ModelFailure(errors.ModelUnavailable(), type(error).__name__)
    return ModelFailure(_meaning(error, model), error.problem, error.status, error.retries)


def _meaning(error: ServerError, model: str) -> errors.ModelError:
    if error.unreachable_host:
        return errors.ModelUnreachable(host=error.unreachable_host)
    text, status = error.text, error.status
    if refused := too_long(text):
        return refused
    if status in _BAD_KEY_STATUSES or _BAD_KEY.search(text) or _NO_CREDIT.search(text):
        return errors.ModelRefusedKey()
    if status == 404 or (status == 400 and _NO_MODEL.search(text)):
        return errors.ModelNotFound(model=model)
    final = status is not None and status < 500 and status not in _TRANSIENT_STATUSES
    return errors.ModelRefusedRequest() if final else errors.ModelUnavailable()
