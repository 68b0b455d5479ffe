import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.stores.opening import Stores
from cc_bot.domain import errors
from cc_bot.domain.errors import DatabaseFull, NoSuchTime, ScheduleNotFound
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.features.memory.errors import EmptyMemory, MemoryNotFound
from cc_bot.features.memory.terminal import PAGE_SIZE
from cc_bot.features.memory.texts import MemoryTexts
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import TerminalReminderTexts
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.terminal.commands import (
    InvalidCommand,
    commands,
    describe_command,
    explain_to_operator,
    parse_line,
)
from cc_bot.texts import ErrorTexts, texts
from cc_bot.texts.answer import AnswerTexts, CanvasChangeTexts
from cc_bot.texts.cli import TerminalTexts
from cc_bot.texts.replies import UsageTexts
from tests.terminal.program import profile
from tests.terminal.talk import Talk
from tests.texts.areas import every_error

EN = texts(Locale.EN, names=Locale.EN)
NOTHING: Mapping[str, str] = {}

LINES = {
    "明日の天気は？": ("ask", "明日の天気は？", NOTHING),
    "／ａｓｋ　/etc/hosts とは？": ("ask", "/etc/hosts とは？", NOTHING),
    "/ask 一行目\n二行目": ("ask", "一行目\n二行目", NOTHING),
    "／ｈｅｌｐ": ("help", "", NOTHING),
    "/memory": ("memory list", "", NOTHING),
    " /MEMORY  Delete  ＃１２ ": ("memory delete", "＃１２", NOTHING),
    "/memory add I'm allergic to \"nuts": ("memory add", "I'm allergic to \"nuts", NOTHING),
    "/memory add -- --force git push": ("memory add", "--force git push", NOTHING),
    "/memory add git push --tags": ("memory add", "git push --tags", NOTHING),
    "/memory add --category 家族 --tags=誕生日,姉 3月15日": (
        "memory add",
        "3月15日",
        {"category": "家族", "tags": "誕生日,姉"},
    ),
    '/memory add --category "家の こと" "ごみは月曜"': (
        "memory add",
        "ごみは月曜",
        {"category": "家の こと"},
    ),
    "/canvas": ("canvas show", "", NOTHING),
    "/メモリ 追加 牛乳を買う": ("memory add", "牛乳を買う", NOTHING),
    "/メモリ": ("memory list", "", NOTHING),
    "/settings --timezone New York --language ja": (
        "settings",
        "",
        {"timezone": "New York", "language": "ja"},
    ),
    "/quit": ("exit", "", NOTHING),
    "help": ("help", "", NOTHING),
    "/help memory": ("help", "memory", NOTHING),
}
MISTAKES = {
    "/memory delte 3": EN[TerminalTexts].unknown_near.format(given="/memory delte", nearest="/memory delete"),
    "/hlep": EN[TerminalTexts].unknown_near.format(given="/hlep", nearest="/help"),
    "/メモリ 追化": EN[TerminalTexts].unknown_near.format(given="/メモリ 追化", nearest="/memory add"),
    **{
        line: EN[TerminalTexts].usage.format(usage=commands()[name].usage(name, Locale.EN))
        for line, name in {
            "/memory add --category": "memory add",
            "/memory add --category --tags a milk": "memory add",
            "/usage foo": "usage",
            "/exit now": "exit",
        }.items()
    },
    "/memory add --force git push": EN[TerminalTexts].unknown_option.format(
        given="--force", usage=commands()["memory add"].usage("memory add", Locale.EN)
    ),
    "/settings Japanese": EN[SessionTexts].settings_usage_in_terminal,
    "/remnd": EN[TerminalTexts].unknown_near.format(given="/remnd", nearest="/remind"),
    **{
        line: EN[TerminalTexts].not_here.format(given=given)
        for line, given in {
            "/heartbeat on": "/heartbeat on",
            "/memory show 3": "/memory show",
            "/Web": "/web",
            "/admin limits show": "/admin limits",
            "/agent lst": "/agent",
        }.items()
    },
    **{each: EN[TerminalTexts].unknown.format(given=each) for each in ("/xyz", "/")},
    **dict.fromkeys(
        ("/memory delete x", "/memory undo", f"/memory delete {2**63}"), EN[MemoryTexts].id_needed
    ),
    "/memory delete 9": EN.for_error(MemoryNotFound).format(id=9),
    "/remind delete 9": EN.for_error(ScheduleNotFound).format(id=9),
    "/remind resume 9": EN.for_error(ScheduleNotFound).format(id=9),
    "/memory add": EN.for_error(EmptyMemory),
    "/memory search": EN[MemoryTexts].query_needed,
    "/remind delete soon": EN[TerminalReminderTexts].id_needed,
    "/remind add 25:99 tea": EN.for_error(NoSuchTime).format(when="25:99 tea"),
    "/remind add tomorrow at 9": EN[TerminalReminderTexts].text_needed,
}


