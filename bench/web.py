import asyncio
import gc
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, time

import aiohttp
from aiohttp import web
from playwright.async_api import Browser, Page, expect

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/web.py`

from cc_bot import Message, SessionKey
from cc_bot.domain.turn import Done
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit, Text, UpdateCard
from cc_bot.features.memory.files import PortableMemory
from tests.assistant.conftest import OPTIONS
from tests.browser import PHONE, Trouble, new_page, running_browser
from tests.end_to_end.canvases import SHOPPING, draw
from tests.end_to_end.stage import Stage, running_stage
from tests.web.pages import CHANNEL, TARO, Site, Visit, free_port, open_site

KEY = SessionKey(TARO, CHANNEL)
USERS = count(1000)
CHANGES = 60
MANY_SOCKETS = 500
ASKS = 100
ROUNDS = 6
NOTES = 10_000
STARTS = 5


@dataclass
class Verdicts:
    met: bool = True

    def say(self, what: str, found: str, goal: str, *, ok: bool) -> None:
        self.met = self.met and ok
        print(f"{'ok  ' if ok else 'MISS'} {what}: {found} (goal: {goal})", flush=True)


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    return median(values), quantiles(values, n=100)[98]


# ---- a change to the DOM -----------------------------------------------------------------------------------

WATCH = """() => {
  globalThis.seen = {};
  const note = () => {
    const text = document.querySelector("[data-id=count] .body")?.textContent.trim();
    if (text && !(text in globalThis.seen)) {
      globalThis.seen[text] = (performance.timeOrigin + performance.now()) / 1000;
    }
  };
  new MutationObserver(note).observe(document.getElementById("canvas"),
    { childList: true, subtree: true, characterData: true });
}"""


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await page.goto(f"{site.url}/canvas/{CHANNEL}")
    await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")


async def change(site: Site, text: str) -> float:
    """Change the canvas; when that is committed, as Unix time."""
    edit = Edit(UpdateCard("count", content=text), "public")
    await site.core.stores.canvases.draw(KEY, make_redraw([edit]))
    return time()


async def change_to_dom(site: Site, page: Page) -> list[float]:
    """Milliseconds from the commit of each change to the page's DOM."""
    await page.evaluate(WATCH)
    committed = {}
    for number in range(CHANGES):
        text = f"n{number}"
        committed[text] = await change(site, text)
        await asyncio.sleep(0.05)
    await expect(page.locator("[data-id=count] .body")).to_have_text(f"n{CHANGES - 1}")
    seen = await page.evaluate("() => globalThis.seen")
    return [max((seen[text] - moment) * 1000, 0.0) for text, moment in committed.items() if text in seen]


async def socket_of(visit: Visit) -> aiohttp.ClientWebSocketResponse:
    socket = await visit.client.ws_connect(f"/canvas/{CHANNEL}/socket", headers={"Origin": visit.url})
    await socket.receive()
    return socket


@asynccontextmanager
async def open_sockets(site: Site, wanted: int) -> AsyncIterator[list[aiohttp.ClientWebSocketResponse]]:
    """So many pages of one user, in ten browsers at the pace that each may have."""
    async with AsyncExitStack() as stack:
        visits = [await stack.enter_async_context(site.visit()) for _ in range(10)]
        sockets: list[aiohttp.ClientWebSocketResponse] = []
        while len(sockets) < wanted:
            for visit in visits:
                sockets += [await socket_of(visit) for _ in range(min(15, wanted - len(sockets)))]
            await asyncio.sleep(1.0)
        yield sockets


async def read_all(sockets: Sequence[aiohttp.ClientWebSocketResponse]) -> None:
    await asyncio.gather(*(each.receive() for each in sockets))


async def drain(sockets: Sequence[aiohttp.ClientWebSocketResponse], stop: asyncio.Event) -> None:
    async def read(socket: aiohttp.ClientWebSocketResponse) -> None:
        while (await socket.receive()).type is aiohttp.WSMsgType.TEXT:
            pass

    readers = [asyncio.create_task(read(each)) for each in sockets]
    await stop.wait()
    for each in readers:
        each.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


# ---- many sockets ------------------------------------------------------------------------------------------


def rss_kib() -> int:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise RuntimeError("this system does not tell")


async def ask(site: Site) -> float:
    """Milliseconds of a question in a conversation of its own."""
    began = perf_counter()
    key = SessionKey(next(USERS), CHANNEL)
    async for event in site.core.assistant.ask(key, Message("user", "こんにちは"), OPTIONS):
        if isinstance(event, Done):
            break
    return (perf_counter() - began) * 1000


async def asks(site: Site) -> float:
    return median([await ask(site) for _ in range(ASKS)])


async def measure_sockets(site: Site, verdicts: Verdicts) -> None:
    """Measure them, with their clients in a process of their own."""
    await ask(site)
    alone, beside, grown, to_all = [await asks(site)], [], 0.0, 0.0
    for turn in range(ROUNDS):
        gc.collect()
        before = rss_kib()
        async with clients(site) as told:
            gc.collect()
            grown = grown or rss_kib() - before  # the second time it is the same memory once more
            began = await change(site, f"all {turn}")
            to_all = (float(await told()) - began) * 1000
            beside.append(await asks(site))
        alone.append(await asks(site))
    each = grown / MANY_SOCKETS
    verdicts.say("500 sockets", f"{each:.1f} KB each", "under 25 KB", ok=each < 25)
    verdicts.say("one change to all 500", f"{to_all:.0f} ms", "150 ms", ok=to_all < 150)
    ratio = min(beside) / min(alone)
    verdicts.say("/ask beside 500 sockets", f"{ratio:.3f}x of {min(alone):.1f} ms", "1.05x", ok=ratio < 1.05)


@asynccontextmanager
async def clients(site: Site) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    async with AsyncExitStack() as stack:
        visits = [await stack.enter_async_context(site.visit()) for _ in range(10)]
        cookies = [cookie.value for visit in visits for cookie in visit.client.cookie_jar]
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.web", site.url, *cookies), stdin=PIPE, stdout=PIPE
        )
        assert program.stdin is not None
        assert program.stdout is not None
        output = program.stdout

        async def read_line() -> str:
            async with asyncio.timeout(60):
                return (await output.readline()).decode().strip()

        try:
            assert await read_line() == "open"
            yield read_line
        finally:
            program.stdin.close()
            await program.wait()


async def be_clients(url: str, cookies: Sequence[str]) -> None:
    """Open them, say so, tell when the last of them hears something, and keep them until the input ends."""
    async with AsyncExitStack() as stack:
        browsers = [
            await stack.enter_async_context(
                aiohttp.ClientSession(url, headers={"Cookie": f"cc_bot={cookie}", "Origin": url})
            )
            for cookie in cookies
        ]
        sockets: list[aiohttp.ClientWebSocketResponse] = []
        while len(sockets) < MANY_SOCKETS:
            for browser in browsers:
                for _ in range(min(15, MANY_SOCKETS - len(sockets))):
                    sockets.append(await browser.ws_connect(f"/canvas/{CHANNEL}/socket"))
                    await sockets[-1].receive()
            await asyncio.sleep(1.0)
        print("open", flush=True)
        await read_all(sockets)
        print(time(), flush=True)
        stop = asyncio.Event()
        draining = asyncio.create_task(drain(sockets, stop))
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        await draining


# ---- pages -------------------------------------------------------------------------------------------------


async def timed_ms(act: Callable[[], Awaitable[object]], times: int = 20) -> float:
    found = []
    for _ in range(times):
        began = perf_counter()
        await act()
        found.append((perf_counter() - began) * 1000)
        await asyncio.sleep(0.06)  # a session asks 20 times a second
    return median(found)


@asynccontextmanager
async def bare(body: str) -> AsyncIterator[str]:
    """The same page from a program that does nothing else."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def measure_pages(site: Site, browser: Browser, verdicts: Verdicts) -> None:
    loaded: list[int] = []
    async with new_page(browser, size=PHONE, locale="ja-JP") as page:
        await sign_in(page, site)
        page.on("response", lambda answer: loaded.append(int(answer.headers.get("content-length", "0"))))
        began = perf_counter()
        await page.goto(f"{site.url}/canvas/{CHANNEL}", wait_until="load")
        first = (perf_counter() - began) * 1000
    kib = sum(loaded) / 1024
    verdicts.say("a first page, all it loads", f"{kib:.1f} KB", "60 KB", ok=0 < kib < 60)
    verdicts.say("its time in the browser", f"{first:.0f} ms", "150 ms", ok=first < 150)
    async with site.visit() as visit:
        body = await visit.open(f"/canvas/{CHANNEL}")
        ours = await timed_ms(lambda: visit.open(f"/canvas/{CHANNEL}"))
        async with bare(body) as url, aiohttp.ClientSession() as client:

            async def ask_bare() -> None:
                async with client.get(url) as answer:
                    await answer.read()

            floor = await timed_ms(ask_bare)
    print(f"     the same page, bare: {floor:.2f} ms; ours: {ours:.2f} ms ({ours / floor:.1f}x)")


async def measure_memories(site: Site, verdicts: Verdicts) -> None:
    subjects = ("猫", "仕事", "旅行", "料理", "健康", "本", "映画", "家族")
    notes = [
        PortableMemory(f"{subjects[n % len(subjects)]}のメモ {n}: 明日は買い物に行く。", "general", ("メモ",))
        for n in range(NOTES)
    ]
    for start in range(0, NOTES, 1000):
        await site.core.stores.memories.import_all(TARO, notes[start : start + 1000])
    async with site.visit() as visit:
        listed = await timed_ms(lambda: visit.open("/memories"))
        searched = await timed_ms(lambda: visit.open("/memories?q=旅行"))
    verdicts.say("memories, 10,000 notes", f"{listed:.0f} ms", "100 ms", ok=listed < 100)
    verdicts.say("a search in them", f"{searched:.0f} ms", "100 ms", ok=searched < 100)


# ---- the whole program -------------------------------------------------------------------------------------


def rss_of(process_id: int) -> float:
    """MiB."""
    for line in Path(f"/proc/{process_id}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not tell")


async def start_once(settings: dict[str, str]) -> tuple[float, float]:
    """Seconds until it is ready, and its MiB then."""
    with TemporaryDirectory() as folder:
        async with running_stage(Path(folder), settings) as stage:
            await stage.program.stop()
            await stage.discord.gone()
            stage.program.from_nothing = True
            began = perf_counter()
            await stage.start()
            took = perf_counter() - began
            await asyncio.sleep(1.0)
            return took, rss_of(stage.program.process_id)


async def measure_start(verdicts: Verdicts) -> None:
    without, with_port = [], []
    for _ in range(STARTS):
        without.append(await start_once({}))
        with_port.append(await start_once({"CC_BOT_WEB_PORT": str(free_port())}))
    took = [median(each[0] for each in some) for some in (without, with_port)]
    held = [median(each[1] for each in some) for some in (without, with_port)]
    print(f"     without the port: ready after {took[0]:.2f} s, {held[0]:.1f} MiB")
    more = held[1] - held[0]
    said = f"ready after {took[1]:.2f} s, {more:+.1f} MiB"
    verdicts.say("with the port", said, "+8 MiB", ok=more < 8)


async def measure_kill(browser: Browser, verdicts: Verdicts) -> None:
    port = free_port()
    with TemporaryDirectory() as folder:
        async with running_stage(Path(folder), {"CC_BOT_WEB_PORT": str(port)}) as stage:
            found = [await back_after_kill(stage, browser) for _ in range(3)]
    verdicts.say("back after a kill, from ready", f"{median(found):.2f} s", "1 s", ok=median(found) < 1)


async def back_after_kill(stage: Stage, browser: Browser) -> float:
    user, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
    await draw(stage, user, channel, SHOPPING)
    reply = await stage.discord.slash(user, channel, "web")
    await reply.finished()
    [link] = [each.url for each in reply.message.buttons if each.url]
    trouble = Trouble()
    async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
        await page.goto(link)
        await page.locator("button.main").click()
        await page.goto(f"{link.partition('/sign-in')[0]}/canvas/{channel.id}")
        await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
        await stage.program.kill()
        await stage.discord.gone()
        await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
        await stage.start()
        ready = perf_counter()
        await page.locator("#canvas:not([aria-busy])").wait_for()
        took = perf_counter() - ready
        trouble.forgive("")
    return took


async def main() -> int:
    verdicts = Verdicts()
    async with running_browser() as browser:
        with TemporaryDirectory() as folder:
            async with open_site(Path(folder), CC_BOT_LOG_LEVEL="error") as site:
                await site.core.stores.sessions.open(KEY)
                card, text = Card("count", "数", "n"), Text("plan", "朝は散歩")
                await site.core.stores.canvases.draw(
                    KEY, make_redraw([Edit(card, "public"), Edit(text, "public")])
                )
                async with new_page(browser, locale="ja-JP") as page:
                    await sign_in(page, site)
                    half, most = spread(await change_to_dom(site, page))
                    goal = "p50 30 ms, p99 200 ms"
                    ok = half < 30 and most < 200
                    verdicts.say("change to DOM, 1 page", f"p50 {half:.1f}, p99 {most:.1f} ms", goal, ok=ok)
                    async with open_sockets(site, 99) as sockets:
                        stop = asyncio.Event()
                        draining = asyncio.create_task(drain(sockets, stop))
                        await page.reload()
                        await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
                        half, most = spread(await change_to_dom(site, page))
                        stop.set()
                        await draining
                    ok = half < 30 and most < 200
                    verdicts.say(
                        "change to DOM, 100 pages", f"p50 {half:.1f}, p99 {most:.1f} ms", goal, ok=ok
                    )
                await measure_pages(site, browser, verdicts)
                await measure_sockets(site, verdicts)
                await measure_memories(site, verdicts)
        await measure_kill(browser, verdicts)
    await measure_start(verdicts)
    return 0 if verdicts.met else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(asyncio.run(be_clients(sys.argv[1], sys.argv[2:])))
    sys.exit(asyncio.run(main()))
