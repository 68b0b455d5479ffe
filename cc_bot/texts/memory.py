"""Memories, as a user reads of them."""

from collections.abc import Collection
from dataclasses import dataclass

from cc_bot.domain.memory import DEFAULT_CATEGORY, Memory, Receipt, SourceKind
from cc_bot.domain.turn import NotRemoved, NotSaved


@dataclass(frozen=True, slots=True)
class MemoryTexts:
    added: str
    """Parameters: id, content."""
    remembered_message: str
    """Parameters: id, content."""
    empty_message: str
    private_only: str
    """Below what was remembered from a DM or an ephemeral answer."""
    until: str
    """Parameter: date."""
    expired: str

    none: str
    none_in_category: str
    """Parameter: category."""
    no_match: str
    """Parameter: query."""
    list_title: str
    """Parameter: count."""
    category_title: str
    """Parameters: category, count."""
    search_title: str
    """Parameters: query, count."""
    hits_title: str
    """Parameter: count. What was looked for stands above it."""
    page: str
    """Parameters: page, pages."""
    oldest_first: str
    changed_first: str
    unsure: str
    """Beside a hit that may not be what was meant."""
    private_mark: str
    """What the mark of private memories means."""
    previous: str
    next: str
    open: str

    general: str
    """What the category `general` is called."""
    category: str
    tags: str
    id_needed: str
    query_needed: str
    deleted: str
    """Parameters: id, content."""
    undo_until: str
    """Parameter: until."""
    still_told: str
    """Below what was forgotten. Parameter: count."""
    undo: str
    erase_now: str
    undeleted: str
    """Parameters: id, content."""
    too_late: str

    paused: str
    resumed: str

    def stored_category(self, shown: str | None) -> str | None:
        """The category's stored name: the default one is shown under a name in the user's language."""
        return DEFAULT_CATEGORY if shown is not None and shown.strip() == self.general else shown

    def shown_category(self, stored: str) -> str:
        return self.general if stored == DEFAULT_CATEGORY else stored


MEMORY_JA = MemoryTexts(
    added="💾 覚えました（#{id}）: {content}",
    remembered_message="💾 このメッセージを覚えました（#{id}）: {content}",
    empty_message="このメッセージには文章がないので、覚えられませんでした。",
    private_only="🔒 DM や自分だけに見える回答でだけ使います。",
    until="⌛ {date} まで",
    expired="⌛ 期限切れ",
    none="メモリはまだありません。</memory add> か「〜を覚えておいて」で保存できます。",
    none_in_category="カテゴリ「{category}」のメモリはありません。",
    no_match="「{query}」に合うメモリは見つかりませんでした。別の言葉でも試してみてください。",
    list_title="あなたのメモリ（{count}件）",
    category_title="「{category}」のメモリ（{count}件）",
    search_title="「{query}」の検索結果（{count}件）",
    hits_title="検索結果（{count}件）",
    page="{page}/{pages}ページ",
    oldest_first="古い順",
    changed_first="最近変更した順",
    unsure="たぶん",
    private_mark="🔒 は DM や自分だけに見える回答でだけ使います",
    previous="◀ 前へ",
    next="次へ ▶",
    open="選ぶと、くわしく見られます",
    general="一般",
    category="カテゴリ",
    tags="タグ",
    id_needed="メモリの番号を指定してください。</memory list> で確かめられます。",
    query_needed="探したい言葉を入力してください。",
    deleted="🗑️ 忘れました（#{id}）: {content}",
    undo_until="{until} まで元に戻せます。そのあと、メモリは完全に消えます。",
    still_told="会話の記録には、その内容にふれた発言や回答が {count}件残っていて、これからの回答にも使われます。そちらも消せます。",
    undo="元に戻す",
    erase_now="今すぐ完全に消す",
    undeleted="↩️ 元に戻しました（#{id}）: {content}",
    too_late="時間がたったので、もう元に戻せません。",
    paused="⏸️ メモリを一時停止しました。再開するまで、新しく覚えることも、回答に使うこともしません。今あるメモリはそのまま残ります。\n-# 再開するには </memory resume> を使ってください。",
    resumed="▶️ メモリを再開しました。これからまた覚え、回答に使います。",
)

