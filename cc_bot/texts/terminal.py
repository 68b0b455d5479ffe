"""The terminal chat: its commands, its hints, and what stands around an answer there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# ---- commands --------------------------------------------------------------------------------------------
# What `/help` and the completion menu say of each, in their order there.

_Pair = tuple[str, str]
"""In Japanese, and in English."""

_COMMANDS: Final[Mapping[str, _Pair]] = {
    "ask": (
        "質問します。/ask なしで書いても同じです。--temporary は何も保存しません",
        "ask; text without /ask is the same. --temporary stores nothing",
    ),
    "regenerate": ("最新の質問に、もう一度答えます", "answer the newest question again"),
    "continue": ("回答の続きを書きます", "go on with the answer"),
    "attach": ("次の質問に画像かテキストを添付します", "attach an image or a text to the next question"),
    "detach": ("添付を取り消します", "take back what is attached"),
    "accept": (
        "提案を実行します。番号なしなら、確認待ちのものを見せます",
        "have a proposal done; without a number, see what waits",
    ),
    "decline": ("提案を実行しないことにします", "drop a proposal"),
    "memory list": ("メモリを新しい順に一覧します", "list memories, newest first"),
    "memory search": ("メモリを探します", "find memories"),
    "memory add": (
        "覚えてほしいことを保存します。「〜を覚えておいて」でも大丈夫です",
        "keep something; saying “remember that …” works too",
    ),
    "memory show": (
        "メモリを1件くわしく見ます。前の内容も分かります",
        "show all of a memory, and what it said before",
    ),
    "memory edit": (
        "メモリを書き直します。--until - で期限をなくします",
        "change a memory; --until - takes its end away",
    ),
    "memory pin": (
        "ピン留めします（10件まで）。--off で外します",
        "pin a memory (up to ten); --off takes the pin off",
    ),
    "memory undo": (
        "削除（10分以内）か、最後の変更を取り消します",
        "undo a deletion (for ten minutes), or the newest change",
    ),
    "memory restore": (
        "前の内容に戻します。何番目があるかは show で分かります",
        "go back to what it said before; show tells which there are",
    ),
    "memory delete": (
        "メモリを消します。--now はすぐ完全に消します",
        "delete a memory; --now erases it at once",
    ),
    "memory delete-all": (
        "すべて完全に消します。件数を書くと実行します",
        "erase all for good; the count confirms it",
    ),
    "memory export": (
        "すべて書き出します。.md なら読みやすい形にします",
        "write all to a file; .md makes it easy to read",
    ),
    "memory import": (
        "取り込みます。--now なしでは確認だけします",
        "take memories over; without --now only tell",
    ),
    "memory pause": ("メモリを一時停止します", "keep and use no memories"),
    "memory resume": ("メモリを再開します", "keep and use memories again"),
    "memory stats": ("メモリを数字で見ます", "memories in numbers"),
    "clear": ("会話をまっさらにします（メモリは残ります）", "start the conversation afresh (memories stay)"),
    "summary": (
        "会話の要約を見ます。delete で消します",
        "show what was written down of the conversation, or delete it",
    ),
    "canvas": ("キャンバスを見ます。clear で空にします", "show the canvas; clear takes everything down"),
    "agent list": ("だれが答えるか（エージェント）を一覧します", "list who can answer (agents)"),
    "agent use": (
        "答えるエージェントを替えます。default で元に戻します",
        "have another agent answer; default goes back",
    ),
    "remind list": ("予約したお知らせを一覧します", "list your reminders"),
    "remind add": ("このチャットでお知らせします（毎朝8時 も可）", "be reminded then, in this chat"),
    "remind delete": ("番号のお知らせを取り消します", "cancel the reminder with this number"),
    "usage": ("使ったトークンと、残りを見ます", "show the tokens you used, and what is left"),
    "privacy show": ("あなたについて保存しているものを見ます", "show what is stored about you"),
    "privacy export": (
        "保存しているもののすべてを JSON で書き出します",
        "write all that is stored to a file (JSON)",
    ),
    "privacy erase": (
        "すべて消します。--now なしでは確認だけします",
        "erase all that is stored; without --now only ask",
    ),
    "settings": (
        "言語とタイムゾーンを決めます。default で既定に戻します",
        "choose language and time zone; default goes back to the default",
    ),
    "help": ("この一覧を見ます", "show this list"),
    "exit": ("終わります", "leave"),
}

_ARGUMENTS: Final[Mapping[str, _Pair]] = {
    "category": ("カテゴリ", "category"),
    "category name": ("名前", "name"),
    "content": ("内容", "content"),
    "count": ("件数", "count"),
    "date": ("日付", "date"),
    "file": ("ファイル", "file"),
    "name": ("名前", "name"),
    "names": ("名前,名前", "name,name"),
    "number": ("番号", "number"),
    "question": ("質問", "question"),
    "reminder": ("明日9時 薬を飲む", "tomorrow at 9 take the pills"),
    "reminder number": ("3", "3"),
    "settings": ("[language ja|en] [timezone Asia/Tokyo]", "[language ja|en] [timezone Europe/London]"),
    "which": ("何番目", "which"),
    "words": ("言葉", "words"),
}
"""What stands in a usage for something that is to be typed."""

JAPANESE_NAMES: Final[Mapping[str, str]] = {
    "regenerate": "答え直す",
    "continue": "続ける",
    "attach": "添付",
    "detach": "添付取り消し",
    "accept": "実行",
    "decline": "見送る",
    "memory undo": "メモリ 元に戻す",
    "memory restore": "メモリ 復元",
    "summary delete": "要約 削除",
    "exit": "終了",
}
"""Names of what the terminal alone has; those of everything else are Discord's."""

