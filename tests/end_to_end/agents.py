"""A program with agents, as the tests of them want it."""

from pathlib import Path
from typing import Final

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

FILE: Final = """
[agents.tutor]
display_name = { ja = "英語の先生", en = "English teacher" }
description = { ja = "英会話の練習に", en = "Practise your English" }
prompt = "You are a strict teacher called Ms. Green."
model = "teacher-large, teacher-small"
temperature = 0.3
tools = ["recall"]

[agents.poet]
display_name = "Poet"
prompt = "You answer in verse."
"""
GREEN: Final = "You are a strict teacher called Ms. Green."
VERSE: Final = "You answer in verse."
OWN: Final = "あなたは Discord で人を手伝うアシスタントです。"


def write_file(folder: Path, text: str) -> None:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "agents.toml").write_text(text, encoding="utf-8")


async def use(stage: Stage, user: User, channel: Channel, name: str) -> str:
    return await stage.told(user, channel, "agent use", name=name)


def told_to_be(stage: Stage, number: int = -1) -> str:
    """The first system message of a request."""
    return str(stage.model.requests[number].messages[0]["content"])