MEMORY_EN = MemoryTexts(
    added="💾 Remembered (#{id}): {content}",
    remembered_message="💾 Remembered this message (#{id}): {content}",
    empty_message="This message has no text, so there was nothing to remember.",
    private_only="🔒 I use it only in DMs and in answers that you alone see.",
    until="⌛ until {date}",
    expired="⌛ expired",
    none="There are no memories yet. Save one with </memory add> or by saying “remember that …”.",
    none_in_category="There are no memories in the category “{category}”.",
    no_match="No memory matches “{query}”. Try other words.",
    list_title="Your memories ({count})",
    category_title="Your memories in “{category}” ({count})",
    search_title="Results for “{query}” ({count})",
    hits_title="Results ({count})",
    page="page {page} of {pages}",
    oldest_first="oldest first",
    changed_first="recently changed first",
    unsure="maybe",
    private_mark="🔒 used only in DMs and in answers that you alone see",
    previous="◀ Back",
    next="Next ▶",
    open="Choose one to see all of it",
    general="general",
    category="Category",
    tags="Tags",
    id_needed="Give the number of the memory. </memory list> shows them.",
    query_needed="Enter the words to look for.",
    deleted="🗑️ Forgotten (#{id}): {content}",
    undo_until="You can undo this until {until}. Then the memory is gone for good.",
    still_told="Messages in conversation records that touch on it: {count}. Answers still draw on them, unless you erase it there too.",
    undo="Undo",
    erase_now="Erase for good now",
    undeleted="↩️ It is back (#{id}): {content}",
    too_late="Too much time has passed to undo this.",
    paused="⏸️ Memory is paused. Until you resume it, I keep nothing new and use nothing in answers. What is there stays.\n-# Resume with </memory resume>.",
    resumed="▶️ Memory is on again. I keep and use things from now on.",
)

# ---- memory box ------------------------------------------------------------------------------------------
# All of a user's memories at once: numbers, files, and erasing them.


@dataclass(frozen=True, slots=True)
class MemoryBoxTexts:
    statistics_title: str
    """Parameter: count."""
    paused: str
    private: str
    """Parameter: count."""
    expired: str
    """Parameter: count."""
    categories: str
    bar: str
    """Parameters: bar, name, count."""
    other_categories: str
    """Parameters: categories, count."""
    sources: str
    source_command: str
    source_message: str
    source_model: str
    source_import: str
    source_terminal: str
    source_unknown: str
    source_count: str
    """Parameters: name, count."""
    span: str
    """Parameters: oldest, newest."""

    exported: str
    """Parameter: count."""
    exported_readable: str
    exported_parts: str
    """Parameter: files."""
    markdown_title: str
    """Parameters: count, date."""
    markdown_private: str
    markdown_until: str
    """Parameter: date."""

    import_title: str
    import_new: str
    """Parameter: count."""
    import_known: str
    """Parameter: count."""
    import_refused: str
    """Parameters: count, reasons."""
    refused_empty: str
    """Parameter: count."""
    refused_long: str
    """Parameters: count, limit."""
    refused_secret: str
    """Parameter: count."""
    examples: str
    import_check: str
    """Parameter: until."""
    nothing_to_import: str
    import_now: str
    """Parameter: count."""
    cancel: str
    imported: str
    """Parameter: count."""
    cancelled: str
    attach_again: str

    erase_all_question: str
    """Parameters: count, until."""
    erase_all: str
    """Parameter: count."""
    ask_again: str


