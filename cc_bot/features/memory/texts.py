from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo

from cc_bot.domain.change import Change
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.files import MARKDOWN_MARK, ImportPlan, PortableMemory
from cc_bot.features.memory.model import (
    DEFAULT_CATEGORY,
    MAX_CONTENT_CHARACTERS,
    Memory,
    Source,
    format_expiry,
)
from cc_bot.texts import Texts
from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.commands import CommandTexts


class MemoryTexts(Area):
    added = Sentence(ja="💾 覚えました（#{id}）: {content}", en="💾 Remembered (#{id}): {content}")
    remembered_message = Sentence(ja="💾 このメッセージを覚えました（#{id}）: {content}", en="💾 Remembered this message (#{id}): {content}")
    empty_message = Sentence(ja="このメッセージには文章がないので、覚えられませんでした。", en="This message has no text, so there was nothing to remember.")
    private_only = Sentence(ja="🔒 DM や自分だけに見える回答でだけ使います。", en="🔒 I use it only in DMs and in answers only you can see.")
    until = Sentence(ja="⌛ {date} まで有効", en="⌛ valid until {date}")
    expired = Sentence(ja="⌛ 期限切れ", en="⌛ expired")

    none = Sentence(ja="メモリはまだありません。</memory add> で保存できます。多くのAIモデルでは、会話で「〜を覚えておいて」と頼んでも保存されます。", en="There are no memories yet. Save one with </memory add>. Most AI models also save one when you say “remember that …”.")
    none_in_category = Sentence(ja="カテゴリ「{category}」のメモリはありません。", en="There are no memories in the category “{category}”.")
    no_match = Sentence(ja="「{query}」に合うメモリは見つかりませんでした。別の言葉でも試してみてください。", en="No memory matches “{query}”. Try other words.")
    list_title = Sentence(ja="あなたのメモリ（{count}件）", en="Your memories ({count})")
    category_title = Sentence(ja="「{category}」のメモリ（{count}件）", en="Your memories in “{category}” ({count})")
    hits_title = Sentence(ja="検索結果（{count}件）", en="Results ({count})")
    page = Sentence(ja="{page}/{pages}ページ", en="page {page} of {pages}")
    oldest_first = Sentence(ja="古い順", en="oldest first")
    changed_first = Sentence(ja="最近変更した順", en="recently changed first")
    unsure = Sentence(ja="たぶん", en="maybe")
    private_mark = Sentence(ja="🔒 は DM や自分だけに見える回答でだけ使います", en="🔒 used only in DMs and in answers only you can see")
    previous = Sentence(ja="◀ 前へ", en="◀ Back")
    next = Sentence(ja="次へ ▶", en="Next ▶")
    open = Sentence(ja="開く", en="Open")

    general = Sentence(ja="一般", en="general")
    id_needed = Sentence(ja="メモリの番号を指定してください。</memory list> で確かめられます。", en="Give the number of the memory. </memory list> shows them.")
    query_needed = Sentence(ja="探したい言葉を入力してください。", en="Enter the words to look for.")
    deleted = Sentence(ja="🗑️ 忘れました（#{id}）: {content}", en="🗑️ Forgotten (#{id}): {content}")
    undo_until = Sentence(ja="{until} まで元に戻せます。そのあと、メモリは完全に消えます。", en="You can undo this until {until}. Then the memory is gone for good.")
    conversations_remain = Sentence(ja="会話の中で話したことは記録に残り、これからの回答にも使われます。そちらも消せます。", en="What was said in conversations stays there, and answers still use it. You can erase it there, too.")
    undo = Sentence(ja="元に戻す", en="Undo")
    erase_now = Sentence(ja="今すぐ完全に消す", en="Erase for good now")
    undeleted = Sentence(ja="↩️ 元に戻しました（#{id}）: {content}", en="↩️ Restored (#{id}): {content}")
    too_late = Sentence(ja="時間がたったので、もう元に戻せません。", en="Too much time has passed to undo this.")

    paused = Sentence(ja="⏸️ メモリを一時停止しました。再開するまで、新しく覚えることも、回答に使うこともしません。今あるメモリはそのまま残ります。", en="⏸️ Memory is paused. Until you resume it, I remember nothing new and use no memories in answers. The memories you have stay.")
    paused_mark = Sentence(ja="⏸️ 一時停止中です（</memory resume> で再開）", en="⏸️ Memory is paused (</memory resume>)")
    how_to_resume = Sentence(ja="再開するには </memory resume> を使ってください。", en="Resume with </memory resume>.")
    resumed = Sentence(ja="▶️ メモリを再開しました。これからまた覚え、回答に使います。", en="▶️ Memory is on again. From now on I remember things and use them in answers.")

    def shown_category(self, stored: str) -> str:
        return self.general if stored == DEFAULT_CATEGORY else stored


