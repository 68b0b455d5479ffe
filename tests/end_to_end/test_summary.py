"""Summaries on Discord: a long conversation knows how it began; its user sees and deletes what is kept."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import fails, hangs, says

PREVIOUSLY = {"ja": "前回までの会話の要約: ", "en-US": "Previous conversation summary: "}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """With room for four messages, so that two turns are a long conversation."""
    settings = {"CC_BOT_HISTORY_LIMIT": "4"}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


async def stored(stage: Stage, channel: Channel, *contents: str) -> None:
    """Wait until that is what is kept of a channel."""
    async with stage.patience():
        while kept(stage, channel) != sorted(contents):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)


def kept(stage: Stage, channel: Channel) -> list[str]:
    rows = stage.rows("SELECT content FROM summaries WHERE channel_id = ?", channel.id)
    return sorted(content for (content,) in rows)


async def summarized(stage: Stage, user: User, channel: Channel, notes: str, **options: bool) -> None:
    """Two turns, and what is written down of them."""
    stage.model.script_notes(says(notes))
    for _ in range(2):
        stage.model.script(says("はい。" if user.locale == "ja" else "Yes."))
        await stage.ask(user, channel, "?", **options)
    await stored(stage, channel, notes)


async def shown(stage: Stage, user: User, channel: Channel) -> Reply:
    reply = await stage.discord.slash(user, channel, "summary")
    await reply.finished(lambda told: told.text)
    assert reply.ephemeral
    return reply


class TestLongConversation:
    @pytest.mark.parametrize(
        ("locale", "fact", "notes"),
        [
            ("ja", "犬の名前はポチです", "- 犬の名前はポチ"),
            ("en-US", "My dog is called Rex", "- The dog is called Rex"),
        ],
    )
    async def test_knows_its_first_fact_through_the_summary(
        self, stage: Stage, channel: Channel, locale: str, fact: str, notes: str
    ) -> None:
        user = stage.discord.user("Chris", locale=locale)
        answer = "はい。" if locale == "ja" else "Yes."
        stage.model.script_notes(says(notes), says(notes))
        for number, question in enumerate((fact, "2", "3", "4", "5")):
            stage.model.script(says(answer))
            await stage.ask(user, channel, question)
            if number == 1:
                assert fact in str((await stage.model.noted(1)).messages)
                await stored(stage, channel, notes)
        await stage.model.noted(2)
        _, *history, changing, _ = stage.model.requests[-1].messages
        assert fact not in str(history)
        assert changing["content"].endswith(PREVIOUSLY[locale] + notes)

    async def test_is_not_held_up_by_a_summary_that_hangs(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script_notes(hangs())
        for number in range(4):
            stage.model.script(says(f"{number}番です。"))
            reply = await stage.ask(aiko, channel)
            assert reply.text.startswith(f"{number}番です。")
        assert len(stage.model.notes) == 1
        await stage.restart()
        stage.model.script(says("はい。"))
        await stage.ask(aiko, channel)
        await stage.model.noted(2)

    async def test_is_made_up_for_when_the_model_failed(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script_notes(fails(400), says("- 三つの話"))
        for question in ("一つ目", "二つ目", "三つ目"):
            stage.model.script(says("はい。"))
            await stage.ask(aiko, channel, question)
        await stored(stage, channel, "- 三つの話")
        assert "一つ目" in str(stage.model.notes[-1].messages)


class TestPrivate:
    async def test_turns_are_summarized_for_their_user_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await summarized(stage, aiko, channel, "- 合言葉はオオルリ", private=True)
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "オオルリ" not in str(stage.model.requests[-1].body)
        stage.model.script(says("はい。"))
        await stage.ask(aiko, channel, "?", private=True)
        assert "オオルリ" in str(stage.model.requests[-1].body)
        await stage.model.noted(3)  # what was said since, in public and in private


class TestSummaryCommand:
    async def test_says_when_there_is_none(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        assert "要約はまだありません" in await stage.told(aiko, channel, "summary")
        assert "There is no summary" in await stage.told(ben, channel, "summary")

    @pytest.mark.parametrize(
        ("locale", "notes", "title", "label", "gone"),
        [
            ("ja", "- 犬が好き", "会話の要約", "要約を消す", "要約を消しました"),
            ("en-US", "- likes dogs", "Summary of our conversation", "Delete the summary", "is deleted"),
        ],
    )
    async def test_shows_what_is_kept_and_deletes_it(
        self,
        stage: Stage,
        channel: Channel,
        locale: str,
        notes: str,
        title: str,
        label: str,
        gone: str,
    ) -> None:
        user = stage.discord.user("Dana", locale=locale)
        await summarized(stage, user, channel, notes)
        reply = await shown(stage, user, channel)
        assert title in reply.text
        assert notes in reply.text
        press = await stage.discord.click(user, reply.message, label)
        await press.finished(lambda told: gone in told.text)
        assert press.labels == []
        assert notes not in press.text
        assert kept(stage, channel) == []
        stage.model.script(says("はい。" if locale == "ja" else "Yes."))
        await stage.ask(user, channel)
        assert PREVIOUSLY[locale] not in str(stage.model.requests[-1].messages)

    async def test_deletes_after_a_restart_too(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await summarized(stage, aiko, channel, "- 犬が好き")
        reply = await shown(stage, aiko, channel)
        await stage.restart()
        press = await stage.discord.click(aiko, reply.message, "要約を消す")
        await press.finished(lambda told: "消しました" in told.text)
        assert kept(stage, channel) == []

    async def test_shows_nothing_of_anybody_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await summarized(stage, aiko, channel, "- ひみつ")
        assert "There is no summary" in await stage.told(ben, channel, "summary")

    async def test_shows_none_after_clear(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await summarized(stage, aiko, channel, "- 犬が好き")
        await stage.told(aiko, channel, "clear")
        assert "要約はまだありません" in await stage.told(aiko, channel, "summary")
