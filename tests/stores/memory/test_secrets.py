"""What no memory may hold, by whatever way it comes."""

from pathlib import Path

import pytest

from cc_bot.domain.errors import SecretNotStored
from cc_bot.stores import open_stores
from cc_bot.stores.memory.secrets import MAX_CHARACTERS, SecretRules
from tests.databases import laid_out

SECRET = "パスワードは hunter2"


class TestMemories:
    async def test_with_a_secret_are_refused_wherever_it_stands(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "a.db"), secret_patterns=[r"EMP-\d{6}"]) as stores:
            kept = await stores.memories.add(1, "猫が好き")
            for content, category, tags in (
                (SECRET, "general", ()),
                ("社員証は emp-123456", "general", ()),
                ("猫", SECRET, ()),
                ("猫", "general", (SECRET,)),
            ):
                with pytest.raises(SecretNotStored):
                    await stores.memories.add(1, content, category=category, tags=tags)
                with pytest.raises(SecretNotStored):
                    await stores.memories.remember(1, content, category=category, tags=tags)
                with pytest.raises(SecretNotStored):
                    await stores.memories.update(1, kept.id, content=content, category=category, tags=tags)
            with pytest.raises(SecretNotStored):
                await stores.memories.add(1, "猫", metadata={"note": SECRET})
            assert await stores.memories.list(1) == [kept]


class TestPatterns:
    def test_are_searched_for_anywhere_and_in_any_case(self) -> None:
        rules = SecretRules([r"EMP-\d{6}", "社外秘"])
        for text in ("番号は emp-123456 です", "番号は ＥＭＰ－１２３４５６ です", "これは社外秘です"):
            with pytest.raises(SecretNotStored):
                rules.check(text)
        rules.check("EMP-12", None, "")

    def test_that_run_away_are_given_up_and_nothing_is_kept(self) -> None:
        with pytest.raises(SecretNotStored):
            SecretRules(["(a|aa)+$"]).check("a" * 3000 + "!")

    def test_are_not_searched_for_in_what_is_longer_than_any_memory(self) -> None:
        rules = SecretRules(["社外秘"])
        assert rules.refuse("あ" * (MAX_CHARACTERS + 1))
        assert rules.refuse(*["あ" * 100] * 81)
        assert not rules.refuse("あ" * MAX_CHARACTERS)

    def test_that_are_none_are_refused(self) -> None:
        with pytest.raises(ValueError, match="missing"):
            SecretRules(["(unclosed"])
