"""A feature is a folder and a line: without both, the program starts, offers the rest and answers."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

import cc_bot

pytestmark = pytest.mark.slow

SOURCE: Final = Path(str(cc_bot.__file__)).parent


@dataclass(frozen=True)
class Offer:
    commands: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    needed_by: tuple[str, ...] = ()
    """Features that cannot be without it."""


FEATURES_OUT: Final[Mapping[str, Offer]] = {
    "web_pages": Offer(tools=frozenset({"read_page", "web_search"})),
    "admin": Offer(frozenset({"admin"})),
    "mcp": Offer(),
    "reminders": Offer(
        frozenset({"remind", "heartbeat"}),
        frozenset({"schedule", "list_schedules", "cancel_schedule"}),
        ("heartbeat",),
    ),
    "heartbeat": Offer(frozenset({"heartbeat"})),
    "canvas": Offer(
        frozenset({"canvas"}), frozenset({"canvas_add_card", "canvas_add_chart", "canvas_set_mode"})
    ),
    "voice": Offer(),
    "documents": Offer(tools=frozenset({"read_file", "read_page"})),
    "doctor": Offer(),
    "agents": Offer(frozenset({"agent"})),
}


@pytest.mark.parametrize("feature", FEATURES_OUT)
async def test_the_bot_answers_without(feature: str, tmp_path: Path) -> None:
    from tests.architecture.help import all_commands
    from tests.end_to_end.stage import set_stage  # whose folder has pytest rewrite it first

    # A program of its own: what stands in the folder it is started in comes before what is installed.
    copy, offer = tmp_path / "cc_bot", FEATURES_OUT[feature]
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    listed = copy / "features" / "__init__.py"
    for name in (feature, *offer.needed_by):
        shutil.rmtree(copy / "features" / name)
        before, line, after = listed.read_text("utf-8").partition(f'    Feature("{name}"),\n')
        assert line
        listed.write_text(before + after, "utf-8")
    async with set_stage(tmp_path, {"CC_BOT_EMBEDDING_MODEL": "off"}) as stage:
        stage.program.from_nothing = True
        await stage.start()
        registered = {each.name for each in stage.discord.commands}
        assert {"ask", "memory", "clear"} <= registered
        assert not registered & offer.commands
        user, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        reply = await stage.ask_in_words(user, channel, "はい。")
        assert reply.text.startswith("はい。")
        assert "recall" in stage.tools()
        assert not stage.tools() & offer.tools
        shown = await all_commands(stage, stage.discord.user("Ben", locale="en-US"), channel)
        assert "/memory add" in shown
        assert not [name for name in offer.commands if f"/{name} " in shown]
        made = {name for (name,) in stage.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        schema = SOURCE / "features" / feature / "schema.sql"
        own = re.findall(r"CREATE TABLE (\w+)", schema.read_text("utf-8")) if schema.exists() else []
        assert "sessions" in made
        assert not made & {*own}
        code, output = await stage.program.stop(), stage.program.output
        assert code == 0, output
