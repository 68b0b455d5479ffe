"""A conversation that nobody went on with for a day is over; what it was about is known all the same."""

import json

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, calls, new_tool_results, says

STAGE = "new_stage"
A_DAY_AND_A_SECOND = "86401"


async def test_the_next_day_starts_a_conversation_afresh_and_recalls_what_was_remembered(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    stage.model.script(calls(Call("remember", {"content": "猫の名前はモチ"})), says("覚えました。"))
    await stage.ask(aiko, channel, "猫の名前はモチ。覚えておいて")
    await stage.program.stop()
    await stage.discord.gone()
    stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = A_DAY_AND_A_SECOND
    try:
        await stage.start()
        stage.model.script(calls(Call("recall", {"query": "猫"})), says("モチです。"))
        await stage.ask(aiko, channel, "猫の名前は？")
    finally:
        del stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"]
        await stage.restart()

    first, second = stage.model.requests[-2:]
    assert [message["role"] for message in first.messages] == ["system", "system", "user"]
    [result] = new_tool_results(second.body)
    assert "前回までの会話の要約: - " in first.messages[1]["content"]
    assert [memory["content"] for memory in json.loads(result)["memories"]] == ["猫の名前はモチ"]
    ended = stage.rows(
        "SELECT closed_at IS NOT NULL FROM sessions WHERE channel_id = ? ORDER BY created_at", channel.id
    )
    assert ended == [(1,), (0,)]
