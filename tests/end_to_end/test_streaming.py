"""An answer while it comes: what is shown, how often, and that it can be stopped."""

from tests.end_to_end.stage import Stage, again_label, answered, ended, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, End, Hang, Pause, Reply, Say, calls, says


class TestStreaming:
    async def test_shows_text_and_tools_as_they_come(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            Reply(
                *(Pause(0.3), Say("調べます:\n```python\nprint(1)\n"), Pause(1.5), Say("```\n")),
                *calls(Call("recall", {"query": "誕生日"})).steps,
            ),
            Reply(Pause(1.5), Say("見つかりませんでした。"), Pause(2.6), End()),
        )
        reply = await stage.begin(aiko, channel, "誕生日は？")
        await streaming(reply, "考えています")
        await streaming(reply, "print(1)")
        assert reply.text.count("```") == 2  # a fence that is still open is closed
        await streaming(reply, "-# 🔎 メモリを探しています…")
        assert "調べます" in reply.text
        await streaming(reply, "見つかりませんでした。")
        await answered(reply)
        assert "-# 🔎" not in reply.text


class TestStop:
    async def test_keeps_what_was_streamed_and_is_for_the_asker_only(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("ここまでは書きました。"), Hang()), says("Quick."))
        reply = await streaming(await stage.begin(aiko, channel, "長い話をして"), "ここまでは書きました。")
        press = await (await stage.discord.click(ben, reply.message, "止める")).finished()
        assert press.ephemeral
        assert press.text.startswith("Only the person who asked can use this button.")
        assert (await stage.ask(ben, channel)).text.startswith("Quick.")  # beside the other one
        assert again_label(aiko) not in reply.labels
        press = await stage.discord.click(aiko, reply.message, "止める")
        await press.acknowledged()
        await answered(reply)
        assert "ここまでは書きました。" in reply.text
        assert "止めました" in reply.text
        assert "続ける" in reply.labels
        async with stage.patience():
            await stage.model.requests[0].disconnected.wait()
        stored = stage.rows("SELECT content, status FROM messages WHERE user_id = ? ORDER BY id", aiko.id)
        assert stored == [("長い話をして", "complete"), ("ここまでは書きました。", "stopped")]

    async def test_leaves_no_trace_before_the_first_word_or_while_it_waits(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Hang()))
        first = await streaming(await stage.begin(ben, channel), "Thinking…")
        await stage.model.arrived(1)
        second = await streaming(await stage.begin(ben, channel), "Waiting for an earlier question")
        for reply in (second, first):
            await stage.discord.click(ben, reply.message, "Stop")
            await ended(reply)
            assert reply.text == "⏹️ Stopped. The question is not kept in the conversation."
        async with stage.patience():
            await stage.model.requests[0].disconnected.wait()
        assert len(stage.model.requests) == 1
        assert stage.stored(channel) == []
