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


JA = AnswerTexts(
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

EN = AnswerTexts(
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
