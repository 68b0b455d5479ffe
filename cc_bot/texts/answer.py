"""Answers, charts in them, questions in channels, summaries and changes of a canvas."""

from cc_bot.texts.area import Area, Sentence, by_key
from cc_bot.texts.commands import CoreCommandTexts


class AnswerTexts(Area):
    default_agent = Sentence(ja="標準", en="Standard")
    thinking = Sentence(ja="考えています…", en="Thinking…")
    activity_time = Sentence(ja="{activity}（{seconds}秒）", en="{activity} ({seconds} s)")
    behind_own_question = Sentence(ja="前の質問が終わるのを待っています…", en="Waiting for an earlier question to finish…")  # of the same user or channel
    queue_position = Sentence(ja="順番を待っています…（前に{ahead}件）", en="Waiting in line… ({ahead} ahead)")
    next_in_queue = Sentence(ja="順番を待っています…（次です）", en="Waiting in line… (you're next)")
    fallback = Sentence(ja="混み合っているため、別のモデルに聞いています…", en="That model is busy, asking another one…")
    tools = by_key(
        {
            "remember": Sentence(ja="💾 メモリに保存しています…", en="💾 Saving to memory…"),
            "recall": Sentence(ja="🔎 メモリを探しています…", en="🔎 Looking through your memories…"),
            "update_memory": Sentence(ja="✏️ メモリを書き換えています…", en="✏️ Changing a memory…"),
            "forget": Sentence(ja="🗑️ メモリから消しています…", en="🗑️ Removing from memory…"),
            "list_memories": Sentence(ja="🗂️ メモリを見ています…", en="🗂️ Looking at your memories…"),
            "read_file": Sentence(ja="📖 文書を読んでいます…", en="📖 Reading the document…"),
            "read_page": Sentence(ja="🌐 ページを読んでいます…", en="🌐 Reading the page…"),
            "web_search": Sentence(ja="🔎 ウェブで調べています…", en="🔎 Searching the web…"),
            **dict.fromkeys(("schedule", "list_schedules", "cancel_schedule"), Sentence(ja="⏰ お知らせの予定を見ています…", en="⏰ Looking at your reminders…")),
        }
    )
    tool_canvas = Sentence(ja="🖼️ キャンバスに描いています…", en="🖼️ Drawing on the canvas…")
    more_pages = Sentence(ja="（ほか{count}件）", en=" (and {count} more)")
    tool_other = Sentence(ja="🔧 {name} を使っています…", en="🔧 Using {name}…")
    stopped = Sentence(ja="⏹️ ここで止めました。", en="⏹️ Stopped here.")
    stopped_empty = Sentence(ja="⏹️ 回答を止めました。この質問は会話に残しません。", en="⏹️ Stopped. The question is not kept in the conversation.")
    cut = Sentence(ja="✂️ 回答が途中で切れました。「続ける」で続きを書きます。", en="✂️ The answer broke off. Press “Continue” for the rest.")
    cut_without_button = Sentence(ja="✂️ 回答が途中で切れました。もう一度 </ask> でお聞きください。", en="✂️ The answer broke off. Please ask again with </ask>.")
    no_text = Sentence(ja="（言葉での返事はありませんでした）", en="(There was no answer in words.)")
    answer_kept = Sentence(ja="⏹️ 止めました。前の回答はそのままです。", en="⏹️ Stopped. The earlier answer stays.")
    temporary = Sentence(ja="🫧 この質問と回答は保存されません。", en="🫧 This question and its answer are not stored.")
    long_as_file = Sentence(ja="📄 長い回答なので、全文をファイルで添付しました。", en="📄 This answer is long, so its full text is in the attached file.")
    files_left_out = Sentence(
        ja="📎 {names} は読めませんでした。読めるのは {images} までの画像、{texts} までのテキスト、{documents} までの文書、{minutes}分までの音声です。", en="📎 I couldn't read {names}. I can read images of up to {images}, text of up to {texts}, documents of up to {documents} and recordings of up to {minutes} minutes."
    )
    files_deleted = Sentence(ja="📎 添付ファイルが多くなったので、古いもの{count}件を消しました。またお使いになるときは、もう一度添付してください。", en="📎 There were too many files to keep, so the oldest are gone ({count}). Attach them again if you need them.")
    scans_shown = Sentence(ja="📎 {names} は文字のないスキャンなので、はじめの {pages} ページを画像として見ました。", en="📎 {names}: a scan without text, so I looked at pictures of its first pages (up to {pages}).")
    reply_not_visible = Sentence(
        ja=f"↩️ 返信先のメッセージは、私には見えません。そのメッセージを長押し（右クリック）して「アプリ」→「{CoreCommandTexts.ask_about_this.ja}」を選ぶと、読んでお答えします。",
        en=f"↩️ I can't see the message you replied to. Press and hold (or right-click) it and choose Apps → {CoreCommandTexts.ask_about_this.en}, and I will read it.",
    )
    hearing = Sentence(ja="🎤 聞き取っています…", en="🎤 Listening…")
    sound_name = Sentence(ja="回答.mp3", en="answer.mp3")
    file_name = Sentence(ja="回答.md", en="answer.md")
    help_hint = Sentence(ja="💡 </help> で、できることの一覧を見られます。", en="💡 </help> shows everything I can do.")
    stop = Sentence(ja="止める", en="Stop")
    try_again = Sentence(ja="もう一度試す", en="Try again")  # after a failure
    regenerate = Sentence(ja="もう一度答える", en="Answer again")
    continue_ = Sentence(ja="続ける", en="Continue")
    continue_question = Sentence(ja="続けてください。", en="Please continue.")
    not_yours = Sentence(ja="このボタンは、質問した人だけが使えます。ご自分の質問は </ask> でどうぞ。", en="Only the person who asked can use this button. Ask your own question with </ask>.")
    no_longer_running = Sentence(ja="この回答はもう動いていません。もう一度 </ask> でお聞きください。", en="This answer is no longer running. Please ask again with </ask>.")
    runs_elsewhere = Sentence(ja="この回答はボットの別のプロセスで動いています。終わるまでそのままお待ちください。", en="Another process of the bot is writing this answer. Please wait until it is done.")
    unknown_press = Sentence(ja="ボットが新しくなり、この操作は受け付けられなくなりました。お手数ですが、コマンドからやり直してください。", en="The bot was updated and can’t do this any more. Please start again with a command.")
    lost_in_restart = Sentence(ja="再起動のため、この質問には答えられませんでした。もう一度 </ask> でお聞きください。", en="I restarted before I could answer this. Please ask again with </ask>.")

    def waiting_line(self, ahead: int | None) -> str:
        """`ahead`: turns that wait before this one; None while an earlier question of the user or channel runs."""
        if ahead is None:
            return self.behind_own_question
        return self.queue_position.format(ahead=ahead) if ahead else self.next_in_queue

    def tool_line(self, name: str) -> str:
        """`name` is shown for unknown tools."""
        other = self.tool_canvas if name.startswith("canvas_") else self.tool_other
        return self.tools.get(name, other).format(name=name)


