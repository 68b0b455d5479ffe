"""When the model is slow, refuses, breaks off or says nothing: what the user gets to see."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, answered, ended, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.discord import Reply as Shown
from tests.loopback.model_server import (
    Call,
    CutConnection,
    End,
    Hang,
    Json,
    LoopbackModelServer,
    Pause,
    Raw,
    Reply,
    Responder,
    Say,
    calls,
    fails,
    hangs,
    says,
)

MODEL_TIMEOUT_S = 2
LONGEST_S = 2 * MODEL_TIMEOUT_S + 2.0
"""Two models, one after the other, and some time for everything else."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """An impatient program with a second model to turn to."""
    settings = {"CC_BOT_MODEL": "first,second", "CC_BOT_MODEL_TIMEOUT": str(MODEL_TIMEOUT_S)}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


def only(model: str, reply: Reply, other: Reply | None = None) -> Responder:
    """One model behaves in this way, the other one answers."""

    def respond(body: Json) -> Reply:
        return reply if body["model"] == model else other or says("Second here.")

    return respond


class TestFallback:
    @pytest.mark.parametrize("trouble", [fails(500), fails(429, headers={"Retry-After": "60"}), fails(404)])
    async def test_asks_the_next_model(
        self, stage: Stage, ben: User, channel: Channel, trouble: Reply
    ) -> None:
        stage.model.responder = only("first", trouble)
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("Second here.")

    async def test_says_that_it_does(self, stage: Stage, ben: User, channel: Channel) -> None:
        slow = Reply(Pause(1.5), *says("Second here.").steps)
        stage.model.responder = only("first", fails(401), slow)
        reply = await stage.begin(ben, channel)
        await reply.until(lambda shown: "asking another one" in shown.text, "a word on the other model")
        await answered(reply)
        assert "asking another one" not in reply.text

    async def test_comes_after_a_model_that_says_nothing(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.responder = only("first", hangs())
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("Second here.")

    async def test_never_comes_after_the_first_word(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.responder = only("first", Reply(Say("First here, but"), CutConnection()))
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("First here, but")
        assert "Second" not in reply.text


class TestNoModel:
    async def told(self, stage: Stage, user: User, channel: Channel) -> Shown:
        reply = await stage.begin(user, channel, "元気？")
        await reply.until(lambda shown: "考えています" in shown.text or not shown.loading)
        await ended(reply)
        assert stage.stored(channel) == []
        assert reply.labels == []
        return reply

    async def test_is_told_in_one_sentence_when_all_are_down(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.responder = lambda _: fails(503)
        reply = await self.told(stage, aiko, channel)
        assert "つながらないか、混み合っています" in reply.text

    async def test_is_told_when_all_hang(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.responder = lambda _: hangs()
        reply = await self.told(stage, aiko, channel)
        assert "つながらないか、混み合っています" in reply.text
        assert reply.history[-1].at_s - reply.interaction.sent_at_s < LONGEST_S

    async def test_is_told_when_the_key_is_refused(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.responder = lambda _: fails(401)
        assert "APIキー" in (await self.told(stage, aiko, channel)).text

    async def test_is_told_when_the_request_is_refused(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.responder = lambda _: fails(400)
        assert "受け付けませんでした" in (await self.told(stage, aiko, channel)).text

    async def test_leaves_the_next_question_unharmed(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.responder = lambda _: fails(401)
        await ended(await stage.begin(ben, channel, "Lost question"))
        stage.model.responder = None
        stage.model.script(says("Found."))
        await stage.ask(ben, channel, "Next question")
        said = [m["content"] for m in stage.model.requests[-1].messages if m["role"] != "system"]
        assert said == ["Next question"]


class TestCutAnswer:
    @pytest.mark.parametrize(
        "end",
        [
            (CutConnection(),),
            (End(None),),
            (End("length"),),
            (Raw("data: {broken\n\n"),),
            (Hang(),),
        ],
        ids=["connection", "no finish reason", "length", "malformed", "hangs"],
    )
    async def test_is_kept_and_offers_to_continue(
        self, stage: Stage, ben: User, channel: Channel, end: tuple[CutConnection | End | Raw | Hang, ...]
    ) -> None:
        stage.model.script(Reply(Say("It all began"), *end))
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("It all began")
        assert "The answer broke off." in reply.text
        assert reply.labels == ["Continue", "Answer again"]
        assert stage.stored(channel)[-1] == ("assistant", "It all began", "cut")

    async def test_after_a_tool_call_keeps_what_was_said(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(
            Reply(Say("Let me look."), *calls(Call("recall", {"query": "tea"})).steps), fails(500)
        )
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("Let me look.")
        assert "Continue" in reply.labels


class TestAModelWithoutTools:
    async def test_answers_and_what_it_claims_to_remember_is_set_right(self, tmp_path: Path) -> None:
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


class TestUnknownModel:
    async def test_is_no_fault_of_the_question(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.responder = lambda _: fails(404)
        reply = await ended(await stage.begin(aiko, channel))
        assert reply.text.startswith("設定されているAIモデルが見つかりません。")
        assert "first" not in reply.text
        record = next(line for line in stage.program.output.splitlines() if "ModelNotFound" in line)
        assert "first" in record

    async def test_is_named_in_the_terminal_and_ends_a_pipe_with_a_failure(self, tmp_path: Path) -> None:
        async with LoopbackModelServer(responder=lambda _: fails(404)) as model:
            settings = {"OPENAI_BASE_URL": model.base_url, "CC_BOT_MODEL": "gpt-5-mni"}
            code, output = await Program(tmp_path, settings).run("chat", stdin="元気？\n".encode())
        assert "AIモデル「gpt-5-mni」が見つかりません。" in output
        assert code == 1


class TestAPipe:
    async def test_ends_well_when_all_was_answered(self, tmp_path: Path) -> None:
        async with LoopbackModelServer() as model:
            program = Program(tmp_path, {"OPENAI_BASE_URL": model.base_url})
            code, output = await program.run("chat", stdin="元気？\n".encode())
        assert (code, "承知しました" in output) == (0, True)


class TestEmptyAnswer:
    @pytest.mark.parametrize(
        "empty", [Reply(End()), Reply(Say("  \n "), End())], ids=["nothing", "white space"]
    )
    async def test_is_never_an_empty_message(
        self, stage: Stage, aiko: User, channel: Channel, empty: Reply
    ) -> None:
        stage.model.responder = lambda _: empty
        reply = await ended(await stage.begin(aiko, channel))
        assert reply.text.strip()
        assert stage.stored(channel) == []

    async def test_after_a_tool_call_says_that_there_were_no_words(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("remember", {"content": "青が好き"})), Reply(End()))
        stage.model.responder = lambda _: Reply(End())
        reply = await stage.ask(aiko, channel, "青が好きと覚えて")
        assert "言葉での返事はありませんでした" in reply.text
        assert stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id) == [("青が好き",)]


class TestEndlessTools:
    async def test_are_ended(self, stage: Stage, ben: User, channel: Channel) -> None:
        def respond(body: Json) -> Reply:
            return calls(Call("recall", {"query": "tea"})) if body.get("tools") else says("Enough.")

        stage.model.responder = respond
        reply = await stage.ask(ben, channel, "Which tea?")
        assert reply.text.startswith("Enough.")
        asked = [each for each in stage.model.requests if "Which tea?" in str(each.messages)]
        assert len(asked) == 9
