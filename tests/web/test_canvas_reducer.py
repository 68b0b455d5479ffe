"""The page's reducer and the program's: whatever commands are given, they agree."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from playwright.async_api import Browser, expect

from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    CanvasRefused,
    Card,
    Chart,
    Drawn,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    Text,
    UpdateCard,
    reduce,
    reduce_all,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Visibility
from cc_bot.texts import texts
from cc_bot.web.canvas_protocol import CLEAR, changes, fill
from tests.browser import browser_fixture, new_page

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]
browser = browser_fixture()

SEQUENCES = 300

STATIC = Path(__file__).parents[2] / "cc_bot" / "web" / "static"
PAGE = """<!doctype html><html lang="en"><title>play</title><script type="module" src="/play.js"></script>
<p id="done"></p>"""
PLAY = """
import { EMPTY, reduce, receive } from "/static/canvas_reducer.js";
const { sequences, messages } = await (await fetch("/tasks")).json();
const played = sequences.map((commands) => {
  const states = [];
  let state = EMPTY;
  for (const command of commands) {
    const next = reduce(state, command);
    states.push([next !== state, next]);
    state = next;
  }
  return states;
});
let state = EMPTY;
const received = messages.map((message) => {
  const next = receive(state, message);
  state = next ?? state;
  return next;
});
await fetch("/answers", { method: "POST", body: JSON.stringify({ played, received }) });
document.getElementById("done").textContent = "done";
"""

IDS = [
    *("", "a", "b", "a-2", "card-1", "text-1", "chart-1", "天気", "A b", "-", "ＡＢ", "Straße", "ﬁn"),
    *("ſ", "İ", "x" * 32, "x" * 50, "x" * 31 + "-y", "--x__y--", "Kelvin", "買い物 list", "🍎", "e\u0301"),
]
TITLES = ["牛乳", "買い物", "Shopping", "<b>&amp;</b>", "👨‍👩‍👧", "x"]
TEXTS = [*TITLES, "今日は\n晴れ"]


class Chance(random.Random):
    def command(self) -> CanvasCommand:
        match self.choices(range(6), (4, 3, 3, 3, 2, 2))[0]:
            case 0:
                return AddCard(self.choice(TITLES), self.choice(TEXTS), self.choice(IDS))
            case 1:
                return ShowText(self.choice(TEXTS), self.choice(["", *TITLES]), self.choice(IDS))
            case 2:
                labels = tuple(self.choices(TEXTS[:3], k=self.randint(1, 3)))
                series = tuple(
                    Series(name, tuple(float(self.randint(1, 9)) for _ in labels))
                    for name in ("東京", "Osaka")[: self.randint(1, 2)]
                )
                kind = self.choice(("line", "bar", "pie")) if len(series) == 1 else "bar"
                return AddChart(self.choice(TEXTS[:3]), kind, labels, series, self.choice(IDS))  # type: ignore[arg-type]
            case 3:
                title, content = self.choice([None, "", *TITLES]), self.choice([None, *TEXTS])
                return UpdateCard(self.choice(IDS), title, content)
            case 4:
                return RemoveElement(self.choice(IDS))
            case _:
                mode = self.choices(("list", "board", "focus", "clear"), (2, 2, 4, 0.3))[0]
                return SetMode(mode, self.choice(IDS))  # type: ignore[arg-type]

    def sequence(self) -> list[Drawn]:
        visibility: Sequence[Visibility] = ("public", "private")
        return [Drawn(self.command(), self.choice(visibility)) for _ in range(self.choice((3, 10, 30, 60)))]


NAMES: dict[type, str] = {
    AddCard: "canvas_add_card",
    ShowText: "canvas_show_text",
    AddChart: "canvas_add_chart",
    UpdateCard: "canvas_update_card",
    RemoveElement: "canvas_remove_element",
    SetMode: "canvas_set_mode",
    Card: "card",
    Text: "text",
    Chart: "chart",
}


def sent(drawn: Drawn) -> dict[str, Any]:
    """The command as the page gets it."""
    given = {name: value for name, value in asdict(drawn.command).items() if value is not None}
    if isinstance(drawn.command, SetMode) and not drawn.command.focus:
        del given["focus"]
    return {"command": NAMES[type(drawn.command)], **given, "visibility": drawn.visibility}


def state_of(canvas: Canvas, revision: int | None = None) -> Any:
    """The canvas as the page has it."""
    elements = [{"type": NAMES[type(each)], **asdict(each)} for each in canvas.elements]
    for element in elements:
        del element["tainted"]
    modes = {"mode": canvas.mode, "focus": canvas.focus}
    return json.loads(json.dumps({"elements": elements, **modes, "revision": revision, "filling": False}))


def play(sequence: Sequence[Drawn]) -> list[list[Any]]:
    """Whether each command was carried out, and the state after it."""
    canvas = Canvas()
    states = []
    for drawn in sequence:
        try:
            canvas = reduce(canvas, drawn)
            states.append([True, state_of(canvas)])
        except CanvasRefused:
            states.append([False, state_of(canvas)])
    return states


async def run(browser: Browser, sequences: list[Any], messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """What a page makes of commands, and of messages of the server."""
    answers = asyncio.Queue[dict[str, list[Any]]]()
    given = {
        "/": (PAGE, "text/html"),
        "/play.js": (PLAY, "text/javascript"),
        "/favicon.ico": ("", "image/png"),
    }
    given["/tasks"] = json.dumps({"sequences": sequences, "messages": messages}), "application/json"

    async def give(request: web.Request) -> web.Response:
        text, kind = given[request.path]
        return web.Response(text=text, content_type=kind)

    async def take(request: web.Request) -> web.Response:
        answers.put_nowait(await request.json())
        return web.Response(status=204)

    app = web.Application(client_max_size=2**30)
    app.add_routes([web.post("/answers", take), web.static("/static", STATIC)])
    app.add_routes([web.get(path, give) for path in given])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with new_page(browser) as page:
            await page.goto(f"http://127.0.0.1:{runner.addresses[0][1]}")
            await expect(page.locator("#done")).to_have_text("done")
    finally:
        await runner.cleanup()
    answer = answers.get_nowait()
    return answer["played"], answer["received"]


class TestReducer:
    async def test_agrees_with_the_programs_own(
        self, browser: Browser, request: pytest.FixtureRequest
    ) -> None:
        chance = Chance(request.config.option.order_seed)
        for _ in range(3):
            sequences = [chance.sequence() for _ in range(SEQUENCES // 3)]
            played, _ = await run(browser, [[sent(each) for each in one] for one in sequences], [])
            for sequence, states in zip(sequences, played, strict=True):
                assert states == play(sequence), sequence

    async def test_is_led_from_one_canvas_to_the_next_by_what_is_sent(
        self, browser: Browser, request: pytest.FixtureRequest
    ) -> None:
        chance, words = Chance(request.config.option.order_seed), texts(Locale.JA)
        for _ in range(5):
            canvases = [Canvas()]
            for _ in range(50):
                steps = [each for each in chance.sequence() if chance.random() < 0.3]
                canvases.append(reduce_all(chance.choice(canvases[-2:]), steps))
            messages: list[Any] = [{"from": None, "commands": fill(canvases[0], 0, words)}]
            for revision, (old, new) in enumerate(pairwise(canvases)):
                commands = changes(old, new, revision + 1, words)
                whole = commands[0] == CLEAR
                messages.append({"from": None if whole else revision, "commands": commands})
            _, received = await run(browser, [], messages)
            for revision, (canvas, state) in enumerate(zip(canvases, received, strict=True)):
                for element in state["elements"]:
                    assert element.pop("html")
                assert state == state_of(canvas, revision)
