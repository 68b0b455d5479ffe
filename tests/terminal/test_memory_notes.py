"""What stands under an answer at a terminal of what it did to memories."""

from datetime import UTC, datetime
from io import StringIO

from cc_bot.domain import (
    Done,
    Locale,
    MemoriesRecalled,
    Memory,
    MemoryChange,
    MemoryChanged,
    Message,
    NotRemoved,
    NotSaved,
    TextDelta,
    TurnEvent,
    Usage,
)
from cc_bot.domain.memory import ChangeKind
from cc_bot.terminal.plain import PlainView
from cc_bot.texts import texts

NOW = datetime(2026, 11, 22, tzinfo=UTC)
DONE = Done(Message("assistant", "はい。"), Usage())


def memory(number: int = 3, content: str = "猫が好き", supersedes: int | None = None) -> Memory:
    return Memory(number, 0, content, "general", (), {}, NOW, NOW, supersedes=supersedes, number=number)


def changed(kind: ChangeKind, now: Memory, former: Memory | None = None) -> MemoryChanged:
    return MemoryChanged(MemoryChange(kind, now, former))


def told(*events: TurnEvent, locale: Locale = Locale.JA) -> list[str]:
    out = StringIO()
    with PlainView(out, StringIO()).answer(texts(locale)) as answer:
        for event in (TextDelta("はい。"), *events):
            answer.show(event)
    return out.getvalue().splitlines()[1:]


class TestMemoryNotes:
    def test_say_what_was_done_and_how_to_take_it_back(self) -> None:
        assert told(
            changed("added", memory()),
            changed("added", memory(5, "京都に住んでいる", supersedes=4), memory(4)),
            changed("updated", memory(6, "犬\n" * 60, supersedes=8), memory(6)),
            changed("deleted", memory(7)),
            changed("updated", memory(9), memory(9)),
            DONE,
        ) == [
            "◆ 💾 覚えました（#3）: 猫が好き  /memory delete 3 で取り消せます。",
            "◆ ✏️ 書き換えました（#5）: 京都に住んでいる  /memory undo 5 で取り消せます。",
            f"◆ ✏️ 書き換えました（#6）: {'犬 ' * 29}犬…  /memory undo 6 で取り消せます。",
            "◆ 🗑️ 忘れました（#7）: 猫が好き  /memory undo 7 で取り消せます。",
            "◆ 💾 もう覚えています（#9）: 猫が好き",
        ]

    def test_name_the_memories_used_but_for_those_that_are_gone(self) -> None:
        assert (
            told(
                MemoriesRecalled((1, 7), (1, 7)),
                MemoriesRecalled((2, 1), (2, 1)),
                changed("deleted", memory(7)),
                DONE,
            )[-1]
            == "◆ 🧠 使ったメモリ: #1, #2"
        )

    def test_own_up_to_a_promise(self) -> None:
        [line] = told(NotSaved(), DONE, locale=Locale.EN)
        assert line.startswith("◆ ⚠️ Nothing was saved.")
        [line] = told(NotSaved("reminder"), DONE, locale=Locale.EN)
        assert line.startswith("◆ ⚠️ No reminder was set.")

    def test_own_up_to_what_was_not_removed(self) -> None:
        [line] = told(NotRemoved("memory"), DONE, locale=Locale.EN)
        assert line.startswith("◆ ⚠️ No memory was deleted.")
        [line] = told(NotRemoved("reminder"), DONE, locale=Locale.EN)
        assert line.startswith("◆ ⚠️ No reminder was cancelled.")

    def test_are_told_once_and_also_when_no_end_comes(self) -> None:
        assert told(changed("added", memory())) == told(changed("added", memory()), DONE)
