"""Documents against the process that reads them: thousands that are damaged, and one that never ends."""

import asyncio

import pytest
from hypothesis import given, settings

from cc_bot.domain.errors import InputError
from cc_bot.reading.reader import DocumentReader
from tests.reading.confinement import UNCONFINED
from tests.reading.test_hostile import IN_TIME_S, check, damaged, objects


class TestDocuments:
    @settings(max_examples=2000)
    @given(damaged())
    async def test_are_read_or_refused(self, data: bytes) -> None:
        """Each in a process of its own: about ten minutes in all."""
        await check(data)

    async def test_of_a_million_objects_are_given_up_in_time(self) -> None:
        with pytest.raises(InputError):
            await asyncio.wait_for(DocumentReader(unconfined=UNCONFINED).read(objects(1_200_000)), IN_TIME_S)
