"""An aiohttp server on a free port of 127.0.0.1, as most of the doubles are."""

from abc import ABC, abstractmethod
from typing import Self

from aiohttp import web


class LocalServer(ABC):
    """Serves while it is entered; then `url` is its address, without a slash at the end."""

    url = ""

    @abstractmethod
    def routes(self) -> list[web.RouteDef]:
        pass

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.add_routes(self.routes())
        # Cancellation is how aiohttp tells a handler that its client has gone.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.05)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def base_url(self) -> str:
        """For OPENAI_BASE_URL: `http://127.0.0.1:<port>/v1`."""
        return f"{self.url}/v1"
