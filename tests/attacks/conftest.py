"""Who is there while a running program is attacked. Each module starts the program that it attacks."""

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User


@pytest.fixture
def aiko(stage: Stage) -> User:
    return stage.discord.user("Aiko", locale="ja")


@pytest.fixture
def ben(stage: Stage) -> User:
    return stage.discord.user("Ben", locale="en-US")


@pytest.fixture
def channel(stage: Stage) -> Channel:
    return stage.discord.guild_channel()
