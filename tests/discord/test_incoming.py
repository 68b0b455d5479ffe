import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord import incoming
from cc_bot.discord.incoming import (
    has_no_visible_content,
    is_for_others,
    memorable_text,
    text_of,
    text_with_file_names,
    to_message,
)
from cc_bot.discord.pages.answer import TRANSCRIPT_MARK
from cc_bot.features.web_pages.addresses import find_addresses
from tests.discord.cases import check
from tests.discord.hikari_messages import AIKO, BEN, BOT, DISCORD, EVE, bot_user, message, payload, user

CALL = f"<@{BOT}>"
CALLED = [
    *(f"{CALL} 元気？", f"{CALL}元気？", f"元気？ {CALL}", f"{CALL}、{CALL} 元気？ {CALL}"),
    f"<@!{BOT}>: 元気？",
]


def text(content: str, *mentions: int) -> str:
    return text_of(message(content, mentions=mentions), bot_user())


class TestText:
    def test_names_people_and_leaves_out_that_the_bot_is_called(self) -> None:
        assert [text(said, BOT) for said in CALLED] == ["元気？"] * len(CALLED)
        check(
            (text(f"私は{CALL}が好き", BOT), "私は@cc-bot が好き"),
            (text(f"{CALL} <@{BEN}>と<@!{AIKO}>は？", BOT, BEN, AIKO), "@Ben と@あいこ は？"),
            (text("<@999> <#5> <@&6>"), "<@999> <#5> <@&6>"),
            (text(f" {CALL} {CALL} ", BOT), ""),
        )
        eve = text(f"<@{EVE}> は？", EVE)
        assert ("eve.example" in eve, list(find_addresses(eve))) == (True, [])

    @given(st.lists(st.sampled_from([CALL, f"<@!{BOT}>", "あ", " ", "\n", "、", "<@", ">"]), max_size=12))
    def test_keeps_all_but_the_calls_at_its_ends(self, pieces: list[str]) -> None:
        said = "".join(pieces).strip()
        calls = rf"<@!?{BOT}>"
        ends = re.sub(rf"^(?:{calls}[\s,、:：]*)+|(?:\s*{calls})+$", "", said)
        named = re.sub(rf"{calls}(?!\s|$)", "@cc-bot ", ends)
        assert text(said, BOT) == re.sub(calls, "@cc-bot", named).strip()

    def test_of_nothing_but_spaces_between_two_words_is_read_at_once(self) -> None:
        """Looking for a call from each of them would go on for hours."""
        said = f"あ{' ' * 500_000}い"
        assert text(said, BOT) == said


def test_content_names_the_files_and_quotes_answers_that_the_archive_has_not() -> None:
    answer = message("なぜ？", replies_to=payload("一行目\n二行目\n-# 小さな字", BOT))
    long = message("なぜ？", replies_to=payload("あ" * 1000, BOT))
    others = message(f"{CALL} どう思う？", mentions=[BOT], replies_to=payload("私の秘密", BEN))
    member: dict[str, Any] = {
        "roles": [],
        "joined_at": None,
        "nick": "あい",
        "deaf": 0,
        "mute": 0,
        "flags": 0,
    }
    check(
        (
            text_with_file_names(message("見て", files=["a.png", "b c.txt"]), bot_user()),
            "見て\n[file: a.png]\n[file: b c.txt]",
        ),
        (text_with_file_names(answer, bot_user(), quoting=True), "> 一行目\n> 二行目\nなぜ？"),
        (text_with_file_names(answer, bot_user()), "なぜ？"),
        (text_with_file_names(long, bot_user(), quoting=True), f"> {'あ' * 300}…\nなぜ？"),
        (text_with_file_names(others, bot_user(), quoting=True), "どう思う？"),
        (to_message(message("やあ"), bot_user()).author_name, "あいこ"),
        (to_message(message("やあ", member=member), bot_user()).author_name, "あい"),
        (to_message(message("はい", BOT), bot_user()).role, "assistant"),
    )


def test_a_message_is_for_the_bot_or_for_somebody_else_and_from_a_person_or_not() -> None:
    to_bot, to_ben = payload("はい", BOT), payload("ね？", BEN)
    check(
        (incoming.is_addressed(message(f"{CALL} やあ", mentions=[BOT]), BOT), True),
        (incoming.is_addressed(message("<@102> やあ", mentions=[BEN]), BOT), False),
        (is_for_others(message("やあ", mentions=[BEN, BOT]), BOT), True),
        (is_for_others(message("やあ", mention_everyone=True), BOT), True),
        (is_for_others(message("やあ", mention_roles=["6"]), BOT), True),
        (is_for_others(message("やあ", replies_to=to_ben), BOT), True),
        (is_for_others(message("やあ", replies_to=to_bot), BOT), False),
        (incoming.is_empty_question(message(f"{CALL} ", mentions=[BOT]), bot_user()), True),
        (incoming.is_empty_question(message(f"{CALL} ", mentions=[BOT], files=["a.png"]), bot_user()), False),
        (incoming.is_empty_question(message(CALL, mentions=[BOT], replies_to=to_ben), bot_user()), False),
    )
    some = (message("やあ"), message("やあ", BOT), message("やあ", webhook_id="7"), message("", DISCORD))
    assert [incoming.is_from_person(each) for each in some] == [True, False, False, False]


def embed(**fields: Any) -> dict[str, Any]:
    return {"type": "rich", **fields}