MEMORY_BOX_JA = MemoryBoxTexts(
    statistics_title="あなたのメモリ {count}件",
    paused="⏸️ 一時停止中です（</memory resume> で再開）",
    private="🔒 DM や自分だけに見える回答でだけ使う: {count}件",
    expired="⌛ 期限切れ: {count}件",
    categories="カテゴリ",
    bar="{bar} {name} {count}件",
    other_categories="ほか{categories}カテゴリ {count}件",
    sources="覚えたきっかけ",
    source_command="コマンド",
    source_message="メッセージから",
    source_model="会話の中で",
    source_import="取り込み",
    source_terminal="ターミナル",
    source_unknown="記録なし",
    source_count="{name} {count}件",
    span="{oldest} から {newest} まで",
    exported="📤 メモリ {count}件です。</memory import> で読み込めます。",
    exported_readable="📤 メモリ {count}件です。読むためのファイルなので、読み込むには JSON で書き出してください。",
    exported_parts="数が多いので、{files}個のファイルに分けました。",
    markdown_title="メモリ {count}件（{date}）",
    markdown_private="🔒 自分だけ",
    markdown_until="⌛ {date} まで",
    import_title="📥 取り込む前の確認",
    import_new="新しく覚える: **{count}件**",
    import_known="もうあるもの: {count}件",
    import_refused="取り込めないもの: {count}件（{reasons}）",
    refused_empty="空 {count}件",
    refused_long="{limit}文字を超える {count}件",
    refused_secret="パスワードなどに見える {count}件",
    examples="たとえば",
    import_check="まだ何も保存していません。取り込む内容は添付のファイルで確かめられます。ボタンは {until} まで使えます。",
    nothing_to_import="新しく覚えるものはありませんでした。",
    import_now="{count}件を取り込む",
    cancel="やめる",
    imported="📥 {count}件を覚えました。</memory list> で見られます。",
    cancelled="やめました。何も変わっていません。",
    attach_again="ファイルが読めなくなりました。もう一度 </memory import> で添付してください。",
    erase_all_question="メモリ **{count}件** をすべて、今すぐ完全に消します。元には戻せません。\n-# 控えが要るときは、先に </memory export> をどうぞ。ボタンは {until} まで使えます。",
    erase_all="{count}件をすべて消す",
    ask_again="確認の期限が切れたので、何もしていません。もう一度コマンドからお願いします。",
)

MEMORY_BOX_EN = MemoryBoxTexts(
    statistics_title="Your memories: {count}",
    paused="⏸️ Memory is paused (</memory resume>)",
    private="🔒 Used only in DMs and answers that you alone see: {count}",
    expired="⌛ Expired: {count}",
    categories="Categories",
    bar="{bar} {name} {count}",
    other_categories="{categories} more categories {count}",
    sources="How they came about",
    source_command="commands",
    source_message="messages",
    source_model="conversations",
    source_import="imports",
    source_terminal="terminal",
    source_unknown="no record",
    source_count="{name} {count}",
    span="from {oldest} to {newest}",
    exported="📤 Here are {count} memories. </memory import> reads the file.",
    exported_readable="📤 Here are {count} memories, for reading. To import them later, export JSON.",
    exported_parts="There are so many that they fill {files} files.",
    markdown_title="{count} memories ({date})",
    markdown_private="🔒 private",
    markdown_until="⌛ until {date}",
    import_title="📥 Before anything is imported",
    import_new="New: **{count}**",
    import_known="Already there: {count}",
    import_refused="Can't be kept: {count} ({reasons})",
    refused_empty="empty: {count}",
    refused_long="over {limit} characters: {count}",
    refused_secret="looks like a password or the like: {count}",
    examples="For example",
    import_check="Nothing is saved yet. The attached file shows what would be imported. The button works until {until}.",
    nothing_to_import="There is nothing new to remember.",
    import_now="Import {count}",
    cancel="Cancel",
    imported="📥 {count} memories are kept now. </memory list> shows them.",
    cancelled="Cancelled. Nothing has changed.",
    attach_again="The file can't be read any more. Please attach it again with </memory import>.",
    erase_all_question="All **{count}** memories will be erased at once and for good. This can't be undone.\n-# For a copy, use </memory export> first. The button works until {until}.",
    erase_all="Erase all {count}",
    ask_again="This question has run out, so nothing was done. Please use the command again.",
)

# ---- memory card -----------------------------------------------------------------------------------------
# One memory with all that is known of it, and what can be done with it.


