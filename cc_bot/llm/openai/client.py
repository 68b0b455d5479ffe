"""The client, and what its failures mean to us.

What a server says in an error may quote the question or the key, so neither our errors nor the log
carry it: a failure is one record of its kind and status, and no exception is chained to ours.

How much a server may send is bounded where its bytes come in, before anybody joins, decodes or parses them:
the client itself takes a line of any length, and as many blank ones as there are, at once. For that,
nothing is sent compressed.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import httpx2
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    BadRequestError,
    DefaultAsyncHttpxClient,
    Timeout,
    UnprocessableEntityError,
)

from cc_bot.domain.errors import (
    ContextTooLong,
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.llm.openai.wire import Json, read_refusal

MAX_RETRIES = 2
_CONNECT_TIMEOUT_S = 5.0

_BAD_KEY_STATUSES = frozenset({401, 402, 403})  # 402: the key's account has no credit left
_NOT_THERE: Final = ("model_not_found", "does not exist", "not found", "invalid model", "unknown model")
_NOT_FOUND: Final = 404
_BAD_REQUEST: Final = 400
_LOOKED_AT: Final = 500
"""Characters of a refusal: what comes later quotes the request."""
_PASSING_STATUSES = frozenset({408, 409, 425, 429})

MOST_BYTES: Final = 64 * 2**20
"""Of one response: what is thought and said, piece by piece at some 300 bytes each, as long as it may be."""

# ValueError: the client lets malformed JSON and malformed UTF-8 in an answer through as they are, and
# RecursionError what is nested without end.
FAILURES = (APIError, TimeoutError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why there is no whole answer, in words that may be logged."""

    error: ModelError
    problem: str
    status: int | None = None
    retries: int | None = None
    """How often the client had asked again; None where it did not say."""


_BLANK_LINES: Final = (b"\n\n", b"\n\r\n", b"\r\r")
"""What ends an event of a stream."""
_SAYS: Final = re.compile(rb"(?:^|[\r\n])data:")
"""What makes it one: comments and blank lines alone are none, and go on for as long as a server likes."""
_IN_TWO_PIECES: Final = 5
"""Bytes of these that may have come in the piece before."""
_SLICE: Final = 2048
"""Bytes that are taken in before others may have their turn: as many blank lines take the client 5 ms."""
_BREATH_S: Final = 0.01
"""For how long bytes that are there already are taken in before others do have it."""


class TooMuch(ValueError):
    """A server sends more than any answer has, or what can't be measured."""


class _BoundedBody(httpx2.AsyncByteStream):
    """The bytes of a response, up to where there are too many of them, at all or in one event."""

    def __init__(self, body: httpx2.AsyncByteStream, longest_event: int) -> None:
        self._body = body
        self._longest_event = longest_event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes. Raises TooMuch."""
        clock = asyncio.get_running_loop().time
        event, total, breath = _Event(), 0, clock() + _BREATH_S
        async for data in self._body:
            total += len(data)
            if total > MOST_BYTES or event.grown(data) > self._longest_event:
                raise TooMuch
            for start in range(0, len(data), _SLICE):
                yield data[start : start + _SLICE]
                if clock() >= breath:
                    await asyncio.sleep(0)
                    breath = clock() + _BREATH_S

    async def aclose(self) -> None:
        await self._body.aclose()


class _Event:
    """The bytes that came since the last event of a stream that says something."""

    def __init__(self) -> None:
        self._bytes = 0
        self._says = True
        self._before = b"\n"

    def grown(self, data: bytes) -> int:
        """Count the bytes that it has with these, or the next one if it ends in them."""
        known = self._before + data
        end = max(known.rfind(blank) for blank in _BLANK_LINES)
        self._says = self._says or bool(_SAYS.search(known))
        self._bytes += len(data)
        if self._says and end >= 0:
            self._bytes = len(known) - end
            self._says = bool(_SAYS.search(known, end))
        self._before = known[-_IN_TWO_PIECES:]
        return self._bytes


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
        """Bound a response; one that is sent compressed although that was not asked for could unfold to
        anything."""
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


def diagnose(error: Exception, model: str) -> Trouble:
    """Read what one of FAILURES means, when this model was asked for."""
    match error:
        case APIError(body=body, message=message) if too_long := read_refusal(body, message):
            status = error.status_code if isinstance(error, APIStatusError) else None
            told = {} if too_long.limit is None else {"limit": too_long.limit}
            return Trouble(ContextTooLong(**told), type(error).__name__, status, _retries(error))
        case APIStatusError(status_code=status, message=message) if status == _NOT_FOUND or (
            status == _BAD_REQUEST and _is_about_a_model(message)
        ):
            return Trouble(ModelNotFound(model=model), type(error).__name__, status, _retries(error))
        case APIStatusError(status_code=status):
            return Trouble(_meaning(status)(), type(error).__name__, status, _retries(error))
        case APIConnectionError():
            return Trouble(ModelUnavailable(), type(error).__name__, retries=_retries(error))
        case _:
            return Trouble(ModelUnavailable(), type(error).__name__)


def _is_about_a_model(message: str) -> bool:
    """Return whether a refusal says that there is no such model: not every server has a 404 for that."""
    said = message[:_LOOKED_AT].lower()
    return "model" in said and any(words in said for words in _NOT_THERE)


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


# ---- reach -----------------------------------------------------------------------------------------------
# Asking a model for one token: whether it can be reached, knows the key, and takes questions at all.

_SHORT: Final[tuple[Json, ...]] = ({"max_completion_tokens": 1}, {"max_tokens": 1}, {})
"""How servers are told to be brief, each in its way; models that think first take neither of the two. The
connection is closed after the first piece, so that even then little is paid for."""


async def reach(model: str, *, api_key: str | None, base_url: str | None, timeout_s: float) -> None:
    """Ask for a sign of life, and raise the ModelError that a turn would raise. Nothing is asked again."""
    client = open_client(api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=0)
    try:
        async with asyncio.timeout(timeout_s):
            heard = await _has_anything(client, model)
    except FAILURES as error:
        raise diagnose(error, model).error from None
    finally:
        await client.close()
    if not heard:
        raise ModelUnavailable


async def _has_anything(client: AsyncOpenAI, model: str) -> bool:
    """Return whether anything came."""
    for number, short in enumerate(_SHORT):
        try:
            return await _first_piece(client, model, short)
        except (BadRequestError, UnprocessableEntityError) as error:
            last = number == len(_SHORT) - 1
            if last or not any(word in error.message for word in ("max_tokens", "max_completion_tokens")):
                raise
    raise AssertionError("the last way returns or raises")


async def _first_piece(client: AsyncOpenAI, model: str, short: Json) -> bool:
    body = {"model": model, "messages": [{"role": "user", "content": "ok"}], "stream": True, **short}
    chunks = await client.post(
        "/chat/completions", cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
    )
    heard = False
    async with chunks:
        try:
            async for _ in chunks:
                heard = True
                await chunks.close()  # the end comes at once; what is left half read is closed at any time
        except Exception:  # whatever became of it since
            if not heard:
                raise
    return heard
