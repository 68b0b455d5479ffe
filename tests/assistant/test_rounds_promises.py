"""Which answers promise to remember something, sentence by sentence."""

from time import process_time

import pytest

from cc_bot.assistant.claims import promises_to_remember, promises_to_remind, says_what_it_did

PROMISES = [
    "覚えておきます。",
    "はい、覚えておきますね！",
    "了解です。覚えておくね",
    "覚えときます",
    "わかった、覚えとくね〜",
    "覚えました。",
    "覚えておきました。",
    "「猫の名前はモチ」を覚えました！",
    "承知しました。記憶しました。",
    "記憶しておきます。",
    "メモしました。",
    "メモしておきますね。",
    "メモっておきます",
    "お誕生日は3月15日ですね。メモしました📝",
    "しっかり記憶いたしました。",
    "メモリに保存しました。",
    "メモリに登録しておきました。",
    "好みを保存しました。",
    "保存しておきますね。",
    "記録しておきます。",
    "書き留めておきます。",
    "控えておきます。",
    "心に留めておきます。",
    "忘れません！",
    "忘れないようにします。",
    "なるほど、辛いものが苦手なんですね。覚えておきます。それで、ラーメンの話ですが…",
    "3月15日がお誕生日とのこと、覚えました！次は何をしましょうか？",
    "お誕生日、しっかり記憶に刻みました。",
    "心に刻んでおきます",
    "はい、登録しました。",
    "保存しました。",
    "記録しておきました",
    "インプットしました！",
    "かしこまりました。覚えさせていただきます。",
    "了解、覚えておきまーす",
    "Your birthday is now saved.",
    "I have updated my memory.",
    "I'll remember that.",
    "Sure! I'll remember your birthday.",
    "I will remember this for next time.",
    "Got it — I'll keep that in mind.",
    "I'll make a note of that.",
    "I've saved that to memory.",
    "I’ve noted your preference.",
    "I have stored this for you.",
    "I've made a note of it.",
    "I won't forget!",
    "Noted!",
    "Okay, noted.",
    "Saved to memory.",
    "I'll definitely remember your cat's name.",
    "I'll be sure to remember it.",
    "I just saved that.",
    "I've added it to your notes.",
    "I'll save this for later.",
    "Remembered!",
]

NO_PROMISES = [
    "覚えておきましょうか？",
    "覚えておきますか？",
    "これを覚えておきましょうか。",
    "覚えていません。",
    "すみません、それは覚えていません。",
    "覚えておいてください。",
    "大事なので覚えておいてくださいね。",
    "覚えておくと便利です。",
    "覚えておきましょう。",
    "「覚えておいて」と言っていただければ覚えます。",
    "教えていただければ覚えておきます。",
    "必要なら覚えておきますので、お申し付けください。",
    "「覚えておきます」は丁寧な表現です。",
    "以前に覚えました。",
    "保存していません。",
    "保存できませんでした。",
    "メモリには保存されません。",
    "メモリを確認しました。",
    "その件は記憶にありません。",
    "ファイルを保存しましたか？",
    "ファイルを保存しました、という表示が出ます。",
    "彼女は単語を百個覚えました。",
    "覚えられませんでした。",
    "この会話の間は覚えています。",
    "「猫の名前はモチ」と覚えています。",
    "忘れました。",
    "メモを取ると良いでしょう。",
    "何を覚えましょうか。",
    "英単語を覚える方法は三つあります。",
    "英単語を覚えました、と書くには過去形を使います。",
    "お母さんの誕生日を忘れませんように。",
    "先生はそれを覚えましたか。",
    "保存しました、と表示されたら成功です。",
    "設定を保存したら再起動します。",
    "Should I remember that?",
    "Would you like me to remember this?",
    "Do you want me to save it?",
    "I don't remember that.",
    "I remember your cat is Mochi.",
    "Remember to drink water.",
    "I can remember things if you ask.",
    "If you like, I'll remember that.",
    "Tell me to remember it and when you do, I'll save it.",
    "I couldn't save that.",
    "I can't store passwords.",
    "I'll remember it if you ask me to.",
    "You said you will remember.",
    "Shall I make a note of it?",
    "`I'll remember` is a promise.",
    "Please note that the shop is closed.",
    "Save the file, then restart.",
    "The data is saved in the database when you press Enter.",
    "He noted that it rained.",
    "To remember it, use a mnemonic.",
]

REMINDERS = [
    "予約しておきました。",
    "リマインダーを設定しました！",
    "明日9時にお知らせしますね。",
    "18時にアラームをセットしました。",
    "予定に入れておきました。",
    "はい、明日の朝8時にリマインドします。",
    "10分後に声をかけますね。",
    "お知らせを予約しました。",
    "リマインドを登録しておきます。",
    "7時に起こしますね。",
    "カレンダーに追加しました。",
    "通知をセットしたよ。",
    "アラームをかけておきました。",
    "承知しました。毎朝8時に通知します。",
    "スケジュールに登録しました。",
    "I'll remind you tomorrow at 9.",
    "I've set a reminder for 9 am.",
    "Your reminder is set.",
    "Reminder set for 6pm!",
    "I have scheduled the reminder.",
    "I’ll ping you in 10 minutes.",
    "Done, I added it to your calendar.",
    "I'll set an alarm for 7.",
    "予約しました。",
]

