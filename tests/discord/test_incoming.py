"""What a channel's archive keeps of a message, and whom a message is for."""

import re
from datetime import UTC, datetime
from typing import Any

import hikari
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.incoming import (
    asks_nothing,
    content_of,
    is_addressed,
    is_for_others,
    is_from_person,
    is_withheld,
    text_of,
    to_message,
)
from cc_bot.domain.message import Message
from cc_bot.internet.addresses import find_addresses
from tests.discord.hikari_messages import AIKO, BEN, BOT, DISCORD, EVE, bot_user, message, payload, user

CALL = f"<@{BOT}>"


def text(content: str, *mentions: int) -> str:
    return text_of(message(content, mentions=mentions), bot_user())


class TestText:
    @pytest.mark.parametrize(
        "content",
        [
            f"{CALL} 元気？",
            f"{CALL}元気？",
            f"元気？ {CALL}",
            f"{CALL}、{CALL} 元気？ {CALL}",
            f"<@!{BOT}>: 元気？",
        ],
    )
    def test_leaves_out_that_the_bot_is_called(self, content: str) -> None:
        assert text(content, BOT) == "元気？"

    def test_names_the_bot_where_it_is_spoken_of(self) -> None:
        assert text(f"私は{CALL}が好き", BOT) == "私は@cc-botが好き"

    def test_names_people(self) -> None:
        assert text(f"{CALL} <@{BEN}>と<@!{AIKO}>は？", BOT, BEN, AIKO) == "@Benと@あいこは？"

    def test_has_no_address_in_the_name_of_somebody_mentioned(self) -> None:
        said = text(f"<@{EVE}> は？", EVE)
        assert "eve.example" in said
        assert list(find_addresses(said)) == []

    def test_leaves_codes_of_unknown_people_channels_and_roles_as_they_are(self) -> None:
        assert text("<@999> <#5> <@&6>") == "<@999> <#5> <@&6>"

    @given(st.lists(st.sampled_from([CALL, f"<@!{BOT}>", "あ", " ", "\n", "、", "<@", ">"]), max_size=12))
    def test_keeps_all_but_the_calls_at_its_ends(self, pieces: list[str]) -> None:
        said = "".join(pieces).strip()
        calls = rf"<@!?{BOT}>"
        ends = re.sub(rf"^(?:{calls}[\s,、:：]*)+|(?:\s*{calls})+$", "", said)
        assert text(said, BOT) == re.sub(calls, "@cc-bot", ends).strip()

    def test_of_nothing_but_spaces_between_two_words_is_read_at_once(self) -> None:
        """Looking for a call from each of them would go on for hours."""
        said = f"あ{' ' * 500_000}い"
        assert text(said, BOT) == said

    def test_is_empty_where_only_the_bot_is_called(self) -> None:
        assert text(f" {CALL} {CALL} ", BOT) == ""


class TestContent:
    def test_names_the_files(self) -> None:
        shown = message("見て", files=["a.png", "b c.txt"])
        assert content_of(shown, bot_user()) == "見て\n[file: a.png]\n[file: b c.txt]"

    def test_of_files_alone_names_them(self) -> None:
        assert content_of(message(files=["a.png"]), bot_user()) == "[file: a.png]"

    def test_quotes_an_answer_that_the_archive_has_not(self) -> None:
        reply = message("なぜ？", replies_to=payload("一行目\n二行目\n-# 小さな字", BOT))
        assert content_of(reply, bot_user(), quoting=True) == "> 一行目\n> 二行目\nなぜ？"
        assert content_of(reply, bot_user()) == "なぜ？"

    def test_quotes_the_beginning_of_a_long_answer(self) -> None:
        reply = message("なぜ？", replies_to=payload("あ" * 1000, BOT))
        assert content_of(reply, bot_user(), quoting=True) == "> " + "あ" * 300 + "…\nなぜ？"

    def test_quotes_nobody_else(self) -> None:
        reply = message(f"{CALL} どう思う？", mentions=[BOT], replies_to=payload("私の秘密", BEN))
        assert content_of(reply, bot_user(), quoting=True) == "どう思う？"

    def test_of_a_reply_that_only_calls_the_bot_says_so(self) -> None:
        reply = message(CALL, mentions=[BOT], replies_to=payload("ね？", BEN))
        assert content_of(reply, bot_user()) == "@cc-bot"


