"""Sessions, settings and help, as a user reads of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionTexts:
    cleared: str
    settings_title: str
    settings_language: str
    settings_timezone: str
    settings_default: str
    """Parameter: value."""
    settings_saved: str
    """Parameters: language, timezone."""
    language_ja: str
    language_en: str
    help: str


JA = SessionTexts(
    cleared="🧹 会話をまっさらにしました。メモリは残っています。",
    settings_title="あなたの設定",
    settings_language="言語",
    settings_timezone="タイムゾーン",
    settings_default="{value}（既定）",
    settings_saved="⚙️ 設定を保存しました。言語: {language}、タイムゾーン: {timezone}",
    language_ja="日本語",
    language_en="英語 (English)",
    help=(
        "**できること**\n"
        "- `/質問` 質問に答えます。このチャンネルでの前の会話も踏まえます。画像やテキストファイルも添付できます。"
        "`自分だけ` は回答を自分だけに表示し、`保存しない` は何も保存しません。\n"
        "- `/メモリ 追加` 覚えてほしいことを保存します。「〜を覚えておいて」と話しかけても大丈夫です。\n"
        "- `/メモリ 検索` メモリを探します。\n"
        "- `/メモリ 一覧` メモリを新しい順に並べます。\n"
        "- `/メモリ 削除` メモリを1件消します。\n"
        "- `/クリア` このチャンネルでの会話をまっさらにします（メモリは残ります）。\n"
        "- `/要約` このチャンネルでの会話の要約を見ます。消すこともできます。\n"
        "- `/設定` 自分の言語とタイムゾーンを決めます。\n"
        "- メッセージを長押し（右クリック）→ アプリ →「これを覚える」でも保存できます。\n"
        "-# 英語の名前は /ask、/memory、/clear、/summary、/settings です。\n"
        "\n"
        "**保存されるもの**\n"
        "会話とメモリは、このボットを動かしている人のサーバーに保存されます。ほかの利用者には、あなたのメモリは見えません。"
    ),
)

EN = SessionTexts(
    cleared="🧹 Started afresh. Your memories are still there.",
    settings_title="Your settings",
    settings_language="Language",
    settings_timezone="Time zone",
    settings_default="{value} (default)",
    settings_saved="⚙️ Saved. Language: {language}, time zone: {timezone}",
    language_ja="Japanese",
    language_en="English",
    help=(
        "**What I can do**\n"
        "- `/ask` answers a question, with what was said before in this channel. Attach an image or a text file if you like. "
        "`private` shows the answer to you alone, `temporary` stores nothing.\n"
        "- `/memory add` keeps something for you. Saying “remember that …” works too.\n"
        "- `/memory search` finds memories.\n"
        "- `/memory list` lists them, newest first.\n"
        "- `/memory delete` deletes one.\n"
        "- `/clear` starts this channel's conversation afresh (memories stay).\n"
        "- `/summary` shows what I wrote down of our conversation in this channel, and deletes it if you like.\n"
        "- `/settings` sets your own language and time zone.\n"
        "- Long-press (right-click) a message → Apps → “Remember this” keeps that message.\n"
        "\n"
        "**What is stored**\n"
        "Conversations and memories are kept on the server of whoever runs this bot. No other user sees your memories."
    ),
)
