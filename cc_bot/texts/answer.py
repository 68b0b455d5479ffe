"""What stands around an answer: while it is on its way, and under it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    thinking: str
    going_on_for: str
    """Parameters: activity (one of those here), seconds."""
    queued: str
    """Behind an earlier question of the same user or channel."""
    in_line: str
    """Behind others. Parameters: ahead, how many of them."""
    next_in_line: str
    fallback: str
    tool_remember: str
    tool_recall: str
    tool_update: str
    tool_forget: str
    tool_list: str
    tool_canvas: str
    tool_schedule: str
    tool_other: str
    """Parameter: name."""
    stopped: str
    stopped_empty: str
    cut: str
    cut_for_good: str
    """When there is nothing to continue from."""
    no_words: str
    kept: str
    """A new answer was asked for and stopped before its first word."""
    temporary: str
    long_as_file: str
    files_left_out: str
    """Parameters: names, images, texts (the most bytes of each, such as `8 MB`)."""
    file_name: str
    help_hint: str
    stop: str
    regenerate: str
    continue_: str
    continue_question: str
    not_yours: str
    no_longer_running: str
    unknown_press: str
    """Of a button, a menu or a form that another version of the program made."""
    lost: str

    def waiting_line(self, ahead: int | None) -> str:
        """That a turn waits; `ahead` as Notice has it."""
        if ahead is None:
            return self.queued
        return self.in_line.format(ahead=ahead) if ahead else self.next_in_line

    def tool_line(self, name: str) -> str:
        """That a tool is at work; `name` is shown for one that is not known here."""
        known = {
            "remember": self.tool_remember,
            "recall": self.tool_recall,
            "update_memory": self.tool_update,
            "forget": self.tool_forget,
            "list_memories": self.tool_list,
            **dict.fromkeys(("schedule", "list_schedules", "cancel_schedule"), self.tool_schedule),
        }
        other = self.tool_canvas if name.startswith("canvas_") else self.tool_other
        return known.get(name, other).format(name=name)


ANSWER_JA = AnswerTexts(
    thinking="考えています…",
    going_on_for="{activity}（{seconds}秒）",
    queued="前の質問が終わるのを待っています…",
    in_line="順番を待っています…（前に{ahead}件）",
    next_in_line="順番を待っています…（次です）",
    fallback="混み合っているため、別のモデルに聞いています…",
    tool_remember="💾 メモリに保存しています…",
    tool_recall="🔎 メモリを探しています…",
    tool_update="✏️ メモリを書き換えています…",
    tool_forget="🗑️ メモリから消しています…",
    tool_list="🗂️ メモリを見ています…",
    tool_canvas="🖼️ キャンバスに描いています…",
    tool_schedule="⏰ お知らせの予定を見ています…",
    tool_other="🔧 {name} を使っています…",
    stopped="⏹️ ここで止めました。",
    stopped_empty="⏹️ 回答を止めました。この質問は会話に残しません。",
    cut="✂️ 回答が途中で切れました。「続ける」で続きを書きます。",
    cut_for_good="✂️ 回答が途中で切れました。もう一度 </ask> でお聞きください。",
    no_words="（言葉での返事はありませんでした）",
    kept="⏹️ 止めました。前の回答はそのままです。",
    temporary="🫧 この質問と回答は保存されません。",
    long_as_file="📄 長い回答なので、全文をファイルで添付しました。",
    files_left_out="📎 {names} は読めませんでした。読めるのは {images} までの画像と {texts} までのテキストです。",
    file_name="回答.md",
    help_hint="💡 </help> で、できることの一覧を見られます。",
    stop="止める",
    regenerate="もう一度答える",
    continue_="続ける",
    continue_question="続けてください。",
    not_yours="このボタンは、質問した人だけが使えます。ご自分の質問は </ask> でどうぞ。",
    no_longer_running="この回答はもう動いていません。もう一度 </ask> でお聞きください。",
    unknown_press="ボットが新しくなり、この操作は受け付けられなくなりました。お手数ですが、コマンドからやり直してください。",
    lost="再起動のため、この質問には答えられませんでした。もう一度 </ask> でお聞きください。",
)

ANSWER_EN = AnswerTexts(
    thinking="Thinking…",
    going_on_for="{activity} ({seconds} s)",
    queued="Waiting for an earlier question to finish…",
    in_line="Waiting in line… ({ahead} ahead)",
    next_in_line="Waiting in line… (you're next)",
    fallback="That model is busy, asking another one…",
    tool_remember="💾 Saving to memory…",
    tool_recall="🔎 Looking through your memories…",
    tool_update="✏️ Changing a memory…",
    tool_forget="🗑️ Removing from memory…",
    tool_list="🗂️ Looking at your memories…",
    tool_canvas="🖼️ Drawing on the canvas…",
    tool_schedule="⏰ Seeing to your reminders…",
    tool_other="🔧 Using {name}…",
    stopped="⏹️ Stopped here.",
    stopped_empty="⏹️ Stopped. The question is not kept in the conversation.",
    cut="✂️ The answer broke off. Press “Continue” for the rest.",
    cut_for_good="✂️ The answer broke off. Please ask again with </ask>.",
    no_words="(There was no answer in words.)",
    kept="⏹️ Stopped. The earlier answer stays.",
    temporary="🫧 This question and its answer are not stored.",
    long_as_file="📄 This is a long answer, so all of it is in the attached file.",
    files_left_out="📎 I couldn't read {names}. I can read images of up to {images} and text of up to {texts}.",
    file_name="answer.md",
    help_hint="💡 </help> shows everything I can do.",
    stop="Stop",
    regenerate="Answer again",
    continue_="Continue",
    continue_question="Please continue.",
    not_yours="Only the person who asked can use this button. Ask your own question with </ask>.",
    no_longer_running="This answer is no longer running. Please ask again with </ask>.",
    unknown_press="The bot has changed since, and can’t do this any more. Please start again with a command.",
    lost="I restarted before I could answer this. Please ask again with </ask>.",
)

# ---- mention ---------------------------------------------------------------------------------------------
# What is said to those who write to the bot in a channel or a DM, beside the answers themselves.


@dataclass(frozen=True, slots=True)
class MentionTexts:
    ask_something: str
    """To a mention, or a DM, with nothing in it."""
    away: str
    """To a question that waited for too long while the bot was not running."""
    left_behind: str
    """To a question that waited when its channel was reset."""
    cut: str
    stopped_empty: str


MENTION_JA = MentionTexts(
    ask_something="はい、何でしょう？ 聞きたいことを添えて、もう一度送ってください。",
    away="しばらく動いていなかったため、お返事できませんでした。まだお困りでしたら、もう一度お聞きください。",
    left_behind="ここで会話が区切られたため、この質問にはお答えしていません。必要でしたら、もう一度お聞きください。",
    cut="✂️ 回答が途中で切れました。「続けて」と返信すれば、続きを書きます。",
    stopped_empty="⏹️ 回答を止めました。",
)

MENTION_EN = MentionTexts(
    ask_something="Yes? Please send that again with what you would like to know.",
    away="I was not running for a while and could not answer. If you still need it, please ask again.",
    left_behind=(
        "The conversation was started afresh here, so I did not answer this. If you still need it, please ask "
        "again."
    ),
    cut="✂️ The answer broke off. Reply with “go on” for the rest.",
    stopped_empty="⏹️ Stopped.",
)

# ---- summary ---------------------------------------------------------------------------------------------
# The summary of a channel's conversation, as a user reads of it.


@dataclass(frozen=True, slots=True)
class SummaryTexts:
    title: str
    private: str
    """Above what was written down of what others can't see."""
    none: str
    delete: str
    deleted: str
    not_yours: str