class TestLine:
    def test_is_read(self) -> None:
        assert {line: parse_line(line, EN) for line in LINES} == LINES

    @given(st.text())
    def test_is_a_question_a_command_or_a_mistake(self, text: str) -> None:
        for line in (text, f"/{text}", f"/memory {text}"):
            try:
                assert parse_line(line, EN)[0] in commands()
            except InvalidCommand:
                assert line.strip().startswith(("/", "／"))


async def test_a_mistake_is_one_sentence_that_says_what_to_do(english: Talk) -> None:
    assert {line: (await english.say(line)).strip() for line in MISTAKES} == MISTAKES


async def test_help_lists_every_command_with_what_it_does(chat: Talk, english: Talk) -> None:
    for talk in (chat, english):
        shown = await talk.say("/help")
        assert len(shown.splitlines()) < 24
        for name, command in commands().items():
            group, locale = name.split()[0], talk.chat.profile.locale
            assert f"  /{group}  {describe_command(group, talk.texts)}" in shown
            described = f"  {command.usage(name, locale)}\n      {describe_command(name, talk.texts)}"
            assert described in await talk.say(f"/help {group}")


class TestMemories:
    async def test_are_kept_listed_found_deleted_and_restored(self, chat: Talk) -> None:
        words = chat.texts[MemoryTexts]
        said = await chat.say("/memory add --category 家族 --tags 誕生日,姉 3月15日は誕生日")
        assert said.strip() == words.added.format(id=1, content="3月15日は誕生日")
        await chat.say('/memory add --tags "" 牛乳を買う')
        for line in ("/memory list 家族", "/memory list --category 家族", "/memory search 誕生日"):
            [_, found] = await chat.lines(line)
            assert all(part in found for part in ("#1  3月15日は誕生日", "家族", "#誕生日", "#姉")), line
        listed = await chat.lines("/memory list")
        assert (len(listed), any('#""' in line for line in listed)) == (3, False)
        assert (await chat.say("/memory list 旅行")).strip() == words.none_in_category.format(category="旅行")
        assert (await chat.say("/memory search ない")).strip() == words.no_match.format(query="ない")
        deleted, *_, undo = await chat.lines("/memory delete 2")
        assert (deleted, "/memory undo 2" in undo) == (words.deleted.format(id=2, content="牛乳を買う"), True)
        assert await chat.kept() == ["3月15日は誕生日"]
        assert await chat.lines("/memory undo 2") == [words.undeleted.format(id=2, content="牛乳を買う")]
        assert len(await chat.kept()) == 2
        for number in range(PAGE_SIZE):
            await chat.say(f"/memory add {number}番のロッカー")
        assert "/memory list 2" in (await chat.lines("/memory"))[-1]
        assert [line.split()[0] for line in (await chat.lines("/memory list 2"))[1:]] == ["#2", "#1"]

    async def test_go_back_to_what_they_said_before_a_change(self, chat: Talk, stores: Stores) -> None:
        await chat.say("/memory add 猫はタマ")
        await stores.memories.update(0, 1, content="猫はミケ")
        assert await chat.lines("/memory undo 1") == [
            chat.texts[MemoryTexts].undeleted.format(id=1, content="猫はタマ")
        ]
        assert await chat.kept() == ["猫はタマ"]
        nothing = chat.texts[TerminalTexts].nothing_to_undo.format(id=1)
        assert await chat.lines("/memory undo 1") == [nothing]

    async def test_of_a_paused_memory_are_refused(self, chat: Talk, stores: Stores) -> None:
        await stores.settings.set(0, memory_paused=True)
        refusal = chat.texts[TerminalTexts].errors[errors.MemoryPaused]
        assert await chat.lines("/memory add x") == [refusal]
        assert await chat.kept() == []


