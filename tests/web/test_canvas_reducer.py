"""The page's reducer and the program's: whatever commands are given, they agree."""

import random
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio
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
    Element,
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
from tests.web.small_server import serving, text_answer

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]
browser = browser_fixture()

SEQUENCES = 1000

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
    *(
        "",
        "a",
        "b",
        "a-2",
        "card-1",
        "text-1",
        "chart-1",
        "天気",
        "A b",
        "-",
        "ＡＢ",
        "Straße",
        "ﬁn",
        "ſ",
        "İ",
    ),
    *("x" * 32, "x" * 50, "x" * 31 + "-y", "--x__y--", "Kelvin", "買い物 list", "🍎", "e\u0301"),
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


def sent(drawn: Drawn) -> dict[str, Any]:
    """The command as the page gets it."""
    return {**_command(drawn.command), "visibility": drawn.visibility}


def _command(command: CanvasCommand) -> dict[str, Any]:
    match command:
        case AddCard(title, content, id_):
            return {"command": "canvas_add_card", "id": id_, "title": title, "content": content}
        case ShowText(content, title, id_):
            return {"command": "canvas_show_text", "id": id_, "title": title, "content": content}
        case AddChart(title, kind, labels, series, id_):
            lines = [{"name": each.name, "values": list(each.values)} for each in series]
            about = {"kind": kind, "labels": list(labels), "series": lines}
            return {"command": "canvas_add_chart", "id": id_, "title": title, **about}
        case UpdateCard(id_, title, content):
            changes = {"title": title, "content": content}
            given = {name: value for name, value in changes.items() if value is not None}
            return {"command": "canvas_update_card", "id": id_, **given}
        case RemoveElement(id_):
            return {"command": "canvas_remove_element", "id": id_}
        case SetMode(mode, focus):
            return {"command": "canvas_set_mode", "mode": mode, **({"focus": focus} if focus else {})}


def state_of(canvas: Canvas, revision: int | None = None) -> dict[str, Any]:
    elements = [element_of(each) for each in canvas.elements]
    return {
        "elements": elements,
        "mode": canvas.mode,
        "focus": canvas.focus,
        "revision": revision,
        "filling": False,
    }


def element_of(element: Element) -> dict[str, Any]:
    common = {"id": element.id, "title": element.title, "visibility": element.visibility}
    match element:
        case Card():
            return {"type": "card", "content": element.content, **common}
        case Text():
            return {"type": "text", "content": element.content, **common}
        case Chart():
            lines = [{"name": each.name, "values": list(each.values)} for each in element.series]
            about = {"kind": element.kind, "labels": list(element.labels), "series": lines}
            return {"type": "chart", **about, **common}


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


class Player:
    """A page that plays what it is given."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._tasks: dict[str, Any] = {}
        self._answers: dict[str, Any] = {}

    async def run(self, sequences: list[Any], messages: list[Any]) -> tuple[list[Any], list[Any]]:
        self._tasks = {"sequences": sequences, "messages": messages}
        app = web.Application(client_max_size=2**30)
        app.router.add_get("/", _page)
        app.router.add_get("/play.js", _script)
        app.router.add_get("/tasks", self._give)
        app.router.add_post("/answers", self._take)
        async with serving(app) as url, new_page(self._browser) as page:
            await page.goto(url)
            await expect(page.locator("#done")).to_have_text("done")
        return self._answers["played"], self._answers["received"]

    async def _give(self, request: web.Request) -> web.Response:
        return web.json_response(self._tasks)

    async def _take(self, request: web.Request) -> web.Response:
        self._answers = await request.json()
        return web.Response(status=204)


async def _page(request: web.Request) -> web.Response:
    return text_answer(PAGE, "text/html")


async def _script(request: web.Request) -> web.Response:
    return text_answer(PLAY, "text/javascript")


@pytest_asyncio.fixture(loop_scope="module")
async def player(browser: Browser) -> AsyncIterator[Player]:
    yield Player(browser)


class TestReducer:
    async def test_agrees_with_the_programs_own(self, player: Player, request: pytest.FixtureRequest) -> None:
        chance = Chance(request.config.option.order_seed)
        sequences = [chance.sequence() for _ in range(SEQUENCES)]
        for start in range(0, SEQUENCES, 100):
            batch = sequences[start : start + 100]
            played, _ = await player.run([[sent(each) for each in one] for one in batch], [])
            for sequence, states in zip(batch, played, strict=True):
                assert states == play(sequence), sequence

    async def test_is_led_from_one_canvas_to_the_next_by_what_is_sent(
        self, player: Player, request: pytest.FixtureRequest
    ) -> None:
        chance, words = Chance(request.config.option.order_seed), texts(Locale.JA)
        for _ in range(10):
            canvases = [Canvas()]
            for _ in range(30):
                steps = [each for each in chance.sequence() if chance.random() < 0.3]
                canvases.append(reduce_all(chance.choice(canvases[-2:]), steps))
            messages: list[Any] = [{"from": None, "commands": fill(canvases[0], 0, words)}]
            for revision, (old, new) in enumerate(pairwise(canvases)):
                commands = changes(old, new, revision + 1, words)
                whole = commands[0] == CLEAR
                messages.append({"from": None if whole else revision, "commands": commands})
            _, received = await player.run([], messages)
            for revision, (canvas, state) in enumerate(zip(canvases, received, strict=True)):
                for element in state["elements"]:
                    assert element.pop("html")
                assert state == state_of(canvas, revision)

    async def test_takes_as_many_as_a_stored_canvas_may_hold_while_it_is_filled(self, player: Player) -> None:
        cards = [
            {"command": "canvas_add_card", "id": f"c{n}", "title": "t", "content": "c", "visibility": seen}
            for n, seen in enumerate(["public", "private"] * 10)
        ]
        clear = {"command": "canvas_set_mode", "mode": "clear", "visibility": "private"}
        more = {**cards[0], "id": "more"}
        messages = [
            {"from": None, "commands": [clear, *cards, {"command": "canvas_shown", "revision": 7}]},
            {"from": 7, "commands": [more, {"command": "canvas_shown", "revision": 8}]},
            {"from": 7, "commands": [clear, {"command": "canvas_shown", "revision": 9}]},
        ]
        _, [filled, full, missed] = await player.run([], messages)
        assert [each["id"] for each in filled["elements"]] == [f"c{n}" for n in range(20)]
        assert (filled["revision"], filled["filling"]) == (7, False)
        assert (len(full["elements"]), full["revision"]) == (20, 8)
        assert missed is None

    async def test_carries_what_the_server_made_of_an_element(self, player: Player) -> None:
        card = {"command": "canvas_add_card", "id": "a", "title": "t", "content": "c", "html": "<p>c</p>"}
        steps: list[dict[str, Any]] = [
            card,
            {"command": "canvas_update_card", "id": "a", "title": "u"},
            {"command": "canvas_update_card", "id": "a", "content": "d", "html": "<p>d</p>"},
            {"command": "canvas_update_card", "id": "a", "content": "e"},
        ]
        [states], _ = await player.run([[{**step, "visibility": "public"} for step in steps]], [])
        html = [state["elements"][0].get("html") for _, state in states]
        assert html == ["<p>c</p>", "<p>c</p>", "<p>d</p>", None]