SUMMARY_JA = SummaryTexts(
    title="このチャンネルでの会話の要約",
    private="自分だけの会話から",
    none="このチャンネルでの会話の要約はまだありません。会話が長くなるか、しばらく間があくと書き留めます。",
    delete="要約を消す",
    deleted="🗑️ 要約を消しました。ここまでの会話が要約されることはもうありません。",
    not_yours="このボタンは、この会話をした人だけが使えます。ご自分の要約は </summary> でどうぞ。",
)

SUMMARY_EN = SummaryTexts(
    title="Summary of our conversation in this channel",
    private="From what only you can see",
    none=(
        "There is no summary of our conversation in this channel yet. I write one when it gets long or has "
        "paused for a while."
    ),
    delete="Delete the summary",
    deleted="🗑️ The summary is deleted. What was said up to now will not be summarized again.",
    not_yours="Only the person whose conversation it is can use this button. Yours is in </summary>.",
)

# ---- unfinished ------------------------------------------------------------------------------------------
# What is said about a turn that the program was ended under, once it runs again.


@dataclass(frozen=True, slots=True)
class UnfinishedTexts:
    cut_off: str
    """With a button below that asks the same once more."""
    ask_again: str
    temporary: str
    """Nothing of the question was kept."""
    lost: str
    """The question is no longer there."""
    kept: str
    """Under the older answer, when a new one was asked for."""
    no_new_one: str
    """The same, where the older answer stands above."""
    late: str
    """Under an answer that comes by DM because it can't be shown where it was asked."""
    in_doubt: str
    """It was ended in the very moment in which something was about to be stored."""
    asked_already: str
    """To a press of a button whose question is not waiting any more."""