class CanvasChangeTexts(Area):
    changed = Sentence(ja="🖼️ キャンバスを更新しました。</canvas show> で下に出し直せます。", en="🖼️ The canvas is updated. </canvas show> shows it here again.")
    open = Sentence(ja="キャンバスを開く", en="Open the canvas")
    emptied = Sentence(ja="🖼️ キャンバスは空になりました。", en="🖼️ The canvas is empty now.")
    changed_in_terminal = Sentence(ja="🖼️ キャンバスを更新しました。/canvas でまた見られます。", en="🖼️ The canvas is updated. /canvas shows it again.")


class ChartTexts(Area):
    others = Sentence(ja="その他（{count}件）", en="Other ({count})")
    cut_axis = Sentence(ja="この軸は 0 から始まりません", en="This axis does not start at 0")
    bars_as_lines = Sentence(ja="棒が細くなりすぎるため、線で表しています", en="Drawn as lines: bars would be too thin")
    first_rows = Sentence(ja="全{total}件のうち、はじめの{count}件です", en="The first {count} of {total}")


class MentionTexts(Area):
    ask_something = Sentence(ja="はい、何でしょう？ 聞きたいことを添えて、もう一度送ってください。", en="Yes? Please send that again with what you would like to know.")
    ask_about_forward = Sentence(ja="転送、受け取りました。どうしましょうか？ 「要約して」「訳して」「返事を考えて」のように送ってください。", en="I got what you forwarded. What shall I do with it? Send me “sum it up”, “translate it” or “help me reply”, for example.")
    was_offline = Sentence(ja="しばらく動いていなかったため、お返事できませんでした。まだお困りでしたら、もう一度お聞きください。", en="I was not running for a while and could not answer. If you still need an answer, please ask again.")
    reset_meanwhile = Sentence(ja="ここで会話が区切られたため、この質問にはお答えしていません。必要でしたら、もう一度お聞きください。", en="The conversation was reset here, so I did not answer this. If you still need an answer, please ask again.")
    cut = Sentence(ja="✂️ 回答が途中で切れました。「続けて」と返信すれば、続きを書きます。", en="✂️ The answer broke off. Reply with “go on” for the rest.")
    stopped_empty = Sentence(ja="⏹️ 回答を止めました。", en="⏹️ Stopped.")
    message_deleted = Sentence(ja="🗑️ 質問か回答が消されたので、そこで止めました。それまでに次のことを行いました。", en="🗑️ The question or its answer was deleted, so I stopped. Before that I did this:")  # in a DM


