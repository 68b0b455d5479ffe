"""What nobody can make the bot do to memories: neither a model that obeys notes, nor one that only talks."""

import json

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, Reply, calls, says

NOT_SAVED = "⚠️ 保存していません"


def memories(stage: Stage, user: User) -> list[str]:
    rows = stage.rows(
        "SELECT content FROM memories WHERE user_id = ? AND status = 'active' ORDER BY id", user.id
    )
    return [content for (content,) in rows]


class TestPromise:
    async def test_that_is_not_kept_is_owned_up_to(self, stage: Stage, aiko: User, channel: Channel) -> None:
        question = "誕生日は3月15日だよ。覚えておいて"
        for second in (says("何もしません。"), Reply(status=500, body="{}")):
            stage.model.script(says("はい、覚えておきますね。"), second)
            reply = await stage.ask(aiko, channel, question)
            assert reply.text.startswith("はい、覚えておきますね。")
            assert NOT_SAVED in reply.text
            assert "何もしません" not in reply.text + str(stage.stored(channel))
            assert "取り消す" not in reply.labels
        stage.model.reset()
        stage.model.script(*[says("はい、覚えておきますね。")] * 2)
        temporary = await stage.discord.slash(aiko, channel, "ask", question=question, temporary=True)
        await temporary.finished(lambda shown: NOT_SAVED in shown.text)
        await stage.told(aiko, channel, "memory pause")
        assert NOT_SAVED in (await stage.ask(aiko, channel, question)).text
        assert len(stage.model.requests) == 2
        assert memories(stage, aiko) == []


class TestSecret:
    async def test_is_neither_kept_nor_left_in_the_record_of_tool_calls(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        secret = "Wi-Fiのパスワードは sakura2024!"
        stage.model.script(calls(Call("remember", {"content": secret})), says("それは保存できません。"))
        reply = await stage.ask(aiko, channel, f"{secret} 覚えて")
        assert "それは保存できません。" in reply.text
        [result] = new_tool_results(stage.model.requests[1].body)
        assert "パスワードやカード番号" in json.loads(result)["error"]
        assert stage.rows("SELECT * FROM memories WHERE user_id = ?", aiko.id) == []
        [(tool_calls,)] = stage.rows(
            "SELECT tool_calls FROM messages WHERE channel_id = ? AND role = 'assistant'", channel.id
        )
        assert "sakura2024" not in tool_calls
        assert '"remember"' in tool_calls