UNFINISHED_JA = UnfinishedTexts(
    cut_off=(
        "書いている途中で動かなくなったため、お返事できませんでした。"
        "「もう一度きく」を押すと、同じ質問にお答えします。"
    ),
    ask_again="もう一度きく",
    temporary=(
        "書いている途中で動かなくなったため、お返事できませんでした。"
        "保存しない質問だったので、こちらには残っていません。お手数ですが、もう一度お聞きください。"
    ),
    lost="書いている途中で動かなくなったため、お返事できませんでした。お手数ですが、もう一度お聞きください。",
    kept="✂️ 途中で動かなくなったため、前の回答に戻しました。",
    no_new_one="✂️ 途中で動かなくなったため、新しい回答はできませんでした。前の回答はそのままです。",
    late="📨 先ほどの質問へのお返事です。元の場所には出せなかったため、こちらにお届けします。",
    in_doubt=(
        "❓ メモリかお知らせを変えている最中に止まりました。"
        "済んだかどうかは、</memory list> と </remind list> で確かめられます。"
    ),
    asked_already=(
        "この質問は、もう一度お聞きしたあとか、お預かりする期限（7日）を過ぎています。"
        "必要でしたら、新しくお聞きください。"
    ),
)

UNFINISHED_EN = UnfinishedTexts(
    cut_off=(
        "I was cut off before I could finish this answer. "
        "Press “Ask again” to have the same question answered."
    ),
    ask_again="Ask again",
    temporary=(
        "I was cut off before I could finish this answer. "
        "The question was not stored, so please ask it once more."
    ),
    lost="I was cut off before I could finish this answer. Please ask once more.",
    kept="✂️ I was cut off, so the earlier answer is back.",
    no_new_one="✂️ I was cut off, so there is no new answer. The earlier one stays.",
    late="📨 This answers your earlier question. It could not be shown where you asked.",
    in_doubt=(
        "❓ I was cut off while changing a memory or reminder. "
        "See </memory list> and </remind list> for whether it was done."
    ),
    asked_already=(
        "This question has been asked again already, or the 7 days that I keep it for are over. "
        "If you still need it, please ask it anew."
    ),
)
