"""Which answers say that a memory was forgotten, or a reminder cancelled, sentence by sentence."""

from time import process_time

import pytest

from cc_bot.assistant.claims import Kind, Wish, removal_claims, wish_of

MEMORY = frozenset[Kind]({"memory"})
REMINDER = frozenset[Kind]({"reminder"})
BOTH = MEMORY | REMINDER
OF_EITHER = Wish(BOTH, removal=True)

FORGOTTEN = [
    "忘れました。",
    "はい、忘れました！",
    "承知しました。そのことは忘れました。",
    "猫が好きという情報を削除しました。",
    "「猫が好き」を削除しました。",
    "記憶から削除しました。",
    "メモリから消去しました。",
    "✅ メモリを削除しました",
    "了解です。その件は忘れますね。忘れました。",
    "お誕生日の記憶を消しました。",
    "誕生日についての記憶はすべて消去いたしました。",
    "覚えていたことを全部消しました！",
    "わかりました、その話はきれいさっぱり忘れました。",
    "先ほどの記憶を削除しました。",
    "さっき覚えた内容を削除しておきました。",
    "メモリの削除が完了しました。",
    "記憶は削除されました。",
    "**削除しました。**",
    "はい、消しておきました。",
    "忘れておきました。",
    "うん、もう忘れたよ！",
    "あなたの好きな食べ物の記憶を消去しました。",
    "ユーザーが猫好きであるという情報を記憶から取り除きました。",
    "#3 のメモを削除しました。",
    "メモリ#3を削除済みです。",
    "記憶をリセットしました。",
    "「母の誕生日は5月4日」という記憶を取り消しました。",
    "全て消去完了です。",
    "会社の住所は忘れました。",
    "会社の住所を削除しました。",
    "コーヒーがお好きというメモを削除いたしました。",
    "了解しました。犬派であるという記録を抹消しました。",
    "おっけー、犬派って話は忘れたよ！",
    "5番を消しました。",
    "I've forgotten that.",
    "I have forgotten your birthday.",
    "Okay, I've forgotten that you like cats.",
    "I've deleted that memory.",
    "I've deleted that from my memory.",
    "Done! I've removed it from memory.",
    "I have erased the note about your cat.",
    "I’ve removed your favorite color from my memory.",
    "Deleted!",
    "Done, deleted.",
    "Forgotten.",
    "That memory has been deleted.",
    "Your birthday is now deleted from my memory.",
    "The memory about your cat has been successfully removed.",
    "All your memories have been erased.",
    "Sure, I'll forget that.",
    "I've wiped everything I know about you.",
    "I deleted it.",
    "I've cleared all of my memories about you.",
    "Memory deleted.",
    "It has been deleted.",
    "I've just deleted note #3.",
    "I've gone ahead and deleted that information.",
    "Your address has been removed from my memory.",
    "Your address is no longer stored.",
    "Everything has been erased.",
    "No problem, it's been deleted.",
    "I no longer have that information in my memory.",
    "Consider it forgotten!",
]

CANCELLED = [
    "お知らせを取り消しました。",
    "はい、リマインダーをキャンセルしました。",
    "明日9時のお知らせを取り消しました！",
    "リマインダーを削除しました。",
    "リマインダーを解除しておきました。",
    "アラームを解除しました。",
    "明日9時の予約を取り消しました。",
    "薬のリマインドを消しました。",
    "お知らせは取り消されました。",
    "リマインダー（明日9時、薬）を削除いたしました。",
    "「薬」のお知らせを停止しました。",
    "先ほど設定したリマインダーを取り消しました。",
    "さっきのお知らせを取り消しておきました。",
    "予定を削除しました。",
    "取り消しました。",
    "はい、キャンセルしました。",
    "もうお知らせしません。",
    "毎朝8時の通知を止めました。",
    "リマインダーの取り消しが完了しました。",
    "お知らせを取り消したよ。",
    "リマインダー2件を削除しました。",
    "タイマーを解除しました。",
    "リマインダーはキャンセル済みです。",
    "お知らせの予約をキャンセルいたしました。",
    "9時のお知らせを取り消し、10時に変更しました。",
    "薬のリマインダーは、もう届きません。",
    "はい、やめました。",
    "3件のお知らせをすべて取り消しました。",
    "I've cancelled the reminder.",
    "I've deleted your reminder.",
    "I have canceled your 9 am reminder.",
    "Your reminder has been cancelled.",
    "The reminder is now cancelled.",
    "Reminder cancelled.",
    "Reminder for tomorrow deleted ✅",
    "Done, I removed the reminder.",
    "I've turned off the alarm.",
    "Cancelled!",
    "All your reminders have been deleted.",
    "I've cancelled it.",
    "Okay, that reminder is gone.",
    "I won't remind you about that anymore.",
    "You won't be reminded about it again.",
    "I've cleared all your reminders.",
    "I've called off the alarm for 7.",
    "I've cancelled the reminder you set earlier.",
    "I've stopped the daily reminder.",
    "I just cancelled that one.",
    "Your weekly reminder is now off.",
    "I've removed the trash reminder, so you won't get it anymore.",
    "You're all set: the reminder won't go off.",
]