@dataclass(frozen=True, slots=True)
class MemoryCardTexts:
    title: str
    """Parameter: id."""
    category: str
    tags: str
    audience: str
    anywhere: str
    private: str
    end: str
    changed: str
    why: str
    """The question that its source answers."""
    from_command: str
    from_message: str
    """Parameter: author."""
    from_someones_message: str
    from_model: str
    from_proposal: str
    """Parameter: model."""
    from_unnamed_model: str
    from_import: str
    from_terminal: str
    from_unknown: str
    source_link: str
    """Parameter: link."""
    history: str
    former: str
    """Parameters: date, content."""
    more_former: str
    """Parameter: count."""

    edit: str
    delete: str
    use_anywhere: str
    use_in_private: str
    restore: str
    restored: str
    """Parameter: id."""
    former_gone: str

    pin: str
    unpin: str
    pinned: str
    """Parameter: id."""
    unpinned: str
    """Parameter: id."""
    pin_read: str
    """What it is good for. Parameter: count."""
    pin_mark_only: str
    """Likewise, where the operator wants nothing told from the start."""
    pin_foreign: str
    """Likewise, of what may be in somebody else's words."""

    form_title: str
    """Parameter: id."""
    form_content: str
    form_category: str
    form_tags: str
    form_end: str
    form_end_example: str
    edited: str
    """Parameter: id."""
    unchanged: str
    changed_from_to: str
    """Parameters: name, old, new."""
    content: str
    nothing: str
    edit_undone: str
    """Parameter: id."""
    edit_not_undone: str
    your_text: str
    """Above what was entered and could not be kept."""

    def pin_told(self, memory: Memory, most: int) -> str:
        """That a memory is pinned, and what comes of it where prompts tell so many notes from the start."""
        use = self.pin_foreign if memory.tainted and most else self.pin_read if most else self.pin_mark_only
        return f"{self.pinned.format(id=memory.number)}\n-# {use.format(count=most)}"

    def because(self, kind: SourceKind, *, author: str = "", model: str = "") -> str:
        """How a memory came about. Author and model are empty where they are not known."""
        match kind:
            case "message":
                return self.from_message.format(author=author) if author else self.from_someones_message
            case "model":
                return self.from_model.format(model=model) if model else self.from_unnamed_model
            case _:
                return {
                    "command": self.from_command,
                    "import": self.from_import,
                    "terminal": self.from_terminal,
                    "proposal": self.from_proposal,
                }.get(kind, self.from_unknown)


MEMORY_CARD_JA = MemoryCardTexts(
    title="メモリ #{id}",
    category="カテゴリ",
    tags="タグ",
    audience="使う場所",
    anywhere="どこでも",
    private="🔒 DM と自分だけに見える回答",
    end="期限",
    changed="変更した日",
    why="なぜ知っているの？",
    from_command="あなたが </memory add> で登録しました。",
    from_message="あなたが {author} さんのメッセージから登録しました。",
    from_someones_message="あなたがメッセージから登録しました。",
    from_proposal="会話の中での提案を、あなたが確認して覚えました。",
    from_model="会話の中で覚えました（AIモデル: {model}）。",
    from_unnamed_model="会話の中で覚えました。",
    from_import="あなたがファイルから取り込みました。",
    from_terminal="あなたがターミナルで登録しました。",
    from_unknown="覚えたきっかけの記録はありません。記録を始める前のメモリです。",
    source_link="[元のメッセージを見る]({link})",
    history="前の内容",
    former="{date} {content}",
    more_former="ほか{count}件",
    edit="編集",
    delete="削除",
    use_anywhere="どこでも使う",
    use_in_private="自分だけの回答でだけ使う",
    restore="前の内容に戻す…",
    restored="↩️ #{id} を前の内容に戻しました。",
    former_gone="その内容はもう残っていません。",
    pin="📌 ピン留め",
    unpin="ピンを外す",
    pinned="📌 #{id} をピン留めしました。",
    unpinned="#{id} のピンを外しました。",
    pin_read="これからは、回答の前にいつも目を通します（ピン留めの新しいものから{count}件まで）。",
    pin_mark_only="このボットでは、ピンは見分けるための印です。回答には、必要なときに探して使います。",
    pin_foreign="あなたが書いた文とはかぎらないので、回答の前に読むことはありません。必要なときに探して使います。",
    form_title="メモリ #{id} を編集",
    form_content="内容",
    form_category="カテゴリ",
    form_tags="タグ（カンマか空白で区切る）",
    form_end="期限（この日まで。なければ空欄）",
    form_end_example="12月31日、来週の金曜、2026-12-31",
    edited="✏️ #{id} を変更しました。",
    unchanged="#{id} は前のままです。変更はありませんでした。",
    changed_from_to="**{name}**：{old} → {new}",
    content="内容",
    nothing="なし",
    edit_undone="↩️ #{id} の変更を取り消しました。",
    edit_not_undone="そのあとにまた変わったので、この変更だけを取り消すことはできません。</memory show> で前の内容に戻せます。",
    your_text="入力した内容",
)

