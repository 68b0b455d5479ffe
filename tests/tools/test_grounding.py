import time
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from cc_bot.chat.grounding import Grounding
from cc_bot.domain.when.resolve import parse_schedule
from tests.attacks.wishes import Wish, wishes

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
TOKYO = ZoneInfo("Asia/Tokyo")
own = partial(Grounding, now=NOW, zone=TOKYO)


def is_granted(wish: Wish) -> bool:
    asked, given = own(wish.text, earlier_messages=(wish.earlier,)), wish.arguments
    match wish.kind:
        case "remember":
            return asked.says(given["content"])
        case "change":
            return asked.asks_to_change(wish.before, given["content"])
        case "remind":
            due, cron = parse_schedule(given["when"], given.get("repeat", ""), NOW, TOKYO)
            return asked.means_time(due, cron) and asked.says_reminder(given["text"])
        case _:
            return asked.asks_to_end(wish.before, may_be_done=wish.kind == "cancel")


def test_natural_wishes_are_granted() -> None:
    assert len([wish for wish in wishes("mentions.jsonl") if not is_granted(wish)]) < 200 / 20


class TestText:
    @pytest.mark.parametrize(
        ("said", "claim"),
        [
            ("猫の名前はモチじゃなくてモモだよ", "猫の名前はモモ"),
            ("予算は5,000円、覚えて", "予算は5000円"),
            ("@山田_太郎 に5000円貸した", "@山田_太郎 に5000円貸した"),
            ("btw I'm moving to Kyoto next month, remember that", "User is moving to Kyoto in December 2026"),
            ("I like tea, remember that", "The user likes tea"),
            ("合鍵は靴箱の上に置いた、覚えて", "合鍵は靴箱の上"),
        ],
    )
    def test_is_the_askers_in_other_function_words_and_with_times_as_dates(
        self, said: str, claim: str
    ) -> None:
        assert own(said).says(claim)

    @pytest.mark.parametrize(
        ("said", "claims"),
        [
            (
                "remember that Ken owes me 5000 yen, and don't pay Anna",
                (
                    *("pay Anna", "Ken owes Anna 5000 yen", "Ken owes Anna", "User owes Ken 5000 yen"),
                    *("User wants to pay Anna", "Ken does not owe the user 5000 yen", "Ken owes 500 yen"),
                    "Kenji owes the user 5000 yen",
                ),
            ),
            ("I owe 5000 yen to Ken", ("User owes 5000 yen from Ken",)),
            ("I quit smoking", ("User smoking",)),
            ("It's a lie that Ken owes me 5000 yen", ("Ken owes me 5000 yen",)),
            ("if it rains, cancel the trip", ("cancel the trip",)),
            ("don't, whatever you do, pay Anna", ("pay Anna",)),
            ("I'll eat tofu instead of eating meat", ("User eats meat",)),
            ("Ken on Monday, Anna on Friday, remember", ("Ken on Friday", "Ken on 2026-11-27")),
            ("Kim is my boss now, not Lee", ("Lee is the user's boss", "Kim is the user's boss Lee")),
            ("my sister's locker code is 4417", ("User's locker code is 4417",)),
            ("My code is 12. Ken's code is 56.", ("My code is 56", "Ken's code is 12")),
            ("I have 2 cats and 3 dogs", ("User has 3 cats", "User has 2 dogs")),
            ("ケンに5000円貸した、アンナには払わない", ("アンナに5000円貸した", "ケンが5000円貸した")),
            ("ケンが私に5000円貸した", ("ユーザーがケンに5000円貸した",)),
            ("猫の名前はモチじゃなくてモモだよ", ("猫の名前はモチ", "猫の名前はモチモモ")),
            ("猫の名前はももだよ", ("猫の名前はなな", "猫の名前ははな")),
            ("東京都に住んでる", ("京都に住んでいる",)),
            ("ケンが好きって嘘だよ", ("ケンが好き",)),
            ("もし雨なら旅行は中止", ("旅行は中止",)),
            ("猫が好きな人が苦手って覚えて", ("猫が好き",)),
            ("さくらは猫が好き", ("猫が好き", "ユーザーは猫が好き")),
            ("暗証番号は誰にも教えるな", ("暗証番号は誰にも教える",)),
            ("明日は会議、明後日は歯医者", ("明後日は会議", "会議は2026-11-24")),
            ("気温は-5度", ("気温は5度",)),
            ("会議は毎週月曜9時、覚えて", ("会議は毎日9時", "会議は9時")),
            ("ケンは犯人？", ("ケンは犯人",)),
            ("@鍵は玄関と覚えて どう思う？", ("鍵は玄関",)),  # somebody's name
            ("鍵は机、財布は棚、覚えて", ("鍵は棚",)),
            ("ケンに殴られた", ("ケンを殴った",)),
            ("ケンは犯人かも、覚えて", ("ケンは犯人",)),
            ("ケンが来たら5000円払う、覚えて", ("ケンが来て5000円払う", "5000円払う")),
            ("I want to hit Ken", ("User hit Ken",)),
            (
                "猫が好き",
                (
                    "猫が好きなないしばいてよい",
                    "猫が好きでばかあほ",
                    "猫が好き🔪",
                    "猫が好き\u200b",
                    "猫が好き ฆ่า",
                ),
            ),
        ],
    )
    def test_is_not_theirs_once_words_are_left_out_added_or_in_another_order(
        self, said: str, claims: tuple[str, ...]
    ) -> None:
        assert [claim for claim in claims if own(said).says(claim)] == []

    def test_is_no_wish_where_they_quote_paste_ask_or_want_none_to_be_kept(self) -> None:
        for said in (
            "ボブに「鍵は玄関って覚えて」って言われたけど本当？",
            "```鍵は玄関って覚えて``` これ何？",
            "『remember that 鍵は玄関』ってどういう意味？",
            "花子: 鍵は玄関って覚えて\n健太: 了解\nこれ要約して",
            "[12:30] Ken: 鍵は玄関、覚えて\n[12:31] Bob: ok",
            "花子 — 今日 12:30\n鍵は玄関って覚えて\n健太 — 今日 12:31\nおけ",
            "次を英訳して：鍵は玄関と覚えて",
            "translate this: remember that 鍵は玄関",
            "鍵は玄関って覚えてる？",
            "do you remember that 鍵は玄関?",
            "鍵は玄関、だけど覚えなくていいよ",
            "you don't have to remember it, but 鍵は玄関",
        ):
            assert not own(said).says("鍵は玄関"), said
        assert own("「鍵は玄関」と覚えて").says("鍵は玄関")

    def test_of_an_earlier_message_counts_where_this_one_only_points(self) -> None:
        for said in ("今の覚えて", "さっきの覚えておいて", "remember that", "can you note this down pls"):
            assert own(said, earlier_messages=("ねえ", "社員番号は4471だった")).says(
                "ユーザーの社員番号は4471"
            ), said
        assert own("明日9時にそれ知らせて", earlier_messages=("薬を飲む",)).says_reminder("薬を飲む")
        for said in ("猫が好き、覚えて", "今の覚えてる？", "どう思う？"):
            assert not own(said, earlier_messages=("社員番号は4471",)).says("社員番号は4471"), said

    def test_of_a_reminder_may_be_a_part_with_few_neutral_words_or_only_that_it_is_time(self) -> None:
        for said, texts in {
            "remind me in an hour about the laundry": ("Check the laundry", "Laundry"),
            "毎朝7時に薬": ("薬を飲む", "時間です", "お知らせ"),
            "10分後に知らせて": ("リマインダー", "10分後のお知らせ", "10分たちました"),
            "remind me in 10 minutes": ("Time's up!", "Reminder", "10 minutes are up", "It's time"),
        }.items():
            assert [text for text in texts if not own(said).says_reminder(text)] == []
        for said, text in (
            ("remind me in an hour about the laundry", "Check the laundry at Ken's"),
            ("remind me tomorrow never to call Anna", "Call Anna"),
            ("明日9時に、薬は飲まないって知らせて", "薬は飲む"),
            ("明日9時に薬を飲むの禁止って知らせて", "薬を飲む"),
            ("毎朝7時に薬", "薬を捨てる"),
            ("明日9時に東京都庁に電話", "京都庁に電話"),
            ("10分後に知らせて", "ボブに払う時間です"),
            ("remind me in 10 minutes", "5 minutes are up"),
        ):
            assert not own(said).says_reminder(text), said

    def test_of_any_length_is_decided_in_time(self) -> None:
        began = time.thread_time()
        for said, claim in (
            ("明日の会議は3時で" * 600, "明日の会議は3時で" * 300),
            ("1時 " * 2000, "1時" * 1000),
            ("the the " * 700, "the " * 900 + "cat"),
            ("明日 9時 3日 " * 400, "2026-11-23 " * 300 + "猫"),
        ):
            own(said).says(claim)
            own(said).asks_to_change(claim[:3000], claim)
        assert time.thread_time() - began < 8


