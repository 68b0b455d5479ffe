"""What was done out there is done, whatever takes the place of the answer that did it, and after any end."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.kills import EDIT, pull_the_plug
from tests.end_to_end.stage import Stage, again_label, running_stage
from tests.end_to_end.tool_calls import (
    CALLING,
    DO,
    DONE,
    EN,
    IN_DOUBT,
    JA,
    POST,
    answered_again,
    answers,
    hold,
    is_called,
    last_request,
    made,
    proposed,
    settled,
    stored_results,
    told,
)
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Hang, Reply, calls, says


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    """A program of its own: after each start it looks at every channel that it has."""
    folder = tmp_path_factory.mktemp("cc-bot")
    async with running_stage(folder, database_settings(), module="tests.loopback.tool_servers") as stage:
        yield stage


@pytest.fixture
def one_of_the_stages(tool_stage: Stage) -> Stage:
    return tool_stage


class TestAnswerAgain:
    """What was done out there is done, whatever takes the place of the answer that did it."""

    async def test_knows_of_a_call_that_may_have_been_made(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        answers(stage, write={"raises": "lost"})
        asked = len(stage.model.requests)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], IN_DOUBT)
        await settled(stage, aiko)
        assert len(stage.model.requests) == asked
        await answered_again(stage, aiko, reply, "見てみます。")
        assert "maybe_done" in last_request(stage)
        assert "実行された可能性がある" in str(reply.message.embeds)
        await stage.ask_in_words(aiko, channel, "🙂")
        assert "maybe_done" in last_request(stage)
        assert len(made(stage)) == 1


class TestKill:
    """What was being decided when the program was killed is made once or not at all, and told of."""

    async def test_during_calls_is_told_to_user_and_model_and_repeats_none(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        """One that was agreed to, and one that needs no word."""
        reply = await proposed(stage, aiko, channel)
        free = hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage)
        stage.model.script(calls(POST))
        posted = await stage.begin(ben, channel, "Post it")
        await is_called(stage, 2)
        await pull_the_plug(stage)
        free.unlink()
        await stage.start()
        message = await told(stage, reply.stored[0], IN_DOUBT)
        assert message.labels == [again_label(aiko)]
        ask_again = EN.unfinished.ask_again
        await posted.until(lambda shown: ask_again in shown.labels, "the button to ask again")
        assert EN.unfinished.in_doubt_outside in posted.text
        await settled(stage, aiko)
        [result] = stored_results(stage, aiko)
        assert "may have been done or not" in result["error"]
        await stage.ask_in_words(aiko, channel, "🙂")
        assert "may have been done or not" in last_request(stage)
        stage.model.script(says("Please see whether it was posted."))
        pressed = await stage.discord.click(ben, posted.message, ask_again)
        await pressed.finished(lambda shown: again_label(ben) in shown.labels)
        assert "nobody knows whether it was done" in last_request(stage)
        await stage.restart()  # which has nothing to tell
        assert len(made(stage)) == 2

    async def test_after_the_call_is_told_as_it_ended(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        free = hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], CALLING)
        stage.discord.fail_next(EDIT, 503, times=1000, delay_s=60)
        free.unlink()
        await stage.eventually(
            "SELECT state FROM claimed_calls WHERE user_id = ?", aiko.id, gives=[("done",)]
        )
        await pull_the_plug(stage)
        await stage.start()
        await told(stage, reply.stored[0], DONE["ja"])
        await settled(stage, aiko)
        assert len(made(stage)) == 1

    async def test_after_a_call_that_needs_no_word_does_not_repeat_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(POST), Reply(Hang()))
        answers(stage, post="投稿番号 12")
        reply = await stage.begin(aiko, channel, "投稿して")
        async with stage.patience():
            await stage.model.arrived(2)
        for _ in range(2):
            await pull_the_plug(stage)
            await stage.start()
            await reply.until(
                lambda shown: JA.unfinished.ask_again in shown.labels, "the button to ask again"
            )
            asked = len(stage.model.requests)
            stage.model.script(Reply(Hang()))
            reply = await stage.discord.click(aiko, reply.message, JA.unfinished.ask_again)
            async with stage.patience():
                request = await stage.model.arrived(asked + 1)
            assert "投稿番号 12" in str(request.messages)
        assert len(made(stage)) == 1
        await stage.restart()
