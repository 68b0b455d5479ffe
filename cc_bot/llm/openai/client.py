"""The openai client: bounded responses, and a ModelError for each failure."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypedDict
from urllib.parse import urlsplit

import httpx2
import structlog
from openai import APIError, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

from cc_bot.llm.openai.lessons import is_known_refusal
from cc_bot.llm.openai.refusals import ModelFailure, classify, is_final, refusal_text

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_BYTES: Final = 64 * 2**20  # of one response
_CONNECT_TIMEOUT_S: Final = 5.0

# ValueError: malformed JSON or UTF-8. RecursionError: endless nesting.
FAILURES: Final = (APIError, httpx2.HTTPError, TimeoutError, ValueError, RecursionError)
# An answer whose JSON has another shape.
_OTHER_SHAPE: Final = (AttributeError, LookupError, TypeError)

_log = structlog.get_logger(__name__)


class TooManyBytes(ValueError):
    pass


class Connection(TypedDict, total=False):
    """The keyword arguments of an Endpoint."""

    name: str
    api_key: str | None
    base_url: str | None
    timeout_s: float
    max_retries: int


class Endpoint:
    """A model behind an address."""

    def __init__(
        self,
        model: str,
        *,
        name: str = "",
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 45,
        max_retries: int = 2,
    ) -> None:
        """`name` is the operator's name for the model. Building the client takes over 100 ms: do it at start,
        not during a turn."""
        self.name = name or model
        self._model = model
        self._timeout_s = timeout_s
        timeout = Timeout(None, connect=min(_CONNECT_TIMEOUT_S, timeout_s))
        hooks = {"response": [_limit, self._choose_retry]}
        self._client = AsyncOpenAI(
            api_key=api_key or "no-key-needed",  # the client wants one; local servers don't
            base_url=base_url or OPENAI_URL,
            max_retries=max_retries,
            timeout=timeout,
            default_headers={"Accept-Encoding": "identity"},
            http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks=hooks),
        )
        self._host = urlsplit(str(self._client.base_url)).netloc

    async def close(self) -> None:
        await self._client.close()

    @asynccontextmanager
    async def _request(self, event: str) -> AsyncIterator[None]:
        """Limit the time of a request. Logs its failure and raises the ModelError."""
        try:
            async with asyncio.timeout(self._timeout_s):
                yield
        except (*FAILURES, *_OTHER_SHAPE) as error:
            failure = classify(error, self.name)
            self._report(event, failure)
            raise failure.error from None

    def _report(self, event: str, failure: ModelFailure, **facts: object) -> None:
        outcome = {"outcome": type(failure.error).__name__, "problem": failure.problem}
        statistics = {"status": failure.status, "retries": failure.retries}
        _log.warning(event, **{"model": self.name, **outcome, **statistics, **facts})

    async def _choose_retry(self, response: httpx2.Response) -> None:
        """Let the client retry only what may pass, within the timeout."""
        if response.status_code < 400:
            return
        await response.aread()
        text, after = refusal_text(response.text), response.headers.get("retry-after", "")
        too_late = after.isdecimal() and int(after) >= self._timeout_s
        if too_late or is_final(text) or is_known_refusal(text, response.status_code):
            response.headers["x-should-retry"] = "false"


async def _limit(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise TooManyBytes  # not asked for, and compressed data could unpack to any size
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _LimitedBody(response.stream)


class _LimitedBody(httpx2.AsyncByteStream):
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
