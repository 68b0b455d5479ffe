"""When the model is slow, refuses, breaks off or says nothing: what the user gets to see."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, answered, ended, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import (
    Call,
    CutConnection,
    End,
    Json,
    Pause,
    Reply,
    Responder,
    Say,
    calls,
    fails,
    hangs,
    says,
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """An impatient program with a second model to turn to."""
    settings = {"CC_BOT_MODEL": "first,second", "CC_BOT_MODEL_TIMEOUT": "2"}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


def only(model: str, reply: Reply, other: Reply | None = None) -> Responder:
    """One model behaves in this way, the other one answers."""

    def respond(body: Json) -> Reply:
        return reply if body["model"] == model else other or says("Second here.")

    return respond


class TestFallback:
    async def test_asks_the_next_model_but_never_after_the_first_word(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        for trouble in (fails(500), fails(429, headers={"Retry-After": "60"}), fails(404), hangs()):
            stage.model.responder = only("first", trouble)
            reply = await stage.ask(ben, channel)
            assert reply.text.startswith("Second here.")
        stage.model.responder = only("first", Reply(Say("First here, but"), CutConnection()))
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("First here, but")
        assert "Second" not in reply.text
        slow = Reply(Pause(1.5), *says("Second here.").steps)
        stage.model.responder = only("first", fails(401), slow)
        reply = await stage.begin(ben, channel)
        await reply.until(lambda shown: "asking another one" in shown.text, "a word on the other model")
        await answered(reply)
        assert "asking another one" not in reply.text


class TestNoModel:
    async def test_is_told_in_one_sentence_and_leaves_the_next_question_unharmed(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        for trouble, told in (
            (fails(503), "つながらないか、混み合っています"),
            (hangs(), "つながらないか、混み合っています"),
            (fails(401), "APIキー"),
            (fails(400), "受け付けませんでした"),
            (fails(404), "設定されているAIモデルが見つかりません。"),
            (Reply(Say("  \n "), End()), "返事が空でした"),
        ):
            stage.model.responder = lambda _, trouble=trouble: trouble
            reply = await ended(await stage.begin(aiko, channel, "失われた質問"))
            assert told in reply.text
            assert "first" not in reply.text
            assert reply.labels == []
        assert stage.stored(channel) == []
        assert any("ModelNotFound" in line and "first" in line for line in stage.program.output.splitlines())
        stage.model.reset()
        await stage.ask(aiko, channel, "次の質問")
        assert stage.shown() == ["次の質問"]


class TestTools:
    async def test_that_a_model_does_not_take_are_left_out_and_what_it_claims_is_set_right(
        self, tmp_path: Path
    ) -> None:
        def small(body: Json) -> Reply:
            refused = fails(400, "registry.ollama.ai/library/gemma:2b does not support tools")
            return refused if "tools" in body else says("はい、覚えました。")

        async with running_stage(tmp_path, {}) as stage:  # which asks it without them from then on
            aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
            stage.model.responder = small
            for _ in range(2):
                reply = await stage.ask(aiko, channel, "誕生日は3月15日です。覚えておいて")
                assert reply.text.startswith("はい、覚えました。")
                assert "保存していません" in reply.text
            assert stage.rows("SELECT * FROM memories WHERE user_id = ?", aiko.id) == []


class TestEndlessTools:
    async def test_are_ended(self, stage: Stage, ben: User, channel: Channel) -> None:
        def respond(body: Json) -> Reply:
            return calls(Call("recall", {"query": "tea"})) if body.get("tools") else says("Enough.")

        stage.model.responder = respond
        reply = await stage.ask(ben, channel, "Which tea?")
        assert reply.text.startswith("Enough.")
        asked = [each for each in stage.model.requests if "Which tea?" in str(each.messages)]
        assert len(asked) == 9