NO_REMINDERS = [
    "予約しておきましょうか？",
    "何時にお知らせしますか？",
    "お知らせを予約できませんでした。",
    "「予約しておきました」は丁寧な表現です。",
    "リマインダーを設定するには /remind add を使います。",
    "時刻を教えていただければお知らせします。",
    "お店は18時に閉まります。",
    "予約が必要です。",
    "ホテルの予約は済みましたか？",
    "お知らせします、と言いました。",
    "通知は設定していません。",
    "結果が出たらお知らせします。",
    "I can't set reminders.",
    "Shall I remind you tomorrow?",
    "If you like, I'll remind you.",
    "Remind me to call mom.",
    "The alarm went off.",
    "Would you like me to set a reminder?",
    "アラームの音で起きました。",
    "会議の予定があります。",
    "その予定はもう終わりました。",
    "予定が変わりました。",
    "レストランを予約するとよいでしょう。",
    "予定を立てました、という意味です。",
    "明日の予定はありますか？",
    "予約されていません。",
    "リマインダーは予約していません。",
    "リマインダーはまだ設定されていません。",
    "There is no reminder set.",
    "No reminders are set.",
    "You have no alarms scheduled.",
]

UNITS = [
    *("「", "『", "“", "`", "```", "「」", ">", "> a\n", " ", "、", "あ", "!", "a\n"),
    *(
        "覚え",
        "覚えておきます",
        "以前に覚えました",
        "メモリに",
        "覚えておきますと書",
        "はい、",
        "、と",
        "覚えましたなら",
    ),
    *("i will ", "i'll always ", "i have saved ", "i've now ", "ok, ", "would i won't forget ", "now saved "),
    *("予約を", "予定に", "9時に", "時になったら", "お知らせ", "reminder ", "i've set ", "i'll set your "),
    *("i'll remember if you ", "is now ", "「覚え", "“I'll "),
]
"""Of what the patterns are made, to be said ten thousand times."""


class TestWhatItDid:
    """Whether an answer may be taken for what the bot itself has just done."""

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
    def test_is_not_told_by_a_text_or_of_an_earlier_turn(self, question: str, answer: str) -> None:
        assert not says_what_it_did(answer, question)

    @pytest.mark.parametrize(
        "question",
        [
            "猫が好き",
            "9時にレポートを書いてって知らせて",
            "メモに書いておいて",
            "小説の締め切りは金曜",
            "Remind me to write the report",
            "I write novels. Remember that I like tea",
            "メールは夜に読む。覚えて",
        ],
    )
    def test_is_told_otherwise(self, question: str) -> None:
        assert says_what_it_did("承知しました。", question)


class TestPromises:
    @pytest.mark.parametrize("answer", PROMISES)
    def test_are_recognised(self, answer: str) -> None:
        assert promises_to_remember(answer)

    @pytest.mark.parametrize("answer", NO_PROMISES)
    def test_are_not_seen_in_other_words(self, answer: str) -> None:
        assert not promises_to_remember(answer)

    @pytest.mark.parametrize("answer", REMINDERS)
    def test_of_reminders_are_recognised(self, answer: str) -> None:
        assert promises_to_remind(answer)

    @pytest.mark.parametrize("answer", NO_REMINDERS)
    def test_of_reminders_are_not_seen_in_other_words(self, answer: str) -> None:
        assert not promises_to_remind(answer)

    def test_are_recognised_between_other_sentences(self) -> None:
        assert promises_to_remember("なるほど、3月15日ですね。\n覚えておきます！\n\nほかにはありますか？")

    def test_are_not_seen_in_code_and_quotations(self) -> None:
        assert not promises_to_remember('```py\nprint("覚えておきます。")\n```\n> 覚えておきます。\n')

    def test_are_not_seen_in_what_somebody_wrote(self) -> None:
        assert not promises_to_remember('Her card says: "I\'ll remember that." It is from May.')

    def test_are_recognised_below_a_quotation(self) -> None:
        assert promises_to_remember("> 猫の名前は？\nモチですね。覚えておきます。")


class TestLongAnswer:
    @pytest.mark.parametrize("filling", ["ラーメンの話。", "「」", "a" * 40 + "\n"])
    def test_is_looked_at_where_it_begins_and_where_it_ends(self, filling: str) -> None:
        filled = filling * (100_000 // len(filling))
        assert promises_to_remember(f"覚えておきます。{filled}")
        assert promises_to_remember(f"{filled}I'll remember that.")

    def test_may_end_in_code(self) -> None:
        code = "print(1)\n" * 10_000
        assert not promises_to_remember(f"これです。\n```py\n{code}# 覚えておきます。\n```")

    @pytest.mark.parametrize("unit", UNITS)
    def test_takes_time_that_grows_no_faster_than_it_does(self, unit: str) -> None:
        """Growth and not seconds: eight times as long, and with a square in it sixty-four times."""
        short, long = (taken(unit * (length // len(unit))) for length in (12_500, 100_000))
        assert long < 20 * short


def taken(answer: str) -> float:
    """Seconds of this process, of the quickest of a few tries."""
    tries = []
    for _ in range(5):
        start = process_time()
        promises_to_remember(answer)
        promises_to_remind(answer)
        tries.append(process_time() - start)
    return min(tries)
