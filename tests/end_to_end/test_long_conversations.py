"""A conversation that has become too long for its model goes on all the same."""

import json

from tests.end_to_end.stage import Stage, answered, ended
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Json, Reply, fails, says

PARAGRAPH = "今日は駅前の店で友人と昼を食べ、そのあと川沿いの道をゆっくり歩いて帰りました。" * 25


def too_long(limit: int | None = None) -> Reply:
    """As OpenAI words it; with a limit as llama.cpp does."""
    error: Json = {"message": "Your input exceeds the context window.", "code": "context_length_exceeded"}
    return Reply(status=400, body=json.dumps({"error": error | ({"n_ctx": limit} if limit else {})}))


def said(body: Json) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] != "system"]


async def talk(stage: Stage, user: User, channel: Channel, turns: int) -> None:
    for number in range(turns):
        stage.model.script(says(f"{number}：{PARAGRAPH}"))
        await stage.ask(user, channel, f"質問{number}")


class TestTooLongAHistory:
    async def test_is_cut_and_the_question_is_answered(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await talk(stage, aiko, channel, 8)
        stage.model.requests.clear()
        stage.model.script(too_long(), says("はい、続けます。"))
        reply = await answered(await stage.begin(aiko, channel, "続きは？"))
        assert reply.text.startswith("はい、続けます。")
        refused, taken = (said(request.body) for request in stage.model.requests)
        assert len(refused) == 17
        assert 1 < len(taken) < len(refused)
        assert taken == refused[-len(taken) :]
        assert stage.stored(channel)[-2:] == [
            ("user", "続きは？", "complete"),
            ("assistant", "はい、続けます。", "complete"),
        ]


class TestTooLongAQuestion:
    async def test_is_told_in_one_sentence(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.responder = lambda _: too_long()
        reply = await ended(await stage.begin(aiko, channel, "とても長い質問"))
        assert reply.text.startswith("質問が長すぎて、AIモデルが一度に読みきれません。")
        assert len(stage.model.requests) == 1
        stage.model.responder = lambda _: fails(400, "prompt is too long: 9000 tokens > 8192 maximum")
        reply = await ended(await stage.begin(ben, channel, "A very long question"))
        assert reply.text.startswith("The question is too long for the AI model")
        assert stage.stored(channel) == []
