"""An answer while it comes: what is shown, how often, and that it can be stopped."""

from tests.end_to_end.stage import Stage, again_label, answered, ended, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, End, Hang, Pause, Reply, Say, calls, says

EDIT = "PATCH /webhooks/{application}/{token}/messages/@original"


class TestStreaming:
    async def test_shows_the_text_as_it_comes(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("最初の文です。"), Pause(1.5), Say("次の文です。"), End()))
        reply = await stage.begin(aiko, channel)
        await streaming(reply, "最初の文です。")
        assert "次の文です。" not in reply.text
        await answered(reply)
        assert "最初の文です。次の文です。" in reply.text

    async def test_offers_to_stop_before_the_first_word(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Pause(0.3), Say("Done."), End()))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "Thinking…")
        await answered(reply)

    async def test_closes_a_code_fence_that_is_still_open(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("Try this:\n```python\nprint(1)\n"), Pause(1.5), Say("```"), End()))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "print(1)")
        assert reply.text.count("```") == 2
        await answered(reply)

    async def test_shows_an_end_that_comes_long_after_the_last_word(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("That is all."), Pause(2.6), End()))
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("That is all.")

    async def test_edits_seldom_however_small_the_pieces_are(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says(*(f"{number} " for number in range(150)), delay_s=0.01))
        before = len(stage.discord.calls(EDIT))
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith(" ".join(map(str, range(150))))
        seconds = reply.history[-1].at_s - reply.history[0].at_s
        assert len(stage.discord.calls(EDIT)) - before <= seconds / 1.0 + 3
        assert stage.discord.calls(EDIT, status=429) == []

    async def test_shows_when_a_tool_runs(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(
            Reply(Say("調べます。"), Pause(0.2), *calls(Call("recall", {"query": "誕生日"})).steps),
            Reply(Pause(1.5), Say("見つかりませんでした。"), End()),
        )
        reply = await stage.begin(aiko, channel, "誕生日は？")
        await streaming(reply, "-# 🔎 メモリを探しています…")
        assert "調べます。" in reply.text
        await answered(reply)
        assert "調べます。\n\n見つかりませんでした。" in reply.text


class TestStop:
    async def test_keeps_what_was_streamed(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("ここまでは書きました。"), Hang()))
        reply = await stage.begin(aiko, channel, "長い話をして")
        await streaming(reply, "ここまでは書きました。")
        press = await stage.discord.click(aiko, reply.message, "止める")
        await press.acknowledged()
        await answered(reply)
        assert "ここまでは書きました。" in reply.text
        assert "止めました" in reply.text
        assert "続ける" in reply.labels
        async with stage.patience():
            await stage.model.requests[0].disconnected.wait()
        assert stage.stored(channel) == [
            ("user", "長い話をして", "complete"),
            ("assistant", "ここまでは書きました。", "stopped"),
        ]

    async def test_leaves_no_trace_before_the_first_word(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Hang()))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "Thinking…")
        await stage.model.arrived(1)
        await stage.discord.click(ben, reply.message, "Stop")
        await ended(reply)
        assert reply.text == "⏹️ Stopped. The question is not kept in the conversation."
        async with stage.patience():
            await stage.model.requests[0].disconnected.wait()
        assert stage.stored(channel) == []

    async def test_stops_between_tool_calls_too(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(
            Reply(Say("Let me look."), *calls(Call("recall", {"query": "tea"})).steps), Reply(Hang())
        )
        reply = await stage.begin(ben, channel)
        await stage.model.arrived(2)
        await streaming(reply, "Let me look.")
        await stage.discord.click(ben, reply.message, "Stop")
        await answered(reply)
        async with stage.patience():
            await stage.model.requests[1].disconnected.wait()
        assert len(stage.model.requests) == 2
        assert stage.stored(channel)[-1] == ("assistant", "Let me look.", "stopped")

    async def test_ends_a_question_that_still_waits(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("One"), Hang()))
        first = await stage.begin(ben, channel)
        await streaming(first, "One")
        second = await stage.begin(ben, channel)
        await streaming(second, "Waiting for an earlier question")
        await stage.discord.click(ben, second.message, "Stop")
        await ended(second)
        assert second.text == "⏹️ Stopped. The question is not kept in the conversation."
        await stage.discord.click(ben, first.message, "Stop")
        await answered(first)
        assert len(stage.model.requests) == 1

    async def test_is_for_the_asker_only(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("まだ続きます。"), Pause(2.0), Say("終わりです。"), End()))
        reply = await stage.begin(aiko, channel)
        await streaming(reply, "まだ続きます。")
        press = await stage.discord.click(ben, reply.message, "止める")
        await press.finished()
        assert press.ephemeral
        assert press.text.startswith("Only the person who asked can use this button.")
        await answered(reply)
        assert "終わりです。" in reply.text


class TestOthersMeanwhile:
    async def test_are_answered_side_by_side(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("時間がかかります。"), Hang()), says("Quick."))
        slow = await stage.begin(aiko, channel)
        await streaming(slow, "時間がかかります。")
        quick = await stage.ask(ben, channel)
        assert quick.text.startswith("Quick.")
        assert again_label(aiko) not in slow.labels
        await stage.discord.click(aiko, slow.message, "止める")
        await answered(slow)
