"""The offline model with the real tools: what it keeps, replaces, forgets and lists."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant
from cc_bot.assistant.proposals import Proposals
from cc_bot.domain import Message
from cc_bot.domain.clock import utc_now
from cc_bot.domain.proposal import ForgetMemory
from cc_bot.llm.offline import OfflineModel
from cc_bot.stores import Stores, open_stores
from cc_bot.tools.registry import discover
from tests.assistant.conftest import KEY, OPTIONS, done
from tests.databases import laid_out

Say = Callable[[str], Awaitable[str]]


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield stores


@pytest.fixture
def say(stores: Stores) -> Say:
    assistant = Assistant(stores, OfflineModel(), discover(cc_bot.tools))

    async def say(text: str) -> str:
        return done(
            [event async for event in assistant.ask(KEY, Message("user", text), OPTIONS)]
        ).answer.content

    return say


async def kept(stores: Stores) -> list[str]:
    return [memory.content for memory in await stores.memories.list(KEY.user_id)]


class TestReplacing:
    @pytest.mark.parametrize(
        ("old", "new", "left"),
        [
            ("大阪に住んでいます。覚えて", "今は京都に住んでいるって覚えて", "今は京都に住んでいる"),
            (
                "誕生日は4月1日です。覚えて",
                "誕生日は4月じゃなくて3月1日です。覚えて",
                "誕生日は4月じゃなくて3月1日です。",
            ),
            (
                "Remember that my dentist is Dr Ito",
                "Remember that my dentist is now Dr Mori",
                "my dentist is now Dr Mori",
            ),
        ],
    )
    async def test_is_proposed_when_the_user_tells_of_a_change(
        self, stores: Stores, say: Say, old: str, new: str, left: str
    ) -> None:
        await say(old)
        await say(new)
        [wanted] = await stores.proposals.of_place(KEY.user_id, KEY.channel_id)
        await Proposals(stores, utc_now).accept(KEY.user_id, wanted.id)
        assert await kept(stores) == [left]

    async def test_does_not_happen_to_what_may_hold_as_well(self, stores: Stores, say: Say) -> None:
        await say("好きな食べ物は寿司です。覚えて")
        await say("好きな食べ物は餃子です。覚えて")
        assert len(await kept(stores)) == 2

    async def test_does_not_happen_to_other_things(self, stores: Stores, say: Say) -> None:
        await say("猫の名前はモチ。覚えて")
        await say("今は京都に住んでいるって覚えて")
        assert len(await kept(stores)) == 2


class TestForgetting:
    @pytest.mark.parametrize("asked", ["猫のこと忘れて", "猫の名前を消してください"])
    async def test_is_done_on_request(self, stores: Stores, say: Say, asked: str) -> None:
        await say("猫の名前はモチ。覚えて")
        await say("車の色は赤です。覚えて")
        assert "モチ" in await say(asked)
        assert await kept(stores) == ["車の色は赤です。"]

    @pytest.mark.parametrize("asked", ["#1を忘れて", "forget #1"])
    async def test_of_one_that_nobody_was_shown_is_proposed(
        self, stores: Stores, say: Say, asked: str
    ) -> None:
        await say("猫の名前はモチ。覚えて")
        await say(asked)
        [wanted] = await stores.proposals.of_place(KEY.user_id, KEY.channel_id)
        assert wanted.change == ForgetMemory(1, "猫の名前はモチ。", 1)

    async def test_asks_which_one_where_several_may_be_meant(self, stores: Stores, say: Say) -> None:
        await say("猫の名前はモチ。覚えて")
        await say("猫の名前はタマ。覚えて")
        answer = await say("猫の名前を忘れて")
        assert "#1" in answer
        assert "#2" in answer
        assert len(await kept(stores)) == 2

    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            ("全部忘れて", "/メモリ 全削除"),
            ("忘れて", "何を忘れましょうか"),
            ("飛行機のこと忘れて", "見つかりませんでした"),
            ("#99を忘れて", "見つかりません"),
            ("forget everything", "/memory delete-all"),
        ],
    )
    async def test_says_what_else_to_do(self, stores: Stores, say: Say, asked: str, told: str) -> None:
        await say("猫の名前はモチ。覚えて")
        assert told in await say(asked)
        assert len(await kept(stores)) == 1


class TestListing:
    async def test_names_what_is_kept_and_not_what_was_forgotten(self, say: Say) -> None:
        await say("猫の名前はモチ。覚えて")
        await say("車の色は赤です。覚えて")
        await say("猫のこと忘れて")
        answer = await say("メモリを全部見せて")
        assert "車の色は赤" in answer
        assert "モチ" not in answer


class TestSecrets:
    async def test_are_not_kept_and_that_is_said(self, stores: Stores, say: Say) -> None:
        assert "覚えられませんでした" in await say("パスワードはhunter2です。覚えて")
        assert await kept(stores) == []