class TestMessageToKeep:
    def test_has_its_author_and_its_time(self) -> None:
        assert to_message(message("やあ"), bot_user()) == Message(
            "user",
            "やあ",
            author_id=AIKO,
            author_name="あいこ",
            discord_id=400,
            created_at=datetime(2026, 11, 22, 5, tzinfo=UTC),
        )

    def test_calls_its_author_as_the_server_does(self) -> None:
        member: dict[str, object] = {
            "roles": [],
            "joined_at": None,
            "nick": "あいちゃん",
            "deaf": False,
            "mute": False,
            "flags": 0,
        }
        assert to_message(message("やあ", member=member), bot_user()).author_name == "あいちゃん"

    def test_of_the_bot_is_an_answer(self) -> None:
        assert to_message(message("はい", BOT), bot_user()).role == "assistant"


class TestAddress:
    def test_is_the_bot_when_it_is_mentioned(self) -> None:
        assert is_addressed(message(f"{CALL} やあ", mentions=[BOT]), BOT)
        assert not is_addressed(message("<@102> やあ", mentions=[BEN]), BOT)
        assert not is_addressed(message("やあ"), BOT)

    def test_is_somebody_else_when_they_are_mentioned_or_answered(self) -> None:
        assert is_for_others(message("やあ", mentions=[BEN]), BOT)
        assert is_for_others(message("やあ", mentions=[BEN, BOT]), BOT)
        assert is_for_others(message("やあ", mention_everyone=True), BOT)
        assert is_for_others(message("やあ", mention_roles=["6"]), BOT)
        assert is_for_others(message("やあ", replies_to=payload("ね？", BEN)), BOT)

    def test_is_nobody_else_in_plain_words_and_replies_to_the_bot(self) -> None:
        assert not is_for_others(message("やあ"), BOT)
        assert not is_for_others(message("やあ", replies_to=payload("はい", BOT)), BOT)

    def test_is_asked_nothing_by_a_call_alone(self) -> None:
        assert asks_nothing(message(f"{CALL} ", mentions=[BOT]), bot_user())
        assert not asks_nothing(message(f"{CALL} ", mentions=[BOT], files=["a.png"]), bot_user())
        assert not asks_nothing(message(CALL, mentions=[BOT], replies_to=payload("ね？", BEN)), bot_user())


class TestAuthor:
    def test_is_a_person_unless_discord_says_otherwise(self) -> None:
        assert is_from_person(message("やあ"))
        assert not is_from_person(message("やあ", BOT))
        assert not is_from_person(message("やあ", webhook_id="7"))
        assert not is_from_person(message("やあ", DISCORD))


class TestWithheldContent:
    def test_is_that_of_neither_text_nor_files(self) -> None:
        assert is_withheld(message(""))
        assert not is_withheld(message("やあ"))
        assert not is_withheld(message("", files=["a.png"]))


class TestType:
    def test_is_hikaris(self) -> None:
        assert message("やあ", replies_to=payload("はい", BOT)).type is hikari.MessageType.REPLY


def embed(**fields: Any) -> dict[str, Any]:
    return {"type": "rich", **fields}


def snapshot(content: str = "", **fields: Any) -> dict[str, Any]:
    told = {"type": 0, "content": content, "embeds": [], "attachments": [], "edited_timestamp": None}
    return {"message": {**told, "timestamp": "2026-11-22T05:00:00+00:00", **fields}}


def poll(results: dict[str, Any] | None) -> dict[str, Any]:
    answers = [
        {"answer_id": 1, "poll_media": {"text": "寿司"}},
        {"answer_id": 2, "poll_media": {"text": "そば"}},
    ]
    told = {"expiry": None, "allow_multiselect": False, "layout_type": 1}
    return {"question": {"text": "お昼は？"}, "answers": answers, **told, "results": results}