# ---- terminal --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TerminalTexts:
    commands: Mapping[str, str]
    """What each does, by its English name."""
    arguments: Mapping[str, str]
    greeting: str
    """Parameter: model."""
    goodbye: str
    help_title: str
    help_keys: str
    help_names: str
    """Parameter: example, a command's Japanese name."""
    help_stored: str
    send: str
    new_line: str
    leave: str
    interrupt: str
    tool_memories: str
    """Of this and the two below: what was done stands in a line of its own, or is proposed."""
    tool_canvas: str
    tool_reminders: str
    tool_recall: str
    tool_list: str
    tool_other: str
    """Parameter: name."""
    tool_failed: str
    """Parameter: name."""
    cut: str
    unknown: str
    """Parameter: given."""
    unknown_near: str
    """Parameters: given, nearest."""
    memory_needs_more: str
    misused: str
    """Parameters: given, usage."""
    no_answer_yet: str
    model_not_found: str
    """Parameter: model, as the operator, who reads it, named it."""
    attached: str
    """Parameter: name."""
    detached: str
    nothing_attached: str
    path_needed: str
    file_not_found: str
    """Parameter: path."""
    file_not_read: str
    """Parameter: path."""
    memory_number: str
    memory_text: str
    memory_date: str
    older_memories: str
    """Parameter: command."""
    how_to_undo: str
    """Parameter: command."""
    nothing_to_undo: str
    """Parameter: id."""
    how_to_restore: str
    """Parameter: id."""
    delete_all: str
    """Parameters: count, command."""
    exported: str
    """Parameters: count, path."""
    file_exists: str
    """Parameter: path."""
    file_not_written: str
    """Parameter: path."""
    import_now: str
    """Parameter: command."""
    memory_file_needed: str
    agent_needed: str
    proposal: str
    """Parameters: id, what."""
    in_zone: str
    """After a time that does not count where its user is. Parameter: zone."""
    how_to_decide: str
    """Parameter: id, of the proposal."""
    no_proposals: str
    which_proposal: str
    """Where several wait."""
    proposal_needed: str


TERMINAL_JA = TerminalTexts(
    commands={name: pair[0] for name, pair in _COMMANDS.items()},
    arguments={name: pair[0] for name, pair in _ARGUMENTS.items()},
    greeting="cc-bot（{model}）。聞きたいことを書いて Enter を押してください。/help で一覧、Ctrl-D で終わります。",
    goodbye="またどうぞ。",
    help_title="できること",
    help_keys="Enter で送信、Alt+Enter で改行、↑ で前の入力、Tab で補完します。全角の／で始めると、日本語の候補が出ます。Ctrl-C は回答を止めるか入力を消し、Ctrl-D で終わります。",
    help_names="コマンドは、{example} のように日本語の名前でも入力できます。",
    help_stored="会話とメモリは、このボットが動いている機械に保存されます。",
    send="送信",
    new_line="改行",
    leave="終了",
    interrupt="Ctrl-C で止める",
    tool_memories="メモリを扱いました",
    tool_canvas="キャンバスを扱いました",
    tool_reminders="お知らせの予約を扱いました",
    tool_recall="メモリを探しました",
    tool_list="メモリを見ました",
    tool_other="{name} を使いました",
    tool_failed="{name} はうまくいきませんでした",
    cut="✂️ 回答が途中で切れました。/continue で続きを書きます。",
    unknown="{given} というコマンドはありません。/help で一覧を見られます。/ で始まる質問は /ask に続けて書いてください。",
    unknown_near="{given} というコマンドはありません。{nearest} のことですか？",
    memory_needs_more="/memory のあとに list、search、add、show などを続けてください。/help で一覧を見られます。",
    misused="「{given}」はここでは使えません。使い方: {usage}",
    no_answer_yet="まだ回答がありません。先に何か聞いてください。",
    model_not_found="AIモデル「{model}」が見つかりません。CC_BOT_MODEL と OPENAI_BASE_URL を確かめてください。",
    attached="📎 {name} を次の質問に添付します。取り消すときは /detach です。",
    detached="添付を取り消しました。",
    nothing_attached="添付はありません。",
    path_needed="添付するファイルを指定してください。例: /attach メモ.txt",
    file_not_found="ファイル {path} が見つかりません。場所と名前を確かめてください。",
    file_not_read="ファイル {path} を読めません。ファイルかどうかと、読み取りの権限を確かめてください。",
    memory_number="番号",
    memory_text="内容",
    memory_date="日付",
    older_memories="これより古いメモリは {command} で見られます。",
    how_to_undo="10分以内なら {command} で元に戻せます。",
    nothing_to_undo="#{id} に取り消せる変更はありません。前の内容は /memory show で見られます。",
    how_to_restore="/memory restore {id} 1 のように、何番目かを書くと、その内容に戻せます。",
    delete_all="メモリ {count}件をすべて、完全に消します。元には戻せません。よければ {command} と入力してください。",
    exported="📤 メモリ {count}件を {path} に書き出しました。",
    file_exists="ファイル {path} がもうあります。別の名前を付けてください。",
    file_not_written="ファイル {path} に書き込めません。フォルダと、書き込みの権限を確かめてください。",
    import_now="まだ何も保存していません。取り込むには {command} と入力してください。",
    memory_file_needed="取り込むファイルを指定してください。例: /memory import memories.json",
    agent_needed="どのエージェントに替えるかを書いてください。一覧は /agent list で見られます。",
    proposal="提案 #{id}: {what}",
    in_zone="（{zone} の時刻）",
    how_to_decide="実行するなら /accept {id}、しないなら /decline {id}",
    no_proposals="確認待ちの提案はありません。",
    which_proposal="どれにするか、番号を付けて入力してください。",
    proposal_needed="提案の番号を書いてください。たとえば /accept 3 です。/accept だけなら、確認待ちのものを見られます。",
)