class TestQuestions:
    async def test_are_answered_and_stored(self, chat: Talk) -> None:
        assert await chat.say("こんにちは") == "答え: **こんにちは**\n"
        assert await chat.say("/ask こんにちは") == "答え: **こんにちは**\n"
        stored = [(each.role, each.content) for each in await chat.history()]
        assert stored == [("user", "こんにちは"), ("assistant", "答え: **こんにちは**")] * 2
        assert await chat.say("   ") == ""
        assert chat.texts[TerminalTexts].cut in await chat.say("cut")
        assert (await chat.say("/clear")).strip() == chat.texts[SessionTexts].cleared
        assert await chat.history() == ()
        assert await chat.conversation.run("/exit") is False

    async def test_with_a_key_or_password_are_not_stored_without_a_model(self, chat: Talk) -> None:
        chat.chat.profile = replace(chat.chat.profile, offline=True)
        for secret in (f"sk-proj-{'a1' * 20}", "パスワードは hunter2 です"):
            assert await chat.lines(secret) == [chat.texts[TerminalTexts].secret]
        assert await chat.history() == ()

    async def test_of_a_model_that_fails_say_in_one_sentence_what_to_set(self, chat: Talk) -> None:
        words = chat.texts[TerminalTexts].errors
        for question, sentence in {
            "wrong-port": words[errors.ModelUnreachable].format(host="models.example:1"),
            "wrong-key": words[errors.ModelRefusedKey],
            "wrong-model": words[errors.ModelNotFound].format(model="gpt-9"),
            "wrong-question": words[errors.ModelRefusedRequest],
        }.items():
            assert await chat.lines(question) == [sentence]
        assert len(await chat.lines("down")) == 1

    def test_that_only_the_operator_can_fix_do_not_send_them_to_the_operator(self) -> None:
        for locale in Locale:
            words = texts(locale)
            named = [
                text
                for text in map(words.for_error, every_error())
                if "管理者に" in text or "tell the" in text
            ]
            assert len(named) > 10
            assert [text for text in named if words[ErrorTexts].tell_operator not in text] == []
            said = explain_to_operator(DatabaseFull(), profile(locale))
            assert words[ErrorTexts].tell_operator not in said
            assert words[TerminalTexts].ask_doctor in said

    async def test_of_a_broken_database_are_one_sentence_a_line(self, chat: Talk, tmp_path: Path) -> None:
        await chat.say("こんにちは")
        with closing(sqlite3.connect(tmp_path / "chat.db")) as connection:
            for table in ("messages", "memories", "user_settings", "proposals"):
                connection.execute(f"ALTER TABLE {table} RENAME TO gone_{table}")
        for line in ("こんにちは", "/memory list"):
            assert len(await chat.lines(line)) == 1, line

    async def test_that_are_stopped_keep_what_came_and_say_so(self, chat: Talk) -> None:
        chat.chat.stop()
        running = asyncio.create_task(chat.say("slow"))
        while "ここまでは" not in chat.out.getvalue():  # noqa: ASYNC110 - nothing else tells of it
            await asyncio.sleep(0.001)
        chat.chat.stop()
        assert chat.texts[AnswerTexts].stopped in await running
        newest = (await chat.history())[-1]
        assert (newest.content, newest.status) == ("ここまでは", "stopped")


async def test_a_canvas_is_shown_and_cleared(chat: Talk, stores: Stores) -> None:
    words = chat.texts[CanvasTexts]
    assert (await chat.say("/canvas")).strip() == words.empty
    drawn, panel = await chat.say("draw"), await chat.say("/canvas")
    assert f"\n◆ {chat.texts[CanvasChangeTexts].changed_in_terminal}\n{panel}" in drawn
    assert panel.splitlines() == [
        "■ 支出",
        "78,000 65% ████████████████████████ 家賃",
        "42,000 35% █████████████            食費",
        "",
    ]
    assert (await chat.say("/canvas clear")).strip() == words.cleared
    assert (await chat.say("/canvas clear")).strip() == words.cleared_already
    await chat.lines("draw")
    await chat.say("/clear")
    assert (await chat.say("/canvas")).strip() == words.empty, "as its reply says"


async def test_settings_are_shown_and_changed_for_the_chat_that_is_open(chat: Talk) -> None:
    assert "Asia/Tokyo" in await chat.say("/settings")
    assert EN[SessionTexts].settings_saved in await chat.say("/settings --language en --timezone パリ")
    assert "Europe/Paris" in await chat.say("/settings")
    assert (await chat.stores.settings.get(0)).locale is Locale.EN
    await chat.stores.settings.set(0, timezone="Pacific/Honolulu")  # on a page
    await chat.say("/remind add tomorrow 9:00 dentist")
    [reminder] = await chat.stores[ScheduleStore].list(0)
    assert reminder.due_at.astimezone(ZoneInfo("Pacific/Honolulu")).hour == 9
    assert (await chat.lines("/settings --language fr")) == [EN[SessionTexts].language_needed]
    assert EN[UsageTexts].nothing in await chat.say("/usage")


def read_only_file(folder: Path) -> str:
    [file] = folder.glob("cc-bot-*.json")
    return file.read_text("utf-8")


async def test_a_users_data_are_shown_written_to_a_file_and_erased_once_confirmed(
    english: Talk, tmp_path: Path
) -> None:
    english.chat.profile = replace(english.chat.profile, history_file=tmp_path / "chat_history")
    await english.say("/memory add The key is in the hall")
    words = EN[PrivacyTexts]
    assert words.kinds["memories"] in await english.say("/privacy")
    await english.say("/privacy export")
    assert "in the hall" in read_only_file(tmp_path)
    english.decides(False, True)
    assert (await english.lines("/privacy erase"))[-1] == words.cancelled
    assert await english.kept()
    assert words.kinds["memories"] in (await english.lines("/privacy erase"))[-1]
    assert await english.kept() == []
    assert await english.lines("/privacy") == [words.nothing]