# Each is harmless even in a turn that is about memories and reminders.
NO_CLAIMS = [
    "まだ忘れていません。",
    "消せませんでした。",
    "削除できませんでした。",
    "お知らせは取り消していません。",
    "リマインダーの削除に失敗しました。",
    "記憶を削除しましたか？",
    "ファイルを削除しましたか",
    "リマインダーを取り消しましょうか？",
    "お知らせを取り消しますか？",
    "削除してもよろしいですか？",
    "彼は傘を忘れました。",
    "私は傘を忘れました。",
    "主人公は約束のアラームを解除しました。",
    "母がリマインダーを取り消しました。",
    "あなたがリマインダーを削除しました。",
    "田中さんは予約をキャンセルしました。",
    "すみません、忘れました。",
    "申し訳ありません、お名前を忘れました。",
    "先ほど取り消しました。",
    "そのお知らせは先ほど取り消しました。",
    "その記憶はすでに削除しました。",
    "さきほどお伝えしたとおり、リマインダーは取り消しました。",
    "お知らせは昨日取り消しました。",
    "「お知らせを取り消しました」と表示されます。",
    "お知らせを取り消しました、と表示されたら成功です。",
    "`記憶を削除しました`",
    "リマインダーを削除したら教えてください。",
    "記憶を削除すると元に戻せません。",
    "リマインダーを削除するには /remind delete を使います。",
    "忘れないようにします。",
    "不要なタイマーの処理を削除しました。",
    "3行目のコードを消しました。",
    "カードをキャンバスから消しました。",
    "宿題を忘れました。",
    "ホテルの予約をキャンセルしました。",
    "文末の句点を削除しました。",
    "もうその記憶はありません。",
    "公演は台風のため予定を取りやめました、と公式が発表しています。",
    "猫の名前は、あなたが先週削除しました。",
    "雨で予定がキャンセルされたときは美術館がおすすめです。",
    "チャンネルが削除されたため停止しています。",
    "取り消しを提案しました。下のボタンで確かめてください。",
    "その記憶は見つかりませんでした。",
    "お知らせを取り消し、変更することはできませんでした。",
    "忘れてしまったことは誰にでもあります。",
    "取り消しましたら、お知らせください。",
    "メモリを確認し、ファイルの一覧を消しました。",
    "I haven't forgotten that.",
    "I couldn't delete that memory.",
    "I have not cancelled the reminder.",
    "I can't cancel reminders.",
    "I wasn't able to remove it.",
    "Did you delete the file?",
    "Should I cancel the reminder?",
    "Have I deleted that memory?",
    "I forgot my umbrella.",
    "I've forgotten my umbrella.",
    "Sorry, I've forgotten that.",
    "You deleted the reminder.",
    "He said I deleted the reminder.",
    "She cancelled the alarm.",
    "The reminder was cancelled by you.",
    "No reminder was deleted.",
    "Nothing has been deleted.",
    "Your reminder has not been cancelled.",
    "I've already cancelled that reminder.",
    "I cancelled it earlier.",
    "I deleted that memory yesterday.",
    "As I said, it was deleted earlier.",
    "If I deleted the reminder, you would not be told.",
    "Once your reminder is deleted, it can't come back.",
    "The reminder is deleted when it has fired.",
    '"I\'ve deleted the reminder" is what it says.',
    "`Reminder cancelled.`",
    "I've removed the unused timer variable.",
    "I removed the memory leak.",
    "I've deleted the trailing comma.",
    "I've removed the second paragraph.",
    "I'll never forget that.",
    "Don't forget that your reminder is due.",
    "To delete a memory, use /memory delete.",
    "The meeting was cancelled.",
    "The third reminder was cancelled last week.",
    "The memory is cleared and returned to the heap.",
    "Once the notifications are cleared, the badge disappears.",
    "There's no such reminder; it may have been cancelled already.",
    "I've moved your reminder to 10.",
    "I tried to delete it, but the deletion failed.",
    "I couldn't find anything, so nothing was deleted.",
]

