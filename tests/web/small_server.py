"""Small servers for pages of a test, under the policy that the program's own pages have."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import web

STATIC: Final = Path(__file__).parents[2] / "cc_bot" / "web" / "static"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    """Serve it on loopback with the program's static files; gives its address."""

    async def set_policy(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"

    app.on_response_prepare.append(set_policy)
    app.router.add_static("/static", STATIC)
    app.router.add_get("/favicon.ico", _nothing)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def text_answer(text: str, content_type: str) -> web.Response:
    return web.Response(text=text, content_type=content_type, charset="utf-8")


async def _nothing(request: web.Request) -> web.Response:
    return web.Response(status=204)