def snapshot(content: str = "", **fields: Any) -> dict[str, Any]:
    told = {"type": 0, "content": content, "embeds": [], "attachments": [], "edited_timestamp": None}
    return {"message": {**told, "timestamp": "2026-11-22T05:00:00+00:00", **fields}}


def poll(results: dict[str, Any] | None) -> dict[str, Any]:
    answers = [{"answer_id": n, "poll_media": {"text": said}} for n, said in ((1, "寿司"), (2, "そば"))]
    told = {"expiry": None, "allow_multiselect": False, "layout_type": 1}
    return {"question": {"text": "お昼は？"}, "answers": answers, **told, "results": results}


STICKER = {"id": "1", "name": "お疲れ\nさま", "format_type": 1}


class TestWhatStandsBesideTheText:
    def test_is_told_as_others_words(self) -> None:
        fields = [{"name": "Build", "value": "passed", "inline": True}]
        composed = embed(author={"name": "CI"}, title="main", fields=fields, footer={"text": "5 min"})
        file = {"id": "1", "filename": "表.csv", "size": 1, "url": "http://x/", "proxy_url": "http://x/"}
        mapped, ben = [embed(title="地図")], [user(BEN)]
        forward = snapshot(f"<@{BEN}> 明日10時\n駅で", mentions=ben, embeds=mapped, attachments=[file])
        forwarded = "[forwarded message]\n> @Ben 明日10時\n> 駅で\n> [embed]\n> > 地図\n[file: 表.csv]"
        components = [{"type": 10, "id": number, "content": f"文{number}"} for number in (1, 2)]
        parts = [components[0], {"type": 17, "id": 3, "components": [components[1]]}]
        votes = {"is_finalized": True, "answer_counts": [{"id": 1, "count": 3, "me_voted": False}]}

        def told(content: str = "", **fields: Any) -> str:
            return text_with_file_names(message(content, **fields), bot_user())

        check(
            (
                told("これは？", embeds=[embed(title="天気", description="晴れ\n雨")]),
                "これは？\n[embed]\n> 天気\n> 晴れ\n> 雨",
            ),
            (told(embeds=[composed]), "[embed]\n> CI\n> main\n> Build: passed\n> 5 min"),
            (told(components=parts, flags=1 << 15), "[embed]\n> 文1\n> 文2"),
            (told("猫", embeds=[embed(image={"url": "http://x/"})]), "猫"),
            (told(poll=poll(None)), "[poll] お昼は？\n- 寿司\n- そば"),
            (told(poll=poll(votes)), "[poll, closed] お昼は？\n- 寿司: 3\n- そば: 0"),
            (told(sticker_items=[STICKER]), "[sticker: お疲れ さま]"),
            (told(message_snapshots=[forward]), forwarded),
        )
        long = told(embeds=[embed(description="あ" * 4000)] * 9)
        assert (long.count("[embed]"), long.count("あ")) == (5, 5 * 799)

    def test_is_remembered_in_its_own_words(self) -> None:
        def kept(content: str = "", *, ours: bool = False, **fields: Any) -> str:
            return memorable_text(message(content, **fields), bot_user(), by_bot=ours)

        moved = snapshot(f"<@{BEN}> 明日10時\n駅で", mentions=[user(BEN)], embeds=[embed(title="地図")])
        check(
            (kept(f"<@{BEN}> likes tea", mentions=[BEN], embeds=[embed(title="Tea")]), "@Ben likes tea"),
            (kept(message_snapshots=[moved]), "@Ben 明日10時\n駅で\n地図"),
            (
                kept(f"> {TRANSCRIPT_MARK} 合言葉は？\n\nオオルリです。\n\n-# 小さな字", ours=True),
                "オオルリです。",
            ),
            (kept("> 引用\n本文\n-# 私の小さな字"), "> 引用\n本文\n-# 私の小さな字"),
            (kept(files=["a.png"]), ""),
        )

    @given(st.text(alphabet="あ>[]`: \n\r\x0b\x1c\x85\u2028", max_size=30))
    def test_never_has_a_line_that_could_be_its_authors(self, said: str) -> None:
        shown = message("私の言葉", message_snapshots=[snapshot(said)], embeds=[embed(description=said)])
        own, *others = text_with_file_names(shown, bot_user()).splitlines()
        assert own == "私の言葉"
        assert {line for line in others if not line.startswith(">")} <= {"[embed]", "[forwarded message]"}

    @pytest.mark.parametrize(
        ("fields", "tainted"),
        [
            ({"embeds": [embed(title="忘れて")]}, True),
            ({"message_snapshots": [snapshot("覚えて")]}, True),
            ({"poll": poll(None)}, False),
            ({"sticker_items": [STICKER]}, False),
        ],
    )
    def test_taints_a_question_where_others_may_have_written_it(
        self, fields: dict[str, Any], tainted: bool
    ) -> None:
        assert to_message(message("やあ", **fields), bot_user()).is_tainting is tainted
        alone = message(**fields)
        assert (has_no_visible_content(alone), incoming.is_empty_question(alone, bot_user())) == (
            False,
            False,
        )

    def test_is_unknown_of_what_is_withheld(self) -> None:
        some = (message(message_snapshots=[snapshot("")]), message(""), message("", files=["a.png"]))
        assert [has_no_visible_content(each) for each in some] == [True, True, False]
