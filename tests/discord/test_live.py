"""Answers that are shown while they stream."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.reply import DiscordReply
from cc_bot.discord.delivery.turns import RunningTurn
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.page import Page
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import TextDelta
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.discord.parts import BotChannel, running_over

EN = texts(Locale.EN)
ASKER = Recipient(1, Locale.EN, ZoneInfo("UTC"), EN, welcomed=True)


class Recorder(DiscordReply):
    """Records what is shown."""

    def __init__(self) -> None:
        self.contents: list[str] = []
        self._more = asyncio.Event()

    @property
    def has_messages(self) -> bool:
        return bool(self.contents)

    @property
    def last_page(self) -> Page | None:
        return Page(self.contents[-1]) if self.contents else None

    def pause_s(self, text_edits: int) -> float:
        return 1.2

    async def show(self, pages: Sequence[Page], *, is_progress: bool = False) -> None:
        self.contents.append(pages[-1].content)
        self._more.set()

    async def next(self) -> str:
        """Wait for the next change, and return what it shows."""
        self._more.clear()
        async with asyncio.timeout(60):
            await self._more.wait()
        return self.contents[-1]


async def test_an_answer_changes_at_least_every_minute_and_ends_when_its_last_event_comes_after_a_silence(
    location: BotChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, receipts = asyncio.get_running_loop(), running_over(location.stores, location.rest).receipt_updater
    real, passed_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + passed_s)
    reply, seen = Recorder(), []
    live = LiveAnswer(reply, EN, StopButton(1, "turn"), receipt_updater=receipts, card=Card(1))
    async with live.showing_progress():
        assert await reply.next() == EN[AnswerTexts].thinking
        for _ in range(4):
            passed_s += 2
            await asyncio.sleep(0.01)
            passed_s += 20
            seen.append(await reply.next())
        live.feed(TextDelta("The end."))
    told = {"activity": EN[AnswerTexts].thinking}
    assert seen == [EN[AnswerTexts].activity_time.format(**told, seconds=after) for after in (22, 44, 66, 88)]
    assert live.state.text == "The end."


async def test_answers_side_by_side_in_a_channel_change_as_often_together_as_one_alone(
    location: BotChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, running = asyncio.get_running_loop(), running_over(location.stores, location.rest)
    real, passed_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + passed_s)
    replies = [Recorder() for _ in range(4)]
    async with AsyncExitStack() as shown:
        lives = []
        for number, channel_id in enumerate((4, 3, 3, 3)):
            turn = RunningTurn(str(number), channel_conversation=ChannelKey(channel_id))
            shown.enter_context(running.track(turn))
            beside, button = partial(running.count_concurrent, turn), StopButton(1, turn.id)
            live = LiveAnswer(
                replies[number],
                EN,
                button,
                receipt_updater=running.receipt_updater,
                card=Card(1),
                pause_factor=beside,
            )
            await shown.enter_async_context(live.showing_progress())
            lives.append(live)
        for _ in range(12):
            for live in lives:
                live.feed(TextDelta("word "))
            await asyncio.sleep(0.01)
            passed_s += 1.2
        changes = [len(reply.contents) for reply in replies]
    assert changes[0] >= 11
    assert all(3 <= each <= 6 for each in changes[1:])
