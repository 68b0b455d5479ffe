import re
from dataclasses import replace
from datetime import UTC, datetime

from cc_bot.discord.pages.custom_ids import ConfirmButton, OpenButton, parse_custom_id
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, File, Reply, User
from tests.loopback.discord.limits import TEXT_SELECT, Component, walk


def numbers(text: str) -> list[int]:
    """The ids of the memories that a list shows."""
    return [int(number) for number in re.findall(r"^-# #(\d+)\b", text, re.MULTILINE)]


async def keep(stage: Stage, user: User, channel: Channel, content: str, **options: str) -> int:
    text = await stage.told(user, channel, "memory add", content=content, **options)
    found = re.search(r"#(\d+)", text)
    assert found, text
    return int(found[1])


def find_id(stage: Stage, user: User, number: int) -> int:
    """The row of a memory, by what its user calls it."""
    [(row,)] = stage.rows("SELECT id FROM memories WHERE user_id = ? AND number = ?", user.id, number)
    return int(row)


async def run(stage: Stage, user: User, channel: Channel, command: str, **options: str | int | File) -> Reply:
    """A command, until its reply is there, which only its user sees."""
    reply = await (await stage.discord.slash(user, channel, f"memory {command}", **options)).finished()
    assert reply.ephemeral
    return reply


async def press(stage: Stage, user: User, reply: Reply, label: str) -> Reply:
    """A button, until its message has changed or something new is said."""
    pressed = await stage.discord.click(user, reply.message, label)
    return await pressed.finished(lambda shown: shown.history)


def menu_id(reply: Reply) -> str:
    """The custom id of the menu below a reply."""
    [found] = [part["custom_id"] for part in controls(reply) if part["type"] == TEXT_SELECT]
    return str(found)


def controls(reply: Reply) -> list[Component]:
    return [part for part in walk(reply.stored[0].components) if part.get("custom_id")]


def signed_in(stage: Stage, user: User) -> None:
    """Have a browser show the user's pages, of a time when they were served."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    stage.change(
        "INSERT INTO web_sessions (hash, user_id, channel_id, guild_id, made_at, used_at, ends_at)"
        f" VALUES ('{user.id}', {user.id}, 0, NULL, '{now}', '{now}', '2999-01-01T00:00:00.000000+00:00')"
    )


async def choose(stage: Stage, user: User, reply: Reply, value: int | str) -> Reply:
    """An option of the menu below a reply."""
    chosen = await stage.discord.select(user, reply.message, menu_id(reply), str(value))
    return await chosen.finished(lambda shown: shown.history)


async def opened(stage: Stage, user: User, listed: Reply, number: int) -> Reply:
    """A memory's card, by the button beside it in a list."""
    button = await stage.discord.click(user, listed.message, OpenButton(user.id, number).custom_id())
    return await button.finished(lambda shown: shown.history)


def grown_old(reply: Reply) -> None:
    """Let the time of the questions below a reply be over."""
    for part in controls(reply):
        pressed = parse_custom_id(part["custom_id"])
        if isinstance(pressed, ConfirmButton):
            part["custom_id"] = replace(pressed, until=1).custom_id()


def contents(stage: Stage, user: User) -> list[str]:
    return [
        text for (text,) in stage.rows("SELECT content FROM memories WHERE user_id = ? ORDER BY id", user.id)
    ]


async def form(stage: Stage, user: User, channel: Channel, number: int) -> Reply:
    """`/memory edit`, with its form open."""
    reply = await stage.discord.slash(user, channel, "memory edit", id=number)
    return await reply.acknowledged()


async def submitted(stage: Stage, opened: Reply, **inputs: str) -> Reply:
    return await (await stage.discord.submit_modal(opened, **inputs)).finished()


def prefilled(reply: Reply) -> dict[str, str]:
    assert reply.modal is not None
    fields = [row["components"][0] for row in reply.modal["components"]]
    return {field["custom_id"]: field.get("value", "") for field in fields}