class MemoryBulkTexts(Area):
    source_names = by_key(
        {
            "command": Sentence(ja="コマンドやページ", en="commands and pages"),
            "message": Sentence(ja="メッセージから", en="messages"),
            "model": Sentence(ja="会話の中で", en="conversations"),
            "proposal": Sentence(ja="確認した提案", en="confirmed proposals"),
            "import": Sentence(ja="取り込み", en="imports"),
            "terminal": Sentence(ja="ターミナル", en="terminal"),
            "": Sentence(ja="記録なし", en="no record"),
        }
    )

    exported = Sentence(ja="📤 メモリ {count}件です。</memory import> で読み込めます。", en="📤 Here are your memories ({count}). </memory import> can read the file.")
    exported_readable = Sentence(ja="📤 メモリ {count}件です。読むためのファイルなので、読み込むには JSON で書き出してください。", en="📤 Here are your memories ({count}), for reading. To import them later, export JSON.")
    exported_parts = Sentence(ja="数が多いので、{files}個のファイルに分けました。", en="There are so many that I split them into {files} files.")
    markdown_title = Sentence(ja="メモリ {count}件（{date}）", en="Memories: {count} ({date})")
    markdown_private = Sentence(ja="🔒 自分だけ", en="🔒 private")

    import_title = Sentence(ja="📥 取り込む前の確認", en="📥 Check before importing")
    import_new = Sentence(ja="新しく覚える: **{count}件**", en="New: **{count}**")
    import_known = Sentence(ja="もうあるもの: {count}件", en="Already remembered: {count}")
    import_refused = Sentence(ja="取り込めないもの: {count}件（{reasons}）", en="Can't be imported: {count} ({reasons})")
    refused_empty = Sentence(ja="空 {count}件", en="empty: {count}")
    refused_long = Sentence(ja="{limit}文字を超える {count}件", en="over {limit} characters: {count}")
    refused_secret = Sentence(ja="パスワードなどに見える {count}件", en="looks like a password or similar: {count}")
    examples = Sentence(ja="たとえば", en="For example")
    import_check = Sentence(ja="まだ何も保存していません。取り込む内容は添付のファイルで確かめられます。ボタンは {until} まで使えます。", en="Nothing is saved yet. The attached file shows what would be imported. The button works until {until}.")
    nothing_to_import = Sentence(ja="新しく覚えるものはありませんでした。", en="There is nothing new to remember.")
    importing = Sentence(ja="📥 取り込んでいます… {done} / {total}件", en="📥 Importing… {done} of {total}")
    import_now = Sentence(ja="{count}件を取り込む", en="Import {count}")
    cancel = Sentence(ja="やめる", en="Cancel")
    imported = Sentence(ja="📥 {count}件を覚えました。</memory list> で見られます。", en="📥 Memories imported: {count}. </memory list> shows them.")
    cancelled = Sentence(ja="やめました。何も変わっていません。", en="Cancelled. Nothing has changed.")
    attach_again = Sentence(ja="ファイルが読めなくなりました。もう一度 </memory import> で添付してください。", en="The file can't be read any more. Please attach it again with </memory import>.")

    erase_all_question = Sentence(
        ja="メモリ **{count}件** をすべて、今すぐ完全に消します。元には戻せません。\n-# 控えが要るときは、先に </memory export> をどうぞ。ボタンは {until} まで使えます。",
        en="All your memories (**{count}**) will be erased at once and for good. This can't be undone.\n-# For a copy, use </memory export> first. The button works until {until}.",
    )
    erase_all = Sentence(ja="{count}件をすべて消す", en="Erase all {count}")
    ask_again = Sentence(ja="確認の期限が切れたので、何もしていません。もう一度コマンドからお願いします。", en="It is too late to confirm this, so nothing was done. Please use the command again.")

    def import_reasons(self, plan: ImportPlan) -> str:
        reasons = ((plan.count("secret"), self.refused_secret), (plan.count("too_long"), self.refused_long), (plan.count("empty"), self.refused_empty))
        return " ・ ".join(reason.format(count=count, limit=MAX_CONTENT_CHARACTERS) for count, reason in reasons if count)


