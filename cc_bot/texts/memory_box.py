"""All of a user's memories at once: numbers, files, and erasing them."""

from dataclasses import dataclass


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


JA = MemoryBoxTexts(
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

EN = MemoryBoxTexts(
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