class SummaryTexts(Area):
    title = Sentence(ja="このチャンネルでの会話の要約", en="Summary of our conversation in this channel")
    private = Sentence(ja="自分だけの会話から", en="From what only you can see")
    none = Sentence(ja="まだありません。会話が長くなるか、しばらく間があくと書き留めます。", en="There is none yet. I write one when the conversation gets long or pauses for a while.")
    delete = Sentence(ja="要約を消す", en="Delete the summary")
    deleted = Sentence(ja="🗑️ 要約を消しました。ここまでの会話が要約されることはもうありません。", en="🗑️ The summary is deleted. What was said up to now will not be summarized again.")
    not_yours = Sentence(ja="このボタンは、この会話をした人だけが使えます。ご自分の要約は </summary> でどうぞ。", en="Only the person whose conversation it is can use this button. </summary> shows yours.")


class UnfinishedTexts(Area):
    cut_off = Sentence(ja="書いている途中で動かなくなったため、お返事できませんでした。「もう一度試す」を押すと、同じ質問にお答えします。", en="I was cut off before I could finish this answer. Press “Try again” and I will answer the same question.")
    temporary_question_lost = Sentence(ja="書いている途中で動かなくなったため、お返事できませんでした。保存しない質問だったので、こちらには残っていません。お手数ですが、もう一度お聞きください。", en="I was cut off before I could finish this answer. The question was not stored, so please ask it once more.")
    question_lost = Sentence(ja="書いている途中で動かなくなったため、お返事できませんでした。お手数ですが、もう一度お聞きください。", en="I was cut off before I could finish this answer. Please ask once more.")
    answer_restored = Sentence(ja="✂️ 途中で動かなくなったため、前の回答に戻しました。", en="✂️ I was cut off, so the earlier answer is back.")
    answer_kept = Sentence(ja="✂️ 途中で動かなくなったため、新しい回答はできませんでした。前の回答はそのままです。", en="✂️ I was cut off, so there is no new answer. The earlier one stays.")
    delivered_elsewhere = Sentence(ja="📨 先ほどの質問へのお返事です。元の場所には出せなかったため、こちらにお届けします。", en="📨 This answers your earlier question. It could not be shown where you asked.")
    linked_delivered_elsewhere = Sentence(ja="📨 {link} へのお返事です。元の場所には出せなかったため、こちらにお届けします。", en="📨 This answers {link}. It could not be shown there.")

    def elsewhere_note(self, link: str) -> str:
        """`link` leads to the question, if known."""
        return self.linked_delivered_elsewhere.format(link=link) if link else self.delivered_elsewhere

    outcome_unknown = Sentence(ja="❓ メモリかお知らせを変えている最中に止まりました。済んだかどうかは、</memory list> と </remind list> で確かめられます。", en="❓ I was cut off while changing a memory or reminder. </memory list> and </remind list> show whether it was done.")
    server_outcome_unknown = Sentence(ja="❓ ツールの仕事が終わったか分かりません。実行された可能性があるので、繰り返す前に確かめてください。", en="❓ I can’t tell whether a tool did its work. It may have been done: please check before you repeat it.")
    cannot_ask_again = Sentence(ja="この質問は、もう一度お聞きしたあとか、お預かりする期限（7日）を過ぎたか、消されています。必要でしたら、新しくお聞きください。", en="This question was asked again already, is older than 7 days, or was erased. If you still need an answer, please ask it anew.")


class MessageMenuTexts(Area):
    """Questions from the message menu. The names of its entries are in texts/commands.py."""

    form_title = Sentence(ja="このメッセージについて聞く", en="Ask about this message")
    form_question = Sentence(ja="聞きたいこと", en="Your question")
    form_audience = Sentence(ja="回答を見る人（自分だけ／みんな）", en="Who sees the answer (only me / everyone)")
    only_me = Sentence(ja="自分だけ", en="only me")
    translate = Sentence(
        ja="このメッセージを日本語に翻訳してください。もともと日本語なら、英語に翻訳してください。訳文だけを、元の書式（改行、Markdown、コード）のまま返してください。",
        en="Translate this message into English; if it is in English already, into Japanese. Reply with the translation alone, and keep its formatting (line breaks, Markdown, code).",
    )
    summarise = Sentence(ja="ここからのやりとりを日本語で要約してください。だれが何を言ったかが分かるように、短くまとめてください。", en="Summarise the conversation from here on in English. Keep it short, and tell who said what.")
    asked_about = Sentence(ja="💬 {link} について", en="💬 About {link}")
    messages_withheld = Sentence(ja="📖 {total}件のうち{read}件を読みました。ほかは、Discord が私に見せないメッセージです。", en="📖 I read {read} of {total} messages. Discord does not show me the others.")
    messages_left = Sentence(ja="📖 ここから{read}件を読みました。このあとにも続きがあります。", en="📖 I read {read} messages from here on. There are more after these.")
    messages_withheld_and_left = Sentence(ja="📖 ここから{total}件のうち{read}件を読みました。ほかは、Discord が私に見せないメッセージです。このあとにも続きがあります。", en="📖 I read {read} of {total} messages from here on. Discord does not show me the others, and there are more after these.")

    def say_read(self, read: int, total: int, *, more: bool) -> str:
        if read == total:
            return self.messages_left.format(read=read)
        sentence = self.messages_withheld_and_left if more else self.messages_withheld
        return sentence.format(read=read, total=total)
