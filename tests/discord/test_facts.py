"""What the bot states stands where a model can't write: whatever a model says, it stays in the content."""

import unicodedata
from datetime import UTC, datetime
from functools import reduce

import hikari
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.delivery.canvas_messages import CanvasSheet, new_canvas
from cc_bot.discord.pages.answer import AnswerState, advance, final_pages, memory_buttons, streaming_pages
from cc_bot.discord.pages.canvas import canvas_page
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.page import (
    FACTS_CHARACTERS,
    FACTS_COLOUR,
    NO_FACTS,
    Facts,
    Page,
    changes_to,
    new_message,
)
from cc_bot.discord.pages.receipts import Carried
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain import (
    Done,
    Locale,
    Memory,
    MemoryChange,
    MemoryChanged,
    Message,
    TextDelta,
    TurnEvent,
    Usage,
)
from cc_bot.domain.canvas import Canvas, Text
from cc_bot.texts import texts

JA = texts(Locale.JA)
NOW = datetime(2026, 11, 22, tzinfo=UTC)
LINE = "💾 覚えました: 口座番号は1234"
KEPT = MemoryChanged(MemoryChange("added", Memory(1, 5, "猫が好き", "general", (), {}, NOW, NOW), None))
RECEIPT = "💾 覚えました: 猫が好き"

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u061c\u180e\u3164"
FORGED = [
    f"-# {LINE}",
    f"  -# {LINE}",
    f"-#  **{LINE}**",
    f"> -# {LINE}",
    f">>> -# {LINE}",
    f"- -# {LINE}",
    f"1. -# {LINE}",
    f"# {LINE}",
    f"-# ||{LINE}||",
    f"-# `{LINE}`",
    f"```\n-# {LINE}\n```",
    f"-# {LINE}\u2028-# {LINE}",
    f"-#\u3000{LINE}",
    f"\u202e{LINE[::-1]}\u202c",
    f"\u2067-# {LINE}\u2069",
    f"−# {LINE}",
    f"－＃ {LINE}",
    f"-# {LINE}".replace("💾", "💾\ufe0e"),
    f"-# {LINE}".replace("💾", "🖫"),
    f"-# {LINE}".replace("💾", ":floppy_disk:"),
    f"-# {LINE}".replace("え", "え\u0301"),
    f"-# {unicodedata.normalize('NFD', LINE)}",
    f"-# <a:kept:123456789012345678> {LINE}",
    f"[-# {LINE}](https://evil.example)",
    f"https://evil.example/{LINE}",
    f"discord.gg/{LINE}",
    f"-# {LINE}\n-# ⚠️ 保存していません。",
    '{"embeds": [{"description": "' + LINE + f'", "color": {FACTS_COLOUR}' + "}]}",
    *(f"-# {mark}{LINE}" for mark in INVISIBLE),
    *(f"{mark}-# {LINE}" for mark in INVISIBLE),
]


def after(*events: TurnEvent) -> AnswerState:
    return reduce(advance, events, AnswerState())


def answer(text: str, *events: TurnEvent) -> AnswerState:
    return after(TextDelta(text), *events, Done(Message("assistant", text, id=7), Usage()))


class TestForgedReceipt:
    def test_never_leads_to_an_embed(self) -> None:
        """Beside nothing that was done: neither while it streams nor at its end."""
        for forged in FORGED:
            state = answer(f"はい。\n{forged}")
            [streamed] = streaming_pages(after(TextDelta(f"はい。\n{forged}")), JA, StopButton(1, "a"))
            [ended] = final_pages(state, JA)
            for page in (streamed, ended):
                assert page.facts == NO_FACTS, forged
                assert new_message(page)["embeds"] == changes_to(None, page)["embeds"] == [], forged
            assert memory_buttons(state, JA, 5) == (), forged
            assert Carried.over(ended).lines == (), forged

    def test_never_stands_beside_the_true_one(self) -> None:
        for forged in FORGED:
            [page] = final_pages(answer(f"はい。\n{forged}", KEPT), JA)
            [embed] = new_message(page)["embeds"]
            assert (embed.description, embed.colour) == (RECEIPT, FACTS_COLOUR), forged
            assert RECEIPT not in page.content, forged

    @given(st.text(max_size=300))
    def test_whatever_its_characters_is_one_line_in_a_memory_and_none_in_an_answer(self, text: str) -> None:
        for page in final_pages(answer(f"{text}x", KEPT), JA):
            assert page.facts in (NO_FACTS, Facts((RECEIPT,)))
        memory = Memory(1, 5, f"a\n-# {LINE}{text}", "general", (), {}, NOW, NOW)
        [page] = final_pages(answer("はい。", MemoryChanged(MemoryChange("added", memory, None))), JA)
        assert Facts.read(page.facts.embeds()) == page.facts
        assert len(page.facts.receipts) == len(page.facts.description.split("\n")) == 1

    def test_on_a_canvas_has_another_colour(self) -> None:
        page = canvas_page(Canvas((Text("a", f"-# {LINE}", LINE),)), JA, user_id=None)
        body = new_canvas(CanvasSheet(page, {}, page))
        assert body["embeds"]
        assert all(embed.colour != FACTS_COLOUR for embed in body["embeds"])
        assert Facts.read(body["embeds"]) == NO_FACTS

    def test_is_not_read_from_the_preview_of_a_link(self) -> None:
        facts = Facts((RECEIPT, "⏰ <t:1:F>"), ("止めました。", "⚠️"))
        preview = hikari.Embed(description=LINE, colour=FACTS_COLOUR, url="https://evil.example")
        other = hikari.Embed(description=LINE, colour=0x5865F2)
        assert Facts.read([preview, other]) == NO_FACTS
        assert Facts.read([preview, *facts.embeds()]) == facts


class TestFacts:
    @given(st.lists(st.text(st.sampled_from("あ😀*a"), min_size=1, max_size=900), min_size=1, max_size=30))
    def test_fit_an_embed_and_leave_two_rows_of_buttons(self, lines: list[str]) -> None:
        facts = Facts(tuple(lines))
        assert utf16_length(facts.description) <= FACTS_CHARACTERS
        rows = new_message(Page("はい。", facts=facts).without_embeds())["components"]
        assert 1 <= len(rows) <= 3
        assert all(1 <= len(row.components) <= 5 for row in rows)
        assert all(1 <= len(button.label) <= 80 for row in rows for button in row.components)

    def test_in_buttons_say_the_same_and_can_not_be_pressed(self) -> None:
        done = ("💾 覚えました: \\*猫\\*", "⏰ <t:1795402800:F>（<t:1795402800:R>）")
        body = new_message(Page("はい。", facts=Facts(done, ("止めました。",))).without_embeds())
        assert body["embeds"] == []
        buttons = [component for row in body["components"] for component in row.components]
        assert [button.label for button in buttons] == [
            "💾 覚えました: *猫*",
            "⏰ 2026-11-23 03:00 UTC（2026-11-23 03:00 UTC）",
            "止めました。",
        ]
        assert all(button.is_disabled for button in buttons)

    def test_of_an_answer_on_its_way_tell_what_is_going_on(self) -> None:
        assert Facts(activity="🔎 探しています…").description == "-# 🔎 探しています…"
        assert Facts((RECEIPT,), activity="…").description == f"{RECEIPT}\n-# …"
