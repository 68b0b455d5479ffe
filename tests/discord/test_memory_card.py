"""One memory with all that is known of it, as Discord shows it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import hikari
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.custom_ids import MemoryButton, parse_custom_id
from cc_bot.discord.pages.memory import EphemeralView, edited_view, forgotten_view, memory_card, refused_view
from cc_bot.domain import Locale, Memory, Source
from cc_bot.domain.memory import SourceKind
from cc_bot.texts import texts

JA = texts(Locale.JA)
WHEN = datetime(2026, 3, 15, tzinfo=UTC)
NOW = WHEN + timedelta(days=1)
LINK = "https://discord.com/channels/1/2/3"


def memory(content: str = "猫の名前はタマ", **given: Any) -> Memory:
    return replace(Memory(12, 1, content, "general", (), {}, WHEN, WHEN, number=12), **given)


def read(view: EphemeralView) -> str:
    """All that stands in an embed."""
    assert view.embed is not None
    fields = (f"{field.name}: {field.value}" for field in view.embed.fields)
    return "\n".join((view.embed.title or "", view.embed.description or "", *fields))


def characters(embed: hikari.Embed) -> int:
    fields = sum(len(field.name) + len(field.value) for field in embed.fields)
    return len(embed.title or "") + len(embed.description or "") + fields


class TestCard:
    @pytest.mark.parametrize("kind", get_args(SourceKind))
    def test_tells_why_it_is_known_whatever_its_source(self, kind: SourceKind) -> None:
        text = read(memory_card(memory(source=Source(kind)), (), JA, NOW))
        assert "なぜ知っているの？: " in text
        assert "{" not in text

    def test_shows_the_text_as_it_was_written(self) -> None:
        text = read(memory_card(memory("# 見出し\n-# *小さく*\n - 項目\n#猫"), (), JA, NOW))
        assert "\\# 見出し\n\\-# \\*小さく\\*\n \\- 項目\n#猫\n" in text

    def test_names_the_author_the_model_and_the_message(self) -> None:
        text = read(memory_card(memory(source=Source("message", LINK, author="*Ben*")), (), JA, NOW))
        assert r"\*Ben\* さんのメッセージ" in text
        assert f"[元のメッセージを見る]({LINK})" in text
        text = read(memory_card(memory(source=Source("model", LINK, model="gpt-x")), (), JA, NOW))
        assert "AIモデル: gpt-x" in text

    def test_has_a_menu_of_what_it_said_before(self) -> None:
        former = [memory(f"前の名前{number}", id=number) for number in range(30, 0, -1)]
        view = memory_card(memory(), former, JA, NOW)
        assert view.menu is not None
        assert len(view.menu.options) == 25
        assert view.menu.options[0].label == "前の名前30"
        assert "ほか26件" in read(view)

    def test_tells_what_else_was_different_where_the_text_was_the_same(self) -> None:
        view = memory_card(memory(), [memory(id=5, category="猫", tags=("ペット",))], JA, NOW)
        assert view.menu is not None
        assert view.menu.options[0].label == "猫 #ペット"

    def test_offers_the_other_audience(self) -> None:
        everywhere = [button.label for button in memory_card(memory(), (), JA, NOW).buttons]
        private = [button.label for button in memory_card(memory(audience="private"), (), JA, NOW).buttons]
        assert everywhere[:3] == ["編集", "削除", "自分だけの回答でだけ使う"]
        assert private[:3] == ["編集", "削除", "どこでも使う"]

    def test_marks_a_pin_and_offers_the_other_way(self) -> None:
        loose, pinned = (memory_card(memory(pinned=pinned), (), JA, NOW) for pinned in (False, True))
        assert read(loose).startswith("メモリ #12")
        assert read(pinned).startswith("📌 メモリ #12")
        assert [view.buttons[-1].label for view in (loose, pinned)] == ["📌 ピン留め", "ピンを外す"]
        assert parse_custom_id(loose.buttons[-1].custom_id) == MemoryButton("pin", 1, 12)
        assert parse_custom_id(pinned.buttons[-1].custom_id) == MemoryButton("unpin", 1, 12)

    @pytest.mark.parametrize(
        ("kind", "most", "told"),
        [
            ("command", 5, "目を通します（ピン留めの新しいものから5件まで）"),
            ("import", 5, "読むことはありません"),
            ("command", 0, "印です"),
            ("import", 0, "印です"),
        ],
    )
    def test_says_what_a_pin_is_good_for(self, kind: SourceKind, most: int, told: str) -> None:
        text = JA.memory_card.pin_told(memory(source=Source(kind)), most)
        assert text.startswith("📌 #12 をピン留めしました。\n-# ")
        assert told in text

    @given(
        st.text(min_size=1, max_size=4000),
        st.text(min_size=1, max_size=50),
        st.lists(st.text(min_size=1, max_size=400), max_size=20),
        st.text(max_size=2000),
    )
    def test_fits_an_embed_whatever_is_remembered(
        self, content: str, category: str, tags: list[str], author: str
    ) -> None:
        kept = memory(
            content, category=category, tags=tuple(tags), source=Source("message", LINK * 20, author=author)
        )
        view = memory_card(kept, [kept] * 30, JA, NOW)
        assert view.embed is not None
        assert len(view.embed.description or "") <= 4096
        assert all(len(field.value) <= 1024 for field in view.embed.fields)
        assert characters(view.embed) <= 6000

    def test_of_the_longest_memory_fits_an_embed(self) -> None:
        kept = memory("あ" * 4000, category="*" * 50, tags=("*" * 400,) * 20, source=Source("message", LINK))
        view = memory_card(kept, [memory("*" * 4000)] * 30, JA, NOW)
        assert view.embed is not None
        assert "あ" * 4000 in (view.embed.description or "")
        assert characters(view.embed) <= 6000


class TestEdited:
    def test_tells_only_what_changed(self) -> None:
        view = edited_view(memory(category="猫", supersedes=20), memory(), JA)
        assert view.content == "✏️ #12 を変更しました。\n**カテゴリ**：一般 → 猫"
        assert [button.label for button in view.buttons] == ["元に戻す"]

    def test_has_nothing_to_undo_where_nothing_changed(self) -> None:
        view = edited_view(memory(), memory(), JA)
        assert "変更はありませんでした" in view.content
        assert view.buttons == ()

    def test_fits_a_message_however_long_the_texts_are(self) -> None:
        after = memory("*" * 4000, category="*" * 50, tags=("*" * 400,) * 20, expires_at=NOW, supersedes=2)
        before = memory("_" * 4000, category="_" * 50, tags=("_" * 400,) * 20)
        assert len(edited_view(after, before, JA).content) <= 2000


class TestForgotten:
    def test_says_until_when_it_can_be_undone(self) -> None:
        view = forgotten_view(memory(), JA, NOW)
        assert f"<t:{int(NOW.timestamp()) + 600}:t> まで元に戻せます" in view.content
        assert [button.danger for button in view.buttons] == [False, True]

    def test_fits_a_message_however_long_the_text_is(self) -> None:
        assert len(forgotten_view(memory("あ" * 4000), JA, NOW).content) <= 2000


class TestNotKept:
    @given(st.text(st.characters(exclude_characters="\\"), max_size=4000))
    def test_shows_everything_back(self, entered: str) -> None:
        view = refused_view("だめでした。", entered, JA)
        shown = (view.embed.description or "") if view.embed else ""
        assert len(shown) <= 4096
        assert not entered.strip() or shown.replace("\\", "") == entered
