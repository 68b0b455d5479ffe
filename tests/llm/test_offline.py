"""The offline model with the real tools and stores: what it understands in both languages, and what it says
to everything else."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import ChatRequest, UserPart
from cc_bot.llm.offline import EN, JA, MAX_CHARACTERS, OfflineModel
from cc_bot.texts import texts
from cc_bot.texts.replies import MomentTexts
from tests.assistant.conftest import OPTIONS, done
from tests.databases import laid_out
from tests.llm.asking import hear
from tests.scripted_model import only


@dataclass(frozen=True)
class Chat:
    """A conversation of a user with the offline model."""

    stores: Stores
    assistant: Assistant
    user_id: int = 0
    ids: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def key(self) -> SessionKey:
        return SessionKey(self.user_id, 2)

    def another(self) -> "Chat":
        """Return a user without memories."""
        return replace(self, user_id=next(self.ids))

    async def ask(self, text: str, *files: Attachment) -> Message:
        question = Message("user", text, attachments=files)
        events = [event async for event in self.assistant.ask(self.key, question, OPTIONS)]
        return done(events).answer

    async def say(self, *texts: str) -> str:
        """Send messages and return the answer to the last."""
        return [(await self.ask(text)).content for text in texts][-1]

    async def calls(self, text: str) -> list[tuple[str, dict[str, Any]]]:
        return [(call.name, json.loads(call.arguments)) for call in (await self.ask(text)).tool_calls]

    async def kept(self) -> list[str]:
        return [memory.content for memory in await self.stores.memories.list(self.user_id)]

    async def reminders(self) -> list[str]:
        return [each.text for each in await self.stores[ScheduleStore].list(self.user_id)]

    async def knows(self, *contents: str) -> "Chat":
        """Add memories, as if from an earlier day."""
        for content in contents:
            await self.stores.memories.add(self.user_id, content)
        return self


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield Chat(stores, Assistant(stores, only(OfflineModel()), discover_tools()))


def check(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Report all differences at once."""
    assert {said: found[said] for said in expected if found[said] != expected[said]} == {}


FACTS: Final = {
    "覚えて: 鍵は玄関": "鍵は玄関",
    "鍵は玄関って覚えておいて": "鍵は玄関",
    "猫の名前はタマだと覚えといて": "猫の名前はタマだ",
    "鍵は玄関だから忘れないでね": "鍵は玄関",
    "鍵が玄関にあることを覚えておいてください": "鍵が玄関にある",
    "私の誕生日は3月15日です。覚えておいて": "私の誕生日は3月15日です",
    "remember that the gate is green": "the gate is green",
    "I'm allergic to peanuts, please remember that": "I'm allergic to peanuts",
    "The gate is green. Don't forget it!": "The gate is green",
    **dict.fromkeys(("私の住所を覚えてる？", "歌詞を覚えている", "Do you remember my address?")),
    **dict.fromkeys(("I can't remember where I put it", "I remember that film")),
}


class TestRemembering:
    async def test_keeps_the_fact_without_the_wish(self, chat: Chat) -> None:
        found: dict[str, str | None] = {}
        for said in FACTS:
            told = await (who := chat.another()).say(said)
            found[said] = next(iter(await who.kept()), None)
            assert (found[said] or "") in told
        check(found, FACTS)

    async def test_of_what_is_only_pointed_at_asks_back(self, chat: Chat) -> None:
        for wish in ("これ覚えて", "覚えておいて", "remember this"):
            told = EN if wish.isascii() else JA
            assert await chat.say("猫の名前はタマ", wish) == told["remember_what"], wish
        assert await chat.kept() == []

    async def test_of_a_secret_is_refused_in_words(self, chat: Chat) -> None:
        assert (await chat.say("パスワードはhunter2です。覚えて")).startswith(JA["failed"].format(error=""))
        assert await chat.kept() == []


KNOWN: Final = {
    "うちの猫、なんて名前だっけ？": "猫の名前はモチ",
    "私の誕生日はいつ？": "誕生日は5月2日です",
    "結婚記念日を教えてください": "結婚記念日は11月22日",
    "What am I allergic to?": "I'm allergic to peanuts",
    "who is my dentist": "my dentist is Dr Ito",
}


