"""Recovery of turns of an earlier process, with the bot's own token, over REST."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from cc_bot.chat.approvals import Approvals
from cc_bot.chat.tools import ToolRegistry
from cc_bot.discord.delivery import recovery
from cc_bot.discord.delivery.outlets import UNREACHABLE_EMOJI, MessageReplies
from cc_bot.discord.delivery.recovery import Recovery
from cc_bot.discord.delivery.reply import ExpectedDeletions
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.domain.clock import utc_now
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import INTERRUPTED_LIFETIME, AskedQuestion, PendingTurn
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.discord.parts import BotChannel, recipients_over, running_over
from tests.loopback.discord import Message as Posted
from tests.loopback.discord import Permission

OPEN_DM = "POST /users/@me/channels"
RETRY = texts(Locale.JA)[AnswerTexts].try_again
NOWHERE: dict[str, Any] = {"kind": "ask", "ephemeral": True, "location_id": None, "question_id": None}
"""A turn that began with an interaction which only its user sees."""


@dataclass
class Scene(BotChannel):
    """`channel` is the user's DM."""

    @asynccontextmanager
    async def started(self, running: RunningTurns | None = None) -> AsyncIterator[RunningTurns]:
        """Run recovery."""
        running = running or running_over(self.stores, self.rest)
        replies = MessageReplies(self.rest, ExpectedDeletions(), self.stores.channels)
        recipients = recipients_over(self.stores)
        approvals = Approvals(self.stores, ToolRegistry(()), utc_now)
        unfinished = Recovery(running, self.stores.proposals, replies, recipients, approvals)
        unfinished.begin()
        yield running
        await unfinished.close()

    async def left(self, *states: str, called: str | None = None) -> None:
        """Wait until turns in these states are left in the ledger, all of them `called` so. Two that were
        accepted in the same millisecond come in no order."""
        async with asyncio.timeout(self.discord.patience_s):
            while True:
                turns = await self.stores.ledger.adopt_unfinished()
                named = called is None or all(turn.id == called for turn in turns)
                if named and sorted(turn.state for turn in turns) == sorted(states):
                    return
                await asyncio.sleep(0.01)

    async def starts(self, *states: str, called: str | None = None) -> None:
        """Run recovery, which leaves turns in these states."""
        async with self.started():
            await self.left(*states, called=called)

    async def begun(self, text: str = "元気？", **fields: Any) -> tuple[Posted, PendingTurn]:
        """Add a DM, and its turn that a kill interrupted."""
        posted, location_id = await self.discord.post(self.aiko, self.channel, text), self.channel.id
        key, name = SessionKey(self.aiko.id, location_id), "0123456789abcd"
        turn = PendingTurn(
            name, key, "message", "private", utc_now(), locale=Locale.JA, question_id=posted.id
        )
        turn = replace(
            turn, **{"question": AskedQuestion(text, "Aiko"), "location_id": location_id, **fields}
        )
        await self.stores.ledger.accept(turn)
        return posted, turn

    async def killed_again(self, turn: PendingTurn, **fields: Any) -> None:
        """Kill the process that has shown the end of a turn, before that is recorded."""
        await self.stores.ledger.delete(turn.id, self.aiko.id)
        await self.stores.ledger.accept(replace(turn, **fields))

    def told_once(self) -> bool:
        [message] = self.written()
        told = message.text.startswith("書いている途中で動かなくなったため")
        return told and message.labels == [RETRY]


