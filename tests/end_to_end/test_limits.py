"""What a user may use, and what they are told of it; the operator's file changes while the program runs."""

import re
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

from cc_bot.discord.floods import MAX_AT_ONCE, QUIET_S
from tests.end_to_end.memories import run
from tests.end_to_end.stage import Stage, running_stage, streaming
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import Pause, Say
from tests.loopback.model_server import Reply as Answer

PRICES = "[prices.loopback]\ninput = 1000\noutput = 2000\n"
SPENT = "SELECT sum(prompt_tokens + completion_tokens) FROM usage WHERE user_id = ?"
USED_UP = "いま使える分を使いきりました。"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A program of its own: one that has met a refusal no longer asks what an answer cost."""
    async with running_stage(tmp_path_factory.mktemp("limits"), {}) as stage:
        yield stage


@pytest.fixture
def decide(stage: Stage) -> Iterator[Callable[[str], object]]:
    """Write the operator's file; it is gone after the test."""
    file = stage.program.folder / "data" / "policy.toml"
    yield lambda text: file.write_text(text, encoding="utf-8")
    file.unlink()


async def refused(stage: Stage, user: User, channel: Channel) -> str:
    reply = await stage.begin(user, channel, "まだ？")
    await reply.finished(lambda shown: "<t:" in shown.text)
    return reply.text


def in_seconds(sentence: str) -> float:
    """How far ahead the moment is that a sentence names."""
    [moment] = re.findall(r"<t:(\d+):R>", sentence)
    return int(moment) - time.time()


class TestLimit:
    async def test_is_told_with_its_end_and_lets_no_request_be_made(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, decide: Callable[[str], object]
    ) -> None:
        decide(
            f"[limits.users.{aiko.id}]\ntokens_per_day = 18\n[limits.users.{ben.id}]\nturns_per_minute = 1\n"
        )
        await stage.ask_in_words(aiko, channel, "はい。")
        sentence = await refused(stage, aiko, channel)
        assert sentence.startswith(USED_UP)
        assert 0 < in_seconds(sentence) <= 25 * 3600
        await stage.said(ben, channel, "Are you there?", "はい。")
        assert (await refused(stage, ben, channel)).startswith("You have used up what there is for now.")
        told = await stage.says(await stage.write(ben, channel, "もう一度"), USED_UP)
        assert 0 <= in_seconds(told.text) <= 60
        assert len(stage.model.requests) == 2
        left = "SELECT count(*) FROM turns WHERE user_id IN (?, ?)"
        await stage.eventually(left, aiko.id, ben.id, gives=[(0,)])  # nothing for the next start to show

    async def test_outlives_a_kill_and_counts_what_was_reserved_then(
        self, stage: Stage, aiko: User, channel: Channel, decide: Callable[[str], object]
    ) -> None:
        decide(f"[limits.users.{aiko.id}]\ntokens_per_month = 4000\n")
        await stage.ask_in_words(aiko, channel, "はい。")
        stage.model.script(Answer(Say("ここまでは"), Pause(30)))
        await streaming(await stage.begin(aiko, channel, "?"), "ここまでは")
        assert stage.rows(SPENT, aiko.id) == [(18,)]
        await stage.restart()
        assert stage.rows(SPENT, aiko.id) == [(18 + 4001,)]
        assert in_seconds(await refused(stage, aiko, channel)) <= 32 * 24 * 3600


async def usage(stage: Stage, user: User, channel: Channel, **options: bool) -> str:
    """All that the reply says, which its user alone sees."""
    reply = await stage.discord.slash(user, channel, "usage", **options)
    await reply.finished()
    assert reply.ephemeral
    [embed] = reply.history[-1].embeds
    fields = [field["value"] for field in embed.get("fields", ())]
    return "\n".join((embed["title"], embed["description"], *fields))


class TestUsage:
    async def test_is_shown_to_each_user_and_of_a_server_to_those_who_manage_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, decide: Callable[[str], object]
    ) -> None:
        decide(f"{PRICES}[limits.users.{aiko.id}]\ntokens_per_day = 100\n")
        await stage.ask_in_words(aiko, channel, "はい。")
        shown = await usage(stage, aiko, channel)
        assert "今日: 18 トークン・質問 1件・0.0250 USD" in shown
        assert "今日の残り: 82 / 100 トークン" in shown
        assert "18 ████" in shown
        assert "Nothing has been used yet." in await usage(stage, ben, channel)
        await stage.ask_in_words(ben, channel, "Yes.")
        assert "サーバーを管理できる人だけ" in await stage.told(aiko, channel, "usage", server=True)
        stage.discord.permit(ben, Permission.MANAGE_GUILD)
        shown = await usage(stage, ben, channel, server=True)
        assert re.search(r"Today: [0-9,]+ tokens, questions: [0-9,]+, 0\.[0-9]+ USD", shown)
        assert re.search(r"Members who used it this month: ([2-9]|[0-9]{2,})\n", shown)
        assert re.search(r"loopback: [0-9,]+ tokens, 0\.[0-9]+ USD", shown)
        assert "Aiko" not in shown
        dm = stage.discord.dm(aiko)
        assert "サーバーの中で" in await stage.told(aiko, dm, "usage", server=True)


class TestCommands:
    async def test_beyond_those_of_a_minute_are_told_when_and_stop_nobody_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, decide: Callable[[str], object]
    ) -> None:
        decide(f"[limits.users.{aiko.id}]\ncommands_per_minute = 3\n")
        for _ in range(3):
            assert "<t:" not in (await run(stage, aiko, channel, "list")).text
        sentence = (await run(stage, aiko, channel, "list")).text
        assert sentence.startswith("操作が続いています。")
        assert 0 < in_seconds(sentence) <= 60
        again = [await stage.discord.slash(aiko, channel, "memory list") for _ in range(3)]
        assert "<t:" not in (await run(stage, ben, channel, "list")).text
        assert [each.interaction.answered for each in again] == [None] * 3

    async def test_beyond_what_a_person_can_send_are_answered_once_and_stop_nobody_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        most = MAX_AT_ONCE["interaction"]
        sent = [await stage.discord.slash(aiko, channel, "help") for _ in range(5 * most)]
        assert "<t:" not in (await run(stage, ben, channel, "list")).text
        await stage.discord.quiet()
        *served, last = [each for each in sent if each.interaction.answered is not None]
        assert most <= len(served) < len(sent) - 1
        assert not any(["<t:" in (await each.finished()).text for each in served])
        assert 0 < in_seconds((await last.finished()).text) <= QUIET_S + 1
