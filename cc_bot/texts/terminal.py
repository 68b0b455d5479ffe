"""The terminal chat: its commands, its hints, and what stands around an answer there."""

from dataclasses import dataclass

# ---- terminal manuals ------------------------------------------------------------------------------------
# The commands of the terminal chat, as /help and the completion menu show them.


@dataclass(frozen=True, slots=True)
class Manual:
    """One command, as /help and the completion menu show it."""

    usage: str
    summary: str


@dataclass(frozen=True, slots=True)
class Manuals:
    """One for each command. A field is named after its command: `/memory add` is memory_add."""

    ask: Manual
    regenerate: Manual
    continue_: Manual
    attach: Manual
    detach: Manual
    accept: Manual
    decline: Manual
    memory_list: Manual
    memory_search: Manual
    memory_add: Manual
    memory_show: Manual
    memory_edit: Manual
    memory_pin: Manual
    memory_undo: Manual
    memory_restore: Manual
    memory_delete: Manual
    memory_delete_all: Manual
    memory_export: Manual
    memory_import: Manual
    memory_pause: Manual
    memory_resume: Manual
    memory_stats: Manual
    clear: Manual
    summary: Manual
    canvas: Manual
    agent_list: Manual
    agent_use: Manual
    remind_list: Manual
    remind_add: Manual
    remind_delete: Manual
    usage: Manual
    privacy_show: Manual
    privacy_export: Manual
    privacy_erase: Manual
    settings: Manual
    help: Manual
    exit: Manual


TERMINAL_MANUALS_JA = Manuals(
    ask=Manual(
        "/ask [--temporary] 質問",
        "質問します。/ask なしで書いても同じです。--temporary は何も保存しません",
    ),
    regenerate=Manual("/regenerate", "最新の質問に、もう一度答えます"),
    continue_=Manual("/continue", "回答の続きを書きます"),
    attach=Manual("/attach ファイル", "次の質問に画像かテキストを添付します"),
    detach=Manual("/detach", "添付を取り消します"),
    accept=Manual("/accept [番号]", "提案を実行します。番号なしなら、確認待ちのものを見せます"),
    decline=Manual("/decline [番号]", "提案を実行しないことにします"),
    memory_list=Manual("/memory list [カテゴリ]", "メモリを新しい順に一覧します"),
    memory_search=Manual("/memory search 言葉 [--category 名前]", "メモリを探します"),
    memory_add=Manual(
        "/memory add 内容 [--category 名前] [--tags 名前,名前] [--until 日付] [--private]",
        "覚えてほしいことを保存します。「〜を覚えておいて」でも大丈夫です",
    ),
    memory_show=Manual("/memory show 番号", "メモリを1件くわしく見ます。前の内容も分かります"),
    memory_edit=Manual(
        "/memory edit 番号 [内容] [--category 名前] [--tags 名前,名前] [--until 日付]",
        "メモリを書き直します。--until - で期限をなくします",
    ),
    memory_pin=Manual("/memory pin 番号 [--off]", "ピン留めします（10件まで）。--off で外します"),
    memory_undo=Manual("/memory undo 番号", "削除（10分以内）か、最後の変更を取り消します"),
    memory_restore=Manual(
        "/memory restore 番号 [何番目]", "前の内容に戻します。何番目があるかは show で分かります"
    ),
    memory_delete=Manual("/memory delete 番号 [--now]", "メモリを消します。--now はすぐ完全に消します"),
    memory_delete_all=Manual("/memory delete-all [件数]", "すべて完全に消します。件数を書くと実行します"),
    memory_export=Manual("/memory export [ファイル]", "すべて書き出します。.md なら読みやすい形にします"),
    memory_import=Manual("/memory import [--now] ファイル", "取り込みます。--now なしでは確認だけします"),
    memory_pause=Manual("/memory pause", "メモリを一時停止します"),
    memory_resume=Manual("/memory resume", "メモリを再開します"),
    memory_stats=Manual("/memory stats", "メモリを数字で見ます"),
    clear=Manual("/clear", "会話をまっさらにします（メモリは残ります）"),
    summary=Manual("/summary [delete]", "会話の要約を見ます。delete で消します"),
    canvas=Manual("/canvas [clear]", "キャンバスを見ます。clear で空にします"),
    agent_list=Manual("/agent list", "だれが答えるか（エージェント）を一覧します"),
    agent_use=Manual("/agent use 名前", "答えるエージェントを替えます。default で元に戻します"),
    remind_list=Manual("/remind list", "予約したお知らせを一覧します"),
    remind_add=Manual("/remind add 明日9時 薬を飲む", "このチャットでお知らせします（毎朝8時 も可）"),
    remind_delete=Manual("/remind delete 3", "番号のお知らせを取り消します"),
    usage=Manual("/usage", "使ったトークンと、残りを見ます"),
    privacy_show=Manual("/privacy show", "あなたについて保存しているものを見ます"),
    privacy_export=Manual("/privacy export [ファイル]", "保存しているもののすべてを JSON で書き出します"),
    privacy_erase=Manual("/privacy erase [--now]", "すべて消します。--now なしでは確認だけします"),
    settings=Manual(
        "/settings [language ja|en] [timezone Asia/Tokyo]",
        "言語とタイムゾーンを決めます。default で既定に戻します",
    ),
    help=Manual("/help", "この一覧を見ます"),
    exit=Manual("/exit", "終わります"),
)

