"""Names and descriptions of the commands for questions, memories and settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandTexts:
    ask: str
    ask_description: str
    ask_question: str
    ask_question_description: str
    ask_attachment: str
    ask_attachment_description: str
    ask_private: str
    ask_private_description: str
    ask_temporary: str
    ask_temporary_description: str
    memory: str
    memory_description: str
    memory_add: str
    memory_add_description: str
    memory_content: str
    memory_content_description: str
    memory_category: str
    memory_category_description: str
    memory_tags: str
    memory_tags_description: str
    memory_audience: str
    memory_audience_description: str
    memory_anywhere_choice: str
    memory_private_choice: str
    memory_expires: str
    memory_expires_description: str
    memory_search: str
    memory_search_description: str
    memory_query: str
    memory_query_description: str
    memory_list: str
    memory_list_description: str
    memory_order: str
    memory_order_description: str
    memory_newest_choice: str
    memory_oldest_choice: str
    memory_updated_choice: str
    memory_show: str
    memory_show_description: str
    memory_edit: str
    memory_edit_description: str
    memory_pin: str
    memory_pin_description: str
    memory_delete: str
    memory_delete_description: str
    memory_id: str
    memory_id_description: str
    memory_delete_all: str
    memory_delete_all_description: str
    memory_export: str
    memory_export_description: str
    memory_format: str
    memory_format_description: str
    memory_json_choice: str
    memory_markdown_choice: str
    memory_import: str
    memory_import_description: str
    memory_file: str
    memory_file_description: str
    memory_pause: str
    memory_pause_description: str
    memory_resume: str
    memory_resume_description: str
    memory_stats: str
    memory_stats_description: str
    remember_this: str
    clear: str
    clear_description: str
    reset: str
    reset_description: str
    summary: str
    summary_description: str
    help: str
    help_description: str
    settings: str
    settings_description: str
    settings_language: str
    settings_language_description: str
    settings_timezone: str
    settings_timezone_description: str


EN = CommandTexts(
    ask="ask",
    ask_description="Ask a question. I know what we said before in this channel.",
    ask_question="question",
    ask_question_description="What you would like to know",
    ask_attachment="attachment",
    ask_attachment_description="An image or a text file that the question is about",
    ask_private="private",
    ask_private_description="Show the answer to you alone (it is stored)",
    ask_temporary="temporary",
    ask_temporary_description="Show the answer to you alone and store nothing",
    memory="memory",
    memory_description="What I keep for you",
    memory_add="add",
    memory_add_description="Keep something for you in every channel",
    memory_content="content",
    memory_content_description="What to remember (up to 4000 characters)",
    memory_category="category",
    memory_category_description="A category, such as work or family",
    memory_tags="tags",
    memory_tags_description="Tags, separated by commas or spaces",
    memory_audience="where",
    memory_audience_description="Where I may use it (in a DM: only where you alone see it)",
    memory_anywhere_choice="anywhere",
    memory_private_choice="only where I alone see it",
    memory_expires="until",
    memory_expires_description="Until when it holds, such as: Dec 31, next Friday, in 3 days, 2026-12-31",
    memory_search="search",
    memory_search_description="Find your memories",
    memory_query="query",
    memory_query_description="Words to look for",
    memory_list="list",
    memory_list_description="List your memories",
    memory_order="order",
    memory_order_description="What comes first",
    memory_newest_choice="newest first",
    memory_oldest_choice="oldest first",
    memory_updated_choice="recently changed first",
    memory_show="show",
    memory_show_description="Show one memory: its text, why I know it, what it said before",
    memory_edit="edit",
    memory_edit_description="Change one of your memories",
    memory_pin="pin",
    memory_pin_description="Pin one of your memories (up to ten); a button unpins it",
    memory_delete="delete",
    memory_delete_description="Delete one of your memories (undo for ten minutes)",
    memory_id="id",
    memory_id_description="Its number; type a word to choose from matches",
    memory_delete_all="delete-all",
    memory_delete_all_description="Erase all of your memories for good",
    memory_export="export",
    memory_export_description="Get all of your memories as a file",
    memory_format="format",
    memory_format_description="JSON to import again, Markdown to read",
    memory_json_choice="JSON (to import again)",
    memory_markdown_choice="Markdown (to read)",
    memory_import="import",
    memory_import_description="Take over memories from a file; shows first what would happen",
    memory_file="file",
    memory_file_description="JSON from </memory export>, or a text with one memory a line, as from ChatGPT",
    memory_pause="pause",
    memory_pause_description="Keep and use no memories until you resume",
    memory_resume="resume",
    memory_resume_description="Keep and use memories again",
    memory_stats="stats",
    memory_stats_description="Your memories in numbers",
    remember_this="Remember this",
    clear="clear",
    clear_description="Start this channel's conversation afresh (memories stay)",
    reset="reset",
    reset_description="Never read again what was written here so far, whoever wrote it",
    summary="summary",
    summary_description="Show or delete what I wrote down of our conversation in this channel",
    help="help",
    help_description="What I can do",
    settings="settings",
    settings_description="Your own language and time zone",
    settings_language="language",
    settings_language_description="The language I speak to you",
    settings_timezone="timezone",
    settings_timezone_description="Your time zone, such as Europe/London",
)

JA = CommandTexts(
    ask="質問",
    ask_description="質問に答えます。このチャンネルでの前の会話も踏まえます。",
    ask_question="内容",
    ask_question_description="聞きたいこと",
    ask_attachment="添付",
    ask_attachment_description="質問に関わる画像かテキストファイル",
    ask_private="自分だけ",
    ask_private_description="回答を自分だけに表示します（会話には残ります）",
    ask_temporary="保存しない",
    ask_temporary_description="回答を自分だけに表示し、何も保存しません",
    memory="メモリ",
    memory_description="あなたのために覚えていること",
    memory_add="追加",
    memory_add_description="覚えてほしいことを保存します（どのチャンネルでも使えます）",
    memory_content="内容",
    memory_content_description="覚えてほしいこと（4000文字まで）",
    memory_category="カテゴリ",
    memory_category_description="仕事・家族などの分類",
    memory_tags="タグ",
    memory_tags_description="タグ（カンマか空白で区切ります）",
    memory_audience="使う場所",
    memory_audience_description="このメモリを使ってよい場所（DM では自分だけの回答が既定です）",
    memory_anywhere_choice="どこでも",
    memory_private_choice="自分だけに見える回答でだけ",
    memory_expires="期限",
    memory_expires_description="いつまで有効か（例: 12月31日、来週の金曜、3日後、今月末、2026-12-31）",
    memory_search="検索",
    memory_search_description="あなたのメモリを探します",
    memory_query="言葉",
    memory_query_description="探したい言葉",
    memory_list="一覧",
    memory_list_description="あなたのメモリの一覧です",
    memory_order="並べ方",
    memory_order_description="どれを先に並べるか",
    memory_newest_choice="新しい順",
    memory_oldest_choice="古い順",
    memory_updated_choice="最近変更した順",
    memory_show="表示",
    memory_show_description="メモリを1件くわしく見ます。なぜ知っているのか、前の内容も分かります",
    memory_edit="編集",
    memory_edit_description="メモリを1件書き直します",
    memory_pin="ピン留め",
    memory_pin_description="メモリを1件ピン留めします（10件まで。ボタンで外せます）",
    memory_delete="削除",
    memory_delete_description="メモリを1件消します（10分以内なら元に戻せます）",
    memory_id="番号",
    memory_id_description="メモリの番号。言葉を入力すると候補から選べます",
    memory_delete_all="全削除",
    memory_delete_all_description="あなたのメモリをすべて完全に消します（先に確認します）",
    memory_export="書き出し",
    memory_export_description="あなたのメモリをすべてファイルで受け取ります",
    memory_format="形式",
    memory_format_description="読み込み直せる JSON か、読みやすい Markdown",
    memory_json_choice="JSON（読み込み直せます）",
    memory_markdown_choice="Markdown（読むため）",
    memory_import="取り込み",
    memory_import_description="ファイルからメモリを取り込みます（何が起こるか先に確認できます）",
    memory_file="ファイル",
    memory_file_description="</memory export> の JSON か、ChatGPT のメモリなど1行に1件のテキスト",
    memory_pause="停止",
    memory_pause_description="メモリを一時停止します（新しく覚えず、回答にも使いません）",
    memory_resume="再開",
    memory_resume_description="メモリを再開します",
    memory_stats="統計",
    memory_stats_description="あなたのメモリを数字で見ます",
    remember_this="これを覚える",
    clear="クリア",
    clear_description="このチャンネルでの会話をまっさらにします（メモリは残ります）",
    reset="リセット",
    reset_description="みんなとの会話をここで区切ります（これより前に書かれたことは、もう読みません）",
    summary="要約",
    summary_description="このチャンネルでの会話の要約を見ます。消すこともできます",
    help="ヘルプ",
    help_description="できることの一覧です",
    settings="設定",
    settings_description="自分の言語とタイムゾーンを決めます",
    settings_language="言語",
    settings_language_description="ボットがあなたに話す言語",
    settings_timezone="タイムゾーン",
    settings_timezone_description="あなたのタイムゾーン（例: Asia/Tokyo）",
)
