"""Names and descriptions of the commands, as Discord lists them.

A field's name is the key under which lightbulb looks the wording up. English names are the ones that
DESIGN fixes; Discord's limits are 1-32 characters for names (lower case, no spaces, save those of context
menus) and 1-100 for descriptions.
"""

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
    memory_search: str
    memory_search_description: str
    memory_query: str
    memory_query_description: str
    memory_list: str
    memory_list_description: str
    memory_delete: str
    memory_delete_description: str
    memory_id: str
    memory_id_description: str
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
    memory_search="search",
    memory_search_description="Find your memories",
    memory_query="query",
    memory_query_description="Words to look for",
    memory_list="list",
    memory_list_description="List your memories, newest first",
    memory_delete="delete",
    memory_delete_description="Delete one of your memories",
    memory_id="id",
    memory_id_description="Its number; type a word to choose from matches",
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
    memory_search="検索",
    memory_search_description="あなたのメモリを探します",
    memory_query="言葉",
    memory_query_description="探したい言葉",
    memory_list="一覧",
    memory_list_description="あなたのメモリを新しい順に並べます",
    memory_delete="削除",
    memory_delete_description="あなたのメモリを1件消します",
    memory_id="番号",
    memory_id_description="メモリの番号。言葉を入力すると候補から選べます",
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
