"""Every sentence names commands as its reader's client shows them, and only commands that there are."""

import base64
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

import hikari
import lightbulb
import pytest

from cc_bot.chat.context.instructions import instructions
from cc_bot.discord import bot, recipients
from cc_bot.discord.gateway import gateway_bot
from cc_bot.discord.incoming import quotation
from cc_bot.domain.text import Locale
from cc_bot.texts import Texts, commands, texts, texts_with_mentions
from cc_bot.texts.area import Area
from tests.discord.mentioned import mentioned
from tests.texts.areas import areas_in

MARK = re.compile(r"</[a-z][a-z -]*>")
MENTION = re.compile(r"</([^:>]+):(\d+)>")
NAMES = {locale: commands.command_names(locale) for locale in Locale}
ROOTS = sorted({names[key] for names in NAMES.values() for key in names if "_" not in key})
PLAIN = re.compile(rf"(?<![\w</])/(?:{'|'.join(map(re.escape, ROOTS))})(?![\w-])")
IN_THE_TERMINAL = re.compile(r"TerminalTexts\.|TerminalReminderTexts\.|.*_(here|in_terminal)$")
"""Fields of sentences that are said there alone, with commands as they are typed."""
TOKEN = base64.b64encode(b"123456789012345678").decode() + ".x.y"


def sentences(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Texts):
        yield from sentences(areas_in(value), path)
    elif isinstance(value, Area):
        yield from sentences(value.values(), path)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            name = key.__name__ if isinstance(key, type) else key
            yield from sentences(each, f"{path}.{name}".lstrip("."))
    elif isinstance(value, tuple):
        for each in value:
            yield from sentences(each, path)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from sentences(getattr(value, field.name), f"{path}.{field.name}".lstrip("."))


async def offered() -> frozenset[str]:
    """Every command that can be given, with its group and subcommand."""
    client = lightbulb.client_from_app(
        gateway_bot(TOKEN, None, "off"),
        localization_provider=recipients.command_names(),
        default_locale=recipients.DEFAULT_LOCALE,
    )
    await client.load_extensions(*bot.extension_names())
    found = set[str]()
    for command in client.registered_commands:
        builder = await command.as_command_builder(client.default_locale, client.localization_provider)
        if isinstance(builder, hikari.api.SlashCommandBuilder):
            found.update(paths(builder.name, builder.options))
    return frozenset(found)


def paths(name: str, options: Any) -> Iterator[str]:
    parts = [each for each in options or () if each.type in (1, 2)]
    if not parts:
        yield name
    for each in parts:
        yield from paths(f"{name} {each.name}", each.options)


@pytest.mark.parametrize("locale", list(Locale))
class TestSentence:
    async def test_mentions_each_command_that_is_known_and_that_there_is_and_never_in_code(
        self, locale: Locale
    ) -> None:
        known = dict(sentences(mentioned(locale)))
        plain = [path for path, text in known.items() if PLAIN.search(text)]
        assert [path for path in plain if not IN_THE_TERMINAL.match(path)] == []
        found = {name for text in known.values() for name, _ in MENTION.findall(text)}
        assert len(found) > 30
        assert found - await offered() == set()
        assert [path for path, text in known.items() if re.search(r"`[^`\n]*</", text)] == []

    def test_has_no_mark_left_and_no_id_where_no_one_presses_it(self, locale: Locale) -> None:
        named = [texts(locale, names=names) for names in Locale]
        unpressed = [instructions(locale), commands.command_names(locale), *named]
        trees = [*unpressed, mentioned(locale), texts_with_mentions(locale, {})]
        assert [path for tree in trees for path, text in sentences(tree) if MARK.search(text)] == []
        assert [path for tree in unpressed for path, text in sentences(tree) if MENTION.search(text)] == []

    def test_of_a_model_has_the_readers_names(self, locale: Locale) -> None:
        found = {name for _, text in sentences(instructions(locale)) for name in PLAIN.findall(text)}
        assert found
        assert found <= {f"/{name}" for key, name in NAMES[locale].items() if "_" not in key}

    def test_that_is_read_back_gives_the_model_names(self, locale: Locale) -> None:
        said = "メモリはまだありません。</memory add:1234567890123456789> で保存できます。"
        assert quotation(said) == "> メモリはまだありません。/memory add で保存できます。"


async def test_names_are_known_in_both_languages_for_every_command_and_without_discord() -> None:
    japanese, english = commands.command_namer(Locale.JA), commands.command_namer(Locale.EN)
    assert (japanese("admin limits show"), japanese("memory delete-all")) == (
        "/管理 制限 表示",
        "/メモリ 全削除",
    )
    for path in await offered():
        assert english(path) == f"/{path}"
        assert re.fullmatch(r"/\S*[^\x00-\x7f]\S*( \S+)*", japanese(path))
    names = await bot.list_command_names(TOKEN)
    assert {"ask", "memory", "clear", "Remember this"} <= names
    assert not {name for name in names if "_" in name}  # the keys of their wordings
    with pytest.raises(ValueError, match="token"):
        await bot.list_command_names("not a token")
