"""One user who sends far more than a person can, to the running program; a bystander is served meanwhile."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from secrets import token_bytes, token_urlsafe
from typing import Final

import pytest
import pytest_asyncio

from cc_bot.discord.floods import MAX_AT_ONCE
from cc_bot.domain import Locale
from cc_bot.domain.message import FILE_QUOTA
from cc_bot.texts import texts
from tests.attacks.bystander import bystander
from tests.databases import DatabaseSettings
from tests.documents import word
from tests.end_to_end.stage import Stage, ended, running_stage, stop_label
from tests.loopback.discord import Channel, ChannelReply, File, LoopbackDiscord, User
from tests.loopback.discord.interactions import Interaction
from tests.loopback.model_server import says

pytestmark = pytest.mark.asyncio(loop_scope="session")

A_SECOND: Final = 1000
COUNT: Final = 10 * A_SECOND
BATCH: Final = 20
PICTURES: Final = 20

PICTURE: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"x" * (8 * 2**20 - 100)

CHANNELS: Final = 20
SENDERS: Final = 12
ROW: Final = b"2024-01-01,Tokyo,Aiko,1234.56\n"
LARGE: Final = {
    "docx": word(["はい"]) + bytes(19 * 2**20),
    "csv": ROW * (19 * 2**20 // len(ROW)),
    "ogg": b"OggS" + bytes(24 * 10**6),
}

Send = Callable[[], Awaitable[object]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder, discord = tmp_path_factory.mktemp("flooded"), LoopbackDiscord(patience_s=60.0)
    async with running_stage(folder, database_settings(), discord) as stage:
        yield stage


async def flood(send: Send) -> None:
    """Send COUNT, A_SECOND of them a second."""
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    for number in range(COUNT):
        await send()
        if number % BATCH == 0:
            await asyncio.sleep(max(0.0, begun_s + number / A_SECOND - loop.time()))


async def send_again(stage: Stage, first: Interaction) -> Interaction:
    """The same once more, whatever the message shows by now."""
    world = stage.discord.world
    again = replace(
        first,
        id=world.ids.next(),
        token=token_urlsafe(96),
        sent_at_s=asyncio.get_running_loop().time(),
        answered=None,
        answered_at_s=None,
        original=None,
        followups=[],
    )
    await world.send_interaction(again)
    return again


async def is_over(answer: ChannelReply) -> None:
    """Wait until an answer has ended, whatever it says."""
    label = stop_label(answer)
    await answer.until(lambda shown: bool(shown.text) and label not in shown.labels, "an end")


class TestAThousandASecond:
    """Of one user, for ten seconds."""

    async def test_presses(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("はい。"))
        reply = await ended(await stage.begin(aiko, channel, "?"))
        [press] = await stage.discord.press(aiko, reply.message, reply.labels[0])
        sent = []

        async def send() -> None:
            sent.append(await send_again(stage, press.interaction))

        async with bystander(stage, channel):
            await flood(send)
        assert 0 < sum(each.answered is not None for each in sent) <= MAX_AT_ONCE["interaction"] + 1

    async def test_commands(self, stage: Stage, aiko: User, channel: Channel) -> None:
        sent = []

        async def send() -> None:
            sent.append(await stage.discord.slash(aiko, channel, "help"))

        async with bystander(stage, channel):
            await flood(send)
        answered = [each for each in sent if each.interaction.answered is not None]
        assert 0 < len(answered) - MAX_AT_ONCE["interaction"] < 5  # a few more while it is used up
        assert "<t:" in answered[-1].text  # the moment from which on it goes on

    async def test_messages(self, stage: Stage, aiko: User, channel: Channel) -> None:
        async with bystander(stage, channel):
            await flood(lambda: stage.discord.post(aiko, channel, "はい"))


class TestTwentyPictures:
    async def test_in_twenty_channels_leave_no_more_than_the_quota_of_one_user(
        self, stage: Stage, aiko: User
    ) -> None:
        stage.model.script(*[says("はい。")] * PICTURES)
        ends, picture = [], File("a.png", PICTURE, "image/png")
        elsewhere = stage.discord.guild_channel()
        async with bystander(stage, elsewhere):
            for _ in range(PICTURES):  # at once, most are turned away: a user's line is short
                ends.append(await stage.ask(aiko, stage.discord.guild_channel(), attachment=picture))
        [(count, size)] = stage.rows(
            "SELECT count(*), sum(length(data)) FROM attachments WHERE user_id = ?", aiko.id
        )
        assert 0 < size <= FILE_QUOTA.user_bytes
        told = [embed.get("description", "") for reply in ends for embed in reply.history[-1].embeds]
        sentence = texts(Locale.JA).answer.files_deleted.format(count=1)
        assert sum(sentence in each for each in told) == PICTURES - count


class TestPicturesOfManyUsers:
    async def test_are_in_memory_a_few_at_a_time_and_all_are_answered(
        self, stage: Stage, channel: Channel
    ) -> None:
        picture = File("a.png", PICTURE, "image/png")
        stage.model.script(*[says("はい。", delay_s=3.0)] * SENDERS)
        async with bystander(stage, channel):
            replies = await asyncio.gather(
                *(
                    stage.ask(
                        stage.discord.user(f"Sender {n}"), stage.discord.guild_channel(), attachment=picture
                    )
                    for n in range(SENDERS)
                )
            )
        assert all("はい。" in reply.text for reply in replies)


def with_picture(document: bytes, size: int) -> bytes:
    """The document with something in it that can't be packed."""
    packed = io.BytesIO(document)
    with zipfile.ZipFile(packed, "a") as package:
        package.writestr("word/media/a.png", token_bytes(size))
    return packed.getvalue()


class TestFilesInADirectMessage:
    async def test_are_in_memory_one_at_a_time(self, stage: Stage, aiko: User, channel: Channel) -> None:
        file = File("a.docx", with_picture(word(["はい"]), 19 * 2**20), "application/octet-stream")
        dm = stage.discord.dm(aiko)
        async with bystander(stage, channel):
            for _ in range(CHANNELS):
                stage.model.script(says("はい。"))
                await stage.ask(aiko, dm, attachment=file)


class TestFilesInManyChannels:
    """Of some users, who mention the bot in all of them at once."""

    @pytest.mark.parametrize(("kind", "users"), [("docx", 1), ("ogg", 1), ("csv", 1), ("csv", 4)])
    async def test_are_in_memory_a_few_at_a_time(
        self, stage: Stage, channel: Channel, kind: str, users: int
    ) -> None:
        file = File(f"a.{kind}", LARGE[kind], "audio/ogg" if kind == "ogg" else "application/octet-stream")
        async with bystander(stage, channel):
            asked = []
            for number in range(CHANNELS):
                stage.model.script(says("はい。"))
                user, place = stage.discord.user(f"Sender {number % users}"), stage.discord.guild_channel()
                asked.append(await stage.write(user, place, "?", attachments=(file,)))
            for message in asked:
                await is_over(stage.discord.answer(message))