@pytest.fixture
def scene(location: BotChannel, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(recovery, "RETRY_S", 0.01)
    return Scene(**{**vars(location), "channel": location.discord.dm(location.aiko)})


class TestAQuestion:
    async def test_without_an_answer_may_be_asked_again_and_is_told_of_once(self, scene: Scene) -> None:
        _, turn = await scene.begun()
        await scene.starts("interrupted")
        await scene.killed_again(turn)
        await scene.starts("interrupted")
        assert scene.told_once()

    async def test_that_was_deleted_since_is_not_answered_and_takes_what_was_begun_with_it(
        self, scene: Scene
    ) -> None:
        posted, turn = await scene.begun()
        await scene.starts("interrupted")
        await scene.killed_again(turn, shown_in=scene.written()[0].id)
        await scene.discord.delete(scene.aiko, posted)
        await scene.starts()
        assert scene.written() == []
        posted, _ = await scene.begun()
        await scene.discord.delete(scene.aiko, posted)
        await scene.starts()
        assert scene.written() == []

    async def test_that_is_no_longer_kept_is_said_to_be_lost_and_forgotten_after_a_week(
        self, scene: Scene
    ) -> None:
        await scene.begun(question=None)
        await scene.starts()
        [lost] = scene.written()
        assert ("お返事できませんでした" in lost.text, lost.labels) == (True, [])
        _, turn = await scene.begun(accepted_at=utc_now() - INTERRUPTED_LIFETIME - timedelta(hours=1))
        await scene.stores.ledger.mark_interrupted(turn.id, scene.aiko.id)
        await scene.starts()
        assert len(scene.written()) == 1


class TestAnAnswer:
    async def test_waits_while_discord_is_out_of_reach(self, scene: Scene) -> None:
        await scene.begun(**NOWHERE)
        scene.discord.fail_next(OPEN_DM, 503, times=3)
        await scene.starts("interrupted")
        assert (len(scene.written()), scene.discord.faults.outstanding) == (1, 0)

    async def test_of_this_run_is_shown_once_discord_takes_it_and_not_before(self, scene: Scene) -> None:
        running = running_over(scene.stores, scene.rest)
        _, turn = await scene.begun(id=running.new_id())
        await scene.begun("もう一つ")
        async with scene.started(running) as running:
            await scene.left("accepted", "interrupted")
            assert len(scene.written()) == 1
            running.mark_unshown(turn.id)
            await scene.left("interrupted", "interrupted")
        assert len(scene.written()) == 2

    async def test_that_reaches_neither_channel_nor_dm_leaves_a_reaction(self, scene: Scene) -> None:
        scene.channel = scene.discord.guild_channel()
        scene.discord.forbid(scene.discord.bot, Permission.SEND_MESSAGES, scene.channel)
        scene.aiko.accepts_dms = False
        posted, _ = await scene.begun()
        await scene.starts()
        assert posted.reactions == [UNREACHABLE_EMOJI]

    async def test_that_is_late_is_written_on_where_it_was_begun(self, scene: Scene) -> None:
        """The process is killed after the post, before it is recorded, and once more after that."""
        _, turn = await scene.begun(**NOWHERE)
        await scene.starts("interrupted")
        for pages in ((), (scene.written()[0].id,)):
            await scene.killed_again(turn, location_id=scene.channel.id, pages=pages)
            await scene.starts("interrupted")
        assert len(scene.written()) == 1


async def test_an_interaction_that_was_not_acknowledged_is_told_of_and_may_be_asked_again(
    scene: Scene,
) -> None:
    """Its user saw it fail, and its token is invalid."""
    token = {"token": "never acknowledged", "token_until": utc_now() + timedelta(minutes=14)}
    fields: dict[str, Any] = {
        **token,
        "interaction_id": 5,
        "location_id": None,
        "question_id": None,
        "kind": "ask",
    }
    await scene.begun(**fields)
    await scene.starts("interrupted")
    [told] = scene.written()
    for turn in await scene.stores.ledger.adopt_unfinished():
        await scene.stores.ledger.delete(turn.id, scene.aiko.id)
    await scene.begun(**fields, former="abcd", shown_in=6, ephemeral=True)
    await scene.starts("interrupted", called="abcd")
    [turn] = await scene.stores.ledger.adopt_unfinished()
    assert (turn.id, turn.question) == ("abcd", AskedQuestion("元気？", "Aiko"))
    assert scene.written() == [told]
