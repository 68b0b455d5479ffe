import asyncio
import os
import re
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import pytest
from playwright.async_api import async_playwright, expect

from tests.browser import ARGUMENTS, find_chromium
from tests.doctor.test_pages import certificate
from tests.web.pages import CHANNEL, Site, free_port, open_site
from tests.web.stored import CARD, draw

DOCS: Final = (Path(__file__).parents[2] / "docs" / "web.md").read_text(encoding="utf-8")
URL: Final = "https://bot.example"


def recipe(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)
    return str(found)


def nginx(folder: Path, port: int, pages: int) -> list[str]:
    certificate(folder, "DNS:bot.example")
    site = (
        recipe("nginx")
        .replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        .replace("127.0.0.1:8080", f"127.0.0.1:{pages}")
        .replace("/etc/letsencrypt/live/bot.example/fullchain.pem", str(folder / "cert.pem"))
        .replace("/etc/letsencrypt/live/bot.example/privkey.pem", str(folder / "key.pem"))
    )
    locations = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\n"
        f"events {{}}\nhttp {{\n{locations}{site}}}\n",
        encoding="utf-8",
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, pages: int) -> list[str]:
    certificate(folder, "DNS:bot.example")
    site = (
        recipe("caddyfile")
        .replace("bot.example {", f"bot.example:{port} {{\n\ttls {folder}/cert.pem {folder}/key.pem")
        .replace("127.0.0.1:8080", f"127.0.0.1:{pages}")
    )
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n"
    (folder / "Caddyfile").write_text(options + site, encoding="utf-8")
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES: Final = {"nginx": nginx, "caddy": caddy}


@dataclass
class Proxied:
    site: Site
    port: int
    trusted: ssl.SSLContext


@asynccontextmanager
async def proxied(name: str, folder: Path) -> AsyncIterator[Proxied]:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not here")
    port, pages = free_port(), free_port()
    command = PROXIES[name](folder, port, pages)
    async with open_site(
        folder, CC_BOT_WEB_PORT=str(pages), CC_BOT_WEB_URL=URL, CC_BOT_WEB_PROXIES="127.0.0.1"
    ) as site:
        environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        program = await asyncio.create_subprocess_exec(*command, cwd=folder, env=environment)
        try:
            await listening(port)
            context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
            yield Proxied(site, port, context)
        finally:
            program.terminate()
            await program.wait()


async def listening(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROXIES])
async def test_a_browser_behind_it_sees_the_canvas_and_makes_up_no_address(name: str, tmp_path: Path) -> None:
    async with proxied(name, tmp_path) as behind:
        await use_the_canvas(behind)
        assert await statuses_of_bad_links(behind) == [*[410] * 5, 429]


async def use_the_canvas(behind: Proxied) -> None:
    rule = f"--host-resolver-rules=MAP bot.example:443 127.0.0.1:{behind.port}"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS, rule])
        try:
            context = await browser.new_context(ignore_https_errors=True, locale="ja-JP")
            page = await context.new_page()
            await page.goto((await behind.site.link()).replace(behind.site.url, URL))
            await page.locator("button.main").click()
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます")
            assert page.url == f"{URL}/canvas/{CHANNEL}"
            [cookie] = await context.cookies()
            assert (cookie["name"], cookie["secure"]) == ("__Host-cc_bot", True)
            await draw(behind.site, CARD)
            await page.get_by_role("button", name="買い物").click()
            await expect(page.locator("#empty")).to_be_visible()
        finally:
            await browser.close()


async def statuses_of_bad_links(behind: Proxied) -> list[int]:
    statuses = []
    async with aiohttp.ClientSession() as client:
        for number in range(6):
            headers = {"Host": "bot.example", "X-Forwarded-For": f"1.2.3.{number}"}
            async with client.get(
                f"https://127.0.0.1:{behind.port}/sign-in?code=x",
                headers=headers,
                ssl=behind.trusted,
                server_hostname="bot.example",
            ) as answer:
                statuses.append(answer.status)
    return statuses