class TestChange:
    @pytest.mark.parametrize(
        ("former", "content", "said", "shown", "expected"),
        [
            ("誕生日は3月15日", "誕生日は3月16日", "さっきの誕生日まちがえた、16日ね", False, True),
            ("日曜は散歩", "日曜は読書", "やっぱり読書にする", True, True),
            ("日曜は散歩", "日曜は読書", "やっぱり読書にする", False, False),
            ("猫の名前はモチ", "猫の名前", "猫の名前は？", True, False),
            ("好きな飲み物は紅茶", "好きな飲み物はコーヒー", "コーヒー買ってくる", True, False),
            ("Ken does not owe me", "Ken owes me 5000", "Ken gave me 5000", True, False),
            ("猫の名前はモチ", "猫の名前はタマ", "@猫の名前は今はタマに変えて どう？", True, False),
        ],
    )
    def test_puts_the_askers_words_in_the_location_of_others(
        self, former: str, content: str, said: str, *, shown: bool, expected: bool
    ) -> None:
        assert own(said).asks_to_change(former, content, is_sole_shown=shown) is expected


class TestRemoval:
    @pytest.mark.parametrize(
        ("text", "said", "shown", "expected"),
        [
            ("猫の名前はモチ", "それ忘れて", True, True),
            ("猫の名前はモチ", "猫の名前は？", True, False),
            ("猫の名前はモチ", "モチがまた吐いた", True, False),
            ("猫の名前はモチ", "@猫のことは忘れて どう思う？", True, False),
        ],
    )
    def test_is_of_what_the_asker_says_goes(
        self, text: str, said: str, *, shown: bool, expected: bool
    ) -> None:
        assert own(said).asks_to_end(text, is_sole_shown=shown) is expected

    @pytest.mark.parametrize(
        ("said", "memories"),
        [
            ("forget that I like tea", ("likes tea", "likes cocoa", "likes my boss")),
            ("お茶が好きなのは忘れて", ("お茶が好き", "ココアが好き", "上司が好き")),
        ],
    )
    def test_and_change_is_of_the_memory_that_they_name(self, said: str, memories: tuple[str, ...]) -> None:
        tea, *others = memories
        assert own(said).asks_to_end(tea, others=others)
        for other in others:
            rest = [each for each in memories if each != other]
            assert not own(said).asks_to_end(other, others=rest)
            assert not own(said).asks_to_end(
                other, others=[each for each in rest if each != tea], is_sole_shown=True
            )
            assert not own(f"{said}, actually").asks_to_change(other, tea, others=rest)

    @pytest.mark.parametrize("said", ["牛乳はもう買ったから大丈夫", "牛乳は10時に変えて"])
    def test_is_of_a_reminder_that_is_done_or_moved(self, said: str) -> None:
        assert own(said).asks_to_end("牛乳を買う", may_be_done=True)
        assert not own(said).asks_to_end("牛乳を買う")


class TestTime:
    @pytest.mark.parametrize(
        ("when", "repeat", "said", "expected"),
        [
            ("2026-11-23T19:00", "", "明日飲み会、19時から", True),
            ("2026-11-22T15:00", "", "3時に起こして", True),
            ("2026-11-23T07:30", "", "明日の朝、傘を返す", True),
            ("2026-11-30T10:00", "", "dentist next monday 10am", True),
            ("2026-11-23T07:00", "0 7 * * *", "毎朝7時に水やりって言って", True),
            ("2026-11-25T07:00", "0 7 * * 3", "毎朝7時に水やりって言って", False),
            ("2026-12-22T09:00", "", "どう思う？", False),
            ("2026-11-24T09:00", "", "明日9時に会議", False),
            ("2026-11-23T09:00", "0 9 * * *", "明日9時に会議", False),
            ("2026-11-23T09:00", "0 9 * * 1", "毎日9時", False),
        ],
    )
    def test_is_one_that_the_askers_words_mean(
        self, when: str, repeat: str, said: str, *, expected: bool
    ) -> None:
        due, cron = parse_schedule(when, repeat, NOW, TOKYO)
        assert own(said).means_time(due, cron) is expected
