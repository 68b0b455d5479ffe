"""Users who send far more and far larger things than people can; a bystander is served meanwhile."""

import asyncio
import io
import sys
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from secrets import token_urlsafe
from typing import Final

import pytest

from cc_bot.discord.gate import MAX_BURST
from cc_bot.domain.message import FILE_QUOTA
from cc_bot.domain.text import Locale
from cc_bot.features.documents.reader import MAX_CONCURRENT_READS
from cc_bot.features.documents.sandbox import MEMORY_BYTES
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.attacks.bystander import bystander
from tests.documents import word
from tests.end_to_end.stage import Stage, ended, stop_label
from tests.loopback.discord import Channel, ChannelReply, File, User
from tests.loopback.discord.interactions import Interaction
from tests.loopback.model_server import fails, says
from tests.reading.test_hostile import HOSTILE, objects

pytestmark = pytest.mark.asyncio(loop_scope="session")

A_SECOND: Final = 1000
COUNT: Final = 10 * A_SECOND
MANY: Final = 20
PNG: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
ROW: Final = b"2024-01-01,Tokyo,Aiko,1234.56\n"
LARGE: Final = {
    "docx": word(["はい"]) + bytes(19 * 2**20),
    "csv": ROW * (19 * 2**20 // len(ROW)),
    "ogg": b"OggS" + bytes(24 * 10**6),
}


async def flood(send: Callable[[], Awaitable[object]]) -> None:
    """Send COUNT, A_SECOND of them a second."""
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    for number in range(COUNT):
        await send()
        if number % 20 == 0:
            await asyncio.sleep(max(0.0, begun_s + number / A_SECOND - loop.time()))


async def send_again(stage: Stage, first: Interaction) -> Interaction:
    """The same once more, whatever the message shows by now."""
    world, now_s = stage.discord.world, asyncio.get_running_loop().time()
    again = replace(first, id=world.ids.next(), token=token_urlsafe(96), sent_at_s=now_s)
    again = replace(again, answered=None, answered_at_s=None, original=None, followups=[])
    await world.send_interaction(again)
    return again


async def write_and_wait(stage: Stage, users: Sequence[User], channels: int, *files: File) -> None:
    """Have the users, in turn, write to the bot in so many channels at once; wait until each answer has
    ended, however."""
    answers = []
    for number in range(channels):
        stage.model.script(says("はい。"))
        user, channel = users[number % len(users)], stage.discord.guild_channel()
        answers.append(stage.discord.answer(await stage.write(user, channel, "?", attachments=files)))
    for answer in answers:
        await is_over(answer)


async def is_over(answer: ChannelReply) -> None:
    label = stop_label(answer)
    await answer.until(lambda shown: bool(shown.text) and label not in shown.labels, "an end")


class TestAThousandASecond:
    async def test_presses(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("はい。"))
        reply = await ended(await stage.begin(aiko, channel, "?"))
        [press] = await stage.discord.press(aiko, reply.message, reply.labels[0])
        sent = list[Interaction]()

        async def send() -> None:
            sent.append(await send_again(stage, press.interaction))

        async with bystander(stage):
            await flood(send)
        answered = sum(each.answered is not None for each in sent)
        assert 0 < answered < MAX_BURST["interaction"] + 5  # a few more while it is used up

    async def test_commands(self, stage: Stage, aiko: User, channel: Channel) -> None:
        sent = []

        async def send() -> None:
            sent.append(await stage.discord.slash(aiko, channel, "help"))

        async with bystander(stage):
            await flood(send)
        answered = [each for each in sent if each.interaction.answered is not None]
        assert 0 < len(answered) - MAX_BURST["interaction"] < 5  # a few more while it is used up
        assert "<t:" in answered[-1].text  # the moment from which on it goes on

    async def test_messages(self, stage: Stage, aiko: User, channel: Channel) -> None:
        async with bystander(stage):
            await flood(lambda: stage.discord.post(aiko, channel, "はい"))


class TestPictures:
    async def test_in_twenty_channels_leave_no_more_than_the_quota_of_one_user(
        self, stage: Stage, aiko: User
    ) -> None:
        stage.model.script(*[says("はい。")] * MANY)
        ends, picture = [], File("a.png", PNG + b"x" * (8 * 2**20 - 100), "image/png")
        async with bystander(stage):
            for _ in range(MANY):  # at once, most are turned away: a user's line is short
                ends.append(await stage.ask(aiko, stage.discord.guild_channel(), attachment=picture))
        [(count, size)] = stage.rows(
            "SELECT count(*), sum(length(data)) FROM attachments WHERE user_id = ?", aiko.id
        )
        assert 0 < size <= FILE_QUOTA.user_bytes
        told = [embed.get("description", "") for reply in ends for embed in reply.history[-1].embeds]
        sentence = texts(Locale.JA)[AnswerTexts].files_deleted.format(count=1)
        assert sum(sentence in each for each in told) == MANY - count

    async def test_of_many_users_are_in_memory_a_few_at_a_time_and_all_are_answered(
        self, stage: Stage
    ) -> None:
        picture = File("a.png", PNG + b"x" * (8 * 2**20 - 100), "image/png")
        stage.model.script(*[says("はい。", delay_s=3.0)] * 12)
        users = [stage.discord.user(f"Sender {number}") for number in range(12)]
        async with bystander(stage):
            asked = (stage.ask(each, stage.discord.guild_channel(), attachment=picture) for each in users)
            replies = await asyncio.gather(*asked)
        assert all("はい。" in reply.text for reply in replies)

    async def test_in_twelve_channels_are_released_with_each_answer_or_failure(
        self, stage: Stage, aiko: User
    ) -> None:
        pictures = [File(f"{n}.png", PNG + b"x" * (8 * 10**6), "image/png") for n in range(3)]
        stage.model.script(*[fails(400)] * 6)
        async with bystander(stage, max_growth_mib=60):
            await write_and_wait(stage, [aiko], 12, *pictures)


class TestFilesInManyChannels:
    @pytest.mark.parametrize(("kind", "users"), [("docx", 1), ("ogg", 1), ("csv", 1), ("csv", 4)])
    async def test_are_in_memory_a_few_at_a_time(self, stage: Stage, kind: str, users: int) -> None:
        file = File(f"a.{kind}", LARGE[kind], "audio/ogg" if kind == "ogg" else "application/octet-stream")
        async with bystander(stage):
            await write_and_wait(stage, [stage.discord.user(f"Sender {n}") for n in range(users)], MANY, file)


def unfolding(method: int) -> bytes:
    """An archive whose first part, which every reader looks at, is 400 MB of zeros."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(written, "w", method) as archive,
        archive.open("mimetype", "w", force_zip64=True) as part,
    ):
        for _ in range(400):
            part.write(bytes(2**20))
    return written.getvalue()


def all_directory() -> bytes:
    """An archive that is little but its directory."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for n in range(200_000):
            archive.writestr(zipfile.ZipInfo(f"{n:x}"), b"")
    return written.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of processes")
class TestTwoUsersWithFiveFilesEach:
    async def send(self, stage: Stage, files: Sequence[bytes], max_growth_mib: float) -> None:
        attached = [File(f"{n}.bin", data, "application/zip") for n, data in enumerate(files)]
        users = [stage.discord.user(name) for name in ("Aiko", "Ben")]
        async with bystander(stage, max_growth_mib=max_growth_mib):
            await asyncio.gather(*(write_and_wait(stage, [each], 1, *attached) for each in users))

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
    async def test_that_unfold_to_gigabytes_take_no_memory(self, stage: Stage, method: int) -> None:
        """One of 1.5 kB that unfolds to 1.8 GB took twice as much."""
        await self.send(stage, [await asyncio.to_thread(unfolding, method)] * 5, 100)

    async def test_that_are_the_worst_of_each_kind_take_what_two_processes_may(self, stage: Stage) -> None:
        kinds = [HOSTILE[name] for name in ("millions of elements", "one that lies", "one of sheets")]
        allowed_mib = MAX_CONCURRENT_READS * MEMORY_BYTES / 2**20
        await self.send(stage, [*kinds, objects(400_000), all_directory()], allowed_mib)
