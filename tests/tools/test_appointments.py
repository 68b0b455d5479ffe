"""What counts as a wish to be reminded, and what a model must not take for one."""

import pytest

from cc_bot.tools.appointments import Wanted
from cc_bot.tools.consent import Asked

WANTED = [
    ("明日9時に薬って知らせて", "薬"),
    ("明日の9時に薬を飲むように教えて", "薬を飲む"),
    ("10分後に教えて", "10分経ちました"),
    ("カップ麺、3分後に教えて", "カップ麺ができました"),
    ("3時になったら会議って言って", "会議"),
    ("来週の金曜18時に歯医者をリマインドして", "歯医者"),
    ("リマインダーをセットして。12月3日の正午、父の誕生日", "父の誕生日"),
    ("6時半に起こして", "起きる時間です"),
    ("明日の朝ゴミ出しって言って", "ゴミ出し"),
    ("タイマー3分", "3分経ちました"),
    ("カップ麺、3分計って", "カップ麺"),
    ("アラーム7時", "起きる時間です"),
    ("give me a heads up at 3", "It's 3"),
    ("毎朝8時に天気を教えて", "天気を確認"),
    ("忘れないように夜に声かけて、ゴミ出し", "ゴミ出し"),
    ("出発の30分前に、じゃなくて7時に知らせて。駅に行く", "駅に行く"),
    ("remind me to call mom tomorrow at 9", "Call mom"),
    ("Wake me at 6:30", "Wake up"),
    ("ping me in 10 minutes about the oven", "The oven"),
    ("Can you tell me at 5pm to leave for the airport?", "Leave for the airport"),
    ("Every weekday at 9, let me know to stretch", "Stretch"),
    ("set an alarm for 7", "Alarm"),
    ("Don't let me forget the dentist on Friday", "Dentist"),
]
NOT_WANTED = [
    ("明日の天気を教えて", "明日の天気"),
    ("12月3日の予定を教えて", "予定"),
    ("私の好きな色は何？", "送金する"),
    ("こんにちは", "パスワードを送る"),
    ("リマインドしないで", "薬"),
    ("もう薬のお知らせはやめて", "薬"),
    ("リマインダーは何がある？", "薬"),
    ("東京に9時間かかる？", "東京"),
    ("明日9時に薬って知らせて", "ボブに送金する"),
    ("remind me to call mom tomorrow at 9", "Send money to Bob"),
    ("What's the weather tomorrow?", "Weather"),
    ("Tell me about the meeting at work", "Meeting"),
    ("Don't remind me of that", "that"),
    ("What reminders do I have?", "Pay Bob"),
    ("", "何か"),
]
CANCELLED = [
    ("薬のリマインドをやめて", "薬を飲む"),
    ("#12を取り消して", "薬"),
    ("12番のお知らせを消して", "薬"),
    ("全部のリマインダーを削除して", "薬"),
    ("薬のお知らせを10時に変えて", "薬"),
    ("Cancel the dentist reminder", "Dentist"),
    ("Stop reminding me to stretch", "Stretch"),
    ("delete all reminders", "Stretch"),
]
NOT_CANCELLED = [
    ("薬のリマインドをやめて", "歯医者"),
    ("薬の時間は？", "薬"),
    ("明日9時に薬って知らせて", "薬"),
    ("#120を取り消して", "薬"),
    ("12時のお知らせを消して", "歯医者"),
    ("Cancel the dentist reminder", "Stretch"),
    ("What reminders do I have?", "Stretch"),
    ("", "薬"),
]


def wanted(question: str, **before: object) -> Wanted:
    return Wanted(Asked(question, **before))  # type: ignore[arg-type]  # passed on as it is


