"""What a channel's archive keeps of a message, and whom a message is for."""

import re
from datetime import UTC, datetime

import hikari
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.messages.incoming import (
    asks_nothing,
    content_of,
    is_addressed,
    is_for_others,
    is_from_person,
    is_withheld,
    text_of,
    to_message,
    without_files,
)
from cc_bot.domain.message import Attachment, Message
from tests.discord.hikari_messages import AIKO, BEN, BOT, DISCORD, bot_user, message, payload

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


class TestRefusedFiles:
    def test_leave_the_recordings_of_a_question(self) -> None:
        picture = Attachment("a.png", "image/png", b"")
        recording = Attachment("a.mp3", "audio/mpeg", b"", seconds=3)
        both = Message("user", "何時？\n[file: a.png]\n[file: a.mp3]", attachments=(picture, recording))
        spoken = Message("user", "何時？\n[file: a.mp3]", attachments=(recording,))
        [first, second] = without_files([both, spoken])
        assert (first.attachments, "the model refused them" in first.content) == ((recording,), True)
        assert second == spoken
        assert without_files([spoken]) == (spoken,)