# Each may be about anything: it counts only where the turn is about a memory or a reminder.
UNNAMED = [
    "削除しました。",
    "はい、消しました。",
    "「です」を削除しました。",
    "忘れました。",
    "予約を取り消しました。",
    "通知をオフにしました。",
    "Deleted!",
    "Done, removed.",
    "I've removed it.",
    "I've cleared the timer.",
]

# Of these a turn may be about something else altogether.
STORIES = [
    "少年はスマホのアラームを止めました。",
    "私は目覚ましのアラームを止めました。",
    "魔女は王子の記憶を消去しました。",
    "彼女はすべての記憶を消しました。",
    "今日は傘を忘れました。",
    "浦島太郎は時間を忘れました。",
    "演劇の公演は予定を取りやめました。",
    "メモリを解放し、確保した領域をクリアしました。",
    "不要な挨拶を削除しました。",
    "I turned off the alarm and went back to sleep.",
    "All memories have been erased by the tide.",
    "I've forgotten the sound of your voice.",
    "I've removed the filler words.",
    "The timer is cleared.",
]

QUESTIONS: list[tuple[str, frozenset[Kind]]] = [
    ("猫のことは忘れて", MEMORY),
    ("さっき覚えたやつ消して", MEMORY),
    ("メモリから消して", MEMORY),
    ("薬のお知らせを取り消して", REMINDER),
    ("9時のアラームやめて", REMINDER),
    ("リマインダーと記憶を全部消して", BOTH),
    ("この文の2行目を消して", frozenset()),
    ("forget that I like cats", MEMORY),
    ("cancel my reminder", REMINDER),
    ("remove the second line", frozenset()),
]

UNITS = [
    *(
        "削除しました",
        "忘れました",
        "お知らせを",
        "記憶と",
        "すべて",
        "…",
        "さっき",
        "取り消し",
        "、はい",
        "た",
        "彼は",
    ),
    *("リマインダー（", "もう", "先ほど設定", "こと", "それ", "たら"),
    *(
        "i've ",
        "i've now ",
        "deleted ",
        "your reminder ",
        "the the ",
        "that ",
        "ok, ",
        "is now ",
        "all ",
        '"',
        "memory ",
    ),
    *("i won't remind you ", "earlier ", "set earlier ", "memory and ", "note ", "if "),
]
"""Of what the patterns are made, to be said ten thousand times."""


