from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import pytest

from cc_bot.domain.clock import UNDO_TIME
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import Call, calls, says

STAGE, SETTINGS = "own_stage", {"CC_BOT_HISTORY_LIMIT": "4"}
AFTER_THE_UNDO = str(UNDO_TIME // timedelta(seconds=1) + 1)
SERIAL = count(4711)


@dataclass(frozen=True)
class Fact:
    number: str

    @property
    def wide(self) -> str:
        """As its user writes it, and as it is kept."""
        return self.number.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})

    @property
    def told(self) -> str:
        return f"金庫の番号は、じつは{self.wide}なんだ。覚えておいて"

    @property
    def kept(self) -> str:
        return f"金庫の番号は{self.wide}"

    @property
    def noted(self) -> str:
        return f"- 金庫の番号は{self.number}"

    def found(self, stage: Stage) -> dict[str, int]:
        files = sorted(stage.database.parent.glob("sessions.db*"))
        assert {file.name for file in files} >= {"sessions.db", "sessions.db-wal", "sessions.db-shm"}
        data = b"".join(file.read_bytes() for file in files)
        forms = (self.told, self.wide, self.number, self.number.lower())
        counts = {form: data.count(form.encode()) for form in forms}
        return {form: number for form, number in counts.items() if number}


@pytest.fixture
def fact() -> Fact:
    return Fact(f"ZEBRA{next(SERIAL)}")


async def tell(stage: Stage, user: User, channel: Channel, fact: Fact) -> int:
    """Tell a fact, have it recalled once and summarized; the memory's number."""
    stage.model.script_notes(says(fact.noted))
    stage.model.script(
        *(calls(Call("remember", {"content": fact.kept})), says("覚えました。")),
        *(calls(Call("recall", {"query": "金庫の番号"})), says("はい、わかります。")),
    )
    await stage.ask(user, channel, fact.told)
    await stage.ask(user, channel, "金庫を開けられる？")
    await stage.eventually("SELECT content FROM summaries WHERE user_id = ?", user.id, gives=[(fact.noted,)])
    [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", user.id)
    assert len(fact.found(stage)) == 4
    return int(number)


async def restart_after_the_undo(stage: Stage) -> None:
    """Its clock is ahead of everybody's until it is started once more."""
    stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = AFTER_THE_UNDO
    try:
        await stage.restart()
    finally:
        del stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"]


async def purged(stage: Stage, user: User) -> None:
    await stage.eventually("SELECT id FROM memories WHERE user_id = ?", user.id, gives=[])


async def forgotten(stage: Stage, user: User, fact: Fact) -> None:
    """Wait until nothing is left to do. What is left then is what was said, and its summary."""
    await purged(stage, user)
    owed = "SELECT erased - vacuumed FROM memory_erasures"
    await stage.eventually(owed, gives=[(0,)])
    assert stage.rows(
        "SELECT content FROM messages WHERE user_id = ? AND instr(content, ?)", user.id, fact.wide
    ) == [(fact.told,)]
    assert stage.rows(
        "SELECT count(*) FROM messages WHERE user_id = ? AND instr(tool_calls, ?)", user.id, fact.wide
    ) == [(0,)]
    found = fact.found(stage)  # the page of a message is written once more with the next message
    assert found.keys() == {fact.told, fact.wide, fact.number}
    assert found[fact.told] == found[fact.wide]


async def test_a_memory_is_gone_after_ten_minutes(
    stage: Stage, aiko: User, channel: Channel, fact: Fact
) -> None:
    number = await tell(stage, aiko, channel, fact)
    await stage.told(aiko, channel, "memory delete", id=number)
    await restart_after_the_undo(stage)
    await forgotten(stage, aiko, fact)
    stage.model.script(says("どうぞ。"))
    await stage.ask(aiko, channel, "つづけて")
    results = [
        message["content"] for message in stage.model.requests[-1].messages if message["role"] == "tool"
    ]
    assert len(results) == 2
    assert not any(fact.wide in result for result in results)
    await stage.restart()  # or what the next test deletes would have been deleted in ten minutes


async def press(stage: Stage, user: User, reply: Reply, label: str, then: str) -> Reply:
    """Press a button of a reply, and wait for what takes its place."""
    pressed = await stage.discord.click(user, reply.message, label)
    return await pressed.finished(lambda shown: then in shown.text)


async def test_an_erased_memory_leaves_nothing(
    stage: Stage, aiko: User, channel: Channel, fact: Fact
) -> None:
    number = await tell(stage, aiko, channel, fact)
    reply = await (await stage.discord.slash(aiko, channel, "memory delete", id=number)).finished()
    done = await press(stage, aiko, reply, "会話の記録からも消す", "完全に消しました")
    for removed in ("メモリ 1件", "要約 1件", "発言 3件", "バックアップ"):
        assert removed in done.text
    assert fact.found(stage) == {}
    assert stage.stored(channel)[0] == ("user", "（消去しました）", "complete")