class MemoryCardTexts(Area):
    title = Sentence(ja="メモリ #{id}", en="Memory #{id}")
    category = Sentence(ja="カテゴリ", en="Category")
    tags = Sentence(ja="タグ", en="Tags")
    audience = Sentence(ja="使う場所", en="Where it is used")
    anywhere = Sentence(ja="どこでも", en="anywhere")
    private = Sentence(ja="🔒 DM と自分だけに見える回答", en="🔒 in DMs and answers only you can see")
    end = Sentence(ja="期限", en="Ends")
    changed = Sentence(ja="変更した日", en="Changed")
    why = Sentence(ja="覚えたきっかけ", en="Where it comes from")
    source_sentences = by_key(
        {
            "command": Sentence(ja="あなたが </memory add> かページで登録しました。", en="You saved it with </memory add> or on a page."),
            "message": Sentence(ja="あなたがメッセージから登録しました。", en="You saved it from a message."),
            "model": Sentence(ja="会話の中で覚えました。", en="Remembered in a conversation."),
            "proposal": Sentence(ja="会話の中での提案を、あなたが確認して覚えました。", en="Proposed in a conversation, and confirmed by you."),
            "import": Sentence(ja="あなたがファイルから取り込みました。", en="You imported it from a file."),
            "terminal": Sentence(ja="あなたがターミナルで登録しました。", en="You saved it in the terminal."),
            "": Sentence(ja="覚えたきっかけの記録はありません。記録を始める前のメモリです。", en="There is no record: this memory is older than these records."),
        }
    )
    from_message = Sentence(ja="あなたが {author} さんのメッセージから登録しました。", en="You saved it from a message by {author}.")
    from_model = Sentence(ja="会話の中で覚えました（AIモデル: {model}）。", en="Remembered in a conversation (AI model: {model}).")
    source_link = Sentence(ja="[元のメッセージを見る]({link})", en="[See the message]({link})")
    history = Sentence(ja="前の内容", en="Earlier versions")
    more_former = Sentence(ja="ほか{count}件", en="and {count} more")

    edit = Sentence(ja="編集", en="Edit")
    delete = Sentence(ja="削除", en="Delete")
    use_anywhere = Sentence(ja="どこでも使う", en="Use anywhere")
    use_in_private = Sentence(ja="自分だけで使う", en="Use only in private")
    restore = Sentence(ja="前の内容に戻す…", en="Go back to an earlier version…")
    restored = Sentence(ja="↩️ #{id} を前の内容に戻しました。", en="↩️ #{id} is back to the earlier version.")
    former_gone = Sentence(ja="その内容はもう残っていません。", en="That version no longer exists.")

    pin = Sentence(ja="📌 ピン留め", en="📌 Pin")
    unpin = Sentence(ja="ピンを外す", en="Unpin")
    pinned = Sentence(ja="📌 #{id} をピン留めしました。", en="📌 #{id} is pinned.")
    unpinned = Sentence(ja="#{id} のピンを外しました。", en="#{id} is no longer pinned.")
    pin_read = Sentence(ja="これからは、回答の前にいつも目を通します（ピン留めの新しいものから{count}件まで）。", en="From now on I read it before every answer (up to {count} of your pinned memories, the newest first).")
    pin_mark_only = Sentence(ja="このボットでは、ピンは見分けるための印です。回答には、必要なときに探して使います。", en="On this bot a pin is only a mark for you. I still look the memory up when an answer needs it.")
    pin_foreign = Sentence(ja="あなたが書いた文とはかぎらないので、回答の前に読むことはありません。必要なときに探して使います。", en="You may not have written it yourself, so I don’t read it before every answer. I look it up when an answer needs it.")

    form_title = Sentence(ja="メモリ #{id} を編集", en="Edit memory #{id}")
    form_tags = Sentence(ja="タグ（カンマか空白で区切る）", en="Tags (separated by commas or spaces)")
    form_end = Sentence(ja="期限（この日まで。なければ空欄）", en="Last day (leave empty if there is none)")
    form_end_example = Sentence(ja="12月31日、来週の金曜、2026-12-31", en="Dec 31, next Friday, 2026-12-31")
    edited = Sentence(ja="✏️ #{id} を変更しました。", en="✏️ Changed #{id}.")
    unchanged = Sentence(ja="#{id} は前のままです。変更はありませんでした。", en="Nothing was changed in #{id}.")
    changed_from_to = Sentence(ja="**{name}**：{old} → {new}", en="**{name}**: {old} → {new}")
    content = Sentence(ja="内容", en="Text")
    nothing = Sentence(ja="なし", en="none")
    edit_undone = Sentence(ja="↩️ #{id} の変更を取り消しました。", en="↩️ The change of #{id} is undone.")
    edit_not_undone = Sentence(ja="そのあとにまた変わったので、この変更だけを取り消すことはできません。</memory show> で前の内容に戻せます。", en="It was changed again later, so this change alone can't be undone. In </memory show> you can go back to an earlier version.")
    your_text = Sentence(ja="入力した内容", en="What you entered")

    def pin_use(self, memory: Memory, max_notes: int) -> str:
        """Say what a pin does. `max_notes`: how many memories a prompt contains."""
        if not max_notes:
            return self.pin_mark_only
        return self.pin_foreign if memory.tainted else self.pin_read.format(count=max_notes)

    def explain_source(self, source: Source, escape: Callable[[str], str] = str) -> str:
        """Say where a memory comes from."""
        author, model = (escape(shorten(one_line(name), 100)) for name in (source.author, source.model))
        if source.kind == "message" and author:
            return self.from_message.format(author=author)
        if source.kind == "model" and model:
            return self.from_model.format(model=model)
        return self.source_sentences[source.kind]


