import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, web

from tests.loopback.discord.drafts import Upload
from tests.loopback.discord.messages import File
from tests.loopback.discord.refusals import Refusal, rate_limited, unknown_channel


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
        return None if self.body is None else self.body.get("allowed_mentions")


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
    """The JSON, if there is any, and files by number."""
    if request.content_type != "multipart/form-data":
        raw = await request.read()
        return (json.loads(raw) if raw else None), {}
    body: Any = None
    files: dict[int, File] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            body = json.loads(data)
        elif part.name and part.name.startswith("files["):
            kind = part.headers.get("Content-Type", "application/octet-stream")
            files[int(part.name[6:-1])] = File(part.filename or "unnamed", data, kind)
    return body, files


@dataclass(frozen=True, slots=True)
class Allowance:
    requests: int
    window_s: float


@dataclass(slots=True)
class Window:
    """Opens with its first request, as Discord's do, and forgets everything when it closes."""

    allowance: Allowance
    opened_at: float = field(default=float("-inf"))
    used: int = 0

    def spend(self, now: float) -> bool:
        if now >= self.opened_at + self.allowance.window_s:
            self.opened_at, self.used = now, 0
        if self.used >= self.allowance.requests:
            return False
        self.used += 1
        return True

    def left_s(self, now: float) -> float:
        return max(0.0, self.opened_at + self.allowance.window_s - now)


class RateLimits:
    """`now` is the loop's time in seconds: frozen clocks of a test must not freeze the limits."""

    def __init__(self, webhook: Allowance, channel: Allowance, everywhere: Allowance) -> None:
        self._allowances = {"webhook": webhook, "channel": channel}
        self._windows: dict[tuple[str, str], Window] = {}
        self._everywhere = Window(everywhere)

    def check_everywhere(self, now: float) -> None:
        """The global limit. Raises Refusal (429, global)."""
        if not self._everywhere.spend(now):
            raise rate_limited(self._everywhere.left_s(now), everywhere=True)

    def spend(self, kind: str, route: str, major: str, now: float) -> dict[str, str]:
        """Counts a request and answers with its headers. Raises Refusal (429), with the same headers."""
        window = self._windows.setdefault((route, major), Window(self._allowances[kind]))
        granted, left_s = window.spend(now), window.left_s(now)
        told = {
            "Bucket": f"{abs(hash(route)):x}",
            "Limit": str(window.allowance.requests),
            "Remaining": str(window.allowance.requests - window.used),
            "Reset": f"{time.time() + left_s:.3f}",
            "Reset-After": f"{left_s:.3f}",
        }
        headers = {f"X-RateLimit-{key}": value for key, value in told.items()}
        if not granted:
            refusal: Refusal = rate_limited(left_s)
            refusal.headers |= headers
            raise refusal
        return headers


@dataclass(frozen=True, slots=True)
class Entry:
    """One REST call. `route` is the template ("PATCH /channels/{channel}/…"); times are seconds of the loop.

    `status` None: the connection was cut on order of the test.
    """

    route: str
    params: dict[str, str]
    status: int | None
    at_s: float
    took_s: float
    body: Any
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.at_s:9.3f} {self.route} -> {self.status}"


@dataclass(frozen=True, slots=True)
class Violation:
    where: str
    status: int | None
    code: int
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    token: str = ""


@dataclass(slots=True)
class Transcript:
    entries: list[Entry] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    def tail(self, entries: int = 12) -> str:
        lines = [str(entry) for entry in self.entries[-entries:]]
        for each in self.violations[-4:]:
            lines.append(f"  refused: {each.where} {each.status} {each.code} {each.message} {each.details}")
        return "\n".join(lines) or "no REST call at all"
