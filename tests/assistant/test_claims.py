"""What an answer says that it did or will do, and what its user is told where it did not.

A table of phrases for each: those that say so, and those that look like it. How long the patterns take is
tested with all others (tests/architecture/test_patterns.py).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from cc_bot.assistant.claims import (
    Kind,
    Wish,
    promises_to_remember,
    promises_to_remind,
    removal_claims,
    says_what_it_did,
    wish_of,
)
from cc_bot.domain import NotRemoved
from cc_bot.domain.turn import TurnEvent
from cc_bot.llm.model import ToolRequest
from tests.assistant.conftest import KEY, Table, call, done
from tests.domain.phrases import phrases

MEMORY = frozenset[Kind]({"memory"})
REMINDER = frozenset[Kind]({"reminder"})
BOTH = MEMORY | REMINDER
OF_EITHER = Wish(BOTH, removal=True)


FORGOTTEN = phrases(
    """
わかりました、その話はきれいさっぱり忘れました。 | 会社の住所は忘れました。
メモリから消去しました。 | ✅ メモリを削除しました | 先ほどの記憶を削除しました。
さっき覚えた内容を削除しておきました。 | 記憶は削除されました。 | うん、もう忘れたよ！
ユーザーが猫好きであるという情報を記憶から取り除きました。 | #3 のメモを削除しました。
メモリ#3を削除済みです。 | 記憶をリセットしました。 | 全て消去完了です。 | 会社の住所を削除しました。
5番を消しました。 | I've forgotten that. | I have forgotten your birthday.
I have erased the note about your cat. | Done, deleted.
The memory about your cat has been successfully removed. | Sure, I'll forget that.
I've wiped everything I know about you. | Memory deleted. | I've just deleted note #3.
I've gone ahead and deleted that information. | Your address is no longer stored.
Everything has been erased. | No problem, it's been deleted.
I no longer have that information in my memory. | Consider it forgotten!
"""
)
CANCELLED = phrases(
    """
リマインダーを解除しておきました。 | アラームを解除しました。 | 明日9時の予約を取り消しました。
薬のリマインドを消しました。 | お知らせは取り消されました。 | 「薬」のお知らせを停止しました。
予定を削除しました。 | 取り消しました。 | もうお知らせしません。 | 毎朝8時の通知を止めました。
リマインダーの取り消しが完了しました。 | タイマーを解除しました。 | リマインダーはキャンセル済みです。
お知らせの予約をキャンセルいたしました。 | 9時のお知らせを取り消し、10時に変更しました。
薬のリマインダーは、もう届きません。 | はい、やめました。 | Reminder cancelled. | I've turned off the alarm.
Cancelled! | Okay, that reminder is gone. | I won't remind you about that anymore.
You won't be reminded about it again. | I've called off the alarm for 7. | I've stopped the daily reminder.
I just cancelled that one. | Your weekly reminder is now off. | You're all set: the reminder won't go off.
"""
)
# Each is harmless even in a turn that is about memories and reminders.
NO_CLAIMS = phrases(
    """
