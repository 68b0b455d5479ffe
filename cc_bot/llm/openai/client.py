"""The client, and what its failures mean to us.

What a server says in an error may quote the question or the key, so neither our errors nor the log
carry it: a failure is one record of its kind and status, and no exception is chained to ours.

How much a server may send is bounded where its bytes come in, before anybody joins, decodes or parses them:
the client itself takes a line of any length. For that, nothing is sent compressed.
"""

from collections.abc import AsyncIterator
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
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.llm.context_length import read_refusal

MAX_RETRIES = 2
_CONNECT_TIMEOUT_S = 5.0

_BAD_KEY_STATUSES = frozenset({401, 402, 403})  # 402: the key's account has no credit left
_PASSING_STATUSES = frozenset({408, 409, 425, 429})

MOST_BYTES: Final = 64 * 2**20
"""Of one response: what is thought and said, piece by piece at some 300 bytes each, as long as it may be."""

# ValueError: the client lets malformed JSON and malformed UTF-8 in an answer through as they are, and
# RecursionError what is nested without end.
FAILURES = (APIError, TimeoutError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there is no whole answer, in words that may be logged."""

    error: ModelError
    problem: str
    status: int | None = None
    retries: int | None = None
    """How often the client had asked again; None where it did not say."""


_BLANK_LINES: Final = (b"\n\n", b"\n\r\n", b"\r\r")
"""What ends an event of a stream."""


class TooMuch(ValueError):
    """A server sends more than any answer has, or what can't be measured."""


class _BoundedBody(httpx2.AsyncByteStream):
    """The bytes of a response, up to where there are too many of them, at all or in one event."""

    def __init__(self, body: httpx2.AsyncByteStream, longest_event: int) -> None:
        self._body = body
        self._longest_event = longest_event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Raises TooMuch."""
        total = event = 0
        before = b""
        async for data in self._body:
            total += len(data)
            known = before + data  # a blank line may come in two pieces
            end = max(known.rfind(blank) for blank in _BLANK_LINES)
            event = event + len(data) if end < 0 else len(known) - end
            if total > MOST_BYTES or event > self._longest_event:
                raise TooMuch
            before = known[-2:]
            yield data

    async def aclose(self) -> None:
        await self._body.aclose()


def open_client(
    *,
    api_key: str | None,
    base_url: str | None,
    timeout_s: float,
    max_retries: int,
    longest_event: int = MOST_BYTES,
) -> AsyncOpenAI:
    """A client that leaves time-outs to its caller, who waits `timeout_s` seconds at most.

    `longest_event` is in bytes, of a stream. Building it takes over 100 ms: do it at start, not in a turn.
    """

    async def bound(response: httpx2.Response) -> None:
        """What is sent compressed although it was not asked for could unfold to anything."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooMuch
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedBody(response.stream, longest_event)

    async def decline_long_waits(response: httpx2.Response) -> None:
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
        default_headers={"Accept-Encoding": "identity"},
        http_client=DefaultAsyncHttpxClient(
            timeout=timeout, event_hooks={"response": [bound, decline_long_waits]}
        ),
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