TERMINAL_MANUALS_EN = Manuals(
    ask=Manual(
        "/ask [--temporary] question", "ask; text without /ask is the same. --temporary stores nothing"
    ),
    regenerate=Manual("/regenerate", "answer the newest question again"),
    continue_=Manual("/continue", "go on with the answer"),
    attach=Manual("/attach file", "attach an image or a text to the next question"),
    detach=Manual("/detach", "take back what is attached"),
    accept=Manual("/accept [number]", "have a proposal done; without a number, see what waits"),
    decline=Manual("/decline [number]", "drop a proposal"),
    memory_list=Manual("/memory list [category]", "list memories, newest first"),
    memory_search=Manual("/memory search words [--category name]", "find memories"),
    memory_add=Manual(
        "/memory add content [--category name] [--tags name,name] [--until date] [--private]",
        "keep something; saying “remember that …” works too",
    ),
    memory_show=Manual("/memory show number", "show all of a memory, and what it said before"),
    memory_edit=Manual(
        "/memory edit number [content] [--category name] [--tags name,name] [--until date]",
        "change a memory; --until - takes its end away",
    ),
    memory_pin=Manual("/memory pin number [--off]", "pin a memory (up to ten); --off takes the pin off"),
    memory_undo=Manual("/memory undo number", "undo a deletion (for ten minutes), or the newest change"),
    memory_restore=Manual(
        "/memory restore number [which]", "go back to what it said before; show tells which there are"
    ),
    memory_delete=Manual("/memory delete number [--now]", "delete a memory; --now erases it at once"),
    memory_delete_all=Manual("/memory delete-all [count]", "erase all for good; the count confirms it"),
    memory_export=Manual("/memory export [file]", "write all to a file; .md makes it easy to read"),
    memory_import=Manual("/memory import [--now] file", "take memories over; without --now only tell"),
    memory_pause=Manual("/memory pause", "keep and use no memories"),
    memory_resume=Manual("/memory resume", "keep and use memories again"),
    memory_stats=Manual("/memory stats", "memories in numbers"),
    clear=Manual("/clear", "start the conversation afresh (memories stay)"),
    summary=Manual("/summary [delete]", "show what was written down of the conversation, or delete it"),
    canvas=Manual("/canvas [clear]", "show the canvas; clear takes everything down"),
    agent_list=Manual("/agent list", "list who can answer (agents)"),
    agent_use=Manual("/agent use name", "have another agent answer; default goes back"),
    remind_list=Manual("/remind list", "list your reminders"),
    remind_add=Manual("/remind add tomorrow at 9 take the pills", "be reminded then, in this chat"),
    remind_delete=Manual("/remind delete 3", "cancel the reminder with this number"),
    usage=Manual("/usage", "show the tokens you used, and what is left"),
    privacy_show=Manual("/privacy show", "show what is stored about you"),
    privacy_export=Manual("/privacy export [file]", "write all that is stored to a file (JSON)"),
    privacy_erase=Manual("/privacy erase [--now]", "erase all that is stored; without --now only ask"),
    settings=Manual(
        "/settings [language ja|en] [timezone Europe/London]",
        "choose language and time zone; default goes back to the default",
    ),
    help=Manual("/help", "show this list"),
    exit=Manual("/exit", "leave"),
)

# ---- terminal --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TerminalTexts:
    commands: Manuals
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
    commands=TERMINAL_MANUALS_JA,
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
    commands=TERMINAL_MANUALS_EN,
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