まだ忘れていません。 | 削除できませんでした。 | リマインダーの削除に失敗しました。
ファイルを削除しましたか | お知らせを取り消しますか？ | 彼は傘を忘れました。
主人公は約束のアラームを解除しました。 | 母がリマインダーを取り消しました。
あなたがリマインダーを削除しました。 | 田中さんは予約をキャンセルしました。 | すみません、忘れました。
申し訳ありません、お名前を忘れました。 | 先ほど取り消しました。 | そのお知らせは先ほど取り消しました。
その記憶はすでに削除しました。 | さきほどお伝えしたとおり、リマインダーは取り消しました。
お知らせは昨日取り消しました。 | お知らせを取り消しました、と表示されたら成功です。 | `記憶を削除しました`
リマインダーを削除したら教えてください。 | リマインダーを削除するには /remind delete を使います。
不要なタイマーの処理を削除しました。 | 3行目のコードを消しました。 | 宿題を忘れました。
文末の句点を削除しました。 | 公演は台風のため予定を取りやめました、と公式が発表しています。
猫の名前は、あなたが先週削除しました。 | チャンネルが削除されたため停止しています。
その記憶は見つかりませんでした。 | 忘れてしまったことは誰にでもあります。
取り消しましたら、お知らせください。 | I haven't forgotten that. | I have not cancelled the reminder.
I wasn't able to remove it. | Should I cancel the reminder? | I forgot my umbrella.
Sorry, I've forgotten that. | You deleted the reminder. | He said I deleted the reminder.
The reminder was cancelled by you. | No reminder was deleted. | Nothing has been deleted.
Your reminder has not been cancelled. | I cancelled it earlier. | I deleted that memory yesterday.
If I deleted the reminder, you would not be told. | Once your reminder is deleted, it can't come back.
The reminder is deleted when it has fired. | "I've deleted the reminder" is what it says.
`Reminder cancelled.` | I've removed the unused timer variable. | I removed the memory leak.
I've removed the second paragraph. | Don't forget that your reminder is due. | The meeting was cancelled.
The third reminder was cancelled last week. | The memory is cleared and returned to the heap.
There's no such reminder; it may have been cancelled already.
I tried to delete it, but the deletion failed.
"""
)
# Each may be about anything: it counts only where the turn is about a memory or a reminder.
UNNAMED = phrases(
    """
「です」を削除しました。 | 予約を取り消しました。 | 通知をオフにしました。 | Done, removed.
I've removed it. | I've cleared the timer.
"""
)
# Of these a turn may be about something else altogether.
STORIES = phrases(
    """
少年はスマホのアラームを止めました。 | 魔女は王子の記憶を消去しました。 | 今日は傘を忘れました。
演劇の公演は予定を取りやめました。 | 不要な挨拶を削除しました。 | All memories have been erased by the tide.
I've removed the filler words.
"""
)
ASKS_BACK = phrases(
    """
さっきのリマインダー取り消した？ | お知らせは取り消しましたか | ちゃんと忘れてくれた？ | 記憶は消したよね？
私の名前覚えてる？ | Did you cancel my reminder? | has it been deleted?
"""
)
WISHES = phrases(
    """
リマインダーを取り消して | お知らせを取り消してもらえますか？ | please forget that
引っ越した。古い住所は忘れて
"""
)
PROMISES = phrases(
    """
覚えておきます。 | 了解です。覚えておくね | 覚えときます | わかった、覚えとくね〜 | 覚えました。
覚えておきました。 | 記憶しておきます。 | メモしました。 | メモっておきます | しっかり記憶いたしました。
メモリに保存しました。 | 好みを保存しました。 | 保存しておきますね。 | 記録しておきます。
書き留めておきます。 | 控えておきます。 | 心に留めておきます。 | 忘れません！
お誕生日、しっかり記憶に刻みました。 | 心に刻んでおきます | はい、登録しました。 | 保存しました。
記録しておきました | インプットしました！ | かしこまりました。覚えさせていただきます。
了解、覚えておきまーす | Your birthday is now saved. | I have updated my memory.
I will remember this for next time. | Got it — I'll keep that in mind. | I'll make a note of that.
I’ve noted your preference. | I have stored this for you. | I've made a note of it. | I won't forget!
Okay, noted. | Saved to memory. | I'll definitely remember your cat's name. | I'll be sure to remember it.
I just saved that. | I've added it to your notes. | I'll save this for later. | Remembered!
"""
)
NO_PROMISES = phrases(
    """
