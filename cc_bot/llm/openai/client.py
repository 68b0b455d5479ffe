"""Requests to a server: bounded responses, retries, and a ModelError for each failure."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from functools import partial
from random import uniform
from typing import Any, Final, TypedDict
from urllib.parse import urlsplit

import aiohttp
import structlog

from cc_bot.llm.openai.quirks import is_known_refusal
from cc_bot.llm.openai.refusals import ModelFailure, ServerError, classify, is_final, refusal_text
from cc_bot.llm.openai.reply import TooManyBytes
from cc_bot.proxy import proxy_for

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_BYTES: Final = 64 * 2**20  # of one response
_CONNECT_TIMEOUT_S: Final = 5.0
_KEEPALIVE_S: Final = 4.0  # many servers close idle connections after 5 s
_RETRIED_STATUSES: Final = frozenset({408, 409, 429})
_MAX_PAUSE_S: Final = 8.0

# ValueError: malformed JSON or UTF-8. RecursionError: endless nesting.
FAILURES: Final = (ServerError, aiohttp.ClientError, TimeoutError, ValueError, RecursionError)
_OTHER_SHAPE: Final = (AttributeError, LookupError, TypeError)

_log = structlog.get_logger(__name__)


class Connection(TypedDict, total=False):
    """Arguments of an Endpoint."""

    name: str
    api_key: str | None
    base_url: str | None
    timeout_s: float
    max_retries: int


class Endpoint:
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
        """`name`: the operator's name for the model."""
        self.name = name or model
        self._model = model
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._url = (base_url or OPENAI_URL).rstrip("/")
        self._credentials, _, self._host = urlsplit(self._url).netloc.rpartition("@")
        self._api_key = api_key or "no-key-needed"
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    def _open_session(self) -> aiohttp.ClientSession:
        key = {} if self._credentials else {"Authorization": f"Bearer {self._api_key}"}
        timeout_s = min(_CONNECT_TIMEOUT_S, self._timeout_s)
        return aiohttp.ClientSession(
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **key},
            timeout=aiohttp.ClientTimeout(total=None, connect=timeout_s),
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            json_serialize=partial(json.dumps, ensure_ascii=False),
            proxy=proxy_for(self._url),
        )

    @asynccontextmanager
    async def _request(self, event: str) -> AsyncIterator[None]:
        """Limit the time; log a failure and raise its ModelError."""
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
        """Return the whole answer. Raises as `_send`."""
        async with aclosing(body_of(await self._send(path, self._max_retries, **content))) as body:
            return b"".join([data async for data in body])

    async def _send(self, path: str, retries: int, **content: Any) -> aiohttp.ClientResponse:
        """Return the response, its body unread; close it. Raises ServerError, also without an answer, and
        TooManyBytes."""
        self._session = self._session or self._open_session()
        for retry in range(retries + 1):
            pause_s: float | None = min(0.5 * 2**retry, _MAX_PAUSE_S) * uniform(0.75, 1)  # noqa: S311
            try:
                response = await self._session.post(self._url + path, auto_decompress=False, **content)
                if response.status < 400:
                    return response
                async with aclosing(body_of(response)) as body:
                    text = b"".join([data async for data in body]).decode("utf-8", "replace")
            except aiohttp.ClientError as error:
                failure = ServerError.unanswered(error, self._host, retry)
            else:
                failure = ServerError(text, status=response.status, retries=retry)
                after_s = _retry_after_s(response)
                may_pass = after_s < self._timeout_s and _may_pass(response.status, text)
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


def _retry_after_s(response: aiohttp.ClientResponse) -> float:
    after = response.headers.get("Retry-After", "")
    return float(after) if after.isdecimal() and len(after) < 6 else 0.0


async def body_of(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Raises TooManyBytes, and aiohttp's errors."""
    total = 0
    with closing(response):
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise TooManyBytes  # not asked for, and compressed data could unpack to any size
        async for data in response.content.iter_any():
            total += len(data)
            if total > MAX_BYTES:
                raise TooManyBytes
            yield data