class TestRecalling:
    async def test_tells_what_was_remembered_as_it_was_written(self, chat: Chat) -> None:
        for asked, known in KNOWN.items():
            beside = ("図書館の本は返却済み", known, "The recycling centre opens at 7")
            told = await (await chat.another().knows(*beside)).say(asked)
            assert known in told, asked
            assert not any(other in told for other in (beside[0], beside[2])), asked

    async def test_lists_everything_and_says_when_nothing_was_found(self, chat: Chat) -> None:
        for asked in ("私について何を覚えていますか？", "What do you know about me?"):
            told = await (await chat.another().knows("My boat is called Petrel", "趣味は登山です")).say(asked)
            assert "My boat is called Petrel" in told
            assert "趣味は登山です" in told

    async def test_says_when_nothing_was_found_or_it_is_not_sure(self, chat: Chat) -> None:
        told = await (await chat.another().knows("The gate is green")).say("Where is my umbrella?")
        assert told == f"{EN['not_found']}\n{EN['unknown']}"
        told = await (await chat.another().knows("my cat is called Tama")).say("what is my dog called?")
        assert told == f"{EN['closest']}\n- my cat is called Tama"


class TestForgetting:
    async def test_is_done_through_a_search(self, chat: Chat) -> None:
        for asked in ("猫のこと忘れて", "猫の名前を消してください", "forget the cat"):
            who = await chat.another().knows("猫の名前はモチ", "車の色は赤です")
            assert "モチ" in await who.say(asked), asked
            assert await who.kept() == ["車の色は赤です"]

    async def test_of_several_none_or_one_that_was_not_shown_changes_nothing(self, chat: Chat) -> None:
        await chat.knows("猫の名前はモチ", "猫の名前はタマ", "ナッツ全般アレルギー")
        for asked, told in {
            "#1を忘れて": JA["proposed"],
            "forget #2": EN["proposed"],
            "猫の名前を忘れて": "- #1 猫の名前はモチ",
            "飛行機のこと忘れて": JA["not_found"],
            "#99を忘れて": JA["failed"].format(error=""),
            "forget vegetarian": "#3 ナッツ全般アレルギー",
            "全部忘れて": JA["forget_all"],
            "forget everything": EN["forget_all"],
        }.items():
            assert told in await chat.say(asked), asked
        assert len(await chat.kept()) == 3


REMINDERS: Final[dict[str, tuple[str, str]]] = {
    "明日9時に薬って知らせて": ("明日9時", "薬"),
    "明日10時に会議のお知らせして": ("明日10時", "会議"),
    "薬を明日9時にリマインドして": ("明日9時", "薬"),
    "明日の朝7時に洗濯を思い出させて": ("明日の朝7時", "洗濯"),
    "10分後に教えて": ("10分後", JA["time_is_up"]),
    "毎朝8時に天気をお知らせして": ("毎朝8時", "天気"),
    "remind me tomorrow at 9 to take the pills": ("tomorrow at 9", "take the pills"),
    "remind me to call mom tomorrow at 9": ("tomorrow at 9", "call mom"),
    "remind me of the pills tomorrow at 7": ("tomorrow at 7", "the pills"),
    "could you remind me in 10 minutes about the oven?": ("in 10 minutes", "the oven"),
    "来週金曜は歯医者。知らせて": ("来週金曜", "歯医者"),
    "Dentist next Fri, remind me": ("next Fri", "Dentist"),
    "薬を飲むこと、明日知らせて": ("明日", "薬を飲む"),
    "会議があること、明日3時に教えて": ("明日3時", "会議がある"),
    "ゴミのこと、明日の朝知らせて": ("明日の朝", "ゴミ"),
    "明日の朝、ゴミを出すこと教えて": ("明日の朝", "ゴミを出す"),
    "明日9時に歯医者があるから知らせて": ("明日9時", "歯医者がある"),
}


