"""The judge itself: content with what is right, and not with any of the faults that are planted here."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.faults.asked import Asked, seen
from tests.faults.campaign import Campaign, campaign
from tests.faults.judge import Evidence, judge
from tests.inspection import Inspector
from tests.loopback.discord import Message
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
    copy = database_copy(calm.stage.inspector.url, tmp_path / "sessions.db")
    return replace(calm.evidence(), database=Inspector(copy))


def first(case: Evidence, kind: str) -> Asked:
    return next(asked for asked in case.asked if asked.kind == kind)


def found(case: Evidence, who: object, finds: str) -> bool:
    return any(str(who) in fault and finds in fault for fault in judge(case))


def test_it_has_nothing_to_say_where_nothing_went_wrong(case: Evidence) -> None:
    assert judge(case) == []
    assert len(case.asked) >= 14


COLUMNS = "session_id, user_id, channel_id, parent_channel_id, author_id, role, content"
PLANTED = (
    ("public", "DELETE FROM messages WHERE content LIKE '%{answer}%'", "not in the archive"),
    ("dm", "UPDATE messages SET status = 'replaced' WHERE content LIKE '%{answer}%'", "not in the archive"),
    (
        *("long", "UPDATE messages SET content = content || content WHERE content LIKE '%{answer}%'"),
        "stands in the archive twice",
    ),
    (
        "private",
        f"INSERT INTO messages ({COLUMNS}, timestamp, created_at)"
        f" SELECT {COLUMNS}, 1, 1 FROM messages WHERE content LIKE '{{question}}%'",
        "stands in the archive 2 times",
    ),
    ("temporary", "UPDATE user_settings SET locale = '{question}'", "left bytes"),
)


def test_it_sees_what_is_wrong_in_the_database(case: Evidence) -> None:
    for kind, sql, _ in PLANTED:
        number = first(case, kind).number
        change = sql.format(answer=f"A{number:04}x", question=f"Q{number:04}Z")
        assert case.database.change(change) > 0, "nothing was planted"
    assert [each for each in PLANTED if not found(case, first(case, each[0]), each[2])] == []
    case.database.change("UPDATE user_settings SET locale = ?", case.discord.replies[0].interaction.token)
    assert found(case, "", "bytes of a token")


@contextmanager
def deleted(message: Message) -> Iterator[None]:
    message.deleted = True
    yield
    message.deleted = False


def test_it_sees_an_answer_that_is_gone_said_twice_or_still_to_come(case: Evidence) -> None:
    world = case.discord.world
    for kind in ("public", "private", "mention", "dm"):
        asked = first(case, kind)
        message = world.messages[seen(case.discord, asked)[0].id]
        with deleted(message):
            assert found(case, asked, "neither answered nor told"), kind
    asked = first(case, "mention")
    original = world.messages[seen(case.discord, asked)[0].id]
    twin = world.compose_message(
        original.channel, original.author, content=original.content, reply_to=original.reply_to
    )
    twin.record(0.0)
    world.messages[twin.id] = twin
    assert found(case, asked, "is read twice")
    del world.messages[twin.id]
    asked = first(case, "private")
    message = world.messages[seen(case.discord, asked)[0].id]
    message.flags |= LOADING
    message.record(1.0)
    assert found(case, asked, "still promises")
    message.flags &= ~LOADING
    message.history.pop()