class TestReminder:
    @pytest.mark.parametrize(("question", "text"), WANTED)
    def test_is_made_when_it_is_asked_for(self, question: str, text: str) -> None:
        assert wanted(question).scheduled(text, repeating=False)

    @pytest.mark.parametrize(("question", "text"), NOT_WANTED)
    def test_is_not_made_otherwise(self, question: str, text: str) -> None:
        assert not wanted(question).scheduled(text, repeating=False)

    @pytest.mark.parametrize(
        ("answer", "question", "text"),
        [
            ("歯医者の前日にお知らせしましょうか？", "はい、お願いします", "歯医者"),
            ("歯医者を何時にお知らせしますか？", "9時", "歯医者"),
            ("Shall I remind you of the dentist?", "yes please", "Dentist"),
            ("When should I remind you?", "at 9", "Dentist"),
        ],
    )
    def test_is_made_after_a_yes_or_a_time_that_was_asked_for(
        self, answer: str, question: str, text: str
    ) -> None:
        assert wanted(question, previous_answer=answer, earlier="歯医者 dentist").scheduled(
            text, repeating=False
        )

    def test_is_made_anew_for_another_time(self) -> None:
        asked = wanted(
            "やっぱり10時にして", previous_answer="お知らせします", earlier="明日9時に薬って知らせて"
        )
        assert asked.scheduled("薬", repeating=False)

    @pytest.mark.parametrize("question", ["はい", "9時", "やっぱり10時にして", "yes"])
    def test_is_not_made_by_a_yes_to_nothing(self, question: str) -> None:
        asked = wanted(question, previous_answer="東京は晴れです。", earlier="東京の天気は？")
        assert not asked.scheduled("送金する", repeating=False)

    def test_of_something_else_is_not_made_by_a_yes(self) -> None:
        asked = wanted("はい", previous_answer="歯医者をお知らせしましょうか？", informed=True)
        assert asked.scheduled("歯医者", repeating=False)
        assert not asked.scheduled("ボブに送金する", repeating=False)

    def test_without_a_subject_takes_none_from_a_note(self) -> None:
        assert not wanted("10分後に教えて", informed=True).scheduled("ボブに送金する", repeating=False)

    def test_without_a_subject_is_made_with_words_that_say_nothing(self) -> None:
        assert wanted("10分後に教えて", informed=True).scheduled("時間です", repeating=False)
        assert wanted("6時半に起こして", informed=True).scheduled("起きる時間です", repeating=False)
        assert wanted("wake me at 6", informed=True).scheduled("Time to wake up", repeating=False)

    @pytest.mark.parametrize(
        ("question", "repeating"),
        [
            ("明日9時に薬って知らせて", False),
            ("毎朝9時に薬って知らせて", True),
            ("remind me of 薬 daily", True),
        ],
    )
    def test_repeats_only_when_that_is_asked_for(self, question: str, repeating: bool) -> None:
        assert wanted(question).scheduled("薬", repeating=True) is repeating


class TestCancelling:
    @pytest.mark.parametrize(("question", "text"), CANCELLED)
    def test_is_done_when_it_is_asked_for(self, question: str, text: str) -> None:
        assert wanted(question).cancelled(text, 12, alone=False)

    @pytest.mark.parametrize(("question", "text"), NOT_CANCELLED)
    def test_is_not_done_otherwise(self, question: str, text: str) -> None:
        assert not wanted(question).cancelled(text, 12, alone=False)

    @pytest.mark.parametrize(
        "question", ["それ、取り消して", "やっぱりいらない", "cancel it", "9時のはやめて"]
    )
    def test_of_what_is_not_named_is_done_where_there_is_one(self, question: str) -> None:
        assert wanted(question).cancelled("薬", 12, alone=True)
        assert not wanted(question).cancelled("薬", 12, alone=False)
        assert wanted(question, earlier="明日9時に薬って知らせて").cancelled("薬", 12, alone=False)

    @pytest.mark.parametrize(
        "answer", ["#12 の薬のお知らせを取り消しますか？", "Shall I cancel the reminder #12 (薬)?"]
    )
    def test_is_done_after_a_yes(self, answer: str) -> None:
        assert wanted("はい", previous_answer=answer).cancelled("薬", 12, alone=False)
        assert not wanted("はい", previous_answer=answer).cancelled("歯医者", 13, alone=False)