class TestReminding:
    async def test_is_made_of_plain_words(self, chat: Chat) -> None:
        for said, (when, text) in REMINDERS.items():
            assert await (who := chat.another()).calls(said) == [("schedule", {"when": when, "text": text})]
            assert await who.reminders() == [text], said

    async def test_without_a_time_that_can_be_is_refused_in_words(self, chat: Chat) -> None:
        for wish, told in {
            "薬をリマインドして": JA["remind_when"],
            "remind me to call mom": EN["remind_when"],
            "2月30日に薬って知らせて": JA["failed"].format(error=""),
        }.items():
            assert told in await chat.another().say(wish), wish
        for said in ("日本の首都を教えて", "tell me about Paris", "手紙を送って"):
            assert "schedule" not in {name for name, _ in await chat.another().calls(said)}, said

    async def test_is_set_for_a_fact_that_is_remembered_with_its_date(self, chat: Chat) -> None:
        for said, kept, when, text in (
            ("来週の金曜は歯医者。覚えて、当日知らせて", "{}は歯医者", "来週の金曜", "歯医者"),
            (
                "来週の金曜は歯医者なので、覚えておいて、当日の朝に知らせて",
                "{}は歯医者",
                "来週の金曜 朝",
                "歯医者",
            ),
            (
                "Remember that I see the dentist next Friday and remind me at 9",
                "I see the dentist {}",
                "next Friday at 9",
                "I see the dentist",
            ),
        ):
            words, who = EN if said.isascii() else JA, chat.another()
            calls = await who.calls(said)
            assert calls[0] == ("schedule", {"when": when, "text": text})
            [reminder] = await who.stores[ScheduleStore].list(who.user_id)
            moment = texts(Locale.EN if said.isascii() else Locale.JA)[MomentTexts]
            assert await who.kept() == [kept.format(moment.name_day(reminder.local_due, utc_now()))]
            assert reminder.local_due.weekday() == 4
            assert await who.say(said) == "\n".join(
                (words["remembered"].format(text=(await who.kept())[0]), words["scheduled"])
            )
        told = await (who := chat.another()).say("来週の金曜は歯医者。覚えて、前の日に知らせて")
        assert (await who.kept(), await who.reminders()) == (["来週の金曜は歯医者"], [])
        assert told.endswith(JA["remind_when"])

    async def test_of_a_day_is_listed_when_asked_about_that_day(self, chat: Chat) -> None:
        await chat.say("来週の金曜は歯医者。知らせて")
        for asked in ("来週の金曜、空いてる？", "来週の金曜の予定を教えて", "Am I free next Friday?"):
            heading, reminder = (await chat.say(asked)).split("\n")
            assert heading == (EN if asked.isascii() else JA)["reminders_then"]
            assert reminder.endswith("歯医者")
        assert (await chat.say("予定を教えて")).startswith(JA["reminders"])
        for asked in ("来週の木曜、空いてる？", "What are my plans next Thursday?"):
            assert await chat.say(asked) == (EN if asked.isascii() else JA)["nothing_then"]
        await chat.knows("来週の木曜は飲み会")
        assert "飲み会" in await chat.say("来週の木曜、空いてる？")

    async def test_is_listed(self, chat: Chat) -> None:
        assert await chat.say("What reminders do I have?") == EN["no_reminders"]
        told = await chat.say("明日9時に薬って知らせて", "お知らせは何がある？")
        assert re.fullmatch(rf"{JA['reminders']}\n- #1 .*日\(.\) 9:00 薬", told)

    async def test_of_two_times_sets_none(self, chat: Chat) -> None:
        for wish in (
            "来週の月曜の15時に歯医者、前日の夜にも教えて",
            "remind me tomorrow at 9 to call mom and at 18 too",
            "歯医者を月曜の15時と前日の夜に知らせて",
            "remind me to call mom tomorrow at 9, and also at 18",
        ):
            assert await chat.say(wish) == (EN if wish.isascii() else JA)["one_time"]
        assert await chat.reminders() == []

    async def test_a_bare_number_means_one_after_their_list_and_is_asked_about_otherwise(
        self, chat: Chat
    ) -> None:
        for asked, wish in (("お知らせの一覧", "#1を消して"), ("show my reminders", "delete #1")):
            words, who = EN if wish.isascii() else JA, await chat.another().knows("鍵は玄関")
            await who.say("明日9時に薬って知らせて")
            assert await who.say(wish) == words["delete_which"].format(id=1)
            await who.say(asked, wish)
            assert (await who.reminders(), await who.kept()) == ([], ["鍵は玄関"]), wish

    async def test_is_cancelled_if_exactly_one_may_be_meant(self, chat: Chat) -> None:
        for wish, left in {
            "さっきのお知らせを消して": ["薬"],
            "薬のお知らせを取り消してください": ["歯医者"],
            "お知らせ #1 を消して": ["歯医者"],
            "cancel the last reminder": ["薬"],
            "please delete the reminder about 歯医者": ["薬"],
            "お知らせを消して": ["薬", "歯医者"],
            "会議のお知らせを消して": ["薬", "歯医者"],
            "cancel all reminders": ["薬", "歯医者"],
        }.items():
            who = chat.another()
            await who.say("明日9時に薬って知らせて", "明日10時に歯医者って知らせて")
            told = await who.say(wish)
            assert await who.reminders() == left, wish
            asked_back = told.startswith((JA["cancel_which"], EN["cancel_which"]))
            assert asked_back == (len(left) == 2), told
        assert await chat.say("さっきのお知らせを消して") == JA["no_reminders"]