MEMORY_CARD_EN = MemoryCardTexts(
    title="Memory #{id}",
    category="Category",
    tags="Tags",
    audience="Used",
    anywhere="anywhere",
    private="🔒 in DMs and answers that you alone see",
    end="Ends",
    changed="Changed",
    why="Why do you know this?",
    from_command="You saved it with </memory add>.",
    from_message="You saved it from a message by {author}.",
    from_someones_message="You saved it from a message.",
    from_proposal="Proposed in a conversation, and confirmed by you.",
    from_model="Remembered in a conversation (AI model: {model}).",
    from_unnamed_model="Remembered in a conversation.",
    from_import="You imported it from a file.",
    from_terminal="You saved it in the terminal.",
    from_unknown="There is no record of it: this memory is older than such records.",
    source_link="[See the message]({link})",
    history="What it said before",
    former="{date} {content}",
    more_former="and {count} more",
    edit="Edit",
    delete="Delete",
    use_anywhere="Use anywhere",
    use_in_private="Use only where I alone see it",
    restore="Go back to what it said…",
    restored="↩️ #{id} says again what it said before.",
    former_gone="That version is no longer kept.",
    pin="📌 Pin",
    unpin="Unpin",
    pinned="📌 #{id} is pinned.",
    unpinned="#{id} is no longer pinned.",
    pin_read="From now on I read it before every answer (of your pinned ones the newest {count}, at most).",
    pin_mark_only="On this bot a pin is a mark for you. I look it up when an answer needs it, as before.",
    pin_foreign="It may not be in your own words, so I do not read it before answers. I look it up when one needs it.",
    form_title="Edit memory #{id}",
    form_content="Text",
    form_category="Category",
    form_tags="Tags (separated by commas or spaces)",
    form_end="Last day it holds (may stay empty)",
    form_end_example="Dec 31, next Friday, 2026-12-31",
    edited="✏️ #{id} is changed.",
    unchanged="#{id} is as it was. Nothing was changed.",
    changed_from_to="**{name}**: {old} → {new}",
    content="Text",
    nothing="none",
    edit_undone="↩️ The change of #{id} is undone.",
    edit_not_undone="It has changed again since, so this change alone can't be undone. </memory show> lets you go back.",
    your_text="What you entered",
)

# ---- receipt ---------------------------------------------------------------------------------------------
# What was done to memories in an answer: the lines and buttons under it, and what those reply.


@dataclass(frozen=True, slots=True)
class ReceiptTexts:
    added: str
    updated: str
    unchanged: str
    """What the user wanted kept was kept already."""
    deleted: str
    """Each of these: what was done, with the parameters number (empty, or `number`) and content."""
    deleted_for_all: str
    """Where others read it, too. Parameter: id."""
    still_told: str
    """Below what was forgotten."""
    untell: str
    number: str
    """Parameter: id."""
    hidden: str
    """In place of a content that only its user may see."""
    more: str
    """Parameter: count."""
    not_saved: str
    not_scheduled: str
    not_forgotten: str
    not_cancelled: str
    """Of these two: the answer says that it was."""
    undo: str
    undo_one: str
    """Where there are several. Parameter: content."""
    taken_back: str
    """In the place of a line that told of it."""
    used: str
    """Parameter: count."""
    not_yours: str
    undone_added: str
    """Parameter: content."""
    undone_updated: str
    undone_deleted: str
    """Parameters: id, content."""
    changed_since: str
    """Parameter: id."""
    gone: str
    used_title: str
    none_left: str
    what_next: str
    used_here: str
    """In a terminal. Parameter: numbers."""
    undo_here: str
    delete_here: str
    """How to take it back in a terminal. Parameter: id."""

    def told(self, receipt: Receipt, content: str, *, numbered: bool = False) -> str:
        """What was done, about a memory's text as it may be shown."""
        template = {
            "added": self.updated if receipt.replaced else self.added,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "deleted": self.deleted,
        }[receipt.kind]
        number = self.number.format(id=receipt.number) if numbered else ""
        return template.format(number=number, content=content)

    def owned_up(self, untrue: Collection[NotSaved | NotRemoved]) -> list[str]:
        """That what an answer says is not so."""
        lines: dict[NotSaved | NotRemoved, str] = {
            NotSaved("memory"): self.not_saved,
            NotSaved("reminder"): self.not_scheduled,
            NotRemoved("memory"): self.not_forgotten,
            NotRemoved("reminder"): self.not_cancelled,
        }
        return [line for what, line in lines.items() if what in untrue]