class ReceiptTexts(Area):
    added = Sentence(ja="💾 覚えました{number}: {content}", en="💾 Remembered{number}: {content}")
    updated = Sentence(ja="✏️ 書き換えました{number}: {content}", en="✏️ Changed{number}: {content}")
    unchanged = Sentence(ja="💾 もう覚えています{number}: {content}", en="💾 Already remembered{number}: {content}")
    deleted = Sentence(ja="🗑️ 忘れました{number}: {content}", en="🗑️ Forgotten{number}: {content}")
    """In these four sentences, `number` is empty or the sentence `number`."""
    deleted_for_all = Sentence(ja="🗑️ 忘れました（#{id}）", en="🗑️ Forgotten (#{id})")
    conversations_remain = Sentence(ja="会話の記録には残っていることがあり、これからの回答にも使われます。", en="Your conversations may still contain it, and answers use them.")
    erase_too = Sentence(ja="会話からも消す…", en="Erase from conversations too…")
    number = Sentence(ja="（#{id}）", en=" (#{id})")
    hidden = Sentence(ja="（自分だけに見える内容）", en="(something only you can see)")
    more = Sentence(ja="➕ ほか {count} 件。</memory list> で確かめられます。", en="➕ {count} more. See </memory list>.")
    no_tools = Sentence(ja="⚠️ いまのAIモデルはツールを使えないため、覚えること・お知らせ・検索ができません。残したいことは </memory add> で残せます。", en="⚠️ This AI model can't use tools, so it can't remember things, set reminders or search. </memory add> still works.")
    undo = Sentence(ja="取り消す", en="Undo")
    undone = by_key({"memory": Sentence(ja="↩️ 取り消しました（メモリ #{id}）", en="↩️ Undone (memory #{id})"), "schedule": Sentence(ja="↩️ 取り消しました（お知らせ #{id}）", en="↩️ Undone (reminder #{id})")})
    changed_again = Sentence(ja="✏️ このあと、また変更されました（#{id}）", en="✏️ Changed again since (#{id})")
    used = Sentence(ja="🧠 使ったメモリ（{count}）", en="🧠 Memories used ({count})")
    not_yours = Sentence(ja="このボタンは、メモリの持ち主だけが使えます。ご自分のメモリは </memory list> でどうぞ。", en="Only the owner of the memory can use this button. Yours are in </memory list>.")
    undone_added = Sentence(ja="↩️ 取り消しました。もう覚えていません: {content}", en="↩️ Undone. I no longer remember: {content}")
    undone_updated = Sentence(ja="↩️ 書き換える前に戻しました（#{id}）: {content}", en="↩️ Back to what it said before (#{id}): {content}")
    undone_deleted = Sentence(ja="↩️ 忘れるのをやめました（#{id}）: {content}", en="↩️ Undone. I still remember this (#{id}): {content}")
    changed_since = Sentence(ja="このあとに変更されているため、取り消しませんでした。今の内容は </memory show> で #{id} を選ぶと見られます。", en="It was changed since, so nothing was undone. Choose #{id} in </memory show> to see it.")
    gone = Sentence(ja="このメモリはもうありません。今あるものは </memory list> で見られます。", en="This memory no longer exists. See </memory list> for the ones you have.")
    used_title = Sentence(ja="🧠 この回答で調べたメモリ", en="🧠 Memories looked up for this answer")
    none_left = Sentence(ja="この回答で調べたメモリは、もう残っていません。", en="None of the memories looked up for this answer exist any more.")
    what_next = Sentence(ja="直すには </memory edit>、消すには </memory delete> で番号を選んでください。", en="To correct one use </memory edit>, to remove one </memory delete>, and choose its number.")
    used_here = Sentence(ja="🧠 使ったメモリ: {numbers}", en="🧠 Memories used: {numbers}")

    def line(self, change: Change, content: str, *, numbered: bool = False) -> str:
        template = {"added": self.added, "updated": self.updated, "unchanged": self.unchanged, "deleted": self.deleted}[change.kind]
        number = self.number.format(id=change.number) if numbered else ""
        return template.format(number=number, content=content)


