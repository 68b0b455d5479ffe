"""Models that think before they speak: only the answer is shown, stored and sent again."""

import asyncio

import pytest

from tests.end_to_end.stage import Stage, answered
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, Chunk, End, Reply, Say, Wait, calls, says

ALOUD = {
    "in marks": (Say("<thi"), Say("nk>ひみつの考え"), Say("</think>\n\n"), Say("東京です。")),
    "begun by a template": (Say("ひみつの考え\n"), Say("</think>\n\n"), Say("東京です。")),
    "in a field": (Chunk({"choices": [{"delta": {"reasoning_content": "ひみつの考え"}}]}), Say("東京です。")),
}


@pytest.mark.parametrize("steps", ALOUD.values(), ids=ALOUD)
async def test_a_thought_is_neither_shown_nor_stored_nor_sent(
    stage: Stage, aiko: User, channel: Channel, steps: tuple[Say, ...]
) -> None:
    stage.model.script(Reply(*steps, End()), says("はい。"))
    reply = await stage.ask(aiko, channel, "首都は？")
    assert reply.text.startswith("東京です。")
    assert "考え" not in reply.text
    await stage.ask(aiko, channel, "本当に？")
    assert "東京です。" in stage.shown()
    assert "ひみつ" not in "".join(stage.shown())
    assert [row for row in stage.stored(channel) if "ひみつ" in str(row)] == []


async def test_while_it_thinks_its_user_sees_that(stage: Stage, aiko: User, channel: Channel) -> None:
    """After a tool, too: the line about the tool does not stay."""
    go = asyncio.Event()
    reasoning = Chunk({"choices": [{"delta": {"reasoning_content": "ひみつの考え"}}]})
    stage.model.script(
        calls(Call("remember", {"content": "青が好き"})), Reply(reasoning, Wait(go), Say("はい。"), End())
    )
    reply = await stage.begin(aiko, channel, "青が好きと覚えて")
    await reply.until(lambda shown: "考えています" in shown.text, "that it thinks")
    go.set()
    await answered(reply)
    assert reply.text.startswith("はい。")
