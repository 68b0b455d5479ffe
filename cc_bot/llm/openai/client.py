"""Requests to servers with OpenAI's API, with limits and retries; and embeddings."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import KW_ONLY, dataclass
from functools import partial
from random import uniform
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import structlog
from pydantic_core import from_json

from cc_bot.domain.errors import ContextTooLong
from cc_bot.features.memory.search.vectors import Vector, quantize
from cc_bot.llm.openai.quirks import ModelFailure, ServerError, classify, is_transient
from cc_bot.llm.openai.reply import TooManyBytes
from cc_bot.proxy import proxy_for

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_RESPONSE_BYTES: Final = 64 * 2**20
_CONNECT_TIMEOUT_S: Final = 5.0
_KEEPALIVE_S: Final = 4.0  # many servers close idle connections after 5 s
_MAX_RETRY_PAUSE_S: Final = 8.0

# ValueError is raised for malformed JSON or UTF-8, RecursionError for endless nesting.
FAILURES: Final = (ServerError, aiohttp.ClientError, TimeoutError, ValueError, RecursionError)
_UNREACHABLE: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_WRONG_SHAPE: Final = (AttributeError, LookupError, TypeError)

_log = structlog.get_logger(__name__)


@dataclass(eq=False, repr=False)
class Endpoint:
    model: str
    _: KW_ONLY
    name: str = ""  # the name in the settings; defaults to `model`
    api_key: str | None = None
    base_url: str | None = None
    timeout_s: float = 45
    max_retries: int = 2

    def __post_init__(self) -> None:
        self.name = self.name or self.model
        self._url = (self.base_url or OPENAI_URL).rstrip("/")
        self._credentials, _, self._host = urlsplit(self._url).netloc.rpartition("@")
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    def _open_session(self) -> aiohttp.ClientSession:
        key = {} if self._credentials else {"Authorization": f"Bearer {self.api_key or 'no-key-needed'}"}
        timeout_s = min(_CONNECT_TIMEOUT_S, self.timeout_s)
        return aiohttp.ClientSession(
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **key},
            timeout=aiohttp.ClientTimeout(total=None, connect=timeout_s),
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            json_serialize=partial(json.dumps, ensure_ascii=False),
            proxy=proxy_for(self._url),
        )

    @asynccontextmanager
    async def _guard_request(self, event: str) -> AsyncIterator[None]:
        """Limit the time of a request. Logs a failure as `event`, and raises it as ModelError."""
        try:
            async with asyncio.timeout(self.timeout_s):
                yield
        except (*FAILURES, *_WRONG_SHAPE) as error:
            failure = classify(error, self.name)
            self._log_failure(event, failure)
            raise failure.error from None

    def _log_failure(self, event: str, failure: ModelFailure, **details: object) -> None:
        outcome = {"outcome": type(failure.error).__name__, "problem": failure.problem}
        statistics = {"status": failure.status, "retries": failure.retries}
        _log.warning(event, **{"model": self.name, **outcome, **statistics, **details})

    async def _post(self, path: str, **content: Any) -> bytes:
        async with aclosing(read_chunks(await self._send(path, self.max_retries, **content))) as body:
            return b"".join([data async for data in body])

    async def _send(self, path: str, retries: int, **content: Any) -> aiohttp.ClientResponse:
        """Return a successful response, which the caller closes. Raises ServerError and TooManyBytes."""
        self._session = self._session or self._open_session()
        for retry in range(retries + 1):
            pause_s: float | None = min(0.5 * 2**retry, _MAX_RETRY_PAUSE_S) * uniform(0.75, 1)  # noqa: S311
            try:
                response = await self._session.post(self._url + path, auto_decompress=False, **content)
                if response.status < 400:
                    return response
                async with aclosing(read_chunks(response)) as body:
                    text = b"".join([data async for data in body]).decode("utf-8", "replace")
            except aiohttp.ClientError as error:
                failure = ServerError(str(error), retries=retry)
                failure.problem = type(error).__name__
                if isinstance(error, _UNREACHABLE):
                    failure.unreachable_host = self._host
            else:
                failure = ServerError(text, status=response.status, retries=retry)
                retry_after_s = _retry_after_s(response)
                retries_help = retry_after_s < self.timeout_s and is_transient(text, response.status)
                pause_s = (retry_after_s or pause_s) if retries_help else None
            if pause_s is None or retry == retries:
                try:
                    raise failure
                finally:
                    del failure  # its traceback would keep pictures in memory
            await asyncio.sleep(pause_s)
        raise ValueError("a negative number of retries")


def _retry_after_s(response: aiohttp.ClientResponse) -> float:
    after = response.headers.get("Retry-After", "")
    return float(after) if after.isdecimal() and len(after) < 6 else 0.0


async def read_chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Yield the body and close the response. Raises TooManyBytes and aiohttp's errors."""
    total = 0
    with closing(response):
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise TooManyBytes  # compressed against our request: it may be of any size
        async for data in response.content.iter_any():
            total += len(data)
            if total > MAX_RESPONSE_BYTES:
                raise TooManyBytes
            yield data


_MAX_BATCH_TEXTS: Final = 64  # servers accept between 32 (TEI's default) and 2048
_MIN_CHARACTERS_TO_HALVE: Final = 100


class OpenAIEmbedder(Endpoint):
    unrelated = None  # unknown: the server may use any model

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Raises ModelError."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _MAX_BATCH_TEXTS):
            vectors += await self._embed_batch(texts[start : start + _MAX_BATCH_TEXTS])
        return vectors

    async def _embed_batch(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts. If they are too long, embed them one by one, and the first half of a single one."""
        try:
            async with self._guard_request("embedding_failed"):
                body = {"model": self.model, "input": list(texts)}
                return _read_vectors(from_json(await self._post("/embeddings", json=body)), len(texts))
        except ContextTooLong:
            if len(texts) > 1:
                return [vector for text in texts for vector in await self._embed_batch([text])]
            [text] = texts
            if len(text) <= _MIN_CHARACTERS_TO_HALVE:
                raise
        return await self._embed_batch([text[: len(text) // 2]])


def _read_vectors(response: Any, count: int) -> list[Vector]:
    data = response["data"]
    # Some servers leave out the index.
    vectors = {item.get("index", position): quantize(item["embedding"]) for position, item in enumerate(data)}
    if len(data) != count or len({*map(len, vectors.values())}) > 1:
        raise ValueError("not a vector for each text")
    return [vectors[index] for index in range(count)]
