"""The vocabulary of the REST side: a route, a request as its handler sees it, and the answer."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, web

from tests.loopback.discord.drafts import Upload
from tests.loopback.discord.messages import File
from tests.loopback.discord.refusals import Refusal, unknown_channel


@dataclass(frozen=True, slots=True)
class Call:
    """`body` is the JSON of the request, or of its `payload_json` part; `files` are the parts `files[n]`."""

    params: dict[str, str]
    query: dict[str, str]
    body: Any
    files: dict[int, File]

    def id(self, name: str) -> int:
        """A snowflake of the path. Raises Refusal for what is none."""
        text = self.params[name]
        if not text.isdecimal():
            raise unknown_channel() if name == "channel" else Refusal(400, 50035, "Invalid Form Body")
        return int(text)

    @property
    def upload(self) -> Upload:
        return Upload(self.body or {}, self.files)

    @property
    def allowed_mentions(self) -> dict[str, Any] | None:
        allowed: dict[str, Any] | None = (self.body or {}).get("allowed_mentions")
        return allowed


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 204
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """`template` is the path below /api/v10; `limit` names the allowance, `major` what it counts by."""

    method: str
    template: str
    handler: Handler
    needs_token: bool = True
    limit: str | None = None
    major: str | None = None

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"


async def read_body(request: web.Request) -> tuple[Any, dict[int, File]]:
    """Raises Refusal (50109) for a body that is not JSON."""
    if request.content_type == "multipart/form-data":
        return await _read_parts(request)
    raw = await request.read()
    return (_parse(raw) if raw else None), {}


async def _read_parts(request: web.Request) -> tuple[Any, dict[int, File]]:
    body: Any = None
    files: dict[int, File] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            body = _parse(data)
        elif part.name and part.name.startswith("files["):
            kind = part.headers.get("Content-Type", "application/octet-stream")
            files[int(part.name[6:-1])] = File(part.filename or "unnamed", data, kind)
    return body, files


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        raise Refusal(400, 50109, "The request body contains invalid JSON.") from None
