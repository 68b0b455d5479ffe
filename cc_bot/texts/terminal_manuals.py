"""The commands of the terminal chat, as /help and the completion menu show them."""

from dataclasses import dataclass


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


JA = Manuals(
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

EN = Manuals(
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
