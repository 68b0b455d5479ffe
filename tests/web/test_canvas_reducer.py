"""What the server sends of a canvas, and what the page makes of it: the same canvas, whatever is drawn."""

import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.async_api import Browser, Route

from cc_bot.domain.canvas import Canvas, Card, Chart, Drawn, Text, reduce_all
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts
from cc_bot.web.canvas_protocol import CLEAR, body_of, changes, fill
from tests.browser import browser_fixture, new_page
from tests.domain.canvases import DRAWINGS

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]
browser = browser_fixture()

WORDS = texts(Locale.JA)
STATIC = Path(__file__).parents[2] / "cc_bot" / "web" / "static"
PLAY = """async (messages) => {
  const { EMPTY, receive } = await import("/canvas_reducer.js");
  let state = EMPTY;
  return JSON.stringify(messages.map((message) => (state = receive(state, message))));
}"""
KINDS = {Card: "card", Text: "text", Chart: "chart"}


def state_of(canvas: Canvas, revision: int) -> Any:
    """The canvas as the page has it."""
    elements = [
        {"type": KINDS[type(each)], **asdict(each), "html": body_of(each, WORDS)} for each in canvas.elements
    ]
    for element in elements:
        del element["tainted"]
    modes = {"mode": canvas.mode, "focus": canvas.focus}
    return json.loads(json.dumps({"elements": elements, **modes, "revision": revision, "filling": False}))


async def play(browser: Browser, messages: list[Any]) -> list[Any]:
    """What a page makes of what the server sends, message by message."""

    async def give(route: Route) -> None:
        _, _, name = route.request.url.rpartition("/")
        if name.endswith(".js"):
            await route.fulfill(path=STATIC / name)
        else:
            await route.fulfill(body="<title>play</title>", content_type="text/html")

    async with new_page(browser) as page:
        await page.route("**", give)
        await page.goto("http://127.0.0.1/")
        states: list[Any] = json.loads(await page.evaluate(PLAY, messages))
        return states


@settings(max_examples=20, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from([1, 1, 2]), DRAWINGS), min_size=5, max_size=12))
async def test_a_page_is_led_from_one_canvas_to_the_next(
    browser: Browser, steps: list[tuple[int, list[Drawn]]]
) -> None:
    canvases = [Canvas(), Canvas()]
    for back, drawings in steps:
        canvases.append(reduce_all(canvases[-back], drawings))
    messages: list[Any] = [{"from": None, "commands": fill(canvases[0], 0, WORDS)}]
    for revision, (old, new) in enumerate(pairwise(canvases)):
        commands = changes(old, new, revision + 1, WORDS)
        messages.append({"from": None if commands[0] == CLEAR else revision, "commands": commands})
    states = await play(browser, messages)
    assert states == [state_of(canvas, revision) for revision, canvas in enumerate(canvases)]
