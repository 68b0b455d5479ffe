"""Memories, as a user reads of them."""

from dataclasses import dataclass

from cc_bot.domain.memory import DEFAULT_CATEGORY


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


JA = MemoryTexts(
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

EN = MemoryTexts(
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
