"""The judge itself: content with what is right, and not with any of the faults that are planted here."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.faults.asked import Asked, seen
from tests.faults.campaign import Campaign, campaign
from tests.faults.judge import Evidence, judge
from tests.inspection import Inspector
from tests.loopback.discord.messages import LOADING


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def calm(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Campaign]:
    """A program that nothing happened to, at rest."""
    async with campaign(tmp_path_factory.mktemp("calm"), "calm", database_settings()) as peaceful:
        await peaceful.rest()
        yield peaceful


@pytest.fixture
def case(calm: Campaign, tmp_path: Path, database_copy: Callable[[str, Path], str]) -> Evidence:
    """What is found of it, with a copy of the database that a test may spoil."""
    copy = database_copy(calm.stage.inspector.url, tmp_path / "sessions.db")
    return replace(calm.evidence(), database=Inspector(copy))


def first(case: Evidence, kind: str) -> Asked:
    return next(asked for asked in case.asked if asked.kind == kind)


def change(case: Evidence, sql: str, *values: object) -> None:
    assert case.database.change(sql, *values) > 0, "nothing was planted"


class TestJudge:
    def test_has_nothing_to_say_where_nothing_went_wrong(self, case: Evidence) -> None:
        assert judge(case) == []
        assert len(case.asked) >= 14

    @pytest.mark.parametrize(
        ("kind", "sql", "finds"),
        [
            ("public", "DELETE FROM messages WHERE content LIKE ?", "not in the archive"),
            ("mention", "DELETE FROM messages WHERE content LIKE ?", "not in the archive"),
            ("dm", "UPDATE messages SET status = 'replaced' WHERE content LIKE ?", "not in the archive"),
            (
                "long",
                "UPDATE messages SET content = content || content WHERE content LIKE ?",
                "stands in the archive twice",
            ),
        ],
    )
    def test_misses_an_answer_in_the_archive(self, case: Evidence, kind: str, sql: str, finds: str) -> None:
        asked = first(case, kind)
        change(case, sql, f"%A{asked.number:04}x%")
        assert any(str(asked) in fault and finds in fault for fault in judge(case))

    def test_sees_a_question_that_is_stored_twice(self, case: Evidence) -> None:
        asked = first(case, "public")
        columns = "session_id, user_id, channel_id, parent_channel_id, author_id, role, content"
        change(
            case,
            f"INSERT INTO messages ({columns}, timestamp, created_at)"
            f" SELECT {columns}, 1, 1 FROM messages WHERE content LIKE ?",
            f"Q{asked.number:04}Z%",
        )
        assert any("stands in the archive 2 times" in fault for fault in judge(case))

    def test_sees_what_a_temporary_question_leaves(self, case: Evidence) -> None:
        asked = first(case, "temporary")
        change(case, "UPDATE user_settings SET locale = ?", f"Q{asked.number:04}Z")
        assert any(str(asked) in fault and "left bytes" in fault for fault in judge(case))

    def test_sees_a_token_that_is_kept(self, case: Evidence) -> None:
        token = case.discord.replies[0].interaction.token
        change(case, "UPDATE user_settings SET locale = ?", token)
        assert any("bytes of a token" in fault for fault in judge(case))

    def test_sees_a_damaged_page(self, case: Evidence) -> None:
        file, first = case.database.pages("messages")
        data = bytearray(file.read_bytes())
        for start in range(first, len(data), 4096):
            data[start : start + 64] = b"\xff" * 64
        file.write_bytes(data)
        [fault] = judge(case)
        assert "can't be read" in fault or "damaged" in fault


class TestJudgeOfMessages:
    """What people see is the double's own, shared by these tests: each puts back what it changed."""

    @pytest.mark.parametrize("kind", ["public", "private", "mention", "dm"])
    def test_sees_an_answer_that_is_gone(self, case: Evidence, kind: str) -> None:
        asked = first(case, kind)
        message = case.discord.world.messages[seen(case.discord, asked)[0].id]
        message.deleted = True
        faults = judge(case)
        message.deleted = False
        assert any(str(asked) in fault and "neither answered nor told" in fault for fault in faults)

    def test_sees_an_answer_that_is_said_twice(self, case: Evidence) -> None:
        asked = first(case, "mention")
        original = case.discord.world.messages[seen(case.discord, asked)[0].id]
        twin = case.discord.world.compose_message(
            original.channel, original.author, content=original.content, reply_to=original.reply_to
        )
        twin.record(0.0)
        case.discord.world.messages[twin.id] = twin
        faults = judge(case)
        del case.discord.world.messages[twin.id]
        assert any(str(asked) in fault and "is read twice" in fault for fault in faults)

    def test_sees_one_who_still_waits(self, case: Evidence) -> None:
        asked = first(case, "private")
        message = case.discord.world.messages[seen(case.discord, asked)[0].id]
        message.flags |= LOADING
        message.record(1.0)
        faults = judge(case)
        message.flags &= ~LOADING
        message.history.pop()
        assert any(str(asked) in fault and "still promises" in fault for fault in faults)

    def test_sees_a_reminder_that_is_said_twice_or_never(self, case: Evidence) -> None:
        reminded = case.reminders[0]
        [said] = [m for m in case.discord.messages(reminded.channel) if not m.ephemeral]
        message = case.discord.world.messages[said.id]
        message.deleted = True
        never = judge(case)
        message.deleted = False
        case.discord.world.messages[0] = message
        twice = judge(case)
        del case.discord.world.messages[0]
        assert any(reminded.mark in fault and "neither said nor excused" in fault for fault in never)
        assert any(reminded.mark in fault and "said 2 times" in fault for fault in twice)
