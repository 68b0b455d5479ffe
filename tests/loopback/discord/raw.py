"""A bot without a library: plain HTTP, so that a test can send what hikari would never send."""

import json
from io import BytesIO
from typing import Any, Self

import aiohttp

from tests.loopback.discord.driver import LoopbackDiscord
from tests.loopback.discord.interactions import Callback
from tests.loopback.discord.messages import File
from tests.loopback.discord.reply import Reply

Body = dict[str, Any]


class RawBot:
    """Answers with (status, JSON) for each call; paths stand below /api/v10."""

    def __init__(self, discord: LoopbackDiscord, token: str | None = None) -> None:
        self._discord = discord
        self._headers = {"Authorization": f"Bot {token or discord.token}"}
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def call(self, method: str, path: str, body: Any = None, *files: File) -> tuple[int, Any]:
        async with self.request(method, path, body, *files) as response:
            return response.status, await response.json() if response.status != 204 else None

    def request(self, method: str, path: str, body: Any = None, *files: File) -> Any:
        """The response itself, for its headers; an async context manager."""
        url = self._discord.api_url + path
        if not files:
            return self._session.request(method, url, json=body, headers=self._headers)
        form = aiohttp.FormData()
        form.add_field("payload_json", json.dumps(body), content_type="application/json")
        for number, file in enumerate(files):
            data = BytesIO(file.data)  # aiohttp warns about large bytes, not about streams
            form.add_field(f"files[{number}]", data, filename=file.name, content_type=file.content_type)
        return self._session.request(method, url, data=form, headers=self._headers)

    def fetch(self, url: str) -> Any:
        """Any URL, without the token: an attachment's."""
        return self._session.get(url)

    async def register(self, *commands: Body) -> tuple[int, Any]:
        """PUT of all commands; each needs at least a name and a description."""
        path = f"/applications/{self._discord.application_id}/commands"
        return await self.call("PUT", path, list(commands))

    async def answer(self, reply: Reply, callback: Callback, data: Body | None = None) -> tuple[int, Any]:
        path = f"/interactions/{reply.interaction.id}/{reply.interaction.token}/callback?with_response=true"
        return await self.call("POST", path, {"type": int(callback), "data": data or {}})

    async def edit(
        self, reply: Reply, body: Body, message: str = "@original", *files: File
    ) -> tuple[int, Any]:
        return await self.call("PATCH", f"{self._webhook(reply)}/messages/{message}", body, *files)

    async def delete(self, reply: Reply, message: str = "@original") -> tuple[int, Any]:
        return await self.call("DELETE", f"{self._webhook(reply)}/messages/{message}")

    async def follow_up(self, reply: Reply, body: Body, *files: File) -> tuple[int, Any]:
        return await self.call("POST", self._webhook(reply), body, *files)

    def _webhook(self, reply: Reply) -> str:
        return f"/webhooks/{self._discord.application_id}/{reply.interaction.token}"
