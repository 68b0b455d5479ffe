"""Long histories are read by the page: what the pages hold together, and what reading one costs."""

from typing import Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain import Attachment, Message, Session, SessionKey
from cc_bot.domain.message import Visibility
from cc_bot.storage import Database
from cc_bot.stores import SessionStore
from tests.stores.backends import KEY, OTHER_USER, Recorder, contents, turn

Kind = Literal["turn", "answer", "regenerate", "clear"]
KINDS: tuple[Kind, ...] = ("turn", "turn", "turn", "answer", "regenerate", "clear")
VISIBILITIES: tuple[Visibility, ...] = ("public", "private")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(VISIBILITIES)), max_size=14)
NOTE = Attachment("メモ.txt", "text/plain", "牛乳".encode())


def expected(archive: list[Message], limit: int, visibility: Visibility) -> list[str]:
    """The history told from all that was said since the last clear, in the plainest way."""
    seen = [message for message in archive if visibility in ("private", message.visibility)]
    seen = seen[-limit:] if limit else seen
    while seen and seen[0].role == "assistant":
        seen = seen[1:]
    return contents(seen)


async def read_all(store: SessionStore, key: SessionKey, visibility: Visibility) -> Session:
    session = await store.open(key, visibility=visibility)
    while session.more:
        session = await store.load_earlier(session, visibility=visibility)
    return session


async def fill(store: SessionStore, turns: int, key: SessionKey = KEY) -> None:
    session = await store.open(key)
    for number in range(turns):
        await store.commit_turn(session, turn(f"質問{number}"))


class TestPages:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps=STEPS, limit=st.integers(0, 12), page_size=st.integers(1, 7), user=st.integers(1, 2**62))
    async def test_joined_are_the_bounded_tail_of_what_was_said_that_may_be_seen(
        self, database: Database, steps: list[tuple[Kind, Visibility]], limit: int, page_size: int, user: int
    ) -> None:
        key, archive = SessionKey(user, channel_id=1), list[Message]()
        whole = SessionStore(database, history_limit=limit)
        paged = SessionStore(database, history_limit=limit, page_size=page_size)
        await paged.clear(key)  # another example may have had this user
        for number, (kind, visibility) in enumerate(steps):
            if kind == "clear":
                archive = []
                assert (await paged.clear(key)).history == ()
                continue
            before = await paged.open(key, visibility=visibility)
            newest = before.history[-1] if before.history and kind == "regenerate" else None
            replaced = newest if newest and newest.role == "assistant" else None
            archive = [each for each in archive if not replaced or each.content != replaced.content]
            files = (NOTE,) * (number % 2)
            question, answer = turn(f"質問{number}", visibility=visibility, attachments=files)
            answer = Message("assistant", answer.content, visibility=visibility)
            said = [question, answer] if kind == "turn" else [answer]
            archive += said
            after = await paged.commit_turn(before, said, replaces=replaced.id if replaced else None)
            if kind != "regenerate":
                assert await paged.open(key, visibility=visibility) == after
        for seen in VISIBILITIES:
            history = (await read_all(paged, key, seen)).history
            assert contents(history) == expected(archive, limit, seen)
            assert history == (await whole.open(key, visibility=seen)).history

    async def test_of_a_session_that_was_cleared_or_is_another_users_are_not_shown(
        self, database: Database
    ) -> None:
        recorder = Recorder(database)
        store = SessionStore(recorder, history_limit=0, page_size=4)
        await fill(store, 5)
        mine = await store.open(KEY)
        assert (contents(mine.history)[::2], mine.more) == (["質問3", "質問4"], True)
        stolen = Session(mine.id, OTHER_USER, (), mine.created_at, mine.last_active, more=True)
        assert (await store.load_earlier(stolen, visibility="private")).history == ()
        whole = await store.load_earlier(await store.load_earlier(mine))
        assert (len(whole.history), whole.more) == (10, False)
        recorder.trips = 0
        assert await store.load_earlier(whole) is whole
        assert recorder.trips == 0
        await store.clear(KEY)
        again = await store.load_earlier(mine)
        assert (again.history, again.more) == (mine.history, False)