class TestClaims:
    @pytest.mark.parametrize("answer", FORGOTTEN)
    def test_that_a_memory_was_forgotten_are_recognised(self, answer: str) -> None:
        assert removal_claims(answer).untrue((), Wish(MEMORY, removal=True)) == MEMORY

    @pytest.mark.parametrize("answer", CANCELLED)
    def test_that_a_reminder_was_cancelled_are_recognised(self, answer: str) -> None:
        assert removal_claims(answer).untrue((), Wish(REMINDER, removal=True)) == REMINDER

    @pytest.mark.parametrize("answer", NO_CLAIMS)
    def test_are_not_seen_in_other_words(self, answer: str) -> None:
        assert removal_claims(answer).untrue((), OF_EITHER) == frozenset()

    @pytest.mark.parametrize("answer", UNNAMED)
    def test_that_may_be_about_anything_need_a_turn_that_is_about_it(self, answer: str) -> None:
        claims = removal_claims(answer)
        assert claims.untrue((), Wish()) == frozenset()
        assert claims.untrue((), OF_EITHER) != frozenset()

    @pytest.mark.parametrize("answer", STORIES)
    def test_are_not_seen_in_a_turn_that_is_about_something_else(self, answer: str) -> None:
        assert removal_claims(answer).untrue((), wish_of("続きを書いて")) == frozenset()

    def test_are_recognised_between_other_sentences(self) -> None:
        answer = "承知しました。\n\nリマインダーを取り消しました！\n\nほかにはありますか？"
        assert removal_claims(answer).named == REMINDER

    def test_are_not_seen_in_code_and_quotations(self) -> None:
        answer = '```py\nprint("記憶を削除しました。")\n```\n> お知らせを取り消しました。\n'
        assert removal_claims(answer).untrue((), OF_EITHER) == frozenset()


class TestUntrue:
    @pytest.mark.parametrize(
        "answer",
        [
            "猫の記憶を削除し、リマインダーも取り消しました。",
            "記憶とリマインダーを削除しました。",
            "記憶を削除しました。お知らせも取り消しました。",
            "I've deleted the memory and the reminder.",
            "That memory has been deleted. I've also cancelled the reminder.",
        ],
    )
    def test_claims_of_one_kind_are_not_made_good_by_the_other(self, answer: str) -> None:
        claims = removal_claims(answer)
        assert claims.untrue({"memory"}, OF_EITHER) == REMINDER
        assert claims.untrue({"reminder"}, OF_EITHER) == MEMORY
        assert claims.untrue({"memory", "reminder"}, OF_EITHER) == frozenset()

    @pytest.mark.parametrize(
        "answer", ["アラームが嫌いという記憶を削除しました。", "通知は嫌いという記憶を消しました。"]
    )
    def test_what_a_memory_says_is_no_claim(self, answer: str) -> None:
        assert removal_claims(answer).untrue({"memory"}, OF_EITHER) == frozenset()

    @pytest.mark.parametrize("removed", ["memory", "reminder", "canvas"])
    def test_what_is_not_named_is_made_good_by_anything(self, removed: str) -> None:
        assert removal_claims("削除しました。").untrue({removed}, OF_EITHER) == frozenset()


class TestQuestion:
    @pytest.mark.parametrize(("question", "kinds"), QUESTIONS)
    def test_tells_what_the_turn_is_about(self, question: str, kinds: frozenset[Kind]) -> None:
        assert wish_of(question).about == kinds

    @pytest.mark.parametrize(
        "question",
        [
            "さっきのリマインダー取り消した？",
            "お知らせは取り消しましたか",
            "ちゃんと忘れてくれた？",
            "記憶は消したよね？",
            "私の名前覚えてる？",
            "Did you cancel my reminder?",
            "has it been deleted?",
        ],
    )
    def test_may_be_about_what_was_done(self, question: str) -> None:
        assert wish_of(question).asks_back

    @pytest.mark.parametrize(
        "question",
        [
            "リマインダーを取り消して",
            "猫のことは忘れてくれる？",
            "お知らせを取り消してもらえますか？",
            "can you cancel my reminder?",
            "please forget that",
            "薬はもう飲み終わった",
            "引っ越した。古い住所は忘れて",
            "Is it possible to cancel my reminder?",
        ],
    )
    def test_may_be_a_wish(self, question: str) -> None:
        assert not wish_of(question).asks_back


class TestLongAnswer:
    @pytest.mark.slow
    @pytest.mark.parametrize("unit", UNITS)
    def test_takes_time_that_grows_no_faster_than_it_does(self, unit: str) -> None:
        """Growth and not seconds: eight times as long, and with a square in it sixty-four times."""
        short, long = (taken(unit * (length // len(unit))) for length in (12_500, 100_000))
        assert long < 20 * short


def taken(answer: str) -> float:
    """Seconds of this process, of the quickest of a few tries."""
    tries = []
    for _ in range(3):
        start = process_time()
        removal_claims(answer)
        wish_of(answer)
        tries.append(process_time() - start)
    return min(tries)