def to_markdown(memories: Sequence[PortableMemory], words: Texts, now: datetime, zone: tzinfo) -> str:
    title = words[MemoryBulkTexts].markdown_title.format(count=len(memories), date=_format_day(now, zone))
    by_category: defaultdict[str, list[PortableMemory]] = defaultdict(list)
    for memory in memories:
        by_category[memory.category].append(memory)
    lines = [f"# {title}", MARKDOWN_MARK]
    for category, memories_in_category in by_category.items():
        lines += ["", f"## {words[MemoryTexts].shown_category(category)}", ""]
        for memory in memories_in_category:
            lines.append(f"- {_indent(memory.content)}")
            if details := _format_details(memory, words, zone):
                lines.append(f"  *{details}*")
    return "\n".join(lines) + "\n"


def _format_details(memory: PortableMemory, words: Texts, zone: tzinfo) -> str:
    texts = words[MemoryBulkTexts]
    details = ("📌" if memory.pinned else "", " ".join(f"#{tag}" for tag in memory.tags), _format_day(memory.created_at, zone) if memory.created_at else "", texts.markdown_private if memory.audience == "private" else "", words[MemoryTexts].until.format(date=format_expiry(memory.expires_at, zone)) if memory.expires_at else "")
    return " ・ ".join(filter(None, details))


def _indent(content: str) -> str:
    return "  \n  ".join(content.splitlines()) + "  "


def _format_day(moment: datetime, zone: tzinfo) -> str:
    return moment.astimezone(zone).date().isoformat()