TERMINAL_EN = TerminalTexts(
    commands={name: pair[1] for name, pair in _COMMANDS.items()},
    arguments={name: pair[1] for name, pair in _ARGUMENTS.items()},
    greeting="cc-bot ({model}). Write a question and press Enter. /help lists the commands, Ctrl-D leaves.",
    goodbye="See you.",
    help_title="What I can do",
    help_keys=(
        "Enter sends, Alt+Enter starts a new line, ↑ brings back what you entered, Tab completes. "
        "After a full-width ／ it offers Japanese names. "
        "Ctrl-C stops the answer or clears the line, Ctrl-D leaves."
    ),
    help_names="Commands have Japanese names, too, such as {example}.",
    help_stored="Conversations and memories are kept on the machine that this bot runs on.",
    send="send",
    new_line="new line",
    leave="leave",
    interrupt="Ctrl-C stops",
    tool_memories="Saw to your memories",
    tool_canvas="Saw to the canvas",
    tool_reminders="Saw to the reminders",
    tool_recall="Looked through your memories",
    tool_list="Looked at your memories",
    tool_other="Used {name}",
    tool_failed="{name} did not work",
    cut="✂️ The answer broke off. /continue writes the rest.",
    unknown="There is no command {given}. /help lists them; to ask something that begins with /, put /ask before it.",
    unknown_near="There is no command {given}. Did you mean {nearest}?",
    memory_needs_more="Put list, search, add, show or the like after /memory. /help lists them.",
    misused="“{given}” can't be used here. Usage: {usage}",
    no_answer_yet="There is no answer yet. Ask something first.",
    model_not_found="There is no AI model “{model}”. Check CC_BOT_MODEL and OPENAI_BASE_URL.",
    attached="📎 {name} goes with your next question. /detach takes it back.",
    detached="Nothing is attached any more.",
    nothing_attached="Nothing is attached.",
    path_needed="Name the file to attach, for example: /attach notes.txt",
    file_not_found="There is no file {path}. Check the folder and the name.",
    file_not_read="The file {path} can't be read. Check that it is a file and that you may read it.",
    memory_number="No.",
    memory_text="Text",
    memory_date="Date",
    older_memories="{command} shows older ones.",
    how_to_undo="{command} undoes this for ten minutes.",
    nothing_to_undo="There is no change of #{id} to undo. /memory show tells what it said before.",
    how_to_restore="/memory restore {id} 1 (or another of these) goes back to it.",
    delete_all="All {count} memories will be erased for good. To do it, enter {command}",
    exported="📤 {count} memories are in {path} now.",
    file_exists="There is a file {path} already. Please choose another name.",
    file_not_written="The file {path} can't be written. Check the folder and your permission to write there.",
    import_now="Nothing is saved yet. To import this, enter {command}",
    memory_file_needed="Name the file to import, for example: /memory import memories.json",
    agent_needed="Name the agent that is to answer. /agent list shows them.",
    proposal="Proposal #{id}: {what}",
    in_zone=" ({zone} time)",
    how_to_decide="To have it done, enter /accept {id}; if not, /decline {id}",
    no_proposals="Nothing waits for your decision.",
    which_proposal="Please enter the one you mean with its number.",
    proposal_needed="Give the number of the proposal, for example: /accept 3. /accept alone shows those that wait.",
)
