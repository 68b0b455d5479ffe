"""Documents against the process that reads them, and against the program: thousands that are damaged, one
that never ends, and files of two users at once that take all the memory there is."""

import asyncio
import sys
import zipfile
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Final

import pytest
import pytest_asyncio
from hypothesis import given, settings

from cc_bot.domain.errors import InputError
from cc_bot.reading.reader import AT_A_TIME, DocumentReader
from cc_bot.reading.sandbox import MEMORY_BYTES
from tests.attacks.bystander import bystander
from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, running_stage, stop_label
from tests.loopback.discord import File, LoopbackDiscord
from tests.reading.confinement import UNCONFINED
from tests.reading.test_hostile import HOSTILE, IN_TIME_S, check, damaged, objects

FILES: Final = 5


class TestDocuments:
    @settings(max_examples=2000)
    @given(damaged())
    async def test_are_read_or_refused(self, data: bytes) -> None:
        """Each in a process of its own: about ten minutes in all."""
        await check(data)

    async def test_of_a_million_objects_are_given_up_in_time(self) -> None:
        reader = DocumentReader(unconfined=UNCONFINED)
        with pytest.raises(InputError):
            await asyncio.wait_for(reader.read(objects(1_200_000)), IN_TIME_S)


def packed(method: int, size_mib: int) -> bytes:
    """An archive whose first part, which every reader looks at, is so many zeros."""
    written = BytesIO()
    with (
        zipfile.ZipFile(written, "w", method) as archive,
        archive.open("mimetype", "w", force_zip64=True) as part,
    ):
        for _ in range(size_mib):
            part.write(bytes(2**20))
    return written.getvalue()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder, discord = tmp_path_factory.mktemp("documents"), LoopbackDiscord(patience_s=180.0)
    async with running_stage(folder, database_settings(), discord) as stage:
        yield stage


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of processes")
@pytest.mark.asyncio(loop_scope="session")
class TestTwoUsersWithFiveFilesEach:
    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
    async def test_that_unfold_to_gigabytes_take_no_memory(self, stage: Stage, method: int) -> None:
        """One of 1.5 kB that unfolds to 1.8 GB took twice as much."""
        data = await asyncio.to_thread(packed, method, 400)
        async with bystander(stage, stage.discord.guild_channel()):
            await attach(stage, [data] * FILES)

    async def test_that_are_the_worst_of_each_kind_take_what_two_processes_may(self, stage: Stage) -> None:
        most_mib = AT_A_TIME * MEMORY_BYTES / 2**20
        async with bystander(stage, stage.discord.guild_channel(), max_growth_mib=most_mib):
            await attach(
                stage,
                [
                    *(HOSTILE[name] for name in ("millions of elements", "one that lies", "one of sheets")),
                    objects(400_000),
                    zipped_directory(200_000),
                ],
            )


async def attach(stage: Stage, files: list[bytes]) -> None:
    """Have two users send these files at once, and wait until both are told how that ended."""

    async def send(name: str) -> None:
        attached = tuple(File(f"{n}.bin", data, "application/zip") for n, data in enumerate(files))
        user, channel = stage.discord.user(name), stage.discord.guild_channel()
        message = await stage.write(user, channel, "?", attachments=attached)
        answer = stage.discord.answer(message)
        label = stop_label(answer)
        await answer.until(lambda shown: shown.text and label not in shown.labels, "the end of the answer")

    await asyncio.gather(send("Aiko"), send("Ben"))


def zipped_directory(entries: int) -> bytes:
    """An archive that is little but its directory."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for n in range(entries):
            archive.writestr(zipfile.ZipInfo(f"{n:x}"), b"")
    return written.getvalue()