class WebMemoryTexts(Area):
    search = Sentence(ja="言葉で探す", en="Search")
    more = Sentence(ja="並び順・書き出しなど", en="Order, export and more")
    more_of = Sentence(ja="#{id} の操作", en="Actions for #{id}")
    origin = Sentence(ja="きっかけ", en="Where it comes from")
    order = Sentence(ja="並び順", en="Order")
    newest_first = Sentence(ja="新しい順", en="newest first")
    tag = Sentence(ja="タグ", en="Tag")
    found = Sentence(ja="{count}件あります。", en="{count:memory|memories}")
    found_most = Sentence(ja="合うものが多いので、近いものから{count}件だけを出しています。言葉を足すか、しぼり込むと、ほかのものも見つかります。", en="More than {count} memories match; these are the {count} best matches. Add a word or a filter to find others.")
    nothing_fits = Sentence(ja="この条件に合うメモリはありません。", en="No memory matches.")
    show_all = Sentence(ja="条件を外す", en="Show all")
    choose = Sentence(ja="#{id} を選ぶ", en="Select #{id}")
    private = Sentence(ja="DM と、自分だけに見える回答でだけ使います", en="Used only in DMs and in answers only you can see")

    private_only = Sentence(ja="DM と、自分だけに見える回答", en="DMs and private answers")
    private_first = Sentence(ja="サーバーのチャンネルでも使うなら「どこでも」を選んでください。", en="Choose “anywhere” to have it used in channels of servers too.")
    none = Sentence(ja="メモリはまだありません。ここで追加するか、会話の中で「〜を覚えておいて」と頼むと、ここに並びます。", en="There are no memories yet. Add one here, or say “remember that …” in a conversation.")

    add = Sentence(ja="メモリを追加する", en="Add a memory")
    save = Sentence(ja="覚える", en="Remember it")
    end = Sentence(ja="期限", en="Last day")
    end_hint = Sentence(ja="例：{example}。なければ空欄で。", en="Such as {example}, or empty if there is none.")

    edit = Sentence(ja="編集する", en="Edit")
    no_earlier = Sentence(ja="編集すると、その前の内容がここに残ります。", en="When you edit this memory, its earlier version appears here.")
    restore = Sentence(ja="この内容に戻す", en="Go back to this version")
    restore_of = Sentence(ja="{time} の内容に戻す", en="Go back to the version of {time}")
    undo_edit = Sentence(ja="最後の変更を取り消す", en="Undo the last change")
    made = Sentence(ja="作成", en="Added")
    changed = Sentence(ja="更新", en="Updated")
    message = Sentence(ja="元のメッセージを見る", en="See the message")
    pin = Sentence(ja="ピン留めする", en="Pin")
    pinned = Sentence(ja="ピン留め", en="pinned")
    tag_any = Sentence(ja="✕ タグ", en="✕ tag")
    saved = Sentence(ja="✓ 保存ずみ", en="✓ Saved")
    not_saved = Sentence(ja="保存していません", en="Not saved")
    delete = Sentence(ja="削除する", en="Delete")
    erase = Sentence(ja="完全に消す…", en="Erase for good…")
    to_list = Sentence(ja="メモリの一覧へ", en="All memories")
    deleted = Sentence(ja="このメモリは削除しました", en="This memory is deleted")
    conflict = Sentence(ja="編集しているあいだに、このメモリが変わりました。まだ何も保存していません。両方を見くらべて、残すほうを選んでください。", en="This memory changed while you were editing it. Nothing is saved yet. Compare the two and choose what to keep.")
    now_says = Sentence(ja="今の内容", en="Current version")
    keep_now = Sentence(ja="今の内容のままにする", en="Keep the current version")
    yours = Sentence(ja="あなたが入力した内容", en="What you entered")
    save_yours = Sentence(ja="この内容で保存する", en="Save this version")

    erase_title = Sentence(ja="メモリ {count}件を完全に消しますか？", en="Erase {count:memory|memories} for good?")
    erase_where = Sentence(ja="どこまで消しますか", en="How much to erase")
    erase_now = Sentence(ja="{count}件を完全に消す", en="Erase {count:memory|memories} for good")
    just_deleted = Sentence(ja="削除したばかりのメモリ {count}件", en="{count:memory|memories} you just deleted")
    erased_said = Sentence(ja="会話の中でこの内容にふれた発言と回答、その要約、キャンバスに描いたもの", en="messages and answers about them, summaries, drawings on canvases")
    said_stays = Sentence(ja="会話の中で話したこと（これからの回答にも使われます）", en="what was said in conversations (answers still use it)")
    best_first = Sentence(ja="検索中は、近いものから並びます。", en="Search results start with the best match.")
    erase_all = Sentence(ja="すべてのメモリを完全に消す…", en="Erase all memories for good…")
    erased_title = Sentence(ja="完全に消しました", en="Erased for good")
    erased = Sentence(ja="もう元には戻せません。", en="This can't be undone.")
    erased_none = Sentence(ja="もうなかったもの: {numbers}", en="Already gone: {numbers}")

    several_done = by_key(
        {
            "delete": Sentence(ja="{count}件を削除しました。", en="{count:memory|memories} deleted."),
            "undelete": Sentence(ja="{count}件を元に戻しました。", en="{count:memory|memories} restored."),
            "category": Sentence(ja="{count}件のカテゴリを「{category}」にしました。", en="{count:memory|memories} moved to “{category}”."),
        }
    )
    not_done = Sentence(ja="できなかったもの: {count}件。{why}", en="Not done: {count}. {why}")
    state_gone = Sentence(ja="もうありません。", en="They no longer exist.")
    chosen_before = Sentence(ja="ほかの検索で選んだもの", en="Selected in other searches")
    chosen = Sentence(ja="件を選択中", en=" selected")
    start_choosing = Sentence(ja="選ぶ", en="Select")
    choose_all = Sentence(ja="このページをすべて選ぶ", en="Select all on this page")
    choose_none = Sentence(ja="選択を外す", en="Clear the selection")
    more_with_chosen = Sentence(ja="選んだもののほかの操作", en="More actions for the selected ones")
    with_chosen = Sentence(ja="選んだものを", en="With the selected ones:")
    new_category = Sentence(ja="新しいカテゴリ", en="New category")
    change_category = Sentence(ja="カテゴリを変える", en="Change the category")
    state_hidden = Sentence(ja="削除ずみ（{until} まで元に戻せます）", en="deleted (can be undone until {until})")

    export_json = Sentence(ja="書き出す（JSON）", en="Export (JSON)")
    export_readable = Sentence(ja="書き出す（Markdown）", en="Export (Markdown)")
    export_name = Sentence(ja="メモリ-{day}", en="memories-{day}")
    import_ = Sentence(ja="ファイルから取り込む…", en="Import from a file…")
    import_title = Sentence(ja="メモリを取り込む", en="Import memories")
    file = Sentence(ja="ファイルを選ぶか、ここに置く", en="Choose a file, or drop it here")
    file_limits = Sentence(ja="1 MB・{limit}件まで", en="Up to 1 MB and {limit} memories")
    importable = Sentence(ja="読み込めるもの", en="What can be imported")
    formats = Both(
        ja=("このページで書き出した JSON", "ChatGPT などのメモリの一覧", "1行に1件のテキスト（.txt、.md、.csv）"),
        en=("JSON exported here", "memory lists from ChatGPT and similar", "a text with one memory per line (.txt, .md, .csv)"),
    )
    import_next = Sentence(ja="次のページで、入るものと入らないものを確かめられます。それまでは何も保存しません。", en="The next page shows what would be added and what would not. Nothing is saved before.")
    import_audience = Sentence(ja="使う場所（指定のないメモリ）", en="Where to use them (unless stated)")
    look = Sentence(ja="内容を確かめる", en="Check the contents")
    preview = Sentence(ja="取り込む前の確認", en="Check before importing")
    import_not_yet = Sentence(ja="まだ何も保存していません。", en="Nothing is saved yet.")
    import_new = Sentence(ja="新しく覚える: {count}件", en="{count} new")
    not_imported = Sentence(ja="取り込まないもの: {count}件", en="{count} left out")
    left_out = by_key({"duplicate": Sentence(ja="もうあります", en="already remembered"), "empty": Sentence(ja="空です", en="empty"), "too_long": Sentence(ja="長すぎます", en="too long"), "secret": Sentence(ja="パスワードなどに見えます", en="looks like a password or similar")})
    import_some = Sentence(ja="はじめの{count}件", en="The first {count}")
    imported = Sentence(ja="{count}件を取り込みました。", en="{count:memory|memories} imported.")
    other_file = Sentence(ja="別のファイルを選ぶ", en="Choose another file")
    is_paused = Sentence(ja="一時停止中です。新しく覚えることも、回答に使うこともしません。", en="Memory is paused: I remember nothing new and use no memories in answers.")
    pause = Sentence(ja="一時停止する", en="Pause")
    pause_hint = Sentence(ja="一時停止すると、再開するまで、新しく覚えることも、回答に使うこともしません。今あるメモリはそのまま残ります。", en="While memory is paused, I remember nothing new and use no memories in answers. The memories you have stay.")
    resume = Sentence(ja="再開する", en="Resume")


