"""A server on 127.0.0.1 that searches as a SearXNG does (`GET /search`) and as Brave's API.

SearXNG answers in HTML unless `format=json` is asked for, and with 403 where its operator permits no such
format. Brave (`GET /res/v1/web/search`) wants its token in a header, and answers 422 without.
"""

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.loopback.local_server import LocalServer


@dataclass(frozen=True, slots=True)
class Result:
    url: str
    title: str
    snippet: str = ""


class LoopbackSearchServer(LocalServer):
    """See the module's docstring. `queries` lists what was searched for, and by which of the two."""

    def __init__(self, *results: Result, key: str = "brave-key", json: bool = True) -> None:
        self.results = list(results)
        self.key = key
        self.json = json
        self.broken: Any = None
        self.queries: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/search", self._searxng), web.get("/res/v1/web/search", self._brave)]

    @property
    def brave_url(self) -> str:
        return f"{self.url}/res/v1/web/search"

    async def _searxng(self, request: web.Request) -> web.Response:
        self.queries.append(("searxng", request.query["q"]))
        self.headers.append(dict(request.headers))
        if request.query.get("format") != "json":
            return web.Response(text="<html>results</html>", content_type="text/html")
        if not self.json:
            return web.Response(status=403, text="<h1>Forbidden</h1>", content_type="text/html")
        if self.broken is not None:
            return web.json_response(self.broken)
        found = [{"url": each.url, "title": each.title, "content": each.snippet} for each in self.results]
        return web.json_response({"query": request.query["q"], "results": found, "answers": []})

    async def _brave(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        if request.headers.get("X-Subscription-Token") != self.key:
            return web.json_response({"type": "ErrorResponse"}, status=422)
        self.queries.append(("brave", request.query["q"]))
        if self.broken is not None:
            return web.json_response(self.broken)
        found = [{"url": each.url, "title": each.title, "description": each.snippet} for each in self.results]
        answer: dict[str, Any] = {"type": "search", "query": {"original": request.query["q"]}}
        if found:
            answer["web"] = {"type": "search", "results": found[: int(request.query.get("count", 20))]}
        return web.json_response(answer)
