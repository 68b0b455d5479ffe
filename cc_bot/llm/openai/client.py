"""Requests to a server: bounded responses, retries of what may pass, and a ModelError for each failure."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import uniform
from typing import Any, Final, TypedDict

import httpx2
import structlog

from cc_bot.llm.openai.lessons import is_known_refusal
from cc_bot.llm.openai.refusals import ModelFailure, ServerError, classify, is_final, refusal_text

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_BYTES: Final = 64 * 2**20  # of one response
_CONNECT_TIMEOUT_S: Final = 5.0
_RETRIED_STATUSES: Final = frozenset({408, 409, 429})
_MAX_PAUSE_S: Final = 8.0

# ValueError: malformed JSON or UTF-8. RecursionError: endless nesting.
FAILURES: Final = (ServerError, httpx2.HTTPError, TimeoutError, ValueError, RecursionError)
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
        """`name` is the operator's name for the model."""
        self.name = name or model
        self._model = model
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._client = httpx2.AsyncClient(
            base_url=base_url or OPENAI_URL,
            headers={
                "Authorization": f"Bearer {api_key or 'no-key-needed'}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
            timeout=httpx2.Timeout(None, connect=min(_CONNECT_TIMEOUT_S, timeout_s)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            follow_redirects=True,
            event_hooks={"response": [_limit]},
        )
        self._host = self._client.base_url.netloc.decode()

    async def close(self) -> None:
        await self._client.aclose()

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

    async def _post(self, path: str, **content: Any) -> bytes:
        """Return the whole answer to a request; `content` as httpx takes it. Raises as `_send`."""
        response = await self._send(path, self._max_retries, **content)
        try:
            return await response.aread()
        finally:
            await response.aclose()

    async def _send(self, path: str, retries: int, **content: Any) -> httpx2.Response:
        """Return the response, its body unread; close it. Failures that may pass are retried so many times.

        Raises ServerError, also when there is no answer, and TooManyBytes.
        """
        for retry in range(retries + 1):
            pause_s: float | None = min(0.5 * 2**retry, _MAX_PAUSE_S) * uniform(0.75, 1)  # noqa: S311
            request = self._client.build_request("POST", path, **content)
            try:
                response = await self._client.send(request, stream=True)
                if response.status_code < 400:
                    return response
                body = (await response.aread()).decode("utf-8", "replace")
            except httpx2.TransportError as error:
                failure = ServerError.unanswered(error, self._host, retry)
            else:
                await response.aclose()
                failure = ServerError(body, status=response.status_code, retries=retry)
                after_s = _retry_after_s(response)
                may_pass = after_s < self._timeout_s and _may_pass(response.status_code, body)
                pause_s = (after_s or pause_s) if may_pass else None
            if pause_s is None or retry == retries:
                try:
                    raise failure
                finally:
                    del failure  # a cycle with its traceback would keep pictures until the next collection
            await asyncio.sleep(pause_s)
        raise ValueError("a negative number of retries")


def _may_pass(status: int, body: str) -> bool:
    text = refusal_text(body)
    if is_final(text) or is_known_refusal(text, status):
        return False
    return status in _RETRIED_STATUSES or status >= 500


def _retry_after_s(response: httpx2.Response) -> float:
    """Return how long the server asks to wait; 0 if it does not say."""
    after = response.headers.get("retry-after", "")
    return float(after) if after.isdecimal() and len(after) < 6 else 0.0


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