class MemoryCommandTexts(CommandTexts):
    memory = Both(ja=("メモリ", "あなたのために覚えていること"), en=("memory", "What I remember for you"))
    memory_add = Both(ja=("追加", "覚えてほしいことを保存します（どのチャンネルでも使えます）"), en=("add", "Save something for me to remember in every channel"))
    memory_content = Both(ja=("内容", "覚えてほしいこと（4000文字まで）"), en=("content", "What to remember (up to 4000 characters)"))
    memory_category = Both(ja=("カテゴリ", "仕事・家族などの分類"), en=("category", "A category, such as work or family"))
    memory_tags = Both(ja=("タグ", "タグ（カンマか空白で区切ります）"), en=("tags", "Tags, separated by commas or spaces"))
    memory_audience = Both(ja=("使う場所", "このメモリを使ってよい場所（DM では自分だけの回答が既定です）"), en=("where", "Where I may use it (in a DM, the default is only in private)"))
    memory_anywhere_choice = Sentence(ja="どこでも", en="anywhere")
    memory_private_choice = Sentence(ja="自分だけに見える回答でだけ", en="only in answers only I can see")
    memory_expires = Both(ja=("期限", "いつまで有効か（例: 12月31日、来週の金曜、3日後、今月末、2026-12-31）"), en=("until", "The last day, such as: Dec 31, next Friday, in 3 days, 2026-12-31"))
    memory_search = Both(ja=("検索", "あなたのメモリを探します"), en=("search", "Find your memories"))
    memory_query = Both(ja=("言葉", "探したい言葉"), en=("query", "Words to look for"))
    memory_list = Both(ja=("一覧", "あなたのメモリの一覧です"), en=("list", "List your memories"))
    memory_order = Both(ja=("並べ方", "どれを先に並べるか"), en=("order", "What comes first"))
    memory_newest_choice = Sentence(ja="新しい順", en="newest first")
    memory_oldest_choice = Sentence(ja="古い順", en="oldest first")
    memory_updated_choice = Sentence(ja="最近変更した順", en="recently changed first")
    memory_show = Both(ja=("表示", "メモリを1件くわしく見ます。覚えたきっかけや前の内容も分かります"), en=("show", "Show one memory: its text, where it comes from, its earlier versions"))
    memory_edit = Both(ja=("編集", "メモリを1件書き直します"), en=("edit", "Change one of your memories"))
    memory_pin = Both(ja=("ピン留め", "メモリを1件ピン留めします（10件まで。ボタンで外せます）"), en=("pin", "Pin one of your memories (up to ten); a button unpins it"))
    memory_delete = Both(ja=("削除", "メモリを1件消します（10分以内なら元に戻せます）"), en=("delete", "Delete one of your memories (undo for ten minutes)"))
    memory_id = Both(ja=("番号", "メモリの番号。言葉を入力すると候補から選べます"), en=("id", "Its number; type a word to choose from matches"))
    memory_delete_all = Both(ja=("全削除", "あなたのメモリをすべて完全に消します（先に確認します）"), en=("delete-all", "Erase all of your memories for good"))
    memory_export = Both(ja=("書き出し", "あなたのメモリをすべてファイルで受け取ります"), en=("export", "Get all of your memories as a file"))
    memory_format = Both(ja=("形式", "読み込み直せる JSON か、読みやすい Markdown"), en=("format", "JSON to import again, Markdown to read"))
    memory_json_choice = Sentence(ja="JSON（読み込み直せます）", en="JSON (to import again)")
    memory_markdown_choice = Sentence(ja="Markdown（読むため）", en="Markdown (to read)")
    memory_import = Both(ja=("取り込み", "ファイルからメモリを取り込みます（何が起こるか先に確認できます）"), en=("import", "Import memories from a file (you can check them first)"))
    memory_file = Both(ja=("ファイル", "</memory export> の JSON か、ChatGPT のメモリなど1行に1件のテキスト"), en=("file", "JSON from </memory export>, or a text with one memory a line, as from ChatGPT"))
    memory_pause = Both(ja=("停止", "メモリを一時停止します（新しく覚えず、回答にも使いません）"), en=("pause", "Stop remembering and using memories until you resume"))
    memory_resume = Both(ja=("再開", "メモリを再開します"), en=("resume", "Remember and use memories again"))


class MemoryCheckTexts(Area):
    embedder = Sentence(ja="意味での検索", en="Search by meaning")
    embedder_ok = Sentence(ja="{name} が使えます。", en="{name} works.")
    embedder_off = Sentence(ja="使わない設定です（言葉で探します）。", en="Switched off; memories are found by words.")
    embedder_none = Sentence(ja="エンコーダーは入っていません（言葉で探します）。入れるには make semantic。", en="No encoder is installed; memories are found by words. `make semantic` installs one.")
    embedder_failed = Sentence(ja="{name} が使えず、メモリは言葉だけで探します。\n→ CC_BOT_EMBEDDING_MODEL とサーバーを確かめるか、make semantic で入れ直してください。", en="{name} does not work; memories are found by words.\n→ Check CC_BOT_EMBEDDING_MODEL and its server, or install it again: `make semantic`.")
