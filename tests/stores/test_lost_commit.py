"""A server that is lost while it commits: what was asked for is done once, whether it was kept or not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, Literal
from urllib.parse import parse_qs, urlsplit

import pytest

from cc_bot.domain.canvas import AddCard, Drawn
from cc_bot.domain.errors import CommitUncertain
from cc_bot.domain.member import ModelUsage, UsageSubject
from cc_bot.domain.proposal import KeepMemory
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.storage import Database, open_database
from cc_bot.stores import Reservation, ReservationRequest, Settlement, Stores
from tests.stores.backends import KEY, contents, stores_over, turn

pytestmark = pytest.mark.postgresql("a file is not lost while it commits")

PAYER: Final = UsageSubject(KEY.user_id)
COMMIT: Final = b"Q\x00\x00\x00\x0bCOMMIT\x00"
When = Literal["before", "after"]


class Line:
    """A connection to the server that can be cut at a COMMIT: before it arrives there, or before its end is
    heard."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.cut: When | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(self._socket)
        back = asyncio.create_task(self._copy(from_server, writer))
        with suppress(OSError):
            while data := await reader.read(65536):
                when, self.cut = (self.cut, None) if COMMIT in data else (None, self.cut)
                if when == "before":
                    break
                if when == "after":
                    back.cancel()
                    await asyncio.wait([back])
                    to_server.write(data)
                    await from_server.read(65536)  # it is kept by now
                    break
                to_server.write(data)
        back.cancel()
        await asyncio.gather(back, return_exceptions=True)
        for each in (to_server, writer):
            each.close()

    @staticmethod
    async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
            writer.close()


@asynccontextmanager
async def over_a_line(url: str) -> AsyncIterator[tuple[Line, Database]]:
    parts = urlsplit(url)
    [folder] = parse_qs(parts.query)["host"]
    line = Line(f"{folder}/.s.PGSQL.5432")
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, open_database(f"postgresql://postgres@127.0.0.1:{port}{parts.path}") as database:
        yield line, database


async def reserve(stores: Stores, entry: PendingTurn | None) -> Reservation:
    wish = ReservationRequest(PAYER, "turn", "model", 100)
    return await stores.usage.reserve(wish, {}, entry)


def used(reservation: Reservation) -> Settlement:
    return Settlement(reservation, ((ModelUsage("model", Usage(prompt_tokens=7)), 0),))


@pytest.mark.parametrize("when", ["before", "after"])
class TestServerThatIsLostWhileItCommits:
    async def test_a_turn_is_kept_once(self, url: str, stores: Stores, when: When) -> None:
        entry = PendingTurn("t", KEY, "ask", "public", stores.usage.now())
        async with over_a_line(url) as (line, database):
            ours = stores_over(database)
            reservation = await reserve(ours, entry)
            session = await ours.sessions.open(KEY)
            line.cut = when
            stored = await ours.sessions.archive_turn(
                session,
                turn("やあ"),
                entry="t",
                settlement=used(reservation),
                drawn=[Drawn(AddCard("買い物", "牛乳"), "public")],
                proposals=[KeepMemory("猫は三毛", "general", (), "anywhere")],
            )
        assert line.cut is None
        kept = await stores.sessions.open(KEY)
        assert contents(kept.history) == ["やあ", "やあの答え"]
        assert [message.id for message in stored.messages] == [message.id for message in kept.history]
        assert stored.canvas == kept.canvas
        assert len(kept.canvas.elements) == 1
        answer_id = kept.history[-1].id or 0
        assert stored.proposals == await stores.proposals.list_for_answer(KEY.user_id, answer_id)
        assert len(stored.proposals) == 1
        [day] = await stores.usage.list_for_user(KEY.user_id, reservation.day)
        assert (day.turns, day.tokens) == (1, 7)

    async def test_what_nobody_can_tell_is_not_done_again(self, url: str, stores: Stores, when: When) -> None:
        async with over_a_line(url) as (line, database):
            ours = stores_over(database)
            line.cut = when
            with pytest.raises(CommitUncertain):
                await ours.memories.add(KEY.user_id, "猫が好き")
        assert await stores.memories.count(KEY.user_id) == (1 if when == "after" else 0)
