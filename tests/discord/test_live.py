"""An answer on its way."""

import asyncio
from collections.abc import Callable, Sequence

import hikari
import pytest
from structlog.testing import capture_logs

from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.page import Page
from cc_bot.domain.locale import Locale
from cc_bot.domain.turn import TextDelta
from cc_bot.texts import texts

POST = "POST /channels/{channel}/messages"
EN = texts(Locale.EN)


class Recorder(Reply):
    """Shows nothing anywhere."""

    def __init__(self) -> None:
        self.contents: list[str] = []
        self._more = asyncio.Event()

    @property
    def last_page(self) -> Page | None:
        return Page(self.contents[-1]) if self.contents else None

    def pause_s(self, changes: int) -> float:
        return 1.2

    async def show(self, pages: Sequence[Page], *, insist: bool = True) -> None:
        self.contents.append(pages[-1].content)
        self._more.set()

    async def next(self) -> str:
        """What is shown from now on, as soon as there is something."""
        self._more.clear()
        async with asyncio.timeout(60):
            await self._more.wait()
        return self.contents[-1] if self.contents else ""


class LoggedOut(Recorder):
    """To whom Discord listens no more."""

    async def show(self, pages: Sequence[Page], *, insist: bool = True) -> None:
        self._more.set()
        raise hikari.ComponentStateConflictError("closed")


@pytest.fixture
async def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets seconds pass at once, by the event loop's clock."""
    loop = asyncio.get_running_loop()
    real, passed = loop.time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: real() + passed[0])

    def skip(seconds: float) -> None:
        passed[0] += seconds

    return skip


def live_answer(reply: Reply) -> LiveAnswer:
    return LiveAnswer(reply, EN, StopButton(1, "turn"), asker_id=1)


class TestLiveAnswer:
    async def test_changes_at_least_every_minute_and_ends_when_its_last_event_comes_after_a_silence(
        self, wait: Callable[[float], None]
    ) -> None:
        reply = Recorder()
        async with live_answer(reply) as live:
            assert await reply.next() == EN.answer.thinking
            wait(2)
            await asyncio.sleep(0.01)
            seen = []
            for _ in range(4):
                wait(20)
                seen.append(await reply.next())
                wait(2)
                await asyncio.sleep(0.01)
            live.feed(TextDelta("The end."))
        told = {"activity": EN.answer.thinking}
        assert seen == [EN.answer.going_on_for.format(**told, seconds=after) for after in (22, 44, 66, 88)]
        assert live.state.text == "The end."

    async def test_that_ends_after_the_bot_has_logged_out_is_no_error(self) -> None:
        with capture_logs() as records:
            async with live_answer(reply := LoggedOut()):
                await reply.next()
        assert [record["event"] for record in records if record["log_level"] != "info"] == []
