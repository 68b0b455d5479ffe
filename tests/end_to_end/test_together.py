"""Canvas, agents, reminders and heartbeats in one conversation, over restarts."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest_asyncio

from tests.end_to_end.agents import FILE, use, write_file
from tests.end_to_end.canvases import board, no_board, texts_of, update
from tests.end_to_end.heartbeats import TOKYO, beat, begin
from tests.end_to_end.reminders import called, comes_due, says_by_itself
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, calls, says

CARD = Call("canvas_add_card", {"title": "薬", "content": "食後に飲む", "id": "pills"})


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    write_file(tmp_path, FILE)
    async with running_stage(tmp_path, {}) as stage:
        yield stage
        stage.check()


def scheduled(stage: Stage, user: User) -> int:
    [(number,)] = stage.rows("SELECT id FROM schedules WHERE user_id = ? AND kind = 'reminder'", user.id)
    return int(number)


class TestConversation:
    async def test_keeps_everything_where_it_belongs(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        soon = f"{datetime.now(TOKYO) + timedelta(hours=3):%Y-%m-%dT%H:%M}"
        stage.model.script(
            calls(CARD, Call("schedule", {"when": soon, "text": "薬を飲む"})), says("カードも出しました。")
        )
        reply = await stage.ask(aiko, channel, "3時間後に薬を飲むって知らせて。カードも出して")
        assert "にお知らせします: 薬を飲む" in reply.text
        first = await board(stage, channel)

        await begin(stage, aiko, channel, where="channel")
        stage.model.script(calls(update("pills", "食後に飲む（水で）")), says("もうすぐ薬ですね。"))
        await beat(stage, aiko, ends="sent")
        await says_by_itself(stage, channel, "もうすぐ薬ですね。")
        shown = await board(stage, channel, lambda each: "水で" in str(texts_of(each)))
        assert shown.id == first.id

        await stage.restart()
        assert (await board(stage, channel)).id == first.id
        number = scheduled(stage, aiko)
        await comes_due(stage, aiko, number)
        reminded = await says_by_itself(stage, channel, "⏰ 薬を飲む")
        assert called(stage) == [{aiko.id}, {aiko.id}]
        await stage.eventually("SELECT state FROM firings WHERE schedule_id = ?", number, gives=[("sent",)])

        stage.model.script(says("えらいです。"))
        message = await stage.write(aiko, channel, "飲んだよ", mention=False, reply_to=reminded)
        await stage.says(message, "えらいです。")
        asked = str(stage.model.requests[-1].messages)
        assert "> ⏰ 薬を飲む\\n飲んだよ" in asked
        assert "食後に飲む（水で）" in asked
        assert "もうすぐ薬ですね。" not in asked

        await use(stage, aiko, channel, "poet")
        await no_board(stage, channel)
        await stage.ask(aiko, channel, "やあ")
        assert "薬" not in str(stage.model.requests[-1].messages)
        await stage.said(ben, channel, "hello", "どうも。")
        assert stage.shown() == [
            *("Aiko: 3時間後に薬を飲むって知らせて。カードも出して", "カードも出しました。"),
            *("Aiko: > ⏰ 薬を飲む\n  飲んだよ", "えらいです。", "Aiko: やあ", "はい、承知しました。"),
            "Ben: hello",  # nothing that was said unasked, and no canvas
        ]
        assert "水で" not in str(stage.model.requests[-1].messages)

        await use(stage, aiko, channel, "default")
        await board(stage, channel, lambda each: "水で" in str(texts_of(each)))
        await stage.told(aiko, channel, "clear")
        await no_board(stage, channel)
        await beat(stage, aiko, ends="skipped")
        await stage.ask(aiko, channel, "元気？")
        assert "薬" not in str(stage.model.requests[-1].messages)