async def test_a_statement_is_answered_with_how_to_have_it_remembered(chat: Chat) -> None:
    assert await chat.say("私の名前は太郎です") == JA["statement"].format(text="私の名前は太郎です")
    assert await chat.say("My name is Taro.") == EN["statement"].format(text="My name is Taro")
    found = EN["found"].format(text="my key is in the hall")
    assert await chat.say("remember that my key is in the hall", "where is my key?") == found


CARDS: Final[dict[str, tuple[str, str] | None]] = {
    "買い物リストをキャンバスに作って：牛乳、卵": ("買い物リスト", "- [ ] 牛乳\n- [ ] 卵"),
    "牛乳をキャンバスに出して": (JA["list"], "- [ ] 牛乳"),
    "キャンバスに卵を出してください": (JA["list"], "- [ ] 卵"),
    "put my shopping list on the canvas: milk, eggs and bread": (
        "shopping list",
        "- [ ] milk\n- [ ] eggs\n- [ ] bread",
    ),
    "Put milk on my canvas, please.": (EN["list"], "- [ ] milk"),
    "Put this on the canvas: milk, eggs": (EN["list"], "- [ ] milk\n- [ ] eggs"),
    **dict.fromkeys(("買うものをキャンバスに出して", "make a list on the canvas", "キャンバスとは？")),
}


async def test_a_list_is_put_on_the_canvas(chat: Chat) -> None:
    found: dict[str, tuple[str, str] | None] = {}
    for said in CARDS:
        calls = [each for name, each in await chat.another().calls(said) if name == "canvas_add_card"]
        found[said] = (calls[0]["title"], calls[0]["content"]) if calls else None
    check(found, CARDS)
    assert await chat.say("キャンバスに卵を出して") == JA["drawn"]
    assert await chat.say("Draw a shopping list on the canvas") == EN["draw_what"]
    for wish in ("買い物リストに牛乳を足して", "キャンバスの卵を消して", "add milk to my shopping list"):
        assert await chat.say(wish) == (EN if wish.isascii() else JA)["list_change"]
    assert await chat.say("キャンバスを空にして") == JA["emptied"]


class TestEverythingElse:
    async def test_greetings_and_questions_what_it_can_do_get_examples_each_time(self, chat: Chat) -> None:
        for said in ("こんにちは", "何ができる？", "使い方を教えて", "What can you do?"):
            words = EN if said.isascii() else JA
            assert [await chat.say(said), await chat.say(said)] == [words["unknown"]] * 2, said
        assert await chat.say("ありがとう！") == JA["thanks"]

    async def test_gets_the_sentence_that_names_the_key_in_the_language_of_the_question(
        self, chat: Chat
    ) -> None:
        assert all("OPENAI_API_KEY" in each["unknown"] for each in (JA, EN))
        image = Attachment("cat.png", "image/png", b"\x89PNG")
        assert (await chat.ask("What is this?", image)).content == EN["unknown"]
        for said in (
            "明日の天気はどうかな",
            "Sing a song",
            "😀",
            "draw a bar chart",
            "会議を忘れないように教えて",
            "x " * MAX_CHARACTERS,
        ):
            told = await (who := chat.another()).say(said)
            words = EN if said.isascii() else JA  # the language of the settings, without words
            assert told.endswith(words["unknown"]), said
            assert (await who.say(said)).endswith(words["still_unknown"]), said

    async def test_that_has_no_tool_here_can_not_be_done(self) -> None:
        for wish in ("鍵は玄関って覚えて", "明日9時に薬って知らせて", "#1を忘れて"):
            assert (await hear(OfflineModel(), ChatRequest((UserPart(wish),)))).text == JA["not_here"], wish