RECEIPT_JA = ReceiptTexts(
    added="💾 覚えました{number}: {content}",
    updated="✏️ 書き換えました{number}: {content}",
    unchanged="💾 もう覚えています{number}: {content}",
    deleted="🗑️ 忘れました{number}: {content}",
    deleted_for_all="🗑️ 忘れました（#{id}）",
    still_told="会話の記録には残っていることがあり、これからの回答にも使われます。",
    untell="会話からも消す…",
    number="（#{id}）",
    hidden="（自分だけに見える内容）",
    more="➕ ほか {count} 件。</memory list> で確かめられます。",
    not_saved="⚠️ 保存していません。残したいときは </memory add> を使うか、「覚えておいて」と伝えてください。",
    not_scheduled="⚠️ お知らせは予約していません。</remind add> を使うか、「明日9時に薬って知らせて」のように頼んでください。",
    not_forgotten="⚠️ メモリは何も消していません。消すときは </memory delete> を使ってください。",
    not_cancelled="⚠️ お知らせは取り消していません。取り消すときは </remind delete> を使ってください。",
    undo="取り消す",
    undo_one="取り消す: {content}",
    taken_back="↩️ 取り消しました。",
    used="🧠 使ったメモリ（{count}）",
    not_yours="このボタンは、メモリの持ち主だけが使えます。ご自分のメモリは </memory list> でどうぞ。",
    undone_added="↩️ 取り消しました。もう覚えていません: {content}",
    undone_updated="↩️ 書き換える前に戻しました（#{id}）: {content}",
    undone_deleted="↩️ 忘れるのをやめました（#{id}）: {content}",
    changed_since="このあとに変更されているため、取り消しませんでした。今の内容は </memory show> で #{id} を選ぶと見られます。",
    gone="このメモリはもうありません。取り消し済みか、完全に消したあとです。今あるものは </memory list> で見られます。",
    used_title="🧠 この回答で調べたメモリ",
    none_left="この回答で調べたメモリは、もう残っていません。",
    what_next="直すには </memory edit>、消すには </memory delete> で番号を選んでください。",
    used_here="🧠 使ったメモリ: {numbers}",
    undo_here="/memory undo {id} で取り消せます。",
    delete_here="/memory delete {id} で取り消せます。",
)

RECEIPT_EN = ReceiptTexts(
    added="💾 Remembered{number}: {content}",
    updated="✏️ Changed{number}: {content}",
    unchanged="💾 Known already{number}: {content}",
    deleted="🗑️ Forgotten{number}: {content}",
    deleted_for_all="🗑️ Forgotten (#{id})",
    still_told="Conversation records may still hold it, and answers draw on them.",
    untell="Erase it from conversations too…",
    number=" (#{id})",
    hidden="(something that only you may see)",
    more="➕ {count} more. See </memory list>.",
    not_saved="⚠️ Nothing was saved. To keep it, use </memory add> or say “remember that”.",
    not_scheduled="⚠️ No reminder was set. Use </remind add>, or ask like this: remind me tomorrow at 9 to take the pills.",
    not_forgotten="⚠️ No memory was deleted. To delete one, use </memory delete>.",
    not_cancelled="⚠️ No reminder was cancelled. To cancel one, use </remind delete>.",
    undo="Undo",
    undo_one="Undo: {content}",
    taken_back="↩️ Taken back.",
    used="🧠 Memories used ({count})",
    not_yours="Only the owner of the memory can use this button. Yours are in </memory list>.",
    undone_added="↩️ Undone. I no longer remember: {content}",
    undone_updated="↩️ Back to what it said before (#{id}): {content}",
    undone_deleted="↩️ Not forgotten after all (#{id}): {content}",
    changed_since="It was changed since, so nothing was undone. Choose #{id} in </memory show> to see it.",
    gone="This memory is gone: the change was undone already, or it was erased for good. See </memory list> for those that are there.",
    used_title="🧠 Memories looked up for this answer",
    none_left="None of the memories that this answer looked up are left.",
    what_next="To correct one use </memory edit>, to remove one </memory delete>, and choose its number.",
    used_here="🧠 Memories used: {numbers}",
    undo_here="/memory undo {id} takes it back.",
    delete_here="/memory delete {id} takes it back.",
)