class TestWhatStandsBesideTheText:
    def test_is_each_preview_as_a_quotation(self) -> None:
        shown = message("これは？", embeds=[embed(title="天気", description="晴れ\n夕方から雨")])
        assert content_of(shown, bot_user()) == "これは？\n[embed]\n> 天気\n> 晴れ\n> 夕方から雨"

    def test_is_every_text_of_what_a_bot_composed(self) -> None:
        fields = [{"name": "Build", "value": "passed", "inline": True}]
        composed = embed(author={"name": "CI"}, title="main", fields=fields, footer={"text": "5 min"})
        told = content_of(message(embeds=[composed]), bot_user())
        assert told == "[embed]\n> CI\n> main\n> Build: passed\n> 5 min"

    def test_is_no_more_of_a_preview_than_fits(self) -> None:
        told = content_of(message(embeds=[embed(description="あ" * 4000)] * 9), bot_user())
        assert told.count("[embed]") == 5
        assert told.count("あ") == 5 * 799

    def test_is_every_text_of_components(self) -> None:
        texts = [{"type": 10, "id": number, "content": f"文{number}"} for number in (1, 2)]
        container = {"type": 17, "id": 3, "components": [texts[1]]}
        shown = message(components=[texts[0], container], flags=1 << 15)
        assert content_of(shown, bot_user()) == "[embed]\n> 文1\n> 文2"
        assert not is_withheld(shown)

    def test_is_no_picture_without_a_word(self) -> None:
        assert content_of(message("猫", embeds=[embed(image={"url": "http://x/"})]), bot_user()) == "猫"

    @pytest.mark.parametrize(
        ("results", "told"),
        [
            (None, "[poll] お昼は？\n- 寿司\n- そば"),
            (
                {"is_finalized": False, "answer_counts": [{"id": 1, "count": 3, "me_voted": False}]},
                "[poll] お昼は？\n- 寿司: 3\n- そば: 0",
            ),
            ({"is_finalized": True, "answer_counts": []}, "[poll, closed] お昼は？\n- 寿司: 0\n- そば: 0"),
        ],
    )
    def test_is_a_poll_with_its_votes(self, results: dict[str, Any] | None, told: str) -> None:
        assert content_of(message(poll=poll(results)), bot_user()) == told

    def test_is_the_name_of_a_sticker(self) -> None:
        stickers = [{"id": "1", "name": "お疲れ\nさま", "format_type": 1}]
        assert content_of(message(sticker_items=stickers), bot_user()) == "[sticker: お疲れ さま]"

    def test_is_a_forward_with_its_embeds_and_files(self) -> None:
        file = {"id": "1", "filename": "表.csv", "size": 1, "url": "http://x/", "proxy_url": "http://x/"}
        shown = snapshot(
            f"<@{BEN}> 明日10時\n駅で",
            mentions=[user(BEN)],
            embeds=[embed(title="地図")],
            attachments=[file],
        )
        told = content_of(message(message_snapshots=[shown]), bot_user())
        assert told == "[forwarded message]\n> @Ben 明日10時\n> 駅で\n> [embed]\n> > 地図\n[file: 表.csv]"

    @given(st.text(alphabet="あ>[]`: \n\r\x0b\x1c\x85\u2028", max_size=30))
    def test_never_has_a_line_that_could_be_its_authors(self, said: str) -> None:
        shown = message("私の言葉", message_snapshots=[snapshot(said)], embeds=[embed(description=said)])
        own, *others = content_of(shown, bot_user()).splitlines()
        assert own == "私の言葉"
        assert {line for line in others if not line.startswith(">")} <= {"[embed]", "[forwarded message]"}

    @pytest.mark.parametrize(
        ("fields", "tainted"),
        [
            ({"embeds": [embed(title="忘れて")]}, True),
            ({"message_snapshots": [snapshot("覚えて")]}, True),
            ({"poll": poll(None)}, False),
            ({"sticker_items": [{"id": "1", "name": "笑", "format_type": 1}]}, False),
        ],
    )
    def test_taints_a_question_where_others_may_have_written_it(
        self, fields: dict[str, Any], tainted: bool
    ) -> None:
        assert to_message(message("やあ", **fields), bot_user()).taints is tainted

    @pytest.mark.parametrize(
        "fields",
        [
            {"embeds": [embed(title="天気")]},
            {"poll": poll(None)},
            {"sticker_items": [{"id": "1", "name": "笑", "format_type": 1}]},
            {"message_snapshots": [snapshot("やあ")]},
        ],
    )
    def test_alone_is_something_to_read(self, fields: dict[str, Any]) -> None:
        assert not is_withheld(message(**fields))
        assert not asks_nothing(message(**fields), bot_user())

    def test_is_nothing_of_a_forward_that_is_withheld(self) -> None:
        assert is_withheld(message(message_snapshots=[snapshot("")]))
