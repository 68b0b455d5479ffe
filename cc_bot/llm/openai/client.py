"""The client, and what its failures mean to us.

What a server says in an error may quote the question or the key, so neither our errors nor the log
carry it: a failure is one record of its kind and status, and no exception is chained to ours.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Protocol

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
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.llm.context_length import read_refusal

MAX_RETRIES = 2
_CONNECT_TIMEOUT_S = 5.0

_BAD_KEY_STATUSES = frozenset({401, 402, 403})  # 402: the key's account has no credit left
_PASSING_STATUSES = frozenset({408, 409, 425, 429})

# ValueError: the client lets malformed JSON and malformed UTF-8 in an answer through as they are.
FAILURES = (APIError, TimeoutError, ValueError)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there is no whole answer, in words that may be logged."""

    error: ModelError
    problem: str
    status: int | None = None
    retries: int | None = None
    """How often the client had asked again; None where it did not say."""


class _Response(Protocol):
    """What we use of the client's HTTP responses."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...


def open_client(
    *, api_key: str | None, base_url: str | None, timeout_s: float, max_retries: int
) -> AsyncOpenAI:
    """A client that leaves time-outs to its caller, who waits `timeout_s` seconds at most.

    Building it takes over 100 ms: do it at start, not during a turn.
    """

    async def decline_long_waits(response: _Response) -> None:
        """Keep the client from sleeping through a `Retry-After` that ends after our time is over."""
        if _seconds(response.headers.get("retry-after")) >= timeout_s:
            response.headers["x-should-retry"] = "false"

    timeout = Timeout(None, connect=min(_CONNECT_TIMEOUT_S, timeout_s))
    return AsyncOpenAI(
        # Local servers want no key, but the client wants one to send.
        api_key=api_key or "no-key-needed",
        base_url=base_url,
        max_retries=max_retries,
        timeout=timeout,
        http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"response": [decline_long_waits]}),
    )


def diagnose(error: Exception) -> Trouble:
    """What one of FAILURES means."""
    match error:
        case APIError(body=body, message=message) if too_long := read_refusal(body, message):
            status = error.status_code if isinstance(error, APIStatusError) else None
            told = {} if too_long.limit is None else {"limit": too_long.limit}
            return Trouble(ContextTooLong(**told), type(error).__name__, status, _retries(error))
        case APIStatusError(status_code=status):
            return Trouble(_meaning(status)(), type(error).__name__, status, _retries(error))
        case APIConnectionError():
            return Trouble(ModelUnavailable(), type(error).__name__, retries=_retries(error))
        case _:
            return Trouble(ModelUnavailable(), type(error).__name__)


def _meaning(status: int) -> type[ModelError]:
    if status in _BAD_KEY_STATUSES:
        return ModelRefusedKey
    if status < 500 and status not in _PASSING_STATUSES:
        return ModelRefusedRequest
    return ModelUnavailable


def _seconds(text: str | None) -> float:
    """A `Retry-After` in seconds; 0 when there is none or it is a date, which is left to the client."""
    try:
        return float(text or 0)
    except ValueError:
        return 0


def _retries(error: APIError) -> int:
    return int(error.request.headers.get("x-stainless-retry-count", "0"))
