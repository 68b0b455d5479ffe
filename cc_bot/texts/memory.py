"""Memories, as a user reads of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryTexts:
    added: str
    """Parameters: id, content."""
    private_only: str
    """Below what was remembered from a DM or an ephemeral answer."""
    deleted: str
    """Parameters: id, content."""
    not_found: str
    """Parameter: id."""
    none: str
    none_in_category: str
    """Parameter: category."""
    no_match: str
    """Parameter: query."""
    list_title: str
    """Parameter: count."""
    search_title: str
    """Parameters: query, count."""
    general: str
    """What the category `general` is called."""
    category: str
    tags: str
    newer: str
    older: str
    id_needed: str
    query_needed: str
    remembered_message: str
    """Parameters: id, content."""
    empty_message: str


JA = MemoryTexts(
    added="💾 覚えました（#{id}）: {content}",
    private_only="🔒 DM や自分だけに見える回答でだけ使います。",
    deleted="🗑️ 忘れました（#{id}）: {content}",
    not_found="#{id} のメモリは見つかりません。/memory list で番号を確かめてください。",
    none="メモリはまだありません。/memory add か「〜を覚えておいて」で保存できます。",
    none_in_category="カテゴリ「{category}」のメモリはありません。",
    no_match="「{query}」に合うメモリは見つかりませんでした。別の言葉でも試してみてください。",
    list_title="あなたのメモリ（{count}件）",
    search_title="「{query}」の検索結果（{count}件）",
    general="一般",
    category="カテゴリ",
    tags="タグ",
    newer="新しいほうへ",
    older="古いほうへ",
    id_needed="消したいメモリの番号を指定してください。/memory list で確かめられます。",
    query_needed="探したい言葉を入力してください。",
    remembered_message="💾 このメッセージを覚えました（#{id}）: {content}",
    empty_message="このメッセージには文章がないので、覚えられませんでした。",
)

EN = MemoryTexts(
    added="💾 Remembered (#{id}): {content}",
    private_only="🔒 I use it only in DMs and in answers that you alone see.",
    deleted="🗑️ Forgotten (#{id}): {content}",
    not_found="There is no memory #{id}. See /memory list for the numbers.",
    none="There are no memories yet. Save one with /memory add or by saying “remember that …”.",
    none_in_category="There are no memories in the category “{category}”.",
    no_match="No memory matches “{query}”. Try other words.",
    list_title="Your memories ({count})",
    search_title="Results for “{query}” ({count})",
    general="general",
    category="Category",
    tags="Tags",
    newer="Newer",
    older="Older",
    id_needed="Give the number of the memory to delete. /memory list shows them.",
    query_needed="Enter the words to look for.",
    remembered_message="💾 Remembered this message (#{id}): {content}",
    empty_message="This message has no text, so there was nothing to remember.",
)