覚えておきましょうか？ | 覚えておきますか？ | 覚えていません。 | 覚えておいてください。
覚えておくと便利です。 | 「覚えておいて」と言っていただければ覚えます。 | 教えていただければ覚えておきます。
必要なら覚えておきますので、お申し付けください。 | 以前に覚えました。 | 保存していません。
メモリには保存されません。 | その件は記憶にありません。 | ファイルを保存しました、という表示が出ます。
彼女は単語を百個覚えました。 | この会話の間は覚えています。 | 忘れました。 | 何を覚えましょうか。
英単語を覚えました、と書くには過去形を使います。 | お母さんの誕生日を忘れませんように。
先生はそれを覚えましたか。 | 保存しました、と表示されたら成功です。 | Should I remember that?
Do you want me to save it? | I remember your cat is Mochi. | I can remember things if you ask.
Tell me to remember it and when you do, I'll save it. | I couldn't save that.
I'll remember it if you ask me to. | You said you will remember. | `I'll remember` is a promise.
Save the file, then restart. | He noted that it rained.
"""
)
REMINDERS = phrases(
    """
予約しておきました。 | リマインダーを設定しました！ | 予定に入れておきました。
はい、明日の朝8時にリマインドします。 | 10分後に声をかけますね。 | リマインドを登録しておきます。
7時に起こしますね。 | カレンダーに追加しました。 | 通知をセットしたよ。 | アラームをかけておきました。
承知しました。毎朝8時に通知します。 | スケジュールに登録しました。 | I'll remind you tomorrow at 9.
I've set a reminder for 9 am. | Your reminder is set. | I have scheduled the reminder.
I’ll ping you in 10 minutes. | Done, I added it to your calendar. | I'll set an alarm for 7.
予約しました。
"""
)
NO_REMINDERS = phrases(
    """
予約しておきましょうか？ | お知らせを予約できませんでした。
リマインダーを設定するには /remind add を使います。 | 時刻を教えていただければお知らせします。
予約が必要です。 | お知らせします、と言いました。 | 結果が出たらお知らせします。
Shall I remind you tomorrow? | If you like, I'll remind you. | The alarm went off.
アラームの音で起きました。 | その予定はもう終わりました。 | レストランを予約するとよいでしょう。
明日の予定はありますか？ | リマインダーは予約していません。 | There is no reminder set.
You have no alarms scheduled.
"""
)
ABOUT_THE_BOT = phrases(
    """
猫が好き | 9時にレポートを書いてって知らせて | 小説の締め切りは金曜
I write novels. Remember that I like tea | メールは夜に読む。覚えて
"""
)


def untrue_in(answers: Iterable[str], wish: Wish) -> dict[str, frozenset[Kind]]:
    return {answer: removal_claims(answer).untrue((), wish) for answer in answers}


class TestRemovals:
    def test_are_recognised(self) -> None:
        for answers, kind in ((FORGOTTEN, MEMORY), (CANCELLED, REMINDER)):
            assert untrue_in(answers, Wish(kind, removal=True)) == dict.fromkeys(answers, kind)
        assert (
            removal_claims("承知しました。\n\nリマインダーを取り消しました！\n\nほかには？").named == REMINDER
        )

    def test_are_not_seen_in_other_words(self) -> None:
        code = '```py\nprint("記憶を削除しました。")\n```\n> お知らせを取り消しました。\n'
        harmless = [*NO_CLAIMS, code]
        assert untrue_in(harmless, OF_EITHER) == dict.fromkeys(harmless, frozenset())
        assert untrue_in(STORIES, wish_of("続きを書いて")) == dict.fromkeys(STORIES, frozenset())

    def test_that_may_be_about_anything_need_a_turn_that_is_about_it(self) -> None:
        assert untrue_in(UNNAMED, Wish()) == dict.fromkeys(UNNAMED, frozenset())
        assert [answer for answer, untrue in untrue_in(UNNAMED, OF_EITHER).items() if not untrue] == []

    def test_of_one_kind_are_not_made_good_by_the_other(self) -> None:
        for answer in (
            "猫の記憶を削除し、リマインダーも取り消しました。",
            "記憶とリマインダーを削除しました。",
            "記憶を削除しました。お知らせも取り消しました。",
            "I've deleted the memory and the reminder.",
            "That memory has been deleted. I've also cancelled the reminder.",
        ):
            claims = removal_claims(answer)
            assert claims.untrue({"memory"}, OF_EITHER) == REMINDER
            assert claims.untrue({"reminder"}, OF_EITHER) == MEMORY
            assert claims.untrue({"memory", "reminder"}, OF_EITHER) == frozenset()

    def test_are_made_good_by_anything_where_none_is_named_and_not_read_in_what_a_memory_says(self) -> None:
        for removed in ("memory", "reminder", "canvas"):
            assert removal_claims("削除しました。").untrue({removed}, OF_EITHER) == frozenset()
        for answer in ("アラームが嫌いという記憶を削除しました。", "通知は嫌いという記憶を消しました。"):
            assert removal_claims(answer).untrue({"memory"}, OF_EITHER) == frozenset()


class TestQuestion:
    def test_tells_what_the_turn_is_about(self) -> None:
        about = {
            "猫のことは忘れて": MEMORY,
            "さっき覚えたやつ消して": MEMORY,
            "メモリから消して": MEMORY,
            "forget that I like cats": MEMORY,
            "薬のお知らせを取り消して": REMINDER,
            "9時のアラームやめて": REMINDER,
            "cancel my reminder": REMINDER,
            "リマインダーと記憶を全部消して": BOTH,
            "この文の2行目を消して": frozenset(),
            "remove the second line": frozenset(),
        }
        assert {question: wish_of(question).about for question in about} == about

    def test_is_about_what_was_done_or_a_wish_or_not_about_the_bot(self) -> None:
        expected = dict.fromkeys(ASKS_BACK, True) | dict.fromkeys(WISHES, False)
        assert {question: wish_of(question).asks_back for question in expected} == expected
        assert [each for each in ABOUT_THE_BOT if not says_what_it_did("承知しました。", each)] == []

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("日記を書いて", "今日、歯医者を予約しました。明日9時に行きます。"),
            ("「I'll remember that」を和訳して", "覚えておきます。"),
            ("「覚えました」を英訳して", "I've memorized it."),
            ("友達への返信を考えて", "了解、覚えておくね！"),
            ("RPGの勇者として話して", "勇者は呪文を覚えました！"),
            ("こんにちは", "例文: 私はホテルを予約しました。"),
            ("さっきの覚えた？", "はい、覚えました。"),
            ("Did you save it?", "Yes, I saved it."),
            ("Translate this: 覚えました", "I've noted it."),
        ],
    )
    def test_for_a_text_or_about_an_earlier_turn_is_not_answered_by_what_the_bot_did(
        self, question: str, answer: str
    ) -> None:
        assert not says_what_it_did(answer, question)


class TestPromises:
    @pytest.mark.parametrize(
        ("promises", "those", "others"),
        [
            (promises_to_remember, PROMISES, NO_PROMISES),
            (promises_to_remind, REMINDERS, NO_REMINDERS),
        ],
        ids=["to remember", "to remind"],
    )
    def test_are_recognised_and_not_seen_in_other_words(
        self, promises: Callable[[str], bool], those: list[str], others: list[str]
    ) -> None:
        expected = dict.fromkeys(those, True) | dict.fromkeys(others, False)
        assert {answer: promises(answer) for answer in expected} == expected

    def test_are_recognised_between_other_sentences_and_not_in_code_and_quotations(self) -> None:
        code = "print(1)\n" * 10_000
        expected = {
            "なるほど、3月15日ですね。\n覚えておきます！\n\nほかにはありますか？": True,
            "> 猫の名前は？\nモチですね。覚えておきます。": True,
            '```py\nprint("覚えておきます。")\n```\n> 覚えておきます。\n': False,
            'Her card says: "I\'ll remember that." It is from May.': False,
            f"これです。\n```py\n{code}# 覚えておきます。\n```": False,
        }
        for filling in ("ラーメンの話。", "「」", "a" * 40 + "\n"):
            filled = filling * (100_000 // len(filling))
            expected |= {f"覚えておきます。{filled}": True, f"{filled}I'll remember that.": True}
        assert [answer for answer, yes in expected.items() if promises_to_remember(answer) is not yes] == []


NEXT_CENTURY = datetime(2099, 1, 1, tzinfo=UTC)
NO_SUCH = (
    call("forget", "f", id=99),
    call("cancel_schedule", "c", id=99),
    call("canvas_remove_element", id="m"),
)
NO_MEMORY, NO_REMINDER, NO_CARD = NO_SUCH


def untrue(events: list[TurnEvent]) -> list[str]:
    return [event.what for event in events if isinstance(event, NotRemoved)]


@dataclass
class Kept:
    """A memory and a reminder, with the calls that remove them."""

    forgets: ToolRequest
    cancels: ToolRequest
    supersedes: ToolRequest


@pytest.fixture
async def kept(table: Table) -> Kept:
    memory = await table.stores.memories.add(KEY.user_id, "猫が好き")
    reminder = await table.stores.schedules.add(KEY, "薬", NEXT_CENTURY)
    return Kept(
        call("forget", "f", id=memory.number),
        call("cancel_schedule", "c", id=reminder.number),
        call("remember", "r", content="犬が好き", supersedes=memory.number),
    )


class TestClaim:
    @pytest.mark.parametrize(
        ("question", "calls", "answer", "what"),
        [
            ("猫が好きなことは忘れて", [], "はい、忘れました。", "memory"),
            ("薬はもういいよ", [], "お知らせを取り消しました。", "reminder"),
            ("それ消して", [NO_MEMORY], "削除しました。", "memory"),
            ("not that one", [NO_REMINDER], "I've cancelled it.", "reminder"),
            ("猫のメモを消して", [NO_CARD], "消しました。", "memory"),
        ],
    )
    async def test_that_nothing_stands_behind_is_owned_up_to(
        self, table: Table, kept: Kept, question: str, calls: list[ToolRequest], answer: str, what: str
    ) -> None:
        table.model.script = [calls, [answer]] if calls else [[answer]]
        assert untrue(await table.ask(question)) == [what]
        assert await table.stores.memories.count(KEY.user_id) == 1
        assert len(await table.stores.schedules.list(KEY.user_id)) == 1

    async def test_that_was_made_true_is_believed(self, table: Table, kept: Kept) -> None:
        card = call("canvas_add_card", id="m", title="買い物メモ", content="牛乳")
        for made, question, answer in (
            (kept.supersedes, "犬が好き。覚え直して", "犬が好きと覚えました。猫の記憶は削除しました。"),
            (call("forget", id=2), "犬が好きなことは忘れて", "忘れました。"),
            (kept.cancels, "薬のお知らせを取り消して", "お知らせを取り消しました。"),
            (card, "買い物メモを出して", "出しました。"),
            (NO_CARD, "買い物メモを消して", "消しました。"),
        ):
            table.model.script = [[made], [answer]]
            events = await table.ask(question)
            assert [each.ok for each in done(events).answer.tool_calls] == [True]
            assert untrue(events) == []

    async def test_in_reply_to_a_yes_is_about_what_was_asked(self, table: Table) -> None:
        table.model.script = [["薬のお知らせを取り消してよろしいですか？"], ["取り消しました。"]]
        await table.ask("薬のやつ、いらない")
        assert untrue(await table.ask("はい")) == ["reminder"]

    @pytest.mark.parametrize("question", ["さっきのお知らせ、取り消した？", "ちゃんと取り消してくれた？"])
    async def test_of_an_earlier_turn_is_let_be(self, table: Table, kept: Kept, question: str) -> None:
        table.model.script = [[kept.cancels], ["取り消しました。"], ["はい、取り消しました。"]]
        await table.ask("薬のお知らせを取り消して")
        assert untrue(await table.ask(question)) == []

    async def test_of_the_answer_that_this_one_takes_the_place_of_is_believed(
        self, table: Table, kept: Kept
    ) -> None:
        table.model.script = [[kept.cancels], ["お知らせを取り消しました。"]] * 2
        again = await table.regenerate(await table.answer("薬のお知らせを取り消して"))
        assert done(again).answer.tool_calls[0].ok is False
        assert untrue(again) == []
